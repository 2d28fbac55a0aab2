"""Figures 5 and 6: GANs with a promise of differential privacy: advantage and individual risks below its ceilings.

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure5 --quick
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import tanh

import numpy as np

from estimators import Interval, Scores, individual_risk
from estimators.paper import EqualWidth, record_risk
from estimators.theory.dp.ceilings import advantage_ceiling, gdp_ceiling
from examples.mace.claims import (
    BINS,
    Claim,
    Figure,
    Row,
    intervals,
    join,
    limit_less,
    markdown,
    shuffle_labels,
    spread,
    together,
)
from examples.mace.data import Data, Whole, split
from examples.mace.gan import dp_cgan, noise_multiplier
from examples.mace.network import Floats
from examples.mace.run import run
from examples.mace.study import Study
from examples.theory.table import table

DELTA = 1e-5
COMMON, RARE, RATIO = 0, 6, 10
"""Zeros, and a tenth as many sixes."""

MUCH = 2.0
"""So many times larger is much larger."""

SHARE = 0.5
"""Members: the paper's tenth would be 20 records."""


@dataclass(frozen=True)
class DpModel:
    """D(z | label) of one model, and what it promised."""

    scores: Scores
    epsilon: float
    mu: float


def few_sixes(data: Data) -> Data:
    """The zeros, and the first sixes."""
    zeros, sixes = (np.flatnonzero(data.y == digit) for digit in (COMMON, RARE))
    rows = np.concatenate([zeros, sixes[: len(zeros) // RATIO]])
    return Data(f"{data.name}, zeros and sixes", data.x[rows], data.y[rows])


def one_hot(labels: Whole) -> Floats:
    """Two columns."""
    return np.column_stack([labels == COMMON, labels == RARE]).astype(np.float64)


@cache
def dp_model(study: Study, epsilon: float, seed: int) -> DpModel:
    """One conditional GAN; its nonmembers are all others of the same two digits."""
    sides = split(few_sixes(study.images), seed, SHARE)
    hot = one_hot(sides.member_labels), one_hot(sides.nonmember_labels)
    multiplier, mu = noise_multiplier(epsilon, DELTA, study.steps)
    gan = dp_cgan(sides.members, hot[0], study.size, seed, multiplier, study.steps)
    scores = Scores.of(gan.answers(sides.members, hot[0]), gan.answers(sides.nonmembers, hot[1]))
    return DpModel(scores, epsilon, mu)


def advantages(study: Study) -> Figure:
    """Figure 5."""
    rows, claims = [], []
    extra: dict[str, dict[str, str]] = {"tanh(epsilon/2)": {}, "with delta": {}, "of mu-GDP": {}}
    models = len(study.epsilons) * study.models
    for epsilon in study.epsilons:
        query, apart, own = f"epsilon {epsilon:g}", [], []
        for seed in study.seeds:
            model = dp_model(study, epsilon, seed)
            row = Row.of(query, model.scores, seed, models=models)
            rows.append(row)
            own.append(row.certified.estimate.interval)
            apart.append(limit_less(tanh(epsilon / 2.0) / MUCH, row.certified.estimate.interval))
            ceilings = tanh(epsilon / 2.0), advantage_ceiling(epsilon, DELTA), gdp_ceiling(model.mu)
            for column, ceiling in zip(extra.values(), ceilings, strict=True):
                column[query] = f"{ceiling:.5f}"
        claims.append(
            Claim(
                "5",
                f"at epsilon {epsilon:g} the ceiling tanh(epsilon/2) is much larger than the advantage",
                f"the ceiling divided by {MUCH:g}, less the advantage",
                tuple(apart),
                tuple(own),
            )
        )
    return Figure({"figure5": markdown(rows, extra)}, tuple(claims))


def risks(study: Study) -> Figure:
    """Figure 6: plugged in, risks reach 1 wherever a slice has one record; limits that hold for all at once do not."""
    epsilons = [epsilon for epsilon in (2.0, 10.0) if epsilon in study.epsilons]
    confidence = together(len(epsilons) * study.models)
    lines, claims = [], []
    for epsilon in epsilons:
        plugged, floor, ends = [], [], []
        for seed in study.seeds:
            scores = dp_model(study, epsilon, seed).scores
            plugged.append(highest(scores))
            floor.append(highest(shuffle_labels(scores, seed)))
            both = individual_risk(scores, confidence=confidence, seed=seed).cells.simultaneous
            ends.append(Interval(float(both.lower.max()), float(both.upper.max()), confidence, both.guarantee))
        ceiling = tanh(epsilon / 2.0)
        lines.append((f"{epsilon:g}", f"{ceiling:.5f}", spread(plugged), f"{np.mean(floor):.3f}", intervals(ends)))
        claims.append(
            Claim(
                "6",
                f"at epsilon {epsilon:g} even the highest individual risk is below tanh(epsilon/2)",
                "the ceiling less the highest risk of a cell, limits of all cells at once",
                tuple(limit_less(ceiling, each) for each in ends),
            )
        )
    head = (
        "epsilon",
        "tanh(epsilon/2)",
        "the paper's highest risk",
        "the same, labels shuffled",
        "highest risk of a cell, certified for all at once, a model each",
    )
    return Figure({"figure6": table(head, lines)}, tuple(claims))


def highest(scores: Scores) -> float:
    """The largest |f_p| of a record, of 100 slices (section 4.1.1)."""
    return float(np.nanmax(np.abs(record_risk(scores, 0.5, reading=EqualWidth(BINS)).risk.values)))


def measured(study: Study) -> Figure:
    """Both figures, of the same models."""
    return join((advantages(study), risks(study)))


if __name__ == "__main__":
    run(__doc__, measured)
