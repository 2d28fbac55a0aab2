"""Noise and itself, shifted: against integration, arithmetic of many digits, and Balle and Wang's own numbers."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfcx, ndtr

from estimators.errors import OutOfRange
from estimators.theory import shifts
from tests.cases import each_case

MANY_DIGITS = [
    # shift, epsilon, ln delta; mpmath 1.3, 400 digits: log(Phi(v/2 - e/v) - exp(e) * Phi(-v/2 - e/v))
    (1e-08, 1e-08, -20.905801764665007), (1e-05, 0.0002, -218.43066397440776),
    (0.001, 0.03, -464.61740916430443), (0.05, 1.0, -209.4138817471677), (0.0999999, 0.1, -4.738502428168196),
    (0.1000001, 0.1, -4.738496622277266), (0.5, 2.0, -11.57064265001697), (1.0, 30.0, -442.84937808230364),
    (5.0, 1.0, -0.020354067659902643), (40.0, 800.0, -0.7132832272183182),
    (60.0, 900.0, -4.899406726321506e-51), (1e9, 4.99999999e17, -0.17275377931104985),
    (2.0**40, 2.0**79 - 2.0**40, -0.17275377902371146),
]  # fmt: skip


@each_case("shift, epsilon, log_delta", MANY_DIGITS)
def test_the_hockey_stick_keeps_its_digits_where_its_terms_cancel(shift, epsilon, log_delta) -> None:
    assert float(shifts.gaussian_log_delta(shift, epsilon)) == pytest.approx(log_delta, rel=1e-12, abs=1e-15)


@each_case("shift, epsilon", [(0.3, 0.1), (1.0, 0.0), (2.0, 3.0), (4.0, 0.5)])
def test_the_hockey_stick_is_the_integral_that_defines_it(shift, epsilon) -> None:
    def over(t: float) -> float:
        p, q = np.exp(-((t - shift) ** 2) / 2), np.exp(-(t**2) / 2)
        return max(p - np.exp(epsilon) * q, 0.0) / np.sqrt(2 * np.pi)

    crossing = epsilon / shift + shift / 2.0

    assert shifts.gaussian_delta(shift, epsilon) == pytest.approx(quad(over, crossing, 40.0)[0], abs=1e-9)


def test_nothing_moved_gives_nothing_away_far_apart_gives_all_and_epsilon_0_the_total_variation():
    assert [shifts.gaussian_delta(0.0, epsilon) for epsilon in (0.0, 1e-3, 1.0, 1e6)] == [0.0] * 4
    assert (shifts.gaussian_delta(1e200, 5.0), shifts.gaussian_delta(1e-200, 5.0)) == (1.0, 0.0)
    assert shifts.laplace_total_variation(0.0) == 0.0

    v = np.array([1e-12, 0.01, 1.0, 7.0])

    np.testing.assert_allclose(shifts.gaussian_delta(v, 0.0), shifts.gaussian_total_variation(v), rtol=1e-13)
    np.testing.assert_allclose(shifts.gaussian_total_variation(v)[1:], 2 * ndtr(v[1:] / 2) - 1, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_on_stderr_and_no_answer_is_lost_however_small_or_large_the_numbers_are() -> None:
    small, large = [5e-324, 1e-310, 1e-300, 1e-154, 1e-17], [1e8, 1e17, 1e154, 1e200, 1.7e308]
    ends = [*small, 0.1, 0.1000001, 1.0, 40.0, *large]
    shifts_asked = np.array([0.0, *ends, np.inf])
    for epsilon in (0.0, *ends):
        log_delta = shifts.gaussian_log_delta(shifts_asked, epsilon)

        assert (log_delta <= 0.0).all()  # nor is any of them NaN
        assert (np.diff(log_delta[log_delta > -700.0]) >= 0.0).all()
        assert (log_delta[0], log_delta[-1]) == (-np.inf, 0.0)


@pytest.mark.filterwarnings("error")
@each_case("power", [4, 8, 15, 30, 100, 300, 500])
def test_half_is_given_away_where_the_first_term_is_half_however_large_epsilon_is(power) -> None:
    """At epsilon v^2/2 it is 1/2 - e^epsilon Phi(-v), and the second term about 1/(v sqrt(2 pi))."""
    shift = 2.0**power
    found = shifts.gaussian_delta(shift, shift**2 / 2.0)

    assert found == pytest.approx(0.5 - erfcx(shift / np.sqrt(2.0)) / 2.0, rel=1e-9)


def test_it_rises_with_the_shift_and_falls_with_epsilon() -> None:
    grid = np.concatenate([np.linspace(0.0, 0.2, 2001), np.geomspace(0.2, 60.0, 500)])
    for epsilon in (0.0, 1e-6, 0.05, 1.0, 20.0):
        assert (np.diff(shifts.gaussian_delta(grid, epsilon)) >= -1e-15).all()
    found = np.stack([shifts.gaussian_delta(grid, e) for e in np.linspace(0.0, 5.0, 200)])
    assert (np.diff(found, axis=0) <= 1e-15).all()


@pytest.mark.slow
@each_case("epsilon", [1e-6, 0.1, 1.0, 10.0, 100.0, 1e4])
@each_case("delta", [1e-300, 1e-10, 1e-2, 0.9])
def test_sigma_and_epsilon_undo_each_other_to_the_last_digits(epsilon, delta) -> None:
    shift = shifts.gaussian_shift(epsilon, delta)

    assert float(shifts.gaussian_log_delta(shift, epsilon)) <= np.log(delta)
    assert float(shifts.gaussian_log_delta(shift * (1 + 1e-7), epsilon)) > np.log(delta)
    assert shifts.gaussian_epsilon(shift, delta) == pytest.approx(epsilon, rel=1e-7)


def test_the_edges_of_epsilon_are_exact() -> None:
    # mpmath 1.3, 50 digits: 1 / findroot(lambda v: Phi(v/2 - 1/v) - e * Phi(-v/2 - 1/v) - 1e-5, 0.268)
    assert shifts.gaussian_sigma(1.0, 1.0, 1e-5) == pytest.approx(3.730631634815942, rel=1e-12)
    assert shifts.gaussian_epsilon(0.0, 0.0) == 0.0
    assert shifts.gaussian_epsilon(1.0, 0.0) == float("inf")
    assert shifts.gaussian_epsilon(1.0, 0.5) == 0.0
    with pytest.raises(OutOfRange, match="delta"):
        shifts.gaussian_sigma(1.0, 1.0, 0.0)
    with pytest.raises(OutOfRange, match="epsilon"):
        shifts.gaussian_delta(1.0, -0.1)


@each_case("shift", [0.01, 0.5, 2.0, 9.0])
def test_laplace_on_the_line_is_the_integral_and_below_the_bound_for_any_norm(shift) -> None:
    found = shifts.laplace_total_variation(shift)
    apart = quad(lambda t: abs(np.exp(-abs(t)) - np.exp(-abs(t - shift))) / 4, -60, 80, points=(0, shift), limit=400)

    assert found == pytest.approx(apart[0], abs=1e-9)
    assert found <= np.tanh(shift / 2.0) <= shift / 2.0  # what two densities e^shift apart may be at most
