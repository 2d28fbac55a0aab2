"""Examples that run as they stand: the same in Swagger UI, in README's first request and in the tests.

Their scores are those of a model that has overfitted: members are predicted with more confidence.
"""

from __future__ import annotations

from typing import Any

from app.openapi import theory
from app.openapi.theory import Example

MEMBERS = [
    0.90, 0.83, 0.76, 0.88, 0.99, 0.76, 0.99, 0.95, 0.67, 0.85, 0.99, 0.58,
    0.68, 0.82, 0.89, 0.83, 0.97, 0.73, 0.93, 0.94, 0.97, 0.74, 0.77, 0.85,
]  # fmt: skip
NONMEMBERS = [
    0.26, 0.88, 0.66, 0.65, 0.52, 0.70, 0.11, 0.55, 0.91, 0.79, 0.46, 0.69,
    0.51, 0.48, 0.66, 0.35, 0.36, 0.65, 0.65, 0.39, 0.64, 0.48, 0.75, 0.71,
]  # fmt: skip
SAMPLE = {"members": MEMBERS, "nonmembers": NONMEMBERS}
PEOPLE = [f"person {row // 2}" for row in range(48)]
GROUPS = ["adult", "child", "adult"] * 16
COUNTS = {"members": [120, 300, 580], "nonmembers": [310, 420, 270], "edges": [0.4, 0.7]}
LOSS = [round(1.0 - score, 2) for score in MEMBERS], [round(1.0 - score, 2) for score in NONMEMBERS]
OTHER = [0.61, 0.55, 0.72, 0.48, 0.66, 0.59, 0.70, 0.52], [0.58, 0.49, 0.63, 0.51, 0.60, 0.47, 0.68, 0.54]


def people(seed: int, count: int) -> dict[str, list[Any]]:
    """Rows of a table of people, made by arithmetic that looks like chance."""
    draws = [(seed * 7919 + place * 104_729) % 1009 for place in range(count)]
    return {
        "age": [20 + draw % 61 for draw in draws],
        "income": [round(1.2 + (draw * 37 % 500) / 100, 2) for draw in draws],
        "job": [("baker", "judge", "nurse")[draw % 3] for draw in draws],
    }


def predictions(own: list[float], classes: list[int]) -> dict[str, list[Any]]:
    """Probabilities of two classes and the truth, from the probability of each row's own class."""
    truth = [classes[place % 2] for place in range(len(own))]
    second = [round(p if true else 1.0 - p, 2) for p, true in zip(own, truth, strict=True)]
    return {"label": truth, "p_0": [round(1.0 - p, 2) for p in second], "p_1": second}


TRAIN, HOLDOUT, RELEASED = people(1, 12), people(2, 12), people(5, 10)
TABLES = {
    "train": TRAIN,
    "holdout": HOLDOUT,
    "synthetic": {name: [*column, *TRAIN[name][:2]] for name, column in RELEASED.items()},
}


JSON_EXAMPLES: dict[str, dict[str, Example]] = {
    "advantage": {
        "scores": Example(
            "Scores of both sides, and a limit to decide about", {**SAMPLE, "max_advantage": 0.1}
        ),
        "counts": Example(
            "Counts in place of scores: 1,000 records a side in three cells",
            {"counts": COUNTS, "max_advantage": 0.1, "claimed_epsilon": 1.0},
        ),
        "options": Example(
            "Rare members, F1 as a further metric, one threshold as the adversary",
            {
                **SAMPLE,
                "prior": 0.1,
                "metric": {"preset": "f_beta", "beta": 1},
                "estimator": {"kind": "threshold"},
                "confidence": 0.9,
            },
        ),
        "cluster": Example("People with two records each: who is whose", {**SAMPLE, "cluster": PEOPLE}),
    },
    "procedure": {
        "models": Example(
            "Four models of one procedure, each with eight members and eight nonmembers, and a limit",
            {
                "members": [
                    round(score + 0.05 * (place // 8), 2) for place, score in enumerate(MEMBERS[:8] * 4)
                ],
                "nonmembers": NONMEMBERS[:8] * 4,
                "model": {
                    side: [f"run {place // 8}" for place in range(32)] for side in ("members", "nonmembers")
                },
                "max_advantage": 0.1,
            },
        ),
    },
    "individual-risk": {
        "records": Example("Every record, with a table of groups", {**SAMPLE, "groups": GROUPS}),
        "kde": Example(
            "Risk and precision of each record as MACE states them by kernel densities, beside the certified ones",
            {**SAMPLE, "estimator": {"kind": "kde", "bandwidth": "silverman"}, "metric": "precision"},
        ),
        "targets": Example(
            "Three scores asked about, against counts", {"counts": COUNTS, "targets": [0.1, 0.5, 0.95]}
        ),
    },
    "metrics": {
        "presets": Example("Every preset", SAMPLE),
        "histogram": Example(
            "Two metrics, as MACE estimates them by equal slices of the score",
            {**SAMPLE, "metrics": ["accuracy", "precision"], "estimator": {"kind": "histogram", "bins": 10}},
        ),
        "own": Example(
            "F2, and a metric of your own by its coefficients",
            {
                **SAMPLE,
                "metrics": [
                    {"preset": "f_beta", "beta": 2},
                    {"name": "jaccard by hand", "coefficients": {"a11": 1, "b11": 1, "b10": 1, "b01": 1}},
                ],
            },
        ),
    },
    "attack": {
        "threshold": Example(
            "Scores, accused from a threshold on that was chosen before",
            {**SAMPLE, "rule": {"kind": "threshold", "threshold": 0.75}},
        ),
        "guesses": Example(
            "Guesses alone, at a prior of 0.1",
            {
                "members": [score > 0.75 for score in MEMBERS],
                "nonmembers": [score > 0.75 for score in NONMEMBERS],
                "prior": 0.1,
            },
        ),
        "top": Example(
            "As many of the lowest losses as there are members, as LOGAN does",
            {"members": LOSS[0], "nonmembers": LOSS[1], "rule": {"kind": "top", "side": "below"}},
        ),
        "quantile": Example(
            "Scores above the 90% quantile of nonmembers; precision and F1 of the attack",
            {
                **SAMPLE,
                "rule": {"kind": "quantile", "quantile": 0.9, "of": "nonmembers"},
                "metrics": ["precision", "f_beta"],
            },
        ),
    },
    "compare": {
        "queries": Example(
            "Two queries of one model on the same records",
            {"queries": {"confidence": SAMPLE, "loss": {"members": LOSS[0], "nonmembers": LOSS[1]}}},
        ),
        "models": Example(
            "Two models, each with records of its own",
            {
                "queries": {"before": SAMPLE, "after": {"members": OTHER[0], "nonmembers": OTHER[1]}},
                "paired": False,
            },
        ),
    },
    "compare-releases": {
        "releases": Example(
            "A model with two queries, and another, on the same records; the first must keep a limit, too",
            {
                "queries": {
                    "before/confidence": SAMPLE,
                    "before/loss": {"members": LOSS[0], "nonmembers": LOSS[1]},
                    "after": {"members": OTHER[0], "nonmembers": OTHER[1]},
                },
                "max_advantage": 0.8,
                "paired": False,
            },
        ),
    },
    "series": {
        "checkpoints": Example(
            "Two checkpoints in their order, the second with two queries, and the advantage that is acceptable",
            {
                "queries": {
                    "epoch 1": {"members": OTHER[0], "nonmembers": OTHER[1]},
                    "epoch 20/confidence": SAMPLE,
                    "epoch 20/loss": {"members": LOSS[0], "nonmembers": LOSS[1]},
                },
                "max_advantage": 0.7,
            },
        ),
        "steps": Example(
            "Counts in which each group is a step of the training",
            {
                "counts": {
                    "members": [70, 130],
                    "nonmembers": [100, 100],
                    "edges": [0.5],
                    "by_group": [
                        {"label": 500, "members": [45, 55], "nonmembers": [50, 50]},
                        {"label": 1000, "members": [25, 75], "nonmembers": [50, 50]},
                    ],
                },
                "max_advantage": 0.4,
            },
        ),
    },
    "synthetic": {
        "release": Example(
            "Twelve people, twelve who were held out, and a release that has two of the first word for word",
            {**TABLES, "max_copies_over_holdout": 0, "max_advantage": 0.5},
        ),
        "reference": Example(
            "The same with a reference, two queries alone, and no look at the sides themselves",
            {
                **TABLES,
                "reference": people(3, 12),
                "queries": ["closeness", "calibrated_closeness"],
                "check_sides": False,
            },
        ),
        "control": Example(
            "The same release, and how near each person is to one that was made of others",
            {
                **TABLES,
                "train": {**TRAIN, "to_another": MEMBERS[:12]},
                "holdout": {**HOLDOUT, "to_another": NONMEMBERS[:12]},
                "control": "to_another",
                "max_copies_over_holdout": 0,
            },
        ),
    },
    "release-size": {
        "sizes": Example(
            "Three sizes of a release of twelve rows, and the advantage that is acceptable",
            {**TABLES, "sizes": [4, 8, 12], "max_advantage": 0.8, "queries": ["closeness", "exact_copy"]},
        ),
        "limits": Example(
            "Two sizes that must keep three limits: on the advantage, on exposed members and on copies",
            {
                **TABLES,
                "sizes": [4, 12],
                "max_advantage": 0.9,
                "max_exposed": 0.6,
                "at_precision": 0.8,
                "max_copies_over_holdout": 1,
            },
        ),
    },
    "model": {
        "probabilities": Example(
            "What a classifier says of eight training rows and of eight others, and a limit",
            {
                "train": predictions(MEMBERS[:8], [0, 1]),
                "holdout": predictions(NONMEMBERS[:8], [1, 0]),
                "max_advantage": 0.5,
            },
        ),
        "features": Example(
            "The same with a column that the model read: what tells the sides apart by it alone is no leak",
            {
                "train": {**predictions(MEMBERS[:8], [0, 1]), "age": [61, 58, 64, 70, 66, 59, 73, 62]},
                "holdout": {**predictions(NONMEMBERS[:8], [1, 0]), "age": [31, 28, 44, 39, 25, 36, 41, 33]},
                "features": ["age"],
                "max_advantage": 0.5,
            },
        ),
        "control": Example(
            "The same with the score of a model that saw neither side",
            {
                "train": {**predictions(MEMBERS[:8], [0, 1]), "other_model": OTHER[0][:8]},
                "holdout": {**predictions(NONMEMBERS[:8], [1, 0]), "other_model": OTHER[1][:8]},
                "control": "other_model",
                "max_advantage": 0.5,
            },
        ),
        "regressor": Example(
            "Predictions of a regressor beside the targets",
            {
                "train": {
                    "y": [1.5, 2.25, 3.5, 4.75, 6.0, 7.5, 8.25, 9.0],
                    "guess": [1.5, 2.5, 3.5, 4.5, 6.0, 7.5, 8.0, 9.0],
                },
                "holdout": {
                    "y": [1.25, 2.0, 3.75, 4.5, 6.25, 7.0, 8.5, 9.5],
                    "guess": [2.0, 3.0, 3.0, 5.5, 5.0, 8.5, 7.0, 9.0],
                },
                "truth": "y",
                "outputs": "predictions",
            },
        ),
    },
    "check": {
        "people": Example(
            "Twelve people whom a model was trained on, and twelve who were held out",
            {"train": TRAIN, "holdout": HOLDOUT},
        ),
        "control": Example(
            "The same, with a score of a model that saw neither, and the rows that are alike",
            {
                "train": {**TRAIN, "other_model": MEMBERS[:12]},
                "holdout": {**HOLDOUT, "other_model": NONMEMBERS[:12]},
                "control": "other_model",
                "match": True,
            },
        ),
    },
    "audit": {
        "claim": Example(
            "A promise of epsilon 0.5, against the scores",
            {**SAMPLE, "claimed_epsilon": 0.5, "direction": "high"},
        ),
        "bound": Example("Only what the records show, at a delta", {"counts": COUNTS, "claimed_delta": 1e-5}),
    },
    "report": {
        "scores": Example(
            "Scores, groups, and a limit to decide about", {**SAMPLE, "groups": GROUPS, "max_advantage": 0.1}
        ),
        "groups": Example(
            "A limit on the advantage of each group by itself, beside one on that of all records",
            {**SAMPLE, "groups": GROUPS, "max_advantage": 0.1, "max_group_advantage": 0.5},
        ),
        "counts": Example("Counts in place of scores", {"counts": COUNTS, "max_advantage": 0.1}),
    },
    "gate": {
        "limits": Example(
            "Limits on the advantage, on epsilon and on the F1 of the best adversary, against counts",
            {
                "counts": COUNTS,
                "max_advantage": 0.4,
                "max_epsilon": 2.0,
                "delta": 0.01,
                "metric": {"preset": "f_beta", "beta": 1},
                "max": 0.75,
            },
        ),
        "cluster": Example(
            "People with two records each: the advantage by all of them, the TPR by one of each",
            {**SAMPLE, "cluster": PEOPLE, "max_advantage": 0.9, "max_tpr": 0.9, "at_fpr": 0.1},
        ),
        "few": Example(
            "Limits on the advantage, and on the members found where few nonmembers are accused",
            {"counts": COUNTS, "max_advantage": 0.4, "max_tpr": 0.5, "at_fpr": 0.01},
        ),
        "groups": Example(
            "A limit on the advantage of each group by itself, on its own records",
            {**SAMPLE, "max_group_advantage": 0.5, "groups": GROUPS},
        ),
        "mean": Example(
            "A limit on the mean risk of every group, read off all records together",
            {**SAMPLE, "max_group_risk": 0.5, "groups": GROUPS},
        ),
        "anytime": Example(
            "The first of several batches; give the answer's state back with the next one",
            {"counts": COUNTS, "max_advantage": 0.1, "anytime": True, "planned": 20000},
        ),
    },
    "plan": {
        "verdict": Example(
            "Records to show that 0.05 is below 0.1", {"expected": 0.05, "max_advantage": 0.1}
        ),
        "width": Example(
            "Records for an interval of width 0.1", {"expected": 0.2, "width": 0.1, "prior": 0.5}
        ),
        "clusters": Example(
            "Records of people with five rows each, whose scores have correlation 0.5",
            {"expected": 0.3, "max_advantage": 0.1, "cluster_size": 5, "correlation": 0.5},
        ),
        "models": Example(
            "Models to train, of 1,000 records each, to show that a procedure gives away more than 0.1",
            {"expected": 0.2, "max_advantage": 0.1, "spread": 0.05, "records_per_model": 1000},
        ),
    },
    "counts": {
        "scores": Example("Scores to counts on a grid that merges with any other", SAMPLE),
        "shards": Example("Counts of two shards, merged", {"shards": [COUNTS, COUNTS]}),
    },
    **theory.EXAMPLES,
}
"""JSON bodies, by operation; the first of each is what Swagger UI shows."""
