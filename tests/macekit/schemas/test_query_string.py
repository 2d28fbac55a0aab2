"""What a query string says is read as it was meant, and what it cannot say is not tried."""

from collections.abc import Mapping
from typing import Any

from app.cli.options import COLUMNS
from app.openapi import parameters
from macekit.call import CSV, Call
from macekit.decoding.body import options
from macekit.operations.options import parse_value, validate
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import FIRST_MEMBERS, TABLE, query_pairs
from tests.cases import each_case

CARRIED: list[tuple[str, Mapping[str, Any]]] = [
    ("advantage", {}),
    ("advantage", {"prior": 0.1, "claimed_delta": 1e-05, "max_advantage": 1, "seed": 2**52}),
    ("advantage", {"metric": {"preset": "f_beta", "beta": 2.5}, "estimator": {"kind": "kde"}}),
    ("advantage", {"estimator": {"kind": "learned", "learners": ["boxes"]}}),
    ("report", {"operating_points": [0.02]}),
    ("report", {"operating_points": [0.02, 1e-300]}),
    ("metrics", {"metrics": ["accuracy", "recall"]}),
    ("compare", {"against": "a,b", "paired": False}),
    ("compare", {"against": "2024"}),
    ("compare", {"against": "a&b=c d%"}),
]


@each_case("operation, asked", CARRIED)
def test_what_is_spelled_is_read_as_it_was_meant(operation: str, asked: Mapping[str, Any]) -> None:
    question = QUESTIONS[operation]

    query = query_pairs(asked)

    assert query is not None
    read = parse_value(options(Call(operation, CSV, query=query)))
    assert isinstance(read, dict)
    assert validate(question, read) == validate(question, asked)


@each_case("asked", [
    {"metric": None}, {"operating_points": []}, {"operating_points": [[0.1, 0.2]]},
    {"metrics": ["accuracy,recall"]}, {"metric": "a,b"}, {"metric": {}},
    {"metric": {"coefficients": {"a11": 1, "b0": 1}, "name": "x"}},
    {"metric": {"preset": "weighted_accuracy", "w1": 2.0}}, {"edges": [0.1, 0.2]},
])  # fmt: skip
def test_what_a_query_string_cannot_carry_is_not_spelled(asked: Mapping[str, Any]) -> None:
    assert query_pairs({"prior": 0.1, **asked}) is None


def test_columns_that_were_named_are_spelled_as_they_were() -> None:
    named = {"score": "a,b", "member": "in, or out"}

    assert query_pairs(named) == tuple(named.items())


def test_the_description_and_the_shell_know_the_same_options_of_a_table() -> None:
    assert [*parameters.TABLE] == [*TABLE, FIRST_MEMBERS]
    assert list(COLUMNS) == [*TABLE, FIRST_MEMBERS]
