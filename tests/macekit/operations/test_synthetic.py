"""``/v1/synthetic``: one answer in every format, what is refused, and what the report shows."""

import json
from typing import Any

import numpy as np
import pytest

from estimators.audits.synthetic import audit_synthetic
from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, PARQUET
from macekit.reports.rendering import render
from macekit.reports.saved import recognise, validate_answer
from macekit.reports.text import text
from tests.cases import each_case
from tests.macekit import asking
from tests.macekit.decoding.support import in_one

pytestmark = pytest.mark.usefixtures("quick")

Table = dict[str, list[Any]]


def people(seed: int, count: int, shift: float = 0.0) -> Table:
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, count) + shift, rng.normal(3.0, 1.0, count).round(4)
    job = rng.choice(["baker", "judge", "nurse"], count)
    return {"age": age.tolist(), "income": income.tolist(), "job": job.tolist()}


TRAIN, HOLDOUT, SHIFTED, REFERENCE = people(0, 150), people(1, 150), people(2, 150, 12.0), people(3, 150)
CLEAN = people(4, 150)
FEW = {name: column[:4] for name, column in HOLDOUT.items()}
COPIED = {name: [*column, *TRAIN[name][:30]] for name, column in CLEAN.items()}


def ask(tables: dict[str, Table], accept: str = JSON, **options: Any) -> Any:
    return asking.ask("synthetic", {**tables, **options}, accept=accept)


def release(synthetic: Table, holdout: Table = HOLDOUT) -> dict[str, Table]:
    return {"train": TRAIN, "holdout": holdout, "synthetic": synthetic}


@pytest.mark.slow
@each_case("media_type", [CSV, ARROW, PARQUET])
def test_one_table_says_what_three_tables_say(media_type: str) -> None:
    tables = {**release(COPIED), "reference": REFERENCE}
    options = {"max_copies_over_holdout": 0, "max_advantage": 0.3, "check_sides": False}
    wanted = ask(tables, **options)

    spelled = {name: json.dumps(value) for name, value in options.items()}
    answer = asking.ask("synthetic", in_one(tables, media_type, "part"), media_type, table="part", **spelled)

    assert answer["provenance"]["options"].pop("table") == "part"
    assert answer == wanted
    assert (answer["decision"], answer["copies"]["members"], answer["n_reference"]) == ("fail", 30, 150)


@pytest.mark.slow
def test_the_answer_is_the_librarys() -> None:
    answer = ask(release(COPIED), max_copies_over_holdout=0, max_tpr=0.2, at_fpr=0.05)
    audit = audit_synthetic(TRAIN, HOLDOUT, COPIED, max_copies_over_holdout=0, max_tpr=0.2, at_fpr=0.05)

    assert answer["sentence"] == audit.sentence
    assert answer["maximum"]["upper"] == audit.comparison.maximum.upper
    assert [each["decision"] for each in answer["limits"]] == [each.decision.value for each in audit.limits]
    assert {each["query"]: each["score_epsilon"] for each in answer["exposures"]} == {
        name: each.score_epsilon for name, each in audit.exposures.items()
    }
    assert audit.split is not None
    names = [each["name"] for each in answer["split"]["columns"]]
    assert names == [each.name for each in audit.split.columns]


@pytest.mark.slow
def test_sides_that_differ_make_a_fail_a_fail_or_drift() -> None:
    answer = ask(release(COPIED, SHIFTED), max_copies_over_holdout=0)

    assert (answer["decision"], answer["split"]["columns"][0]["name"]) == ("fail, or drift", "age")
    assert "FAIL, OR DRIFT" in text("synthetic", answer)
    assert "FAIL, OR DRIFT" in render("synthetic", answer, MARKDOWN).decode()


@pytest.mark.slow
def test_a_clean_release_passes_its_limits_and_says_what_was_asked() -> None:
    answer = ask({**release(CLEAN), "reference": REFERENCE}, max_copies_over_holdout=0, max_advantage=0.6)

    assert (answer["decision"], len(answer["queries"])) == ("pass", 12)
    assert all(each["says"] and each["paper"] for each in answer["queries"])
    kinds = {each["name"]: each["kind"] for each in answer["provenance"]["columns"]}
    assert kinds == {"age": "numbers", "income": "numbers", "job": "categories"}


def test_without_a_limit_nothing_is_decided() -> None:
    answer = ask(release(CLEAN), check_sides=False)

    assert (answer["decision"], answer["limits"], answer["split"]) == (None, None, None)
    assert answer["copies"]["judged"] is None
    copied = ask(release(COPIED), check_sides=False)
    assert copied["decision"] is None
    assert "copies_released" in [each["code"] for each in copied["warnings"]]


def test_copies_in_fewer_digits_are_copies_in_every_form_of_the_answer() -> None:
    shorter = {**COPIED, "income": [round(value, 2) for value in COPIED["income"]]}
    answer = ask(release(shorter), max_copies_over_holdout=0, check_sides=False)
    said = (
        "one table is written with fewer digits than another, and rows are compared with as few: at 2 decimals 'income'"
    )

    assert (answer["decision"], answer["copies"]["members"]) == ("fail", 30)
    precisions = {each["name"]: each["precision"] for each in answer["copies"]["columns"]}
    assert precisions == {"age": None, "income": "2 decimals", "job": None}
    assert [each["message"] for each in answer["warnings"] if each["code"] == "fewer_digits"] == [said]
    read = {each["name"]: each["notes"] for each in answer["provenance"]["columns"]}
    assert read == {"age": [], "income": ["rows are compared at 2 decimals"], "job": []}
    for form in (HTML, MARKDOWN, CSV):
        assert "2 decimals" in render("synthetic", answer, form).decode()
    assert "income  2 decimals" in text("synthetic", answer)


@pytest.mark.slow
def test_copies_are_judged_unasked_and_the_page_says_whether() -> None:
    (unasked, of_unasked), (accepted, of_accepted) = (
        (answer, render("synthetic", answer, MARKDOWN).decode())
        for answer in (
            ask(release(COPIED), max_advantage=0.8, check_sides=False, accept_copies=accept) for accept in (False, True)
        )
    )

    assert (unasked["decision"], unasked["copies"]["judged"]) == ("fail", "unasked")
    outcomes = [(each["name"], each["decision"]) for each in unasked["limits"]]
    assert outcomes == [("advantage", "pass"), ("copies", "fail")]
    assert "Nobody limited copies" in of_unasked
    assert (accepted["decision"], accepted["copies"]["judged"]) == ("pass", "accepted")
    assert "Copies were accepted: they are no reason to fail here" in of_accepted
    assert unasked["near_copies"]["members"] >= 30


@pytest.mark.slow
def test_a_kept_answer_is_recognised_and_shown_again() -> None:
    answer = ask(release(COPIED), max_copies_over_holdout=0)

    assert recognise(answer) == "synthetic"
    assert validate_answer("synthetic", answer) == answer


@pytest.mark.slow
def test_names_of_columns_and_labels_are_inert_in_every_report() -> None:
    hostile = "<script>alert(1)</script>\x1b[2J"
    tables = {
        name: {(hostile if column == "age" else column): values for column, values in table.items()}
        for name, table in release(COPIED).items()
    }
    answer = ask(tables, max_copies_over_holdout=0)

    for form in (HTML, MARKDOWN):
        report = render("synthetic", answer, form).decode()
        assert "<script>alert" not in report
        assert "\x1b" not in report


@each_case(
    "tables, options, detail",
    ({"train": TRAIN, "holdout": HOLDOUT}, {}, "synthetic: is required and missing"),
    (release({"weight": [1.0] * 20}), {}, "no column in common"),
    (release({**CLEAN, "age": CLEAN["age"][:-1]}), {}, "rows"),
    (release({name: [] for name in CLEAN}), {}, "no rows"),
    (release(CLEAN, FEW), {}, "holdout: got 4 rows, need at least 8"),
    ({**release(CLEAN), "holdout": TRAIN}, {}, "holdout: these are the training rows, row for row: nothing tells"),
    (release(CLEAN), {"at_fpr": 0.1}, "max_tpr: give the largest"),
    (release(CLEAN), {"queries": ["closeness", "nearness"]}, "queries"),
    (release(CLEAN), {"queries": ["closeness", "density_ratio"]}, "reference"),
    (release(CLEAN), {"max_copies_over_holdout": -1}, "max_copies_over_holdout"),
    (release(CLEAN), {"max_near_copies_over_holdout": 0.5}, "max_near_copies_over_holdout"),
    (release(CLEAN), {"max_copies_over_holdout": 0, "accept_copies": True}, "accept_copies: max_copies_over"),
    (release(CLEAN), {"leave_out": ["height"]}, "leave_out: no column of the 3 has this name"),
    (release({**CLEAN, "age": [None] * 150}), {"leave_out": ["income", "job"]}, "no column can be used"),
)
def test_what_cannot_be_asked_is_refused_with_what_to_do(tables, options, detail) -> None:
    answer = ask(tables, **options)

    assert answer["status"] in (400, 422)
    assert detail in answer["detail"]


@pytest.mark.slow
def test_groups_and_one_row_of_each_person() -> None:
    tables = release(COPIED)
    for name, table in (("train", TRAIN), ("holdout", HOLDOUT)):
        tables[name] = {**table, "who": [f"{name} {place // 3}" for place in range(150)]}
    answer = ask(tables, group="job", unit="who")

    assert answer["provenance"]["n_members"] == 50
    assert [each["label"] for each in answer["groups"]] == ["baker", "judge", "nurse"]
    assert sum(each["records"] for each in answer["groups"]) == 100
    assert "who" not in [each["name"] for each in answer["provenance"]["columns"]]
    assert "Risk of each group" in render("synthetic", answer, HTML).decode()
