"""Worlds with known truth that several benchmarks draw from; those of tests and `coverage` are in tests/oracles.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator
Table = dict[str, Any]
Part = tuple[float, float, float]  # share, mean and spread of a part of a mixture of normal laws
Draw = Callable[[Rng], tuple[Floats, Floats, list[Integers]]]
"""Members' scores, nonmembers', and columns that say whose a row is, members' rows first."""


def shift(truth: float) -> float:
    """By how much members' normal scores are shifted at this advantage."""
    return 2.0 * float(ndtri((1.0 + truth) / 2.0))


def epsilon_of_shift(by: float, delta: float, most: float = 60.0) -> float:
    """Where delta(epsilon) = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m) (Balle and Wang 2018)."""

    def excess(epsilon: float) -> float:
        return float(ndtr(by / 2 - epsilon / by) - np.exp(epsilon) * ndtr(-by / 2 - epsilon / by)) - delta

    return 0.0 if by == 0.0 or excess(0.0) <= 0.0 else float(brentq(excess, 0.0, most))


def draw_mixture(rng: Rng, parts: tuple[Part, ...], n: int) -> Floats:
    shares, means, spreads = (np.array(column) for column in zip(*parts, strict=True))
    which = rng.choice(len(parts), n, p=shares)
    return rng.normal(means[which], spreads[which])


def equal(number: int, rows: int) -> Callable[[Rng], Integers]:
    return lambda _: np.full(number, rows)


def pareto(number: int, shape: float = 1.2, most: int = 100) -> Callable[[Rng], Integers]:
    """Numbers of rows of which few are many."""
    return lambda rng: np.minimum(rng.pareto(shape, number) + 1.0, most).astype(np.int64)


def people(sizes: Callable[[Rng], Integers], likeness: float, truth: float) -> Draw:
    """People with so many rows each, every second one a member."""

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        rows = sizes(rng)
        of = np.repeat(np.arange(len(rows)), rows)
        score = np.sqrt(likeness) * rng.normal(size=len(rows))[of]
        score += np.sqrt(1.0 - likeness) * rng.normal(size=len(of))
        member = of % 2 == 0
        return score[member] + shift(truth), score[~member], [np.concatenate([of[member], of[~member]])]

    return draw


def copies(number: int, share: float, truth: float) -> Draw:
    """Rows of which this share repeat another row of their side, value and all."""

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        own = max(2, round(number * (1.0 - share)))
        of = np.concatenate([np.arange(own), rng.integers(0, own, number - own)])
        score = rng.normal(size=(2, own))
        return score[0][of] + shift(truth), score[1][of], [np.concatenate([of, of + own])]

    return draw


def crossed(records: int, models: int, likeness: tuple[float, float], truth: float, both: bool) -> Draw:
    """Records asked of models, each trained on a random half; records are alike, and so may models be."""

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        record, model = np.divmod(np.arange(records * models), models)
        member = rng.random((records, models)).argsort(axis=0).ravel() < records // 2
        score = np.sqrt(likeness[0]) * rng.normal(size=records)[record]
        score += np.sqrt(likeness[1]) * rng.normal(size=models)[model]
        score += np.sqrt(1.0 - sum(likeness)) * rng.normal(size=record.size)
        order = np.argsort(~member, kind="stable")
        labels = [each[order] for each in (record, model)]
        return score[member] + shift(truth), score[~member], labels if both else labels[:1]

    return draw


def part(table: Table, which: Any) -> Table:
    return {name: column[which] for name, column in table.items()}


def stacked(*tables: Table) -> Table:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def adults(rng: Rng, n: int, older: float = 0.0) -> Table:
    """Twelve mixed columns that hang together; those who are older earn more."""
    age = np.clip(rng.normal(45 + 6 * older, 13, n), 18, 90).round().astype(int)
    education = np.clip((rng.normal(0, 1, n) + 3 - age / 80 + 0.3 * older).round(), 0, 5).astype(int)
    wage = np.round(rng.lognormal(2 + education / 6 + age / 120, 0.45), 2)
    wage[rng.random(n) < 0.04] = np.nan
    part_time = rng.random(n) < 0.25
    hours = np.round(np.where(part_time, rng.normal(20, 6, n), rng.normal(39, 5, n)))
    married = rng.random(n) < np.clip((age - 18) / 40, 0, 0.8)
    return {
        "age": age,
        "education": education,
        "wage": wage,
        "hours": hours,
        "job": np.char.add("job ", ((education * 2 + rng.integers(0, 6, n)) % 12).astype(str)),
        "region": rng.choice(list("ABCDEFGH"), n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05]),
        "status": np.where(married, "married", "single"),
        "children": rng.poisson(np.where(married, 1.4, 0.3)),
        "part_time": hours < 30,
        "since": rng.integers(8000, 18000, n).astype("datetime64[D]"),
        "tax": np.round(0.25 * np.nan_to_num(wage) * hours / 40 + rng.normal(0, 0.3, n), 2),
        "city": np.char.add("city ", (rng.zipf(1.6, n) % 300).astype(str)),
    }
