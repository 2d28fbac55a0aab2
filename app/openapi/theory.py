"""Examples of the operations of ``/v1/theory`` that run as they stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

# --- example ------------------------------------------------------------------------------------------------
# One request body to be tried out.


@dataclass(frozen=True, slots=True)
class Example:
    """One request body: a line about it, and the body itself."""

    summary: str
    value: object


# --- dp -----------------------------------------------------------------------------------------------------

DP_EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/dp": {
        "pure": Example("Epsilon 1 at a prior of 0.2", {"epsilon": 1.0, "prior": 0.2}),
        "accountant": Example(
            "An accountant's epsilon, which is about adding or removing a record",
            {"epsilon": 2.0, "delta": 1e-5, "adjacency": "add_remove", "member_weight": 2.0},
        ),
        "gaussian": Example("mu-GDP, also read as (epsilon, delta)", {"mu": 1.0, "delta": 1e-5}),
        "keeping": Example("Which epsilon keeps an advantage of 0.1", {"advantage": 0.1, "delta": 1e-5}),
        "rdp": Example(
            "A Renyi curve: epsilon by order",
            {"rdp": [[2, 0.1], [4, 0.2], [8, 0.4], [16, 0.8], [32, 1.6]], "delta": 1e-5},
        ),
        "noise": Example(
            "DP-SGD: noise, steps and sampling rate",
            {"noise_multiplier": 1.0, "steps": 1000, "sampling_rate": 0.01, "delta": 1e-5},
        ),
    },
    "theory/convert": {
        "advantage": Example(
            "An advantage of 0.2, measured or promised, at delta 1e-5", {"advantage": 0.2, "delta": 1e-5}
        ),
        "eta": Example("An eta of 0.1", {"eta": 0.1}),
        "epsilon": Example(
            "Epsilon 1 as a true positive rate at a false positive rate of 0.001",
            {"epsilon": 1.0, "false_positive_rates": [0.001]},
        ),
        "gaussian": Example("mu-GDP at a prior of 0.2", {"mu": 1.0, "delta": 1e-5, "prior": 0.2}),
        "accountant": Example(
            "What an accountant's epsilon must be at least, as it adds or removes a record",
            {"advantage": 0.3, "delta": 1e-5, "adjacency": "add_remove"},
        ),
    },
}

# --- mip ----------------------------------------------------------------------------------------------------

PEOPLE = (2.1, 3.4, 2.8, 5.0, 3.9, 2.5, 4.2, 3.1)
"""Eight records; the fit is their mean."""

HALVES = tuple(combinations(range(8), 4))


def _mean(half: tuple[int, ...]) -> float:
    return round(sum(PEOPLE[i] for i in half) / 4, 6)


RANDOM = np.random.default_rng(0)
DRAWS = [_mean(HALVES[i]) for i in RANDOM.integers(len(HALVES), size=120)]
SWAPS = [
    (half, x, y)
    for half, (x, y) in product(HALVES, product(range(8), repeat=2))
    if x in half and y not in half
]
PAIRS = [SWAPS[i] for i in RANDOM.integers(len(SWAPS), size=480)]
BEFORE = [_mean(half) for half, _, _ in PAIRS]
AFTER = [_mean(tuple(y if i == x else i for i in half)) for half, x, y in PAIRS]
RECORD = [x for _, x, _ in PAIRS]

TELLING = [[0.6, 0.4] if 0 in pair else [0.4, 0.6] for pair in combinations(range(4), 2)]
"""An algorithm of two outputs on halves of four records: it leans to the first if record 0 is in."""

MIP_EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/mip": {
        "swaps": Example(
            "Means of halves of eight records, before and after a record is swapped",
            {"before": BEFORE, "after": AFTER, "record": RECORD, "eta": 0.2},
        ),
        "draws": Example("Means of random halves alone", {"draws": DRAWS, "eta": 0.2, "noise": "laplace"}),
    },
    "theory/mip-finite": {
        "leaning": Example("Two outputs, four records, halves", {"laws": TELLING, "n": 4}),
    },
}

# --- mis ----------------------------------------------------------------------------------------------------

MIS_EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/mis": {
        "probabilities": Example(
            "A known distribution, three sizes, and how many records keep Delta at 0.01",
            {"probabilities": [0.4, 0.3, 0.2, 0.1], "sizes": [1000, 5000, 10000], "delta": 0.01},
        ),
        "tallies": Example(
            "Records in each of eight categories, two of them empty; what merging buys; rare nonmembers",
            {
                "tallies": [310, 240, 170, 120, 90, 70, 0, 0],
                "universe": 8,
                "coarsen_to": [2, 4],
                "nonmember_share": 0.2,
                "member_weight": 2.0,
            },
        ),
        "values": Example(
            "A column of categories, not all of which may have been seen",
            {"values": ["red", "blue", "red", "green", "blue", "red"] * 20, "sizes": [1000, 10000]},
        ),
    },
    "theory/mis-overfitting": {
        "one_model": Example(
            "One model that has overfitted",
            {
                "train_losses": [round(0.001 * i, 3) for i in range(60)],
                "heldout_losses": [round(0.05 + 0.02 * i, 2) for i in range(60)],
            },
        ),
        "trainings": Example(
            "Losses of many trainings, at thresholds chosen beforehand",
            {
                "train_losses": [0.0, 0.01, 0.0, 0.02, 0.0, 0.4, 0.01, 0.0, 0.03, 0.0] * 6,
                "heldout_losses": [0.3, 1.2, 0.7, 0.05, 2.1, 0.9, 0.6, 1.5, 0.8, 0.4] * 6,
                "losses_of": "independent_trainings",
                "thresholds": [0.01, 0.05, 0.1],
                "nonmember_share": 0.4,
            },
        ),
        "mean": Example(
            "What a small mean loss alone says: at most 10% of training losses above a cut",
            {
                "train_losses": [round(0.001 * i, 3) for i in range(60)],
                "heldout_losses": [round(0.05 + 0.02 * i, 2) for i in range(60)],
                "alpha": 0.1,
            },
        ),
    },
    "theory/mis-divergence": {
        "laws": Example(
            "Three outputs, as they come for members and for nonmembers",
            {"outputs": [[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]], "nonmember_share": 0.5},
        ),
        "rare": Example(
            "One member for four nonmembers", {"outputs": [[0.99, 0.1], [0.01, 0.9]], "nonmember_share": 0.8}
        ),
        "worst": Example("The worst share", {"outputs": [[0.55, 0.45], [0.45, 0.55]]}),
    },
    "theory/mis-mean": {
        "means": Example(
            "Means of 100 to 10,000 records of ten coordinates",
            {"dimension": 10, "sizes": [1000, 100, 10000], "nonmember_share": 0.5},
        ),
        "wanted": Example("How many records keep Delta at 0.01", {"delta": 0.01}),
    },
}

# --- pmp ----------------------------------------------------------------------------------------------------

AGES = (0.23, 0.35, 0.41, 0.48, 0.52, 0.58, 0.64, 0.97)
CENTRES = (0.0, 0.25, 0.5, 0.75, 1.0)
LOSSES = [[round(abs(age - centre), 2) for centre in CENTRES] for age in AGES]
"""Choosing a median: how far each of eight records is from each of five answers."""

MANY = [[round(abs((7 * i % 40) / 40 - centre), 3) for centre in CENTRES] for i in range(40)]
CHOICES = [[0.0, 1.0], [0.2, 0.8], [0.5, 0.5], [0.4, 0.7], [0.9, 0.1], [1.0, 0.3]]

POINTS = [
    [0.2, 0.4],
    [0.3, 0.1],
    [-0.5, 0.2],
    [0.7, -0.6],
    [0.1, -0.2],
    [-0.3, -0.4],
    [2.5, 0.9],
    [-0.1, 0.6],
]

SUMS = [[float(sum(half) % 6 == outcome) for outcome in range(6)] for half in combinations(range(6), 3)]
"""The sum of half of six records modulo 6: one certain output a training set."""

PUBLISHED = [[*(0.05 if i in pair else 0.0 for i in range(4)), 0.9] for pair in combinations(range(4), 2)]
"""Each record used is published with a probability of 0.05."""

PMP_EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/pmp-exponential": {
        "median": Example(
            "Half of eight records, and the answer nearest to their median, 4-DP",
            {"losses": LOSSES, "sensitivity": 1.0, "epsilon": 4.0},
        ),
        "wanted": Example(
            "The epsilon that keeps a practical epsilon of 0.5",
            {"losses": LOSSES, "sensitivity": 1.0, "practical_epsilon": 0.5},
        ),
        "training_sets": Example(
            "Any loss: one row for each two of four records",
            {"losses": CHOICES, "rows": "training_sets", "sensitivity": 1.0, "epsilon": 2.0},
        ),
        "draws": Example(
            "Forty records: training sets at random, with an interval",
            {"losses": MANY, "sensitivity": 1.0, "epsilon": 1.0, "draws": 20_000},
        ),
    },
    "theory/pmp-finite": {
        "sums": Example(
            "The sum of half of six records, 0 to 5, modulo 6: no epsilon is enough for DP, ln 2 is here",
            {"laws": SUMS},
        ),
        "published": Example(
            "One of four records is published now and then, which delta covers",
            {"laws": PUBLISHED, "delta": 0.1},
        ),
        "given_away": Example("The same with a delta that does not", {"laws": PUBLISHED, "delta": 0.01}),
    },
    "theory/pmp-gaussian": {
        "mean": Example(
            "The mean of half of eight points, with the least noise that is (5, 0.01)-DP",
            {"points": POINTS, "clip": 1.0, "epsilon": 5.0, "delta": 0.01},
        ),
        "wanted": Example(
            "The least noise that keeps a practical epsilon of 0.5",
            {"points": POINTS, "clip": 1.0, "practical_epsilon": 0.5, "delta": 0.01},
        ),
        "noise": Example(
            "A sum with noise of standard deviation 1",
            {"points": POINTS, "clip": 1.0, "query": "sum", "sigma": 1.0, "delta": 0.001},
        ),
    },
}

# --- together -----------------------------------------------------------------------------------------------

COUNTS = {"members": [120, 300, 580], "nonmembers": [310, 420, 270], "edges": [0.4, 0.7]}

TOGETHER_EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/together": {
        "contradicted": Example(
            "A claim of epsilon 0.2, which 1,000 records a side contradict",
            {"counts": COUNTS, "claimed_epsilon": 0.2},
        ),
        "rare": Example(
            "Rare members, with a delta, by an accountant that adds or removes records",
            {
                "counts": COUNTS,
                "claimed_epsilon": 1.0,
                "claimed_delta": 1e-5,
                "prior": 0.3,
                "adjacency": "add_remove",
            },
        ),
    }
}

EXAMPLES: dict[str, dict[str, Example]] = (
    DP_EXAMPLES | MIP_EXAMPLES | MIS_EXAMPLES | PMP_EXAMPLES | TOGETHER_EXAMPLES
)
