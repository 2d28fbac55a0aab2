"""/v1/theory/convert: the library's rows, read both ways, and one clear problem for whatever is no one number."""

from functools import partial

import pytest

from estimators.theory import dp
from tests.macekit import asking


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
    rows = asked({"advantage": 0.3, "prior": 0.45})["rows"]
    (epsilon,) = (row for row in rows if row["quantity"] == "epsilon")

    again = asking.asked("theory/dp", {"epsilon": epsilon["at_least"], "prior": 0.45})

    envelope = next(b for b in again["bounds"] if b["name"] == "envelope")
    assert envelope["value"] == pytest.approx(0.3, abs=1e-12)


asked = partial(asking.asked, "theory/convert")
