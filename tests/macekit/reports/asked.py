"""Real answers of every operation: what a report is made of."""

import json
from functools import cache
from typing import Any

import numpy as np

from app.openapi.examples import JSON_EXAMPLES
from macekit.call import HTML
from macekit.catalogue import OPERATIONS
from macekit.reports.model import Context
from macekit.reports.rendering import render
from tests.macekit.asking import asked as answered
from tests.macekit.asking import quickly

Answer = dict[str, Any]


def _normal(shift: float, n: int, seed: int) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, n).round(4).tolist(), rng.normal(0, 1, n).round(4).tolist()


def sides(members: list[Any], nonmembers: list[Any], **more: Any) -> Answer:
    return {"members": members, "nonmembers": nonmembers, **more}


def _more() -> dict[str, tuple[str, Answer]]:
    few, same, far = _normal(0.2, 200, 1), _normal(0.0, 4000, 2), _normal(0.8, 600, 3)
    rng = np.random.default_rng(4)
    labels = {"groups": ["adult", "child"] * 4000}
    limits = {"max_advantage": 0.2, "max_epsilon": 1.0, "max": 0.9, "max_group_risk": 0.3}
    return {
        "pass": ("report", sides(*same, max_advantage=0.2)),
        "fail at a prior": ("report", sides(*far, prior=0.1, max_advantage=0.81)),
        "inconclusive": ("advantage", sides(*few, max_advantage=0.2)),
        "categories": ("report", sides(["a", "b", "c", "c"] * 30, ["a", "a", "b", "c"] * 30)),
        "booleans": ("report", sides([True, True, False] * 20, [True, False, False] * 20)),
        "vectors": (
            "report",
            sides(
                *(rng.normal(shift, 1, (60, 2)).tolist() for shift in (0.5, 0.0)),
                estimator={"kind": "learned", "learners": ["logistic"]},
            ),
        ),
        "groups": ("report", sides(*same, prior=0.3, **labels)),
        "class rejected": (
            "advantage",
            sides([-3.0, 3.0] * 200, rng.normal(0, 0.5, 400).tolist(), estimator={"kind": "threshold"}),
        ),
        "groups by themselves": ("gate", sides(*same, max_group_advantage=0.2, **labels)),
        "every limit": ("gate", sides(*same, metric={"preset": "f_beta", "beta": 2}, **limits, **labels)),
    }


CASES: dict[str, tuple[str, Answer]] = {
    **{
        f"{operation.name}, {name}": (operation.name, example.value)
        for operation in OPERATIONS
        if HTML in operation.forms
        for name, example in JSON_EXAMPLES[operation.name].items()
        if isinstance(example.value, dict)
    },
    **_more(),
}
"""A question of every kind, by what is special about it."""


@cache
def case(name: str) -> tuple[str, Answer]:
    """The operation, and its answer, of one of the cases; not to be changed."""
    operation, question = CASES[name]
    with quickly():
        return operation, answered(operation, question)


def at(answer: Any, path: str) -> Any:
    """What stands at a place of an answer."""
    for key in path.split("."):
        answer = answer[int(key)] if isinstance(answer, list) else answer[key]
    return answer


@cache
def rendered(name: str, form: str) -> bytes:
    """One of the cases in one form, drawn once; drawing it leaves the answer as it was."""
    operation, answer = case(name)
    before = json.dumps(answer)
    data = render(operation, answer, form, Context("scores.csv", "2026-01-02T03:04Z"))
    assert json.dumps(answer) == before
    return data


HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": "\"' onmouseover=\"alert(1)\" style='x' &lt;b&gt;",
    "right to left": "safe\u202etxt.exe\u2066\u200f אבג",
    "controls": "a\x1b[2J\r\n\x00\x9b\u2028b",
    "long": "x" * 10_000,
    "formula": '=HYPERLINK("http://evil.example","x")',
    "markdown": "a | b ` c [d](http://e) ![f](g) <!-- *h* _i_ # @someone",
    "breaks": "a\n\n# heading\n\n| x |\n",
}
"""Names that somebody might choose."""
