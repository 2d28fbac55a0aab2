"""What OpenAPI says of the PMP operations, and examples that run as they stand."""

from __future__ import annotations

from app.openapi.example import Example

SUMMARIES: dict[str, str] = {
    "theory/pmp-exponential": "What an exponential mechanism gives away to who knows only whence its records came",
    "theory/pmp-gaussian": "What a sum or mean with Gaussian noise gives away to who knows whence its records came",
}
ABOUT: dict[str, str] = {
    "theory/pmp-exponential": "Half of the 2n records were used, every half equally likely. `losses` has a row a "
    "record, or a row a training set; give `epsilon`, or the `practical_epsilon` you want. Exact as long as the "
    "training sets can be gone through (2n up to about 30 for losses of records); beyond, set `draws`.",
    "theory/pmp-gaussian": "Half of the 2n records were used, every half equally likely. Give `sigma`, or `epsilon` "
    "for the least noise that is (epsilon, delta)-DP, or the `practical_epsilon` you want.",
}

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

EXAMPLES: dict[str, dict[str, Example]] = {
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
