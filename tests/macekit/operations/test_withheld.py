"""A pass is withheld beside a severe exposure in every answer that says pass, and by the exit status that follows."""

import json
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import macekit
from app.cli.parsing import UNDECIDED, status_of
from macekit.client.result import Inconclusive
from macekit.reports.pipeline import annotation, junit, summary
from macekit.reports.saved import validate_answer
from tests.cases import each_case
from tests.macekit.asking import asked, decided, refused

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
N = 10_000
SPIKE = {
    "members": np.where(RNG.random(N) < 0.05, RNG.uniform(0.3, 0.301, N), RNG.normal(size=N)).tolist(),
    "nonmembers": RNG.normal(size=N).tolist(),
}
CLEAN = {"members": RNG.normal(size=N).tolist(), "nonmembers": RNG.normal(size=N).tolist()}
QUERIES = {"queries": {"dull": CLEAN, "sharp": SPIKE}}
LIMIT = {"max_advantage": 0.2}

DOORS: list[tuple[str, dict[str, Any]]] = [
    ("gate", SPIKE), ("advantage", SPIKE), ("report", SPIKE), ("compare", QUERIES),
    ("compare-releases", QUERIES), ("series", QUERIES),
]  # fmt: skip


@pytest.mark.slow
@each_case("operation, records", DOORS)
def test_every_door_leaves_open_what_would_be_a_pass_until_it_is_accepted_and_says_why(operation, records):
    answer, accepted = (
        asked(operation, {**records, **LIMIT, **options}) for options in ({}, {"accept_exposure": True})
    )
    codes, then = ([w["code"] for w in of.get("result", of)["warnings"]] for of in (answer, accepted))

    assert (decided(answer)["decision"], decided(answer)["undecided_because"]) == ("inconclusive", "exposed")
    assert "exposed" in codes
    assert status_of(answer) == UNDECIDED == 3
    assert validate_answer(operation, answer) == answer  # so that a kept answer is shown
    assert (decided(accepted)["decision"], decided(accepted)["undecided_because"]) == ("pass", None)
    assert "exposure_accepted" in then
    assert status_of(accepted) == 0


@each_case("operation, records", DOORS)
def test_there_is_nothing_to_accept_without_a_limit_or_beside_one_on_exposure(operation, records) -> None:
    limit = {"max_tpr": 0.5, "at_fpr": 0.01} if operation == "gate" else {}
    problem = refused(operation, {**records, **limit, "accept_exposure": True})

    assert (problem["kind"], problem["field"]) == ("bad-option", "accept_exposure")


@pytest.mark.slow
def test_batches_of_a_run_are_looked_at_together() -> None:
    first = asked("gate", {**SPIKE, "max_advantage": 0.3, "anytime": True})
    assert (first["decision"], first["undecided_because"]) == ("inconclusive", "exposed")

    accepted = asked("gate", {**SPIKE, "max_advantage": 0.3, "anytime": True, "accept_exposure": True})
    assert accepted["decision"] == "pass"
    assert accepted["state"] == first["state"]


@pytest.mark.slow
def test_the_gate_says_so_wherever_a_pipeline_reads() -> None:
    answer = asked("gate", {**SPIKE, **LIMIT})
    cases = ET.fromstring(junit(answer)).findall(".//testcase")

    assert [case.find("error") is not None for case in cases] == [False, True]
    assert cases[1].find("error").get("type") == "exposed"
    assert annotation(answer).startswith("::warning title=mace gate::Undecided: what is limited is kept, but")
    assert "### mace gate: undecided" in summary(answer).decode()
    with pytest.raises(Inconclusive, match="a pass would hide that"):
        macekit.gate(**SPIKE, **LIMIT).require_pass()
    with pytest.warns(UserWarning, match="445 of 10,000 members"):
        macekit.gate(**SPIKE, **LIMIT, accept_exposure=True).require_pass()


def test_a_window_has_its_bounds_and_a_limit_its_ranges() -> None:
    answer = asked("gate", {**SPIKE, **LIMIT, "max_tpr": 0.02, "at_fpr": 0.001})
    tail, limit = answer["exposure"]["tail"], answer["limits"][1]

    assert (tail["direction"], tail["label"]) == ("window", None)
    assert 0.29 < tail["low"] < tail["high"] < 0.31
    assert answer["decision"] == "inconclusive"
    assert answer["undecided_because"] is None
    assert limit["ranges"] == 4
    assert limit["threshold"]["upper"] < 0.02 < limit["upper"]
    assert json.dumps(answer)


def test_labels_have_a_true_positive_rate_too() -> None:
    labels = {"members": ["a"] * 900 + ["b"] * 100, "nonmembers": ["a"] * 1000}
    answer = asked("gate", {**labels, "max_tpr": 0.02, "at_fpr": 0.01})

    assert answer["decision"] == "fail"
    assert answer["limits"][0]["threshold"] is None
    assert "at most 4 labels" in answer["sentence"]
