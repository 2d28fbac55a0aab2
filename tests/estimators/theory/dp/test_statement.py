"""The statement about a promise says to a user of the library what the service answers."""

from typing import Any

import pytest

from estimators.errors import OptionError
from estimators.theory import dp
from estimators.theory.accounting import NoisySteps
from tests.app import posted

QUESTIONS: list[tuple[dict[str, Any], dp.DpStatement]] = [
    (
        {"epsilon": 1.0, "delta": 1e-5, "prior": 0.2, "advantage": 0.7},
        dp.assess(dp.ApproximateDp(1.0, 1e-5), delta=1e-5, prior=0.2, advantage=0.7),
    ),
    (
        {"mu": 1.0, "inclusion": "independent", "member_weight": 2.0, "false_positive_rates": [0.015]},
        dp.assess(
            dp.GaussianDp(1.0), inclusion="independent", member_weight=2.0, false_positive_rates=[0.015]
        ),
    ),
    (
        {"noise_multiplier": 2.0, "steps": 4, "delta": 1e-5},
        dp.assess(NoisySteps(2.0, 4).promises(1e-5), delta=1e-5),
    ),
    ({"advantage": 0.1, "adjacency": "add_remove"}, dp.assess(advantage=0.1, adjacency="add_remove")),
    ({"advantage": 0.1, "prior": 0.9}, dp.assess(advantage=0.1, prior=0.9)),
]

KEEPING = {"advantage", "adjacency", "prior"}
"""What asks for the promise that keeps an advantage."""


@pytest.mark.parametrize(("question", "statement"), QUESTIONS)
def test_a_user_of_the_library_gets_what_the_service_says(question, statement) -> None:
    points = {} if set(question) <= KEEPING else {"false_positive_rates": []}  # a promise alone has a curve

    answer = posted.asked("theory/dp", {**points, **question})

    assert statement.sentence == answer["sentence"]
    assert [(each.code, each.message) for each in statement.cautions] == [
        (each["code"], each["message"]) for each in answer["warnings"]
    ]
    assert [(each.name, each.value, each.tightest) for each in statement.bounds] == [
        (each["name"], each["value"], each["tightest"]) for each in answer["bounds"]
    ]
    assert statement.baseline == answer["baseline"]


def test_a_statement_is_about_a_promise_or_about_an_advantage() -> None:
    with pytest.raises(OptionError, match="need a promise"):
        dp.assess()
