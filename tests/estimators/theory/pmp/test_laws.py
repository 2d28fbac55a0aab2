"""Practical membership privacy of finite laws: the definition, the paper's numbers, and its slips."""

from itertools import product
from math import log

import numpy as np
import pytest

from estimators.errors import DimensionMismatch, NotDistribution, OutOfRange
from estimators.theory.pmp.laws import finite, half_of
from tests.cases import each_case, refusals
from tests.estimators.theory.pmp.worlds import (
    dp_epsilon,
    events,
    in_and_out,
    modular_sum,
    practical_epsilons,
    training_sets,
)


def test_the_modular_sum_is_ln_2_for_n_3_and_ln_38_37_for_n_6_though_no_epsilon_is_enough_for_dp():
    assert finite(modular_sum(3), 3).epsilon == pytest.approx(log(2), abs=1e-15)
    assert finite(modular_sum(6), 6).epsilon == pytest.approx(log(38 / 37), abs=1e-15)
    assert log(38 / 37) < log(40 / 37)  # what the paper states for n = 6: true, and not tight

    laws, sets = modular_sum(3), training_sets(3)
    first, second = laws[sets.index((0, 1, 2))], laws[sets.index((0, 1, 3))]

    assert (first * second).sum() == 0.0  # neighbours whose outcomes have nothing in common


@each_case("seed", range(5))
def test_epsilon_and_delta_are_those_of_every_event_both_ways(seed) -> None:
    n, outcomes = 3, 4
    laws = np.random.default_rng(seed).dirichlet(np.ones(outcomes) / 2, size=20)
    found = finite(laws, n)

    def least_delta(epsilon: float) -> float:
        worst = 0.0
        for (p, q), event in product(in_and_out(laws, n), events(outcomes)):
            a, b = p[event].sum(), q[event].sum()
            worst = max(worst, a - np.exp(epsilon) * b, b - np.exp(epsilon) * a)
        return float(worst)

    for epsilon in (0.0, 0.1, 0.4):
        assert found.deltas(epsilon).max() == pytest.approx(least_delta(epsilon), abs=1e-14)
    assert least_delta(found.epsilon) < 1e-14 < least_delta(found.epsilon - 1e-3)
    for delta in (1e-4, 0.01, 0.1):
        at = found.epsilon_at(delta)
        assert least_delta(at) <= delta + 1e-12
        assert at == 0.0 or least_delta(at - 1e-6) > delta
    assert found.epsilons.tolist() == pytest.approx(practical_epsilons(laws, n))
    assert found.epsilon <= dp_epsilon(laws, n) + 1e-12


@each_case("seed", range(5))
def test_at_a_delta_every_record_has_the_epsilon_of_its_worst_event(seed) -> None:
    n, outcomes, delta = 2, 4, 0.03
    laws = np.random.default_rng(seed).dirichlet(np.ones(outcomes) / 2, size=6)

    result = finite(laws, n)

    worst: list[tuple[float, int, str, list[int]]] = []
    for (x, (p, q)), event in product(enumerate(in_and_out(laws, n)), events(outcomes)):
        for a, b, says in ((p, q, "member"), (q, p, "nonmember")):
            if a[event].sum() > delta:
                worst.append((log((a[event].sum() - delta) / b[event].sum()), x, says, event))
    for x, epsilon in enumerate(result.epsilons_at(delta)):
        assert epsilon == pytest.approx(max(0.0, *(each[0] for each in worst if each[1] == x)), abs=1e-12)
    epsilon, record, says, outcomes_told = max(worst)
    assert result.epsilon_at(delta) == pytest.approx(epsilon, abs=1e-12)
    event_told = result.event_at(delta)
    assert (event_told.record, event_told.says, list(event_told.outcomes)) == (record, says, outcomes_told)


def test_the_number_of_rows_says_how_many_records_there_are() -> None:
    assert [half_of(rows) for rows in (2, 6, 20, 252)] == [1, 2, 3, 5]
    for rows in (0, 1, 5, 21):
        with pytest.raises(DimensionMismatch, match=f"got {rows} rows") as refused:
            half_of(rows)
        assert refused.value.field == "laws"


def test_a_record_given_away_has_no_epsilon_until_delta_covers_it() -> None:
    n, share = 2, 0.1
    release = np.full((6, 5), 0.0)
    for row, chosen in enumerate(training_sets(n)):
        release[row, list(chosen)] = share  # each record in is published with this probability
        release[row, 4] = 1.0 - n * share
    found = finite(release, n)

    assert (found.epsilon, found.worst.says) == (float("inf"), "member")
    assert found.epsilon_at(share / 2) == float("inf")
    assert found.epsilon_at(share) == pytest.approx(0.0, abs=1e-12)
    # the paper says eta-MIP when a record is published with probability n eta; eta/2 is the truth
    assert found.mip_eta == pytest.approx(share / 2)


def test_outcomes_that_never_happen_say_nothing_and_where_delta_is_enough_no_event_is_named() -> None:
    laws = np.column_stack([np.full((6, 2), 0.5), np.zeros(6)])

    assert finite(laws, 2).epsilon == 0.0
    assert finite(laws, 2).successes.tolist() == [0.5] * 4
    assert finite(np.array([[0.6, 0.4], [0.4, 0.6]]), 1).event_at(0.3) is None


def test_corollary_4_is_wrong_by_a_factor_of_2_in_delta() -> None:
    # n = 1: the laws in and out are those of the two neighbours, so (epsilon, delta)-PMP is (epsilon, delta)-DP
    delta = finite(np.array([[0.6, 0.4], [0.4, 0.6]]), 1).deltas(0.0).max()

    # as printed, (0, 2 delta)-PMP would make it (0, delta)-DP: it is (0, 0.2)-PMP and not (0, 0.1)-DP
    assert delta == pytest.approx(0.2)
    assert 0.1 < delta <= 2 * 0.1 + 1e-12


test_what_is_no_law_is_refused = refusals(
    "ask, error, words, index",
    (lambda: finite(np.ones((19, 1)), 3), DimensionMismatch, "20", None),
    (lambda: finite(np.array([[0.5, 0.5], [0.5, 0.6]]), 1), NotDistribution, "row 1", 1),
    (lambda: finite(np.array([[0.5, 0.5], [1.5, -0.5]]), 1), NotDistribution, "row 1", 1),
    (lambda: finite(np.array([[0.5, 0.5], [np.nan, 0.5]]), 1), NotDistribution, "row 1", 1),
    (lambda: finite(modular_sum(3), 3).epsilon_at(1.1), OutOfRange, "delta", None),
)
