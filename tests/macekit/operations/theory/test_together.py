"""/v1/theory/together: the library's rows, from scores, counts and tables."""

import pytest

from app.openapi.examples import JSON_EXAMPLES as TOGETHER_EXAMPLES
from app.openapi.examples import MEMBERS, NONMEMBERS, SAMPLE, csv_text
from estimators import Counts, Scores
from estimators.theory.agreement import agreement
from macekit.call import CSV
from tests.macekit.asking import asked
from tests.macekit.operations.theory.given import COUNTS


def test_the_answer_is_the_librarys() -> None:
    question = {"counts": COUNTS, "claimed_epsilon": 0.5, "prior": 0.4, "operating_points": [0.2]}

    found = asked("theory/together", question)

    counts = Counts.of(COUNTS["members"], COUNTS["nonmembers"], edges=COUNTS["edges"])
    expected = agreement(counts, 0.5, prior=0.4, rates=[0.2])
    assert found["sentence"] == expected.sentence
    assert [(r["quantity"], r["allowed"], r["lower"], r["agrees"]) for r in found["rows"]] == [
        (row.quantity, row.ceiling, row.estimate.lower, row.agrees) for row in expected.rows
    ]
    assert found["rows"][-1]["upper"] is None
    assert found["baseline"] == pytest.approx(0.2)


def test_scores_and_a_table_of_them_are_one_question() -> None:
    names = {"claimed_epsilon": "0.5", "score": "score", "member": "member"}

    rows = asked("theory/together", csv_text().encode(), CSV, **names)["rows"]

    assert rows == asked("theory/together", {**SAMPLE, "claimed_epsilon": 0.5})["rows"]
    found = agreement(Scores.of(MEMBERS, NONMEMBERS), 0.5)
    assert [row["lower"] for row in rows] == [row.estimate.lower for row in found.rows]


def test_the_example_that_contradicts_its_promise_is_said_to() -> None:
    for name, example in TOGETHER_EXAMPLES["theory/together"].items():
        answer = asked("theory/together", example.value)
        assert (answer["decision"] == "contradicted") == (name == "contradicted")


def test_what_is_odd_about_the_rows_is_said_first() -> None:
    odd = [{"code": "dependent_rows", "message": "'user' is the same in several rows"}]

    assert asked("theory/together", {**SAMPLE, "claimed_epsilon": 0.5, "warnings": odd})["warnings"][:1] == odd
