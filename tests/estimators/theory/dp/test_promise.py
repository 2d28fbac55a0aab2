"""The envelope by its definition on a grid, and the two steps of add/remove by linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from estimators.theory.bounds import advantage_of
from estimators.theory.dp import ApproximateDp, DpCurve, GaussianDp, advantage_ceiling, gdp_ceiling
from estimators.theory.dp.promise import Corners
from estimators.theory.shifts import gaussian_delta
from tests.cases import each_case

RATES = np.concatenate([[0.0], np.geomspace(1e-9, 1e-3, 50), np.linspace(0.001, 1.0, 2001)])
PAIRS = [(0.0, 0.0), (0.0, 0.3), (0.4, 0.0), (1.0, 0.05), (3.0, 1e-5), (9.0, 0.2), (700.0, 0.0)]


def below_all(epsilons, deltas):
    """Largest TPR by the definition: every line, and every mirror image."""
    g, d = np.exp(np.asarray(epsilons))[:, None], np.asarray(deltas)[:, None]
    return np.minimum(1.0, np.minimum(d + g * RATES, 1.0 - (1.0 - d - RATES) / g)).min(axis=0)


@each_case("pair", PAIRS)
def test_one_pair_has_three_corners(pair):
    found = ApproximateDp(*pair).envelope()

    np.testing.assert_allclose(found.tpr(RATES), below_all([pair[0]], [pair[1]]), atol=1e-13, rtol=1e-9)


@each_case("seed", range(6))
def test_many_pairs_are_the_least_of_their_lines(seed):
    rng = np.random.default_rng(seed)
    epsilons, deltas = rng.exponential(2.0, 9), rng.random(9) ** rng.integers(1, 6)
    found = Corners.of(epsilons, deltas)

    np.testing.assert_allclose(found.tpr(RATES), below_all(epsilons, deltas), atol=1e-13)
    assert (np.diff(found.fpr) >= 0).all()
    assert (np.diff(found.height) >= 0).all()


@each_case("prior", [0.03, 0.3, 0.5, 0.8])
@each_case("pair", PAIRS)
def test_its_best_point_is_the_closed_form(pair, prior):
    gain = ApproximateDp(*pair).envelope().gain(prior, 1.0 - prior)

    assert advantage_of(gain, prior) == pytest.approx(advantage_ceiling(*pair, prior), abs=1e-15)


@each_case("prior", [0.03, 0.3, 0.5, 0.8])
@each_case("mu", [0.0, 1e-9, 0.3, 2.0, 12.0])
def test_a_gaussian_promise_has_the_gaussian_curve(mu, prior):
    envelope = GaussianDp(mu).envelope()

    gained = advantage_of(envelope.gain(prior, 1.0 - prior), prior)
    assert gained == pytest.approx(gdp_ceiling(mu, prior), abs=1e-12)
    np.testing.assert_allclose(envelope.tpr(RATES), norm.cdf(norm.ppf(RATES) + mu), atol=1e-12)


def test_the_pairs_of_a_gaussian_promise_touch_its_curve_from_above():
    epsilons = np.linspace(0.0, 12.0, 400)
    curve = DpCurve(tuple(epsilons), tuple(gaussian_delta(1.3, e) for e in epsilons))
    gap = curve.envelope().tpr(RATES) - GaussianDp(1.3).envelope().tpr(RATES)

    assert gap.min() >= -1e-12
    assert gap.max() < 1e-4


@each_case("pair", PAIRS[:-1])
def test_twice_is_the_curve_of_the_curve(pair):
    once = ApproximateDp(*pair).envelope()
    np.testing.assert_allclose(once.twice().tpr(RATES), once.tpr(once.tpr(RATES)), atol=1e-13)


@each_case("prior", [0.2, 0.5])
@each_case("pair", [(0.5, 0.0), (1.0, 0.0), (1.0, 0.05), (2.5, 0.1), (0.0, 0.2)])
def test_two_steps_of_add_or_remove_go_as_far_and_no_further(pair, prior):
    """Three laws A({x}), A({}), A({y}) on K outcomes, neighbours close: maximise what tells x from y."""
    k, (epsilon, delta) = 8, pair
    laws, slack = 3 * k, 4 * k
    inside = np.arange(k) < k // 2
    gain = np.zeros(laws + slack)
    gain[:k][inside], gain[2 * k : 3 * k][~inside] = -prior, -(1.0 - prior)
    rows, limits = [], []
    for step, (one, other) in enumerate([(0, 1), (1, 0), (1, 2), (2, 1)]):
        for i in range(k):  # one_i - e^eps other_i <= slack_i
            row = np.zeros(laws + slack)
            row[one * k + i], row[other * k + i], row[laws + step * k + i] = 1.0, -np.exp(epsilon), -1.0
            rows.append(row)
            limits.append(0.0)
        row = np.zeros(laws + slack)
        row[laws + step * k : laws + (step + 1) * k] = 1.0
        rows.append(row)
        limits.append(delta)
    whole = np.zeros((3, laws + slack))
    for law in range(3):
        whole[law, law * k : (law + 1) * k] = 1.0
    solved = linprog(gain, A_ub=rows, b_ub=limits, A_eq=whole, b_eq=np.ones(3))

    allowed = max(prior, 1.0 - prior) + ApproximateDp(*pair).envelope().twice().gain(prior, 1.0 - prior)

    assert -solved.fun <= allowed + 1e-9
    assert max(-solved.fun, prior, 1.0 - prior) == pytest.approx(allowed, abs=1e-9)


@each_case("epsilon", [0.1, 1.0, 3.0])
def test_two_steps_of_pure_dp_allow_less_than_twice_its_epsilon(epsilon):
    allowed = 2.0 * ApproximateDp(epsilon).envelope().twice().gain(0.5, 0.5)

    assert GaussianDp(0.7).envelope().twice() == GaussianDp(1.4).envelope()  # one of twice the size
    assert allowed == pytest.approx(1.0 - np.exp(-epsilon), abs=1e-14)
    assert np.tanh(epsilon / 2.0) < allowed < advantage_ceiling(2.0 * epsilon)


@each_case("promise", [ApproximateDp(3.0, 1e-3), ApproximateDp(700.0), GaussianDp(2.0)])
@each_case("weights", [(1e-6, 1.0), (1.0, 1e-6), (1e-18, 1.0), (0.3, 0.3)])
def test_a_gain_is_exact_however_unequal_the_weights(promise, weights):
    envelope, (less, more) = promise.envelope(), sorted(weights)
    rates = np.geomspace(1e-30, 1.0, 20_000)
    gain = envelope.gain(*weights)

    assert gain == envelope.gain(*weights[::-1])
    grid = max(0.0, (less * envelope.tpr(rates) - more * rates).max(), less * float(envelope.tpr(0.0)))
    assert grid <= gain * (1.0 + 1e-12)
    assert gain == pytest.approx(grid, rel=2e-3)
    assert gain <= less
