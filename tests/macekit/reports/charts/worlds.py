"""Samples whose pictures are hard to draw: nothing to see, everything to see, too much, too little, too far apart."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tests.macekit.reports.asked import CASES, Answer, answered, case

MEMBERS, NONMEMBERS = (np.random.default_rng(seed).normal(0, 1, 400).tolist() for seed in (0, 1))
LABELS = [f"label {i:05}" for i in range(10_000)]

WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing leaks": ("report", {"members": MEMBERS, "nonmembers": MEMBERS, "max_advantage": 0.1}),
    "everything leaks": (
        "report",
        {
            "members": [x + 20 for x in MEMBERS],
            "nonmembers": NONMEMBERS,
            "claimed_epsilon": 1,
            "max_advantage": 0.5,
        },
    ),
    "one category": ("report", {"members": ["a"] * 50, "nonmembers": ["a"] * 50}),
    "one number": ("report", {"members": [3.0] * 50, "nonmembers": [3.0] * 50}),
    "ten thousand categories": ("report", {"members": LABELS, "nonmembers": LABELS[::-1]}),
    "eight records a side": ("report", {"members": MEMBERS[:8], "nonmembers": NONMEMBERS[:8]}),
    "prior of a tenth": (
        "report",
        {"members": MEMBERS, "nonmembers": NONMEMBERS, "prior": 0.1, "max_advantage": 0.85},
    ),
    "prior of nine tenths, risk": (
        "individual-risk",
        {"members": MEMBERS, "nonmembers": NONMEMBERS, "prior": 0.9, "groups": list(range(80)) * 10},
    ),
    "threshold below zero": ("report", {"members": MEMBERS, "nonmembers": NONMEMBERS, "max_advantage": -0.5}),
    "counts with open ends": (
        "report",
        {"counts": {"members": [90, 50, 60], "nonmembers": [50, 70, 80], "edges": [-1.0, 1.0]}},
    ),
    "counts with one cut": (
        "report",
        {"counts": {"members": [90, 60], "nonmembers": [50, 80], "edges": [0.5]}},
    ),
    "empty cells between": (
        "report",
        {"counts": {"members": [90, 0, 60], "nonmembers": [50, 0, 80], "edges": [0.0, 9.0]}},
    ),
    "far from zero": (
        "report",
        {"members": [1e9 + x for x in MEMBERS], "nonmembers": [1e9 + x for x in NONMEMBERS]},
    ),
    "enormous": ("report", {"members": [1e308 * x for x in (1, -1) * 50], "nonmembers": [0.0, 1.0] * 50}),
    "tiny": ("report", {"members": [5e-324, 0.0, 1e-323] * 20, "nonmembers": [0.0, 5e-324] * 30}),
    "no points asked for": (
        "report",
        {"members": MEMBERS, "nonmembers": NONMEMBERS, "operating_points": [], "metric": None},
    ),
    "points far out": (
        "report",
        {"members": MEMBERS, "nonmembers": NONMEMBERS, "operating_points": [1e-12, 0.5]},
    ),
    "many queries": (
        "compare",
        {
            "queries": {
                f"q{i}": {"members": MEMBERS[:60], "nonmembers": NONMEMBERS[i : i + 60]} for i in range(60)
            },
            "paired": False,
            "against": "q0",
        },
    ),
    "queries at a prior of a tenth": (
        "compare",
        {
            "queries": {
                f"q{i}": {"members": MEMBERS[:60], "nonmembers": NONMEMBERS[i : i + 60]} for i in range(4)
            },
            "paired": False,
            "prior": 0.1,
            "against": "q0",
        },
    ),
    "vectors, risk": (
        "individual-risk",
        {"members": [[x, -x] for x in MEMBERS], "nonmembers": [[x, x] for x in NONMEMBERS]},
    ),
}

NAMES = (*CASES, *WORLDS)


@cache
def world(name: str) -> tuple[str, Answer]:
    """The operation and its answer, of one of these worlds or one of the usual cases; not to be changed."""
    if name in CASES:
        return case(name)
    operation, question = WORLDS[name]
    return operation, answered(operation, question)
