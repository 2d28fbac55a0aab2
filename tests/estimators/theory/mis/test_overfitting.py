import numpy as np
import pytest
from scipy.stats import beta

from estimators.errors import NotFinite, OutOfRange, TooFewRecords, UnknownName
from estimators.theory.mis.overfitting import by_mean, overfits, overfitting
from estimators.theory.mis.security import divergence, security_at
from tests.cases import each_case, refusals


def test_theorem_11_at_one_threshold_is_the_security_one_attack_leaves():
    train, heldout = np.arange(100.0), np.arange(50.0, 150.0)
    for gamma in (0.5, 1.0, 2.0):
        found = overfitting(train, heldout, gamma, thresholds=[69.0])

        assert found.alpha.tolist() == [0.3]
        assert found.heldout.tolist() == [0.2]
        assert found.security.value == pytest.approx(min(security_at(0.7, 0.2, gamma), 1.0))
        limit = security_at(1.0 - found.alpha_upper[0], found.heldout_upper[0], gamma)
        assert found.at_most[0] == pytest.approx(min(limit, 1.0))


@pytest.mark.slow
@each_case("gamma", [0.5, 1.0, 3.0])
def test_the_bound_is_above_the_true_security_of_the_losses_and_below_one_threshold_chosen_blindly(gamma):
    rng = np.random.default_rng(0)
    train, heldout = rng.exponential(0.01, 5000), rng.exponential(1.0, 5000)
    grid = np.linspace(0.0, 2.0, 200_001)
    train_cdf, heldout_cdf = 1.0 - np.exp(-grid / 0.01), 1.0 - np.exp(-grid)
    truth = min(security_at(t, f, gamma) for t, f in zip(train_cdf, heldout_cdf, strict=True))
    assert truth <= overfitting(train, heldout, gamma).security.upper < truth + 0.03
    laws = (np.diff(cdf, append=1.0) for cdf in (heldout_cdf, train_cdf))
    assert truth == pytest.approx(1.0 - divergence(*laws, gamma), abs=1e-3)


@pytest.mark.slow
@each_case("n_train, n_heldout, scale", [(20, 20, 0.2), (200, 50, 1.0), (50, 400, 0.2)])
def test_the_bound_holds_as_often_as_it_says_though_the_best_cut_is_chosen(n_train, n_heldout, scale):
    rng = np.random.default_rng(1)
    grid = np.geomspace(1e-4, 50.0, 4000)
    truth = float((np.exp(-grid / scale) + 1.0 - np.exp(-grid)).min())
    runs, missed = 400, 0
    for _ in range(runs):
        found = overfitting(rng.exponential(scale, n_train), rng.exponential(1.0, n_heldout), confidence=0.8)
        missed += found.security.upper < min(truth, 1.0)

    assert missed / runs <= 0.2


def test_ties_and_losses_of_zero_are_no_obstacle_and_no_overfitting_gives_no_bound():
    found = overfitting(np.zeros(500), np.repeat([0.0, 1.0], [5, 495]))
    alike = np.random.default_rng(2).random(300)

    assert 0.01 < found.security.upper < 0.06
    assert found.security.value == pytest.approx(0.01)
    assert overfitting(alike, alike).security.upper == 1.0


def test_what_is_covered_depends_on_where_the_losses_come_from():
    one = overfitting([0.0], [1.0])
    many = overfitting([0.0], [1.0], losses_of="independent_trainings")

    assert "one model" in one.security.interval.guarantee.covers
    assert "learning procedure" in many.security.interval.guarantee.covers
    assert one.security.upper == many.security.upper


@each_case("alpha", [0.01, 0.1, 0.5])
def test_the_cut_by_the_mean_leaves_no_larger_share_above_whatever_the_losses(alpha):
    rng = np.random.default_rng(5)
    for _ in range(50):
        train = rng.exponential(size=40) ** rng.integers(1, 6)
        result = by_mean(train, rng.exponential(size=30), alpha)

        assert result.epsilon == pytest.approx(train.mean() / alpha, rel=1e-14)
        assert result.epsilon == overfits(result.mean_loss, alpha)
        assert result.above == np.mean(train > result.epsilon) <= alpha


def test_the_limit_by_the_mean_is_theorem_11_with_an_exact_limit_for_the_heldout_share():
    train, heldout = np.full(20, 0.01), np.concatenate([np.full(3, 0.05), np.full(97, 1.0)])

    result = by_mean(train, heldout, 0.1, gamma=2.0)

    upper = beta.ppf(0.95, 4, 97)
    assert (result.mean_loss, result.heldout) == (pytest.approx(0.01), 0.03)
    assert result.heldout_upper == pytest.approx(upper, rel=1e-9)
    assert result.security_upper == pytest.approx(0.1 + 2.0 * upper, rel=1e-9)
    assert by_mean(train, heldout, 0.1, losses_of="independent_trainings").security_upper is None


test_bad_input_is_refused = refusals(
    "ask, error",
    (lambda: overfitting([], [1.0]), TooFewRecords),
    (lambda: overfitting([1.0], []), TooFewRecords),
    (lambda: overfitting([np.nan], [1.0]), NotFinite),
    (lambda: overfitting([1.0], [0.0, -np.finfo(float).max]), OutOfRange),
    (lambda: overfitting([1.0], [1.0], thresholds=[]), TooFewRecords),
    (lambda: overfitting([1.0], [1.0], gamma=0.0), OutOfRange),
    (lambda: overfitting([1.0], [1.0], confidence=1.0), OutOfRange),
    (lambda: overfitting([1.0], [1.0], losses_of="models"), UnknownName),
    # the mean of losses below 0 vouches for nothing
    (lambda: by_mean([-0.1, 1.0], [1.0], 0.1), OutOfRange),
)
