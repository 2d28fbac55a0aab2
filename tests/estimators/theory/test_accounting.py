"""The accountant against exact divergences, against the Gaussian limit, and without its package."""

import sys
from math import exp, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from estimators.errors import NotInstalled, OptionError, OutOfRange
from estimators.theory.accounting import NoisySteps, curve_of, renyi_curve
from estimators.theory.dp import Adjacency, GaussianDp, bounds
from estimators.theory.shifts import gaussian_epsilon
from tests.cases import each_case, refusals

ORDERS = [1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128]


def one_step(noise, rate, epsilon, adjacency):
    """Hockey stick of one sampled Gaussian step, integrated: the larger of both directions."""

    def density(x, at):
        bells = (1 - rate) * exp(-((x / noise) ** 2) / 2) + rate * exp(-(((x - at) / noise) ** 2) / 2)
        return bells / (noise * sqrt(2 * pi))

    def excess(x, a, b):
        return max(0.0, density(x, a) - exp(epsilon) * density(x, b))

    pairs = [(1.0, -1.0)] if adjacency is Adjacency.REPLACE else [(1.0, 0.0), (0.0, 1.0)]
    ends = (-12 * noise - 1, 12 * noise + 1)
    return max(quad(excess, *ends, args=pair, limit=400)[0] for pair in pairs)


@pytest.mark.slow
@each_case("adjacency", list(Adjacency))
@each_case("noise, rate", [(1.0, 0.2), (0.7, 0.5), (3.0, 0.9)])
def test_one_sampled_step_is_bounded_from_above_and_closely(noise, rate, adjacency):
    curve = NoisySteps(noise, 1, rate).promise(adjacency)

    for at in (0, 40, 80, 110):
        exact = one_step(noise, rate, curve.epsilons[at], adjacency)
        assert exact - 1e-9 <= curve.deltas[at] <= exact + 1e-5


@pytest.mark.slow
@each_case("adjacency", list(Adjacency))
def test_steps_on_all_records_are_exactly_gaussian_and_on_almost_all_almost(adjacency):
    exact = NoisySteps(20.0, 100).promise(adjacency)
    curve = NoisySteps(20.0, 100, 0.999999).promise(adjacency, 1e-5)

    assert exact == GaussianDp(1.0 if adjacency is Adjacency.REPLACE else 0.5)
    assert curve.pair(1e-5)[0] == pytest.approx(gaussian_epsilon(exact.mu, 1e-5), rel=2e-3)
    assert 2 * curve.envelope().gain(0.5, 0.5) == pytest.approx(2 * norm.cdf(exact.mu / 2) - 1, rel=2e-3)


@pytest.mark.slow
def test_replacing_costs_more_than_adding_and_the_whole_curve_bounds_more_tightly_than_one_epsilon():
    """Abadi et al. 2016, section 3.2: q = 0.01, sigma = 4, T = 10,000, delta = 1e-5 is epsilon 1.26 by theirs."""
    adjacencies, few = (Adjacency.ADD_REMOVE, Adjacency.REPLACE), NoisySteps(1.0, 300, 0.01)
    added, replaced = (few.promise(each, 1e-5).pair(1e-5)[0] for each in adjacencies)

    assert added < replaced < 2 * added
    assert 0.8 < NoisySteps(4.0, 10_000, 0.01).promise(Adjacency.ADD_REMOVE, 1e-5).pair(1e-5)[0] < 1.26

    curve = NoisySteps(1.0, 300, 0.01).promise(Adjacency.REPLACE, 1e-5)
    found = {b.name: b for b in bounds(curve, delta=1e-5) if b.quantity == "advantage"}

    # total variation is the hockey stick at epsilon 0
    assert found["envelope"].value <= curve.deltas[0] + 1e-12
    assert found["envelope"].value < 0.5 * found["epsilon_delta"].value
    assert found["envelope"].tightest


@pytest.mark.slow
@each_case("mu", [0.3, 1.0, 3.0])
def test_a_renyi_curve_is_above_the_exact_gaussian_one(mu):
    curve = renyi_curve([(a, a * mu**2 / 2) for a in ORDERS], 1e-5)

    exact = gaussian_epsilon(mu, 1e-5)
    assert exact <= curve.pair(1e-5)[0] <= 1.15 * exact + 0.05
    envelope = curve.envelope()
    rates = np.linspace(0.001, 0.999, 200)
    assert (envelope.tpr(rates) >= GaussianDp(mu).envelope().tpr(rates) - 1e-12).all()
    assert envelope.gain(0.5, 0.5) < 0.5
    nothing = renyi_curve([(2.0, 0.0), (8.0, 0.0)], 1e-5)
    assert (nothing.pair(1e-5), nothing.envelope().gain(0.5, 0.5)) == ((0.0, 1e-5), 0.0)


test_numbers_out_of_range_are_refused_by_name = refusals(
    "ask, field",
    [
        (lambda: NoisySteps(0.0, 1), "noise_multiplier"), (lambda: NoisySteps(1.0, 0), "steps"),
        (lambda: NoisySteps(1.0, 1, 0.0), "sampling_rate"),
        (lambda: NoisySteps(1.0, 1, 1.5), "sampling_rate"), (lambda: renyi_curve([]), "rdp"),
        (lambda: renyi_curve([(0.5, 1.0)]), "rdp"), (lambda: renyi_curve([(2.0, -1.0)]), "rdp"),
        (lambda: renyi_curve([(2.0, float("nan"))]), "rdp"),
    ],
    error=OutOfRange,
)  # fmt: skip


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)

    with pytest.raises(NotInstalled, match=r"pip install 'macekit\[accounting\]'") as of_orders:
        renyi_curve([(2.0, 1.0)])
    with pytest.raises(NotInstalled) as of_noise:
        NoisySteps(1.0, 4, 0.5).promise(Adjacency.REPLACE)
    assert (of_orders.value.field, of_noise.value.field) == ("rdp", "noise_multiplier")
    assert NoisySteps(1.0, 4).promise(Adjacency.REPLACE) == GaussianDp(4.0)


@pytest.mark.slow
def test_a_curve_is_read_off_an_accountant_and_off_a_law_of_its_losses():
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
    from dp_accounting.rdp import RdpAccountant

    event, exact = GaussianDpEvent(1.0), gaussian_epsilon(1.0, 1e-5)  # one step is 1-GDP
    law = privacy_loss_distribution.from_gaussian_mechanism(1.0)
    for source in (law, PLDAccountant().compose(event)):
        assert curve_of(source, 1e-5).pair(1e-5)[0] == pytest.approx(exact, abs=1e-3)
    assert curve_of(RdpAccountant().compose(event), 1e-5).pair(1e-5)[0] > exact  # looser, and never below
    with pytest.raises(OptionError, match="says no delta"):
        curve_of(object())
