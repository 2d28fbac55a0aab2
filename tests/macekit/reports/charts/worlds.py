"""Samples whose pictures are hard to draw: nothing to see, everything to see, too much, too little, too far apart."""

from functools import cache
from typing import Any

import numpy as np

from tests.macekit.reports.asked import CASES, Answer, answered, case, sides

MEMBERS, NONMEMBERS = (np.random.default_rng(seed).normal(0, 1, 400).tolist() for seed in (0, 1))
SIDES = {"members": MEMBERS, "nonmembers": NONMEMBERS}
LABELS = [f"label {i:05}" for i in range(10_000)]


def queries(number: int, **more: Any) -> dict[str, Any]:
    every = {f"q{i}": sides(MEMBERS[:60], NONMEMBERS[i : i + 60]) for i in range(number)}
    return {"queries": every, "paired": False, "against": "q0", **more}


REPORTS: dict[str, dict[str, Any]] = {
    "nothing leaks": sides(MEMBERS, MEMBERS, max_advantage=0.1),
    "everything leaks": sides([x + 20 for x in MEMBERS], NONMEMBERS, claimed_epsilon=1, max_advantage=0.5),
    "one category": sides(["a"] * 50, ["a"] * 50),
    "one number": sides([3.0] * 50, [3.0] * 50),
    "ten thousand categories": sides(LABELS, LABELS[::-1]),
    "eight records a side": sides(MEMBERS[:8], NONMEMBERS[:8]),
    "prior of a tenth": {**SIDES, "prior": 0.1, "max_advantage": 0.85},
    "threshold below zero": {**SIDES, "max_advantage": -0.5},
    "counts with open ends": {"counts": sides([90, 50, 60], [50, 70, 80], edges=[-1.0, 1.0])},
    "counts with one cut": {"counts": sides([90, 60], [50, 80], edges=[0.5])},
    "empty cells between": {"counts": sides([90, 0, 60], [50, 0, 80], edges=[0.0, 9.0])},
    "far from zero": sides([1e9 + x for x in MEMBERS], [1e9 + x for x in NONMEMBERS]),
    "enormous": sides([1e308 * x for x in (1, -1) * 50], [0.0, 1.0] * 50),
    "tiny": sides([5e-324, 0.0, 1e-323] * 20, [0.0, 5e-324] * 30),
    "no points asked for": {**SIDES, "operating_points": [], "metric": None},
    "points far out": {**SIDES, "operating_points": [1e-12, 0.5]},
}
WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("report", question) for name, question in REPORTS.items()},
    "prior of nine tenths, risk": ("individual-risk", {**SIDES, "prior": 0.9, "groups": list(range(80)) * 10}),
    "vectors, risk": ("individual-risk", sides([[x, -x] for x in MEMBERS], [[x, x] for x in NONMEMBERS])),
    "many queries": ("compare", queries(60)),
    "queries at a prior of a tenth": ("compare", queries(4, prior=0.1)),
}

NAMES = (*CASES, *WORLDS)


@cache
def world(name: str) -> tuple[str, Answer]:
    """The operation and its answer, of one of these worlds or one of the usual cases; not to be changed."""
    if name in CASES:
        return case(name)
    operation, question = WORLDS[name]
    return operation, answered(operation, question)
