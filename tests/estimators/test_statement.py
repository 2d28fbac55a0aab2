"""What is said of a limit holds if the limit does."""

import math
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators import Scores, advantage, compare, metric_optimum, paired_difference, preset, verdict
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.paper import discrete_advantage
from estimators.privacy.auc import auc
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.privacy.roc import operating_point
from estimators.risk.cells import cell_risks
from estimators.sample.counting import by_equal_mass
from estimators.statement import at_least, at_most, baseline, exactly, figures_down, figures_up, percent
from estimators.theory.agreement import agreement
from tests.cases import each_case

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_a_lower_end_is_rounded_down_and_an_upper_one_up() -> None:
    cases = (0.346695, "0.3466", "0.3467"), (0.29, "0.2900", "0.2900"), (-1e-5, "-0.0001", "0.0000")
    for value, lower, upper in cases:
        assert (at_least(value, 4), at_most(value, 4)) == (lower, upper)
    assert (at_least(-math.inf), at_most(math.inf)) == ("-inf", "inf")


@given(FINITE, st.integers(0, 6))
def test_what_is_said_holds(value, digits) -> None:
    lower, upper = at_least(value, digits), at_most(value, digits)

    assert float(lower) <= value <= float(upper)
    apart = Decimal(upper) - Decimal(lower)  # of floats, this would be rounded by more than is asked here
    assert apart <= Decimal("1.001") * max(Decimal(10) ** -digits, Decimal(math.ulp(value)))


@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_digits_are_added_until_it_lies_on_the_right_side_of_the_threshold(one, other) -> None:
    low, high = sorted((one, other))

    assert float(at_most(low, 4, high)) <= high
    assert high == low or float(at_least(high, 4, low)) > low


@each_case("seed", range(8))
def test_a_sentence_does_not_say_more_than_its_interval(seed) -> None:
    rng = np.random.default_rng(seed)
    result = advantage(Scores.of(rng.normal(0.7, 1.0, 300), rng.normal(0.0, 1.0, 300)), 0.3, seed=seed)
    numbers = [float(number) for number in re.findall(r"\b0\.\d+", result.sentence)]

    assert numbers[0] <= result.lower < result.upper <= numbers[1]
    assert numbers[1] - numbers[0] < result.upper - result.lower + 0.002


@pytest.mark.parametrize("value", [3794.73319, 1.2345649e-5, 28.5, 0.0, 1e-300, 1.2e308, -0.5, 0.99999, 5.0])
def test_figures_hold_at_any_size_and_are_four(value) -> None:
    up, down = figures_up(value), figures_down(value)

    assert float(down) <= value <= float(up)
    assert float(exactly(value)) == value
    assert float(up) - float(down) <= 1e-3 * abs(value)
    assert all(len(text.partition("e")[0].strip("-0.").replace(".", "")) <= 4 for text in (up, down))


@pytest.mark.parametrize(("prior", "value"), [(0.5, 0.0), (0.25, 0.5), (0.75, 0.5), (1e-3, 0.998)])
def test_the_baseline_is_what_guessing_the_likelier_side_earns(prior, value) -> None:
    assert baseline(prior) == value == baseline(1.0 - prior)


@each_case(
    "share, text",
    *((0.95, "95%"), (0.57, "57%"), (1.0 - 0.95, "5%"), ((1.0 + 0.118) / 2.0, "55.9%")),
    *((0.9512345, "95.12345%"), (0.99999999, "99.999999%"), (1.0 - 2.0**-53, "99.99999999999999%")),
    (1e-17, "0.000000000000001%"),
)
def test_a_share_is_told_in_percent_with_all_its_digits(share, text) -> None:
    assert percent(share) == text


@pytest.mark.parametrize("confidence", [0.9, 0.99999999])
def test_every_sentence_tells_the_confidence_that_was_computed_with(confidence) -> None:
    rng = np.random.default_rng(0)
    scores = Scores.of(rng.normal(1.0, 1.0, 400), rng.normal(0.0, 1.0, 400))
    counts = by_equal_mass(scores)
    statements = [
        advantage(scores, confidence=confidence),
        compare({"one": scores, "other": scores}, confidence=confidence),
        paired_difference(scores, scores, confidence=confidence),
        judge(scores, [MaxAdvantage(0.1)], confidence=confidence),
        metric_optimum(counts, preset("accuracy", 0.5), confidence=confidence),
        cell_risks(counts, 0.5, confidence),
        discrete_advantage(counts, 0.5, confidence),
        auc(counts, confidence),
        operating_point(counts, 0.1, confidence),
        agreement(scores, 1.0, confidence=confidence),
    ]
    one_sided = epsilon_lower_bound(counts, confidence).sentence

    texts = [each.sentence for each in statements] + [verdict(statements[0], 0.1).reason]
    assert [text for text in texts if percent(confidence) not in text] == []
    assert percent((1.0 + confidence) / 2.0) in one_sided
