"""Kept answers: whose they are, and what is wrong with those that are not whole."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from app.body import Body
from app.call import Call
from app.openapi.examples import JSON_EXAMPLES
from app.operations import perform
from app.report.kept import BrokenAnswerError, checked, recognise

ASKED = [(operation, name) for operation in JSON_EXAMPLES for name in JSON_EXAMPLES[operation]]
Spoil = Callable[[dict[str, Any]], object]


def answer(operation: str, name: str, **more: object) -> dict[str, Any]:
    example = JSON_EXAMPLES[operation][name].value
    assert isinstance(example, dict)
    reply = perform(Call(operation), Body.of(json.dumps({**example, **more}).encode()))
    assert reply.status == 200, bytes(reply.body)
    found: dict[str, Any] = json.loads(bytes(reply.body))
    return found


@pytest.mark.parametrize(("operation", "name"), ASKED)
def test_an_answer_is_known_by_its_keys_and_is_whole(operation: str, name: str) -> None:
    found = answer(operation, name)

    assert recognise(found) == operation
    assert checked(operation, found) == found


@pytest.mark.parametrize(("operation", "name"), ASKED)
def test_a_question_is_no_answer(operation: str, name: str) -> None:
    assert recognise(JSON_EXAMPLES[operation][name].value) is None


@pytest.mark.parametrize("value", [None, [], 3, "text", {}, {"advantage": {}}])
def test_other_things_are_no_answer(value: object) -> None:
    assert recognise(value) is None


def without(*path: str) -> Spoil:
    def spoil(found: dict[str, Any]) -> None:
        for name in path[:-1]:
            found = found[name]
        del found[path[-1]]

    return spoil


def put(value: object, *path: str) -> Spoil:
    def spoil(found: dict[str, Any]) -> None:
        for name in path[:-1]:
            found = found[name]
        found[path[-1]] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without("advantage", "upper"), "advantage.upper: field required"),
        (without("roc"), "roc: field required"),
        (put("0.1", "advantage", "upper"), "advantage.upper: input should be a valid number"),
        (put(True, "baseline"), "baseline: input should be a valid number"),
        (put(["<b>"], "sentence"), "sentence: input should be a valid string"),
        (put("excellent", "verdict", "decision"), "verdict.decision: input should be 'pass', 'fail' or"),
        (put(0.01, "metric", "upper"), "metric: the lower end is above the upper one"),
        (put("pass", "verdict", "decision"), "verdict: decision is not what the interval says"),
        (put([0.0], "roc", "fpr"), "roc: fpr, tpr differ in length"),
    ],
)
def test_what_was_tampered_with_is_said_by_its_place(spoil: Spoil, said: str) -> None:
    found = answer("advantage", "scores", threshold=0.1)
    spoil(found)

    with pytest.raises(BrokenAnswerError) as wrong:
        checked("advantage", found)

    assert str(wrong.value).startswith(said)
    assert "<b>" not in str(wrong.value)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (put([1.0], "distribution", "edges"), "distribution: edges are not one more than the bins"),
        (put([1], "distribution", "members"), "distribution: members, nonmembers differ in length"),
        (put([0.1], "risk", "cells", "risk"), "risk.cells: risk, lower, "),
        (put("pass", "result", "verdict", "decision"), "result.verdict: decision is not"),
    ],
)
def test_the_parts_of_a_report_must_go_together(spoil: Spoil, said: str) -> None:
    found = answer("report", next(iter(JSON_EXAMPLES["report"])), threshold=0.1)
    spoil(found)

    with pytest.raises(BrokenAnswerError) as wrong:
        checked("report", found)

    assert str(wrong.value).startswith(said)


def test_what_does_not_belong_to_an_answer_is_left_out() -> None:
    found = answer("plan", next(iter(JSON_EXAMPLES["plan"])))

    assert checked("plan", {**copy.deepcopy(found), "more": "<script>"}) == found
