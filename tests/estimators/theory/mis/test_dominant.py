"""Limits where one category holds nearly all records: how often they miss, counted exactly, not simulated."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from estimators.theory.mis import binomials
from estimators.theory.mis.binomials import Tally, law_of
from estimators.theory.mis.certified import (
    delta_term,
    delta_upper,
    diversity,
    diversity_term,
    lower,
    records_from,
    upper,
    worst_delta_from,
)
from estimators.theory.mis.security import records_needed, total_delta
from estimators.theory.mis.shape import Move, Shape, Term, least_beyond
from tests.cases import each_case

EXPECTED = np.append(0.0, np.geomspace(1e-4, 3.0, 24))
"""Records expected outside the dominant category: from none to a few."""

MOST = 12
"""Records outside that are gone through; what is beyond (2e-5 at most) counts as missed."""

TERMS = {"c_k": diversity_term(), "delta at 7": delta_term(7), "delta at 100": delta_term(100)}


def truth(term: Term, p: list[float], times: list[float]) -> float:
    return float(term.of(np.array(p)) @ np.array(times))


def missed(n: int, q: float, wrong: Callable[[int], bool]) -> float:
    """Probability that a limit misses when so many of n records lie outside, whose share is q."""
    k = np.arange(MOST + 1)
    return 1.0 - float(binom.pmf(k, n, q) @ np.array([not wrong(each) for each in k]))


@pytest.mark.slow
@each_case("confidence, universe, n", [(0.95, 2, 3000), (0.5, 10, 3000), (0.95, None, 3000)])
@each_case("name", TERMS)
def test_ends_of_many_records_miss_no_more_often_than_they_say(name, n, universe, confidence) -> None:
    require_few_misses(TERMS[name], n, universe, (1.0 - confidence) / 2.0)


@pytest.mark.slow
@each_case("confidence", [0.5, 0.95])
@each_case("universe", [2, 10, None])
@each_case("name", TERMS)
def test_ends_miss_no_more_often_than_they_say_if_one_category_holds_nearly_all(name, universe, confidence):
    require_few_misses(TERMS[name], 50, universe, (1.0 - confidence) / 2.0)


def require_few_misses(term: Term, n: int, universe: int | None, alpha: float) -> None:
    """Upper ends need the number of categories, lower ends do not."""
    end, side = (lower, -1.0) if universe is None else (upper, 1.0)
    ends = [side * end(term, Tally.of_counts([k, n - k], universe), alpha) for k in range(MOST + 1)]

    for q in EXPECTED / n:
        least = side * truth(term, [q, 1.0 - q], [1.0, 1.0]) - 1e-12
        assert missed(n, q, lambda k, least=least: ends[k] < least) <= alpha


@pytest.mark.slow
@each_case(
    "end, universe, confidence", [(upper, None, 0.95), (upper, None, 0.5), (lower, None, 0.95), (upper, 10**7 + 1, 0.5)]
)
@each_case("name", ["c_k", "delta at 100"])
def test_ends_miss_no_more_often_than_they_say_if_the_rest_are_single_records(name, end, universe, confidence) -> None:
    term, alpha, n, others = TERMS[name], (1.0 - confidence) / 2.0, 300, 10**7
    side = 1.0 if end is upper else -1.0
    ends = [side * end(term, Tally.of_counts([n - k] + [1] * k, universe), alpha) for k in range(MOST + 1)]

    for q in EXPECTED / n:  # two in one category have a probability of 2e-5 at most
        least = side * truth(term, [q / others, 1.0 - q], [others, 1.0]) - 1e-12
        assert missed(n, q, lambda k, least=least: ends[k] < least) <= alpha - 2e-5


def test_one_category_seen_alone_does_not_rule_out_another() -> None:
    assert diversity(Tally.of_counts([3000], 2)).upper > 2.0 * np.sqrt(0.001 * 0.999)


@pytest.mark.slow
@each_case("n", [7, 300])
@each_case("sign", [1.0, -1.0])
@each_case("name", TERMS)
def test_the_slack_is_what_one_category_above_one_half_and_all_others_need_together(name, sign, n) -> None:
    """The rest is 1, 3 or 100 equal categories."""
    term, one = TERMS[name], law_of(n)
    shape = Shape.above(term, one, 0.5) if sign > 0.0 else Shape.below(term, one)
    for a in sign * np.array([0.5, 5.0, 50.0]) / term.scale:
        tilt = shape.tilted(a)
        for move in (Move(sign * 0.3 * shape.unit, max(sign, 0.0) * 0.5 * shape.unit), Move(0.0, 0.0)):
            slack = tilt.slack(move)
            g = np.append(move.at_none, move.of(np.interp(np.arange(1.0, n + 1.0), one.knots, shape.base)))
            for p in (0.5000001, 0.7, 0.99, 1.0):
                alone = np.log((binom.pmf(np.arange(n + 1), n, p) * np.exp(a * (shape.top - g))).sum())
                for others in (1, 3, 100) if p < 1.0 else (0,):
                    q = (1.0 - p) / max(others, 1)
                    f = float(term.of(np.array([q]))[0])
                    each = np.log((binom.pmf(np.arange(n + 1), n, q) * np.exp(a * (f - g))).sum())

                    assert alone + others * each <= slack + 1e-9


@cache
def fine_law(n: int) -> binomials.Law:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binomials, "POINTS", 16 * binomials.POINTS)
        return law_of.__wrapped__(n)


@pytest.mark.slow
@each_case("name, n", [*((name, 50) for name in TERMS), ("delta at 7", 150)])
def test_the_margin_between_points_of_the_grid_covers_a_grid_16_times_as_fine(name, n) -> None:
    """Evidence, not proof: the margin is heuristic."""
    term = TERMS[name]
    for sign in (1.0, -1.0):
        laws = law_of(n), fine_law(n)
        coarse, fine = (Shape.above(term, one, 0.5) if sign > 0 else Shape.below(term, one) for one in laws)
        for a in sign * np.array([1.0, 20.0, 200.0]) / term.scale:
            tilt = coarse.tilted(a)
            by = 1.05 * max(tilt.least_rise() if sign > 0 else tilt.least_lowering(), 0.0)
            move = Move(sign * by, 1.05 * tilt.least_at_none(by) if sign > 0 else 0.0)

            found, exact = tilt.slack(move), np.max(_ratios(fine, a, move))

            assert exact <= found + 1e-6 * abs(found)


def _ratios(shape: Shape, a: float, move: Move) -> np.ndarray:
    g = shape.law.spread(np.append(0.0, move.of(shape.base[1:])))
    some = shape.mean(-a * (g - shape.f[:, None]))
    return np.logaddexp(some, shape.none + a * (shape.f - move.at_none)) / shape.law.p


@each_case("name", TERMS)
def test_top_and_least_are_outward_of_every_value_above_one_half(name) -> None:
    term = TERMS[name]
    p = np.random.default_rng(1).uniform(0.5, 1.0, 200_000)
    assert term.of(p).max() <= Shape.above(term, law_of(50), 0.5).top <= 1.0002 * term.of(p).max()
    for high in (0.5, 0.6, 0.99, 1.0):
        assert least_beyond(term, high) <= term.of(p[p <= high]).min(initial=1.0)


@cache
def _needed(k: int) -> float:
    return records_from(Tally.of_counts([k, 30 - k], 4), 0.05, 1.0, 0.5)


@pytest.mark.slow
def test_certified_records_are_too_few_no_more_often_than_they_say() -> None:
    for q in (1e-3, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5):
        least = records_needed([q, 1.0 - q], 0.05)
        assert sum(float(binom.pmf(k, 30, q)) for k in range(31) if _needed(min(k, 30 - k)) < least) <= 0.25


@pytest.mark.slow
def test_where_the_limit_rises_with_n_the_certified_records_lie_beyond_its_last_crossing() -> None:
    tally, delta = Tally.of_counts([1] * 60 + [300]), 0.264
    limit = {n: delta_upper(tally, n, 1.0, 0.1) for n in (134, 199, 299)}

    assert limit[134] < limit[199] < delta < limit[299]

    found = records_from(tally, delta, 1.0, 0.8)

    assert 299 < found < np.inf
    assert all(delta_upper(tally, int(found * more), 1.0, 0.1) <= delta for more in np.geomspace(1, 50, 12))


@each_case("gamma", [0.5, 1.2])
def test_the_lower_end_of_a_category_seen_once_among_very_many_is_not_cut_off(gamma) -> None:
    tally, q = Tally.of_counts([999, 1], 10**6), 1e-10
    exact = total_delta(np.array([q, 1.0 - q]), np.ones(2), 10, gamma)
    assert 0.0 < worst_delta_from(tally, 10, gamma).lower <= exact
