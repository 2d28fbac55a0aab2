"""Figure 3: accuracy and AM where one record in ten is a member, the best attack against LOGAN.

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure3 --quick
"""

from __future__ import annotations

import numpy as np

from estimators import Scores, TopRule, attack_advantage, metric_optimum, preset
from estimators.paper import EqualWidth, algorithm_2
from estimators.sample.counting import finest
from estimators.statement import baseline
from examples.mace.claims import (
    BINS,
    Claim,
    Figure,
    Row,
    intervals,
    limit_less,
    markdown,
    shuffle_labels,
    spread,
    together,
)
from examples.mace.run import run
from examples.mace.study import Study, of_critic
from examples.theory.table import table

PRIOR = 0.1
MARGIN = 0.05
"""A heuristic is comparable if the best attack is at most so much better, in either metric."""

METRICS = {"accuracy": "accuracy", "balanced_accuracy": "AM, the mean of both sides' accuracies"}


def one_in_ten(scores: Scores) -> Scores:
    """As many members as the prior says, so that LOGAN, who accuses so many records, accuses one in ten."""
    return Scores.of(scores.members[: round(scores.n_nonmembers * PRIOR / (1.0 - PRIOR))], scores.nonmembers)


def measured(study: Study) -> Figure:
    """One WGAN-GP a seed; the paper's Algorithm 2 learns on one half and is judged on the other."""
    confidence = together(2 * study.models)
    rows, lines, claims = [], [], []
    scores = {seed: one_in_ten(of_critic(study, seed)) for seed in study.seeds}
    query = f"D(z), {baseline(PRIOR):.1f} without it"
    for seed, each in scores.items():
        rows.append(Row.of(query, each, seed, PRIOR, study.models))
    for name, words in METRICS.items():
        metric = preset(name, PRIOR)
        paper, floor, certified, heuristic, gaps = [], [], [], [], []
        for seed, each in scores.items():
            paper.append(_algorithm_2(each, name, seed))
            floor.append(_algorithm_2(shuffle_labels(each, seed), name, seed))
            certified.append(metric_optimum(finest(each), metric, PRIOR, confidence=confidence, seed=seed))
            # AM is the accuracy of a prior of 1/2, whatever the prior; an accuracy is half of an advantage
            at = 0.5 if name == "balanced_accuracy" else PRIOR
            attack = attack_advantage(each, TopRule(), at, confidence, seed, [preset("accuracy", at)])
            heuristic.append(attack.metrics["accuracy"])
            gaps.append(limit_less(MARGIN, attack.gap.interval, 0.5))
        lines.append(
            (
                words,
                f"{certified[0].trivial:.3f}",
                spread(paper),
                f"{np.mean(floor):.3f}",
                intervals(each.interval for each in certified),
                intervals(each.interval for each in heuristic),
            )
        )
        claims.append(
            Claim(
                "3",
                f"the heuristic's {words.split(',')[0]} is comparable to the best attack's",
                f"{MARGIN:g} less what the best attack has more",
                tuple(gaps),
            )
        )
    head = (
        "metric",
        "without the score",
        "Algorithm 2",
        "Algorithm 2, labels shuffled",
        "certified optimum, a model each",
        "LOGAN, certified",
    )
    return Figure({"figure3": markdown(rows), "figure3_metrics": table(head, lines)}, tuple(claims))


def _algorithm_2(scores: Scores, name: str, seed: int) -> float:
    value = algorithm_2(scores, preset(name, PRIOR), PRIOR, seed, EqualWidth(BINS)).value
    return float("nan") if value is None else value


if __name__ == "__main__":
    run(__doc__, measured)
