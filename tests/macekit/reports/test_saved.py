"""Kept answers: whose they are, and what is wrong with those that are not whole."""

import copy
import json
import operator
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import pytest

from app.openapi.examples import JSON_EXAMPLES
from macekit.reports.saved import BrokenAnswerError, recognise, validate_answer
from tests.cases import each_case
from tests.macekit.asking import asked, quickly
from tests.macekit.reports.asked import CASES, case

ASKED = [(operation, name) for operation in JSON_EXAMPLES for name in JSON_EXAMPLES[operation]]
Spoil = Callable[[dict[str, Any]], object]


def answer(operation: str, name: str, **more: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(posted(operation, name, json.dumps(more)))
    return found


@cache
def posted(operation: str, name: str, more: str) -> bytes:
    if more == "{}" and (named := f"{operation}, {name}") in CASES:
        return json.dumps(case(named)[1]).encode()
    question = {**JSON_EXAMPLES[operation][name].value, **json.loads(more)}
    with quickly():
        return json.dumps(asked(operation, question)).encode()


@pytest.mark.slow
@each_case("operation, name", ASKED)
def test_an_answer_is_known_by_its_keys_and_is_whole(operation: str, name: str) -> None:
    found = answer(operation, name)

    assert recognise(found) == operation
    assert validate_answer(operation, found) == found


@each_case("operation, name", ASKED)
def test_a_question_is_no_answer(operation: str, name: str) -> None:
    assert recognise(JSON_EXAMPLES[operation][name].value) is None


@each_case("value", [None, [], 3, "text", {}, {"advantage": {}}])
def test_other_things_are_no_answer(value: object) -> None:
    assert recognise(value) is None


def put(value: object, *path: str | int) -> Spoil:
    return lambda found: operator.setitem(reduce(operator.getitem, path[:-1], found), path[-1], value)


def without(*path: str) -> Spoil:
    return lambda found: operator.delitem(reduce(operator.getitem, path[:-1], found), path[-1])


def nest(depth: int) -> object:
    return [nest(depth - 1)] if depth else 1


def swap(*path: str) -> Spoil:
    def spoil(found: Any) -> None:
        for name in path:
            found = found[name]
        found[0], found[1] = found[1], found[0]

    return spoil


TAMPERED: dict[str, list[tuple[Spoil, str]]] = {
    "advantage": [
        (without("advantage", "upper"), "advantage.upper: field required"),
        (without("roc"), "roc: field required"),
        (put("0.1", "advantage", "upper"), "advantage.upper: input should be a valid number"),
        (put(True, "baseline"), "baseline: input should be a valid number"),
        (put(["<b>"], "sentence"), "sentence: input should be a valid string"),
        (
            put("excellent", "verdict", "decision"),
            "verdict.decision: input should be 'pass', 'fail', 'inconclusive' or",
        ),
        (put(0.01, "metric", "upper"), "metric: the lower end is above the upper one"),
        (put("pass", "verdict", "decision"), "verdict: decision is not what the interval says"),
        (put([0.0], "roc", "fpr"), "roc: fpr, tpr differ in length"),
        (put({"fpr": [], "tpr": []}, "roc", "operating_points"), "roc.operating_points: "),
        (put([], "roc", "fpr"), "roc.fpr: empty"),
        (put(2.0, "roc", "auc"), "roc: the auc is outside its interval"),
        (put(0.999, "advantage", "estimate"), "advantage: the estimate is outside its interval"),
        (put(95.0, "advantage", "confidence"), "advantage.confidence: not between 0 and 1"),
        (put(0.2, "provenance", "options", "max_advantage"), "verdict: threshold is not the one of the"),
        (put(nest(400), "provenance", "options", "more"), "nested too deeply"),
    ],
    "report": [
        (put([1.0], "distribution", "edges"), "distribution: edges are not one more than the bins"),
        (put(None, "distribution", "edges"), "distribution: intervals have edges"),
        (put("categories", "distribution", "kind"), "distribution: categories have edges"),
        (put(-1, "distribution", "outside_members"), "distribution.outside_members: less than 0"),
        (put(-5, "distribution", "members", 0), "distribution.members: less than 0"),
        (swap("distribution", "edges"), "distribution: edges do not increase"),
        (put([1], "distribution", "members"), "distribution: members, nonmembers differ in length"),
        (put([0.1], "risk", "cells", "risk"), "risk.cells: risk, lower, "),
        (put("pass", "result", "verdict", "decision"), "result.verdict: decision is not"),
    ],
    "gate": [
        (put("pass", "limits", 0, "decision"), "limits.0: decision is not what the interval says"),
        (put(1e9, "limits", 0, "maximum"), "limits.0: decision is not what the interval says"),
        (put("pass", "decision"), "decision is not what its limits come to"),
        (put([], "limits"), "limits: empty"),
        (put(["It covers everything."], "covers"), "covers: stands under a pass, and under nothing else"),
    ],
    "compare": [(put([], name), f"{name}: empty") for name in ("ranking", "provenance")],
    "metrics": [(put([], "metrics"), "metrics: empty")],
}
"""What somebody made of the answer to an operation, and what is said of it."""
ALL = {"members": [400, 0], "nonmembers": [0, 400]}
LIMITED: dict[str, tuple[str, dict[str, Any]]] = {
    "advantage": ("scores", {"max_advantage": 0.1}),
    "report": ("scores", {"max_advantage": 0.1}),
    "gate": ("limits", {"counts": ALL, "max_advantage": 0.2}),
}
"""Of which example that answer is, with which options beside it."""


@each_case("operation, spoil, said", [(name, *each) for name in TAMPERED for each in TAMPERED[name]])
def test_what_was_tampered_with_is_said_by_its_place(operation: str, spoil: Spoil, said: str) -> None:
    name, more = LIMITED.get(operation, (next(iter(JSON_EXAMPLES[operation])), {}))
    found = answer(operation, name, **more)
    spoil(found)

    with pytest.raises(BrokenAnswerError) as wrong:
        validate_answer(operation, found)

    assert str(wrong.value).startswith(said)
    assert "<b>" not in str(wrong.value)


def test_a_limit_without_an_upper_end_does_not_pass() -> None:
    found = answer("gate", "limits", max_epsilon=1.0, delta=0.0)
    (open_limit,) = [limit for limit in found["limits"] if limit["upper"] is None]
    open_limit["decision"] = "pass"

    with pytest.raises(BrokenAnswerError, match="decision is not what the interval says at this limit"):
        validate_answer("gate", found)


def test_what_does_not_belong_to_an_answer_is_left_out() -> None:
    found = answer("plan", next(iter(JSON_EXAMPLES["plan"])))

    assert validate_answer("plan", {**copy.deepcopy(found), "more": "<script>"}) == found
