"""The statements about security say to a user of the library what the service answers."""

import numpy as np
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
def test_a_user_of_the_library_gets_what_the_service_says(question, source) -> None:
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
def test_so_does_who_brings_losses(options) -> None:
    statement = mis.assess_overfitting(*LOSSES.values(), **options)

    answer = posted.asked("theory/mis-overfitting", {**LOSSES, **options})
    assert statement.sentence == answer["sentence"]
    assert [each.message for each in statement.cautions] == [each["message"] for each in answer["warnings"]]
    assert statement.accuracy == answer["accuracy_at_least"]


def test_there_is_no_merging_into_more_categories_than_there_are() -> None:
    with pytest.raises(OutOfRange, match="at most the 3 categories"):
        mis.assess(mis.Distribution.of(SHARES), coarsen_to=[4])


def test_corollary_15_holds_delta_from_below_where_its_condition_is_met() -> None:
    sizes = [3, 4, 11, 100, 10_000]
    known = mis.assess(mis.Distribution.of([0.5, 0.2, 0.2, 0.1]), sizes=sizes)
    sample = mis.assess(mis.Tally.of_counts([50, 20, 20, 10], universe=4), sizes=sizes)
    rare = mis.assess(mis.Distribution.of([0.5, 0.2, 0.2, 0.1]), sizes=sizes, nonmember_share=0.1)

    c_k = sum(np.sqrt(p * (1 - p)) for p in (0.5, 0.2, 0.2, 0.1))
    assert known.simple_lower[:2] == (None, None)  # n is at most 1/p of the rarest
    for n, low, delta in zip(sizes[2:], known.simple_lower[2:], known.deltas[2:], strict=True):
        assert low == pytest.approx(c_k / np.sqrt(8 * n), rel=1e-12)
        assert low <= (delta.value or 0.0)
    assert set(sample.simple_lower) == set(rare.simple_lower) == {None}


def test_the_mean_loss_is_said_with_the_cut_it_vouches_for() -> None:
    train, heldout = np.full(50, 0.01), np.linspace(0.05, 2.0, 50)

    plain, result = (mis.assess_overfitting(train, heldout, alpha=alpha) for alpha in (None, 0.1))

    assert plain.by_mean is None
    assert result.by_mean.epsilon == pytest.approx(0.1)
    assert result.sentence.startswith(plain.sentence)
    assert (
        "at least 90% of the training losses are at most 0.1, and 4% of the held-out losses are"
        in result.sentence
    )
