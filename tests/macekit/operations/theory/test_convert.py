"""/v1/theory/convert: the library's rows, read both ways, and one clear problem for whatever is no one number."""

from __future__ import annotations

import json
from functools import partial

import jsonschema
import pytest

from app.openapi.theory import DP_EXAMPLES
from estimators.theory import dp
from macekit.schemas.theory.convert import ConvertQuestion
from tests.app import posted

SCHEMA = ConvertQuestion.model_json_schema()
post, asked = partial(posted.post, "theory/convert"), partial(posted.asked, "theory/convert")


@pytest.mark.parametrize("name", DP_EXAMPLES["theory/convert"])
def test_examples_run_as_they_stand(name: str) -> None:
    body = DP_EXAMPLES["theory/convert"][name].value

    answer = asked(body)

    jsonschema.validate(body, SCHEMA)
    assert "guarantee" in answer["sentence"]
    assert {"advantage", "eta", "epsilon", "mu"} <= {row["quantity"] for row in answer["rows"]}


def test_the_answer_is_the_librarys() -> None:
    answer = asked({"eta": 0.1, "delta": 1e-3, "prior": 0.4, "adjacency": "add_remove"})

    rates = (0.001, 0.01, 0.1)
    result = dp.convert(eta=0.1, delta=1e-3, prior=0.4, adjacency="add_remove", false_positive_rates=rates)
    assert [(row["quantity"], row["at_least"], row["at_most"]) for row in answer["rows"]] == [
        (row.quantity, row.at_least, row.at_most) for row in result.rows
    ]
    assert (answer["quantity"], answer["value"]) == ("eta", 0.1)
    assert answer["sentence"] == result.sentence
    assert answer["baseline"] == pytest.approx(0.2)


def test_an_epsilon_from_an_advantage_is_at_least_so_large_and_nothing_more() -> None:
    (epsilon,) = (row for row in asked({"advantage": 0.2})["rows"] if row["quantity"] == "epsilon")

    assert epsilon["at_least"] == pytest.approx(0.4054651, abs=1e-7)
    assert epsilon["at_most"] is None


def test_the_epsilon_found_allows_the_advantage_it_was_found_from() -> None:
    (epsilon,) = (
        row for row in asked({"advantage": 0.3, "prior": 0.45})["rows"] if row["quantity"] == "epsilon"
    )

    again = posted.asked("theory/dp", {"epsilon": epsilon["at_least"], "prior": 0.45})

    assert next(b for b in again["bounds"] if b["name"] == "envelope")["value"] == pytest.approx(
        0.3, abs=1e-12
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "advantage"),
        ({"delta": 0.1}, "advantage"),
        ({"advantage": 0.1, "eta": 0.1}, "eta"),
        ({"epsilon": 1.0, "mu": 1.0}, "mu"),
        ({"advantage": 1.0}, "advantage"),
        ({"eta": 0.5}, "eta"),
        ({"epsilon": 2e6}, "epsilon"),
        ({"mu": -1.0}, "mu"),
        ({"mu": 1.0, "delta": 1.1}, "delta"),
        ({"mu": 1.0, "prior": 0.0}, "prior"),
        ({"mu": 1.0, "false_positive_rates": [1.0]}, "false_positive_rates"),
        ({"mu": 1.0, "adjacency": "replace", "inclusion": "independent"}, "adjacency"),
    ],
)
def test_what_is_no_one_number_is_refused_by_name_as_documented(body: dict[str, object], field: str) -> None:
    reply = post(body)

    assert reply.status in (400, 422)
    assert json.loads(bytes(reply.body))["field"].partition("[")[0] == field
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(body, SCHEMA)


def test_an_advantage_that_guessing_exceeds_is_refused() -> None:
    problem = json.loads(bytes(post({"advantage": 0.5, "prior": 0.1}).body))

    assert problem["field"] == "advantage"
    assert "guessing alone has an advantage of 0.8" in problem["detail"]
