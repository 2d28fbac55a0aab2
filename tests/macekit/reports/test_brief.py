"""The brief form of an answer: what a pipeline reads, and from which a run goes on. Sizes: tests/goldens."""

import json
from typing import Any

import numpy as np
import pytest

from macekit.call import BRIEF, JSON, Body, Call
from macekit.catalogue import FORMS
from macekit.operations import perform
from macekit.reports.brief import brief

Answer = dict[str, Any]


def answered(operation: str, question: object, form: str) -> bytes:
    reply = perform(Call(operation, accept=form), Body.of(json.dumps(question).encode()))
    assert reply.status == 200, bytes(reply.body)
    return bytes(reply.body)


def test_a_report_and_a_question_with_a_verdict_say_what_was_decided() -> None:
    rng = np.random.default_rng(0)
    question = {"members": rng.normal(2, 1, 300).tolist(), "nonmembers": rng.normal(0, 1, 300).tolist()}
    for operation in ("advantage", "report", "gate"):
        whole: Answer = json.loads(answered(operation, question | {"max_advantage": 0.1}, JSON))
        found: Any = brief(whole)
        assert (found["decision"], found["sentence"]) == ("fail", whole["sentence"]), operation
    assert found["limits"][0]["lower"] > 0.1
    assert found["warnings"] == list(dict.fromkeys(note["code"] for note in whole["warnings"]))


@pytest.mark.slow
def test_a_run_of_batches_goes_on_from_a_brief_answer() -> None:
    rng = np.random.default_rng(0)
    state: object = None
    for look in (1, 2):
        batch = {"members": rng.normal(1, 1, 60).tolist(), "nonmembers": rng.normal(0, 1, 60).tolist()}
        more = {"max_advantage": 0.1} if state is None else {"state": state}
        state = json.loads(answered("gate", {"anytime": True, **batch, **more}, BRIEF))["state"]
        assert isinstance(state, dict)
        assert len(state["batches"]) == look


@pytest.mark.parametrize("operation", ["counts", "columns"])
def test_what_has_no_report_has_no_brief_form(operation: str) -> None:
    assert BRIEF not in FORMS[operation]
