"""Vectors: every question that is asked of one number a record is answered, and what cannot be is refused by name."""

import csv
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from estimators import Scores
from estimators.adversary.learned import learn_score
from estimators.density.bandwidth import Fixed, Silverman
from estimators.metric.estimate import metric_optimum
from estimators.metric.presets import preset
from estimators.paper import EqualWidth, Kernel, algorithm_1
from macekit.call import CSV
from macekit.schemas.by_operation import ANSWERS
from tests.macekit.asking import asked, refused

pytestmark = pytest.mark.usefixtures("quick")

N = 120
RNG = np.random.default_rng(5)
MEMBERS, NONMEMBERS = RNG.normal(0.6, 1, (N, 3)), RNG.normal(0, 1, (N, 3))
BODY = {"members": MEMBERS.tolist(), "nonmembers": NONMEMBERS.tolist()}
SCORES = Scores.of(MEMBERS, NONMEMBERS)
READINGS: list[tuple[str, int, dict[str, Any], Kernel | EqualWidth]] = [
    ("advantage", 2, {"kind": "kde"}, Kernel()),
    ("report", 3, {"kind": "kde"}, Kernel()),
    ("report", 2, {"kind": "kde", "bandwidth": "silverman"}, Kernel(Silverman())),
    ("advantage", 3, {"kind": "kde", "bandwidth": 0.4}, Kernel(Fixed(0.4))),
    ("report", 2, {"kind": "histogram"}, EqualWidth()),
    ("advantage", 3, {"kind": "histogram"}, EqualWidth()),
    ("advantage", 2, {"kind": "histogram", "bins": 8}, EqualWidth(8)),
]


def codes(answer: dict[str, Any]) -> set[str]:
    return {each["code"] for each in answer["warnings"]}


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["metrics", "audit", "individual-risk", "advantage", "report", "theory/together"])
def test_every_question_about_one_score_answers_and_says_that_it_was_learned(operation: str) -> None:
    found = asked(operation, BODY | ({"claimed_epsilon": 0.1} if operation == "theory/together" else {}))

    TypeAdapter(ANSWERS[operation]).validate_python(found, strict=True)
    said = found["metrics"][0] if operation == "metrics" else found
    assert "learned_score" in codes(said)


@pytest.mark.slow
def test_metrics_are_those_of_the_learned_score_on_records_that_did_not_teach_it() -> None:
    learned = learn_score(SCORES, 0.3, 2)
    best = metric_optimum(learned.counts, preset("precision", 0.3), 0.3, seed=2)

    found = asked("metrics", {**BODY, "prior": 0.3, "seed": 2, "metrics": ["precision"]})

    first = found["metrics"][0]
    assert (first["lower"], first["upper"]) == (best.interval.lower, best.interval.upper)
    assert found["learned_score"] == {
        "learner": learned.learner, "n_taught": 96, "n_members": 72, "n_nonmembers": 72,
        "sentence": learned.caution.message,
    }  # fmt: skip
    assert found["provenance"]["n_members"] == N  # what was posted


@pytest.mark.slow
def test_risk_returns_the_learned_score_of_every_record() -> None:
    found = asked("individual-risk", {**BODY, "metric": "precision", "groups": ["a", "b"] * N})

    records, cells = found["records"], found["cells"]
    assert len(records["learned_score"]) == len(records["learned_half"]) == 2 * N
    assert set(records["learned_half"]) == {0, 1}
    first, second = found["learned_scores"]
    assert first["n_members"] + second["n_members"] == N
    assert cells["cells"]["kind"] == "halves"
    sizes = [len(part["cuts"]) + 1 for part in cells["cells"]["parts"]]
    learned = (records[name] for name in ("learned_score", "learned_half", "cell"))
    for score, half, cell in zip(*learned, strict=True):
        cuts = cells["cells"]["parts"][half]["cuts"]
        assert cell == half * sizes[0] + np.searchsorted(cuts, score, side="right")
    assert sum(sizes) == len(cells["members"])
    assert [each["label"] for each in found["groups"]] == ["a", "b"]


def test_risk_as_a_table_has_the_learned_score_too() -> None:
    rows = list(csv.DictReader(asked("individual-risk", BODY, accept=CSV).splitlines()))

    assert len(rows) == 2 * N
    assert {row["learned_half"] for row in rows} == {"0", "1"}
    assert all(float(row["learned_score"]) >= 0.0 for row in rows)


@pytest.mark.slow
def test_one_number_a_record_has_no_learned_score() -> None:
    for operation in ("metrics", "audit", "advantage"):
        assert asked(operation, LINE)["learned_score"] is None
    risk = asked("individual-risk", LINE)
    records = risk["records"]
    assert risk["learned_scores"] is records["learned_score"] is records["learned_half"] is None


@pytest.mark.slow
def test_records_left_out_because_of_units_are_scored_by_what_has_not_seen_their_unit() -> None:
    twice = {side: [row for row in BODY[side] for _ in (0, 1)] for side in BODY}
    found = asked("individual-risk", {**twice, "units": [i // 2 for i in range(4 * N)]})["records"]

    assert found["learned_half"][::2] == found["learned_half"][1::2]
    assert found["learned_score"][::2] == found["learned_score"][1::2]


# --- the paper's statistics ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "dimension", "estimator", "reading"), READINGS)
def test_u_n_and_w_n_of_vectors_are_those_of_the_library(operation, dimension, estimator, reading) -> None:
    sides = MEMBERS[:, :dimension], NONMEMBERS[:, :dimension]
    expected = algorithm_1(Scores.of(*sides), 0.5, 0.95, reading)

    found = asked(operation, {"members": sides[0].tolist(), "nonmembers": sides[1].tolist(), "estimator": estimator})

    paper = found.get("result", found)["paper"]
    assert (paper["statistic"], paper["estimate"], paper["lower"], paper["upper"], paper["null_level"]) == (
        expected.statistic, expected.value, expected.interval.lower, expected.interval.upper,
        expected.null_level,
    )  # fmt: skip


def test_bins_are_those_of_the_boxes_too() -> None:
    few, many = (asked("advantage", {**BODY, "estimator": {"kind": "histogram", "bins": b}}) for b in (4, 32))

    assert (few["advantage"]["resolution"], many["advantage"]["resolution"]) == (4, 32)


LINE = {"members": MEMBERS[:, 0].tolist(), "nonmembers": NONMEMBERS[:, 0].tolist()}
DENSE = {side: [x * 1e-300 for x in scores] for side, scores in LINE.items()}
LABELS = {"members": ["a", "b", "c"] * 9, "nonmembers": ["a", "b", "b"] * 9}
COUNTS = {"counts": {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}}
LONG = {"members": RNG.normal(0, 1, (20, 11)).tolist(), "nonmembers": RNG.normal(0, 1, (20, 11)).tolist()}
LONGER = {"members": RNG.normal(0, 1, (80, 12)).tolist(), "nonmembers": RNG.normal(0, 1, (80, 12)).tolist()}
KDE: dict[str, Any] = {"estimator": {"kind": "kde"}}


def by(kind: str, **options: Any) -> dict[str, Any]:
    return {"estimator": {"kind": kind, **options}}


REFUSALS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "estimator.kind": [
        ("advantage", COUNTS | KDE, "counts have no places"),
        ("report", LABELS | KDE, "read as categories"),
        ("advantage", LONG | KDE, "at most 10; use learned"),
        ("individual-risk", LONG | KDE, "at most 10"),
        ("gate", {**LINE, **KDE, "max_advantage": 0.1}, "ask /v1/advantage"),
        ("gate", LINE | {"max_epsilon": 1.0, "delta": 0.1} | by("threshold"), "max_advantage"),
        ("compare", {"queries": {"a": LINE, "b": LINE}} | KDE, "ask"),
    ],
    "estimator.bins": [
        ("advantage", LONG | by("histogram"), "fewer bins"),  # 100^11 cells
        ("report", LONG | by("histogram"), "fewer bins"),
        ("individual-risk", LONG | by("histogram"), "fewer bins"),
        ("advantage", LONGER | by("histogram", bins=50), "fewer bins"),  # 50^12 cells
        ("advantage", LONGER | by("histogram", bins=2000), "fewer cells"),
        ("metrics", LABELS | {"estimator": {"bins": 5}}, "nothing to join"),
        ("individual-risk", LABELS | {"estimator": {"bins": 5}}, "nothing to join"),
        ("advantage", LINE | {"bins": 5}, "bins is not known here; its place is estimator.bins"),
    ],
    "estimator.bandwidth": [
        ("advantage", LINE | by("kde", bandwidth=5e-324), "between 1e-140 and 1e+140"),
        ("individual-risk", LINE | by("kde", bandwidth=5e-324), "between 1e-140 and 1e+140"),
        ("metrics", BODY | by("kde", bandwidth=5e-324), "between 1e-46 and 1e+46"),
        ("individual-risk", BODY | by("kde", bandwidth=1e100), "between 1e-46 and 1e+46"),
        ("advantage", DENSE | KDE, "estimator.bandwidth: records lie too close"),
        ("individual-risk", DENSE | KDE, "estimator.bandwidth: records lie too close"),
        ("advantage", BODY | by("kde", bandwidth=-1), ""),
    ],
    "estimator": [("advantage", BODY | by("threshold"), "order")],
    "estimator.changes": [("advantage", BODY | {"estimator": {"changes": 3}}, "order")],
    "estimator.universe": [("advantage", LINE | by("histogram", universe=99), "categories")],
    "estimator.accept_learned_score": [("advantage", BODY | by("learned", accept_learned_score=True), "max_advantage")],
    "bins": [
        ("metrics", LINE | {"bins": 5, "estimator": {"bins": 5}}, "estimator.bins by its former name"),
        ("counts", {**LINE, "bins": 5}, "equal_mass"),
    ],
    "prior": [
        ("metrics", LINE | {"estimator": {"prior": 0.1}}, "estimator: prior is not known here; its place is prior")
    ],
    "direction": [("audit", {**LABELS, "direction": "high"}, "no order")],
    "operating_points": [("advantage", {**LABELS, "operating_points": [0.2]}, "no ROC")],
    "query": [("audit", {**COUNTS, "query": "continuous"}, "cells already")],
    "cells": [("counts", {**COUNTS, "cells": "grid"}, "already")],
}


@pytest.mark.parametrize("field", REFUSALS)
def test_what_could_change_nothing_is_refused_by_name(field: str) -> None:
    for operation, body, words in REFUSALS[field]:
        problem = refused(operation, body)

        assert problem["field"] == field, (operation, words)
        assert words in problem["detail"], (operation, words)
