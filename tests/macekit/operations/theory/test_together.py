"""/v1/theory/together: the library's rows, from scores, counts and tables."""

from __future__ import annotations

import json
from functools import partial

import jsonschema
import pytest

from app.openapi.examples import MEMBERS, NONMEMBERS, SAMPLE
from app.openapi.files import csv_text
from app.openapi.theory import COUNTS, TOGETHER_EXAMPLES
from estimators import Counts, Scores
from estimators.agreement import agreement
from macekit.call import CSV, Body, Call
from macekit.operations import perform
from macekit.schemas.theory.together import TogetherQuestion
from tests.app import posted

SCHEMA = TogetherQuestion.model_json_schema()
post, asked = partial(posted.post, "theory/together"), partial(posted.asked, "theory/together")


@pytest.mark.parametrize("name", TOGETHER_EXAMPLES["theory/together"])
def test_examples_run_as_they_stand(name: str) -> None:
    body = TOGETHER_EXAMPLES["theory/together"][name].value

    found = asked(body)

    jsonschema.validate(body, SCHEMA)
    assert (found["decision"] == "contradicted") == (name == "contradicted")


def test_the_answer_is_the_librarys() -> None:
    found = asked({"counts": COUNTS, "claimed_epsilon": 0.5, "prior": 0.4, "operating_points": [0.2]})

    counts = Counts.of(COUNTS["members"], COUNTS["nonmembers"], edges=COUNTS["edges"])
    expected = agreement(counts, 0.5, prior=0.4, rates=[0.2])
    assert found["sentence"] == expected.sentence
    assert [(r["quantity"], r["allowed"], r["lower"], r["agrees"]) for r in found["rows"]] == [
        (row.quantity, row.ceiling, row.estimate.lower, row.agrees) for row in expected.rows
    ]
    assert found["rows"][-1]["upper"] is None
    assert found["baseline"] == pytest.approx(0.2)


def test_scores_and_a_table_of_them_are_one_question() -> None:
    options = (("claimed_epsilon", "0.5"), ("score", "score"), ("member", "member"))

    table = perform(Call("theory/together", CSV, query=options), Body.of(csv_text().encode()))

    assert table.status == 200, bytes(table.body)
    rows = json.loads(bytes(table.body))["rows"]
    assert rows == asked({**SAMPLE, "claimed_epsilon": 0.5})["rows"]
    found = agreement(Scores.of(MEMBERS, NONMEMBERS), 0.5)
    assert [row["lower"] for row in rows] == [row.estimate.lower for row in found.rows]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"counts": COUNTS}, "claimed_epsilon"),
        ({"claimed_epsilon": 1.0}, "members"),
        ({"counts": COUNTS, "claimed_epsilon": -1.0}, "claimed_epsilon"),
        ({"counts": COUNTS, "claimed_epsilon": 1.0, "claimed_delta": 1.0}, "claimed_delta"),
        (
            {"counts": COUNTS, "claimed_epsilon": 1.0, "inclusion": "independent", "adjacency": "replace"},
            "adjacency",
        ),
    ],
)
def test_what_is_missing_or_out_of_range_is_refused_by_name(body: dict[str, object], field: str) -> None:
    reply = post(body)

    assert reply.status in (400, 422)
    assert json.loads(bytes(reply.body))["field"] == field
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(body, SCHEMA)
