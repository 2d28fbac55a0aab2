"""One number in the units of the others: against closed forms, grids of ROC curves, and what goes there and back."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import norm

from estimators.errors import MaceError
from estimators.theory import dp
from estimators.theory.dp import ConversionStatement, Converted, convert
from tests.cases import each_case

RATES = (0.001, 0.1, 0.5)


def row(result: ConversionStatement, quantity: str) -> Converted:
    return next(each for each in result.rows if each.quantity == quantity)


def test_without_a_delta_at_even_odds_everything_has_a_closed_form() -> None:
    measured = convert(advantage=0.3, false_positive_rates=[0.01])

    assert row(measured, "eta").at_least == row(measured, "eta").at_most == pytest.approx(0.15, abs=1e-15)
    assert row(measured, "epsilon").at_least == pytest.approx(2 * np.arctanh(0.3), rel=1e-12)
    assert row(measured, "mu").at_least == pytest.approx(2 * norm.ppf(0.65), rel=1e-12)
    assert row(measured, "tpr_at_fpr_0.01").at_most == pytest.approx(0.31, rel=1e-12)
    assert row(measured, "tpr_at_fpr_0.01").at_least == pytest.approx(0.01 / 0.7, rel=1e-12)
    assert row(measured, "epsilon").at_most is row(measured, "mu").at_most is None


@each_case("delta", [0.0, 1e-3])
@each_case("eta", [0.01, 0.2, 0.45])
def test_the_epsilon_of_an_eta_is_that_of_theorem_4_turned_round(eta, delta) -> None:
    result = convert(eta=eta, delta=delta)
    expected = np.log((1 + 2 * eta - 2 * delta) / (1 - 2 * eta))

    assert row(result, "epsilon").at_least == pytest.approx(expected, rel=1e-10)
    assert row(result, "advantage").at_least == pytest.approx(2 * eta, rel=1e-14)


def test_adding_or_removing_takes_two_steps_for_a_fixed_number_of_members_and_guessing_no_promise():
    twice = convert(advantage=0.3, adjacency="add_remove")

    assert row(twice, "epsilon").at_least == pytest.approx(-np.log(0.7), rel=1e-12)
    assert row(twice, "mu").at_least == pytest.approx(norm.ppf(0.65), rel=1e-12)
    coins = convert(advantage=0.3, adjacency="add_remove", inclusion="independent")
    assert row(coins, "epsilon").at_least == row(convert(advantage=0.3), "epsilon").at_least

    result = convert(advantage=0.8, prior=0.1, false_positive_rates=[0.01])

    assert row(result, "epsilon").at_least == row(result, "mu").at_least == 0.0
    assert row(result, "tpr_at_fpr_0.01").at_least == pytest.approx(0.01, rel=1e-9)
    assert row(convert(advantage=0.1, delta=0.2), "epsilon").at_least == 0.0  # delta alone allows it


@each_case("prior", [0.1, 0.5, 0.8])
@each_case("share", [0.05, 0.5, 0.95])
def test_true_positive_rates_are_those_of_the_lowest_and_the_highest_curve(prior, share) -> None:
    """Every concave ROC curve with one corner on the line of the advantage, corner by corner."""
    guessing = abs(2 * prior - 1)
    advantage = guessing + share * (1 - guessing)
    result = convert(advantage=advantage, prior=prior, false_positive_rates=RATES)
    wrong = (1 - advantage) / 2
    corner = np.linspace(0.0, wrong / (1 - prior), 4001)
    height = 1 - (wrong - (1 - prior) * corner) / prior

    for rate in RATES:
        curves = through(corner, height, rate)
        line = 1 - (wrong - (1 - prior) * rate) / prior
        assert row(result, f"tpr_at_fpr_{rate:g}").at_least == pytest.approx(curves.min(), abs=1e-12)
        assert row(result, f"tpr_at_fpr_{rate:g}").at_most == pytest.approx(min(1.0, line), abs=1e-12)


def through(x: NDArray[np.float64], y: NDArray[np.float64], at: float) -> NDArray[np.float64]:
    """Heights at one rate of the curves (0, 0), (x, y), (1, 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        before, after = y * at / x, 1 - (1 - at) * (1 - y) / (1 - x)
    return np.where(x > at, before, np.where(x < 1.0, after, 1.0))


@each_case("prior", [0.2, 0.5])
@each_case("epsilon", [0.1, 1.0, 5.0])
def test_an_epsilon_limits_what_a_linear_programme_over_pairs_of_laws_reaches(epsilon, prior) -> None:
    """Over two outcomes: P <= e^eps Q + delta both ways is all that the promise says of a binary attack."""
    delta, slope = 0.02, np.exp(epsilon)
    rows = [[1, -slope], [-1, slope], [slope, -1], [-slope, 1]]  # of (TPR, FPR), and of the complements
    limits = [delta, slope - 1 + delta, slope - 1 + delta, delta]
    solved = linprog([-prior, 1 - prior], A_ub=rows, b_ub=limits, bounds=[(0, 1), (0, 1)])
    accuracy = 1 - prior - solved.fun
    result = convert(epsilon=epsilon, delta=delta, prior=prior, false_positive_rates=RATES)

    assert row(result, "advantage").at_most == pytest.approx(2 * accuracy - 1, abs=1e-9)
    assert row(result, "eta").at_most == pytest.approx(accuracy - max(prior, 1 - prior), abs=1e-9)
    for rate in RATES:
        fixed = linprog([-1, 0], A_ub=rows, b_ub=limits, bounds=[(0, 1), (rate, rate)])
        assert row(result, f"tpr_at_fpr_{rate:g}").at_most == pytest.approx(-fixed.fun, abs=1e-9)
    assert row(result, "mu").at_most is None


@each_case("epsilon", [0.01, 1.0, 8.0, 700.0])
def test_a_pure_epsilon_is_within_its_mu_and_touches_it(epsilon) -> None:
    mu = row(convert(epsilon=epsilon), "mu").at_most
    rates = np.concatenate([np.logspace(-300, -1, 4000), np.linspace(0.1, 1.0, 1000)])
    pure, gaussian = dp.ApproximateDp(epsilon).envelope().tpr(rates), dp.GaussianDp(mu).envelope().tpr(rates)

    assert (pure <= gaussian * (1 + 1e-9) + 1e-15).all()
    corner = 1 / (1 + np.exp(epsilon))
    smaller = norm.cdf(norm.ppf(corner) + mu * (1 - 1e-6))
    assert smaller < 1 - corner or epsilon > 30  # 1 - corner is 1 for floats


def test_a_mu_has_the_epsilon_of_its_normal_distributions() -> None:
    mu, delta = 1.3, 1e-4
    result = convert(mu=mu, delta=delta)

    epsilon = row(result, "epsilon").at_most
    shift = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert shift == pytest.approx(delta, rel=1e-9)
    assert row(result, "advantage").at_most == pytest.approx(2 * norm.cdf(mu / 2) - 1, rel=1e-12)
    assert row(convert(mu=mu), "epsilon").at_most is None
    assert "no_epsilon" in [each.code for each in convert(mu=mu).cautions]


@each_case("name", ["epsilon", "mu"])
@each_case("prior", [0.3, 0.5])
def test_there_and_back_is_where_it_began(name, prior) -> None:
    ceiling = row(convert(**{name: 1.5}, prior=prior), "advantage").at_most

    assert row(convert(advantage=ceiling, prior=prior), name).at_least == pytest.approx(1.5, rel=1e-9)


def test_from_below_a_promise_says_nothing_of_attacks_and_what_a_number_leaves_open_is_said():
    measured = convert(advantage=0.2).sentence

    for result in (convert(epsilon=2.0), convert(mu=1.0, delta=0.1)):
        assert [each.quantity for each in result.rows if each.at_least is not None] == [result.quantity]
        assert "nothing follows" in result.sentence
        assert ": a guarantee." in result.sentence
    assert "epsilon at delta 0 must be at least 0.4054" in measured
    assert "neither is a guarantee" in measured
    assert measured.endswith("epsilon and mu are not limited.")

    def codes(**number: float) -> list[str]:
        return [each.code for each in convert(**number).cautions]

    assert codes(advantage=0.2)[:3] == ["smallest_promise", "average_over_records", "one_run"]
    assert codes(eta=0.2) == ["smallest_promise", "random_membership", "adjacency_assumed"]
    assert codes(epsilon=1.0, delta=0.1) == ["no_mu", "random_membership", "adjacency_assumed"]


@each_case("numbers, field", [
    ({}, "advantage"), ({"advantage": 0.1, "eta": 0.1}, "eta"), ({"advantage": 1.0}, "advantage"),
    ({"advantage": -0.1}, "advantage"), ({"advantage": 0.5, "prior": 0.1}, "advantage"),
    ({"advantage": float("nan")}, "advantage"), ({"eta": 0.5}, "eta"),
    ({"eta": 0.2, "prior": 0.1}, "eta"), ({"epsilon": -1.0}, "epsilon"), ({"epsilon": 2e6}, "epsilon"),
    ({"mu": 1001.0}, "mu"), ({"mu": 1.0, "delta": 1.1}, "delta"), ({"mu": 1.0, "prior": 1.0}, "prior"),
    ({"mu": 1.0, "false_positive_rates": [0.0]}, "false_positive_rates"),
    ({"mu": 1.0, "adjacency": "replace", "inclusion": "independent"}, "adjacency"),
])  # fmt: skip
def test_what_cannot_be_converted_is_refused_by_name(numbers, field) -> None:
    with pytest.raises(MaceError) as caught:
        convert(**numbers)

    assert caught.value.field == field
