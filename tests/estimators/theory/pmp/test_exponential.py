"""The exponential mechanism, against the literal sum over training sets."""

import numpy as np
import pytest

from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords, TooManySubsets
from estimators.theory import subsets
from estimators.theory.pmp.exponential import Summed, Tabled
from estimators.theory.pmp.laws import laws_of_blocks, laws_of_sums
from tests.cases import each_case, refusals
from tests.estimators.theory.pmp.worlds import ONE_WAY, dp_epsilon, exponential_laws, practical_epsilons


def losses_of(seed: int, n: int, outcomes: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.random.default_rng(seed).random((2 * n, outcomes))


@each_case("n, outcomes, epsilon", [(1, 2, 1.0), (2, 3, 8.0), (3, 5, 0.1), (4, 2, 30.0)])
def test_practical_epsilons_are_those_of_the_literal_sum(n, outcomes, epsilon) -> None:
    losses = losses_of(n, n, outcomes)
    laws = exponential_laws(losses, epsilon, 1.0)
    mechanism = Summed(losses, 1.0)
    assert mechanism.exact(epsilon).epsilons.tolist() == pytest.approx(practical_epsilons(laws, n), rel=1e-10)
    assert mechanism.on_records(epsilon) == pytest.approx(dp_epsilon(laws, n), rel=1e-10)


@each_case("epsilon", [1e-6, 0.5, 20.0])
def test_meeting_in_the_middle_is_one_training_set_after_the_other(epsilon) -> None:
    scores = Summed(losses_of(3, 5, 7), 1.0).scores(epsilon)
    blocks = ((chosen, chosen @ scores) for chosen in subsets.all_subsets(10, 5, 100))
    quick, slow = laws_of_sums(scores), laws_of_blocks(blocks, 252, 10)

    np.testing.assert_allclose(quick.inside, slow.inside, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(quick.outside, slow.outside, rtol=1e-12, atol=1e-13)


def test_probabilities_too_small_for_floats_keep_their_ratio() -> None:
    mechanism = Summed(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.9], [0.0, 0.8]]), 1.0)
    found = mechanism.exact(4000.0)

    assert np.exp(found.inside[:, 1]).max() == 0.0
    # outcome 1 costs 1.7 at least with record 3, 1.9 without: e^(-2000 L), each from one training set of three
    assert found.epsilon == pytest.approx(2000.0 * (1.9 - 1.7) - np.log(2.0), rel=1e-9)
    assert found.worst.record == 3


def test_the_papers_one_direction_misses_what_the_definition_asks() -> None:
    found = Summed(ONE_WAY, 1.0).exact(2.0)

    assert found.one_way == pytest.approx(0.991230583357758)
    assert found.epsilon == pytest.approx(max(practical_epsilons(exponential_laws(ONE_WAY, 2.0, 1.0), 2)))
    assert found.epsilon > 1.6 > found.one_way
    assert found.worst.says == "nonmember"


@each_case("seed", range(4))
@each_case("epsilon", [0.01, 1.0, 10.0, 200.0])
def test_truth_is_below_the_bound_by_exchanges_which_is_below_dp(seed, epsilon) -> None:
    mechanism = Summed(losses_of(seed, 4, 4) ** 3, 1.0)
    truth, bound = mechanism.exact(epsilon).epsilons, mechanism.exchanges(epsilon)

    assert (truth <= bound + 1e-12).all()
    assert bound.max() <= epsilon
    assert truth.max() <= mechanism.on_records(epsilon) + 1e-12 <= epsilon + 1e-9
    assert (mechanism.exchanges(epsilon * 1.1) >= bound).all()


def test_the_bound_by_exchanges_is_the_worst_mean_over_half_of_the_others_and_may_be_far_below():
    mechanism = Summed(losses_of(5, 3, 4), 1.0)
    scores = mechanism.scores(2.0)

    def mean(x: int, w: int, sign: float) -> float:
        moved = sign * (scores[x] - np.delete(scores, x, axis=0))
        return float(np.mean(np.sort(np.exp(moved[:, w] - moved.min(axis=1)))[-3:]))

    literal = [max(np.log(mean(x, w, s)) for w in range(4) for s in (1.0, -1.0)) for x in range(6)]

    assert mechanism.exchanges(2.0).tolist() == pytest.approx(literal, rel=1e-12)

    losses = np.zeros((40, 2))
    losses[0, 1] = 1.0  # one outlier among equals: only its own exchanges move anything
    mechanism = Summed(losses, 1.0)
    bound = mechanism.exchanges(4.0)

    assert bound[1:].max() == pytest.approx(np.log(1 + (np.exp(2.0) - 1) / 20))
    assert bound[0] == pytest.approx(2.0)


def test_a_constant_of_a_record_changes_nothing_and_one_outcome_or_equal_records_give_nothing_away():
    losses = np.round(losses_of(2, 3, 3), 3)
    far = losses + np.array([[0.0], [1e9], [0.0], [-1e9], [5.0], [0.0]])
    found = Summed(far, 1e10).exact(1e6), Summed(losses, 1e10).exact(1e6)

    assert found[0].epsilons.tolist() == pytest.approx(found[1].epsilons.tolist(), abs=1e-9)

    assert Summed(losses_of(0, 3, 1), 1.0).exact(5.0).epsilon == pytest.approx(0.0, abs=1e-14)
    assert Summed(np.ones((6, 3)), 1.0).exact(5.0).epsilon == pytest.approx(0.0, abs=1e-14)
    assert Summed(np.ones((6, 3)), 1.0).on_records(5.0) == pytest.approx(0.0, abs=1e-14)


def test_any_loss_is_asked_by_its_table_of_training_sets_and_a_mean_as_a_sum():
    losses = losses_of(0, 3, 4)
    table = subsets.matrix(6, 3, "") @ losses
    summed, tabled = Summed(losses, 1.0), Tabled(table, 1.0)

    np.testing.assert_allclose(summed.exact(5.0).epsilons, tabled.exact(5.0).epsilons, rtol=1e-12)
    assert summed.on_records(5.0) == pytest.approx(tabled.on_records(5.0), rel=1e-12)

    losses = losses_of(1, 3, 4)

    both = Summed.mean(losses, 1.0 / 3), Summed(losses, 1.0)
    of_mean, of_sum = (each.exact(5.0).epsilon for each in both)
    assert of_mean == pytest.approx(of_sum)


test_bad_input_is_refused_one_clear_error_each = refusals(
    "ask, error, words",
    (lambda: Summed(np.ones((4, 2)), 0.0), OutOfRange, r"sensitivity: .* above 0"),
    (lambda: Summed(ONE_WAY, 0.5), OutOfRange, "sensitivity: exchanging"),
    (lambda: Tabled(np.array([[0.0, 1.0], [2.0, 0.0]]), 1.0), OutOfRange, "sensitivity: exchanging"),
    (lambda: Summed(ONE_WAY, 1.0).exact(-1.0), OutOfRange, "epsilon"),
    (lambda: Summed(np.ones((5, 2)), 1.0), TooFewRecords, "even"),
    (lambda: Summed(np.ones((0, 2)), 1.0), TooFewRecords, None),
    (lambda: Summed(np.array([[0.0], [1.0], [np.inf], [0.0]]), 1.0), NotFinite, "row 2"),
    (lambda: Tabled(np.ones((7, 2)), 1.0), DimensionMismatch, "training set"),
    (lambda: Summed(np.zeros((2000, 30)), 1.0).exchanges(1.0), OutOfRange, "fewer outcomes, or DP's own"),
    # equal records, and outcomes 1e300 apart
    (lambda: Summed(np.array([[0.0, 1e150]] * 2), 1e-150).exact(1.0), OutOfRange, "a logit exceeds"),
    (lambda: Tabled(np.array([[0.0, 1e150]] * 2), 1e-150).exact(1.0), OutOfRange, "a logit exceeds"),
    (lambda: Summed(np.array([[0.0, 1e308]] * 2), 1.0), OutOfRange, "a number beyond 1e"),
    (lambda: Tabled(np.array([[0.0, 1e308]] * 2), 1.0), OutOfRange, "a number beyond 1e"),
    (lambda: Summed(np.zeros((40, 2)), 1.0).exact(1.0), TooManySubsets, "set draws"),
)
