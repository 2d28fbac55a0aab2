"""The statements about security say to a user of the library what the service answers."""

from __future__ import annotations

from typing import Any

import pytest

from estimators.errors import OutOfRange
from estimators.theory import mis
from tests.app import posted

VALUES = ["a"] * 40 + ["b"] * 30 + ["c"] * 20 + ["d"]
TALLIES = [1, 1, 1, 2]
SHARES = [0.5, 0.3, 0.2]
LOSSES = {
    "train_losses": [0.01 * i for i in range(200)],
    "heldout_losses": [1.0 + 0.02 * i for i in range(200)],
}


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ({"values": VALUES, "universe": 5, "delta": 0.2}, mis.Tally.of_values(VALUES, 5)),
        ({"tallies": TALLIES, "nonmember_share": 0.3, "member_weight": 2.0}, mis.Tally.of_counts(TALLIES)),
        ({"probabilities": SHARES, "sizes": [100, 10], "coarsen_to": [2]}, mis.Distribution.of(SHARES)),
        ({"probabilities": SHARES, "member_weight": 3.0}, mis.Distribution.of(SHARES)),
    ],
)
def test_a_user_of_the_library_gets_what_the_service_says(question: dict[str, Any], source: Any) -> None:
    arrays = ("values", "tallies", "probabilities", "universe")
    options = {name: value for name, value in question.items() if name not in arrays}

    statement = mis.assess(source, **options)

    answer = posted.asked("theory/mis", question)
    assert statement.sentence == answer["sentence"]
    assert [each.code for each in statement.cautions] == [each["code"] for each in answer["warnings"]]
    assert [each.message for each in statement.cautions] == [each["message"] for each in answer["warnings"]]
    assert [each.value for each in statement.bounds] == [each["value"] for each in answer["bounds"]]
    assert (statement.n, statement.accuracy) == (answer["n"], answer["accuracy_at_most"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonmember_share": 0.3, "member_weight": 2.0, "losses_of": "independent_trainings"},
        {"thresholds": [-1.0]},
    ],
)
def test_so_does_who_brings_losses(options: dict[str, Any]) -> None:
    statement = mis.assess_overfitting(*LOSSES.values(), **options)

    answer = posted.asked("theory/mis-overfitting", {**LOSSES, **options})
    assert statement.sentence == answer["sentence"]
    assert [each.message for each in statement.cautions] == [each["message"] for each in answer["warnings"]]
    assert statement.accuracy == answer["accuracy_at_least"]


def test_there_is_no_merging_into_more_categories_than_there_are() -> None:
    with pytest.raises(OutOfRange, match="at most the 3 categories"):
        mis.assess(mis.Distribution.of(SHARES), coarsen_to=[4])
