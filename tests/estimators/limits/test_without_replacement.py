"""Limits for a fixed set against SciPy's hypergeometric law and against every sample there is."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import hypergeom

from estimators.limits import without_replacement
from estimators.limits.without_replacement import SEARCHED, Border, Side, chernoff_limit, largest_sum
from tests.cases import each_case

ALPHA = 0.025


def by_every_pair(first: Side, second: Side, seen: float, alpha: float) -> float:
    """The same limit by trying every pair of totals, with SciPy's law."""
    best = 0.0
    hits = np.arange(first.sample + 1), np.arange(second.sample + 1)
    worth = hits[0][:, None] * first.sample_worth + hits[1] * second.sample_worth
    of = [(np.arange(side.sample + 1), side.whole, side.sample) for side in (first, second)]
    laws = [[hypergeom.pmf(k, n, total, sample) for total in range(n + 1)] for k, n, sample in of]
    for (one, of_one), (other, of_other) in product(*map(enumerate, laws)):
        if of_one @ (worth <= seen + 1e-9) @ of_other > alpha:
            best = max(best, one * first.worth + other * second.worth)
    return best


@each_case(
    "first, second",
    (Side(12, 6, 0.5 / 12), Side(12, 6, 0.5 / 12)),
    (Side(9, 8, 0.1 / 9), Side(20, 5, 0.9 / 20)),
    (Side(20, 19, 0.99 / 20), Side(7, 3, 0.01 / 7)),
    (Side(10, 10, 0.05), Side(14, 6, 0.5 / 14)),
)
@pytest.mark.parametrize("alpha", [0.21, 0.026, 0.0005])  # no chance is exactly one of these
def test_the_limit_is_that_of_every_pair_of_totals(first, second, alpha) -> None:
    rng = np.random.default_rng(0)
    for _ in range(6):
        hits = rng.integers(0, first.sample + 1), rng.integers(0, second.sample + 1)
        seen = hits[0] * first.sample_worth + hits[1] * second.sample_worth
        exact = by_every_pair(first, second, seen, alpha)

        limit = largest_sum(first, second, seen, alpha)

        assert exact - 1e-12 <= limit <= exact + 0.01 * max(0.0, exact - seen) + 1e-12


def test_no_set_of_ten_is_missed_more_often_than_said() -> None:
    """Every sample of 5 of 10 on either side, for every pair of totals: the exact rate of misses."""
    side = Side(10, 5, 0.05)
    drawn = np.array(list(combinations(range(10), 5)))
    chances = [np.bincount((drawn < total).sum(axis=1), minlength=6) / len(drawn) for total in range(11)]
    limit = [largest_sum(side, side, hits * side.sample_worth, ALPHA) for hits in range(11)]
    limits = np.array([[limit[a + b] for b in range(6)] for a in range(6)])
    for one, other in product(range(11), repeat=2):
        missed = limits < (one + other) * side.worth - 1e-12
        assert chances[one] @ missed @ chances[other] <= ALPHA


def test_a_law_from_the_table_of_factorials_has_the_digits_of_one_without(monkeypatch) -> None:
    sides = [(Side(whole, drawn, 1.0), total) for whole, drawn, total in ((40, 13, 7), (900, 899, 450), (9000, 20, 1))]
    tabled = [side.law(total) for side, total in sides]
    monkeypatch.setattr(without_replacement, "TABLED", -1)

    for (least, law), (side, total) in zip(tabled, sides, strict=True):
        again = side.law(total)
        assert least == again[0]
        assert law.tolist() == again[1].tolist()


def test_a_law_has_its_mean_and_variance_however_large_the_set() -> None:
    # textbook: n p, and n p (1 - p) (N - n) / (N - 1)
    for side, total in ((Side(10**9, 10**6, 1.0), 10**8), (Side(40, 20, 1.0), 0), (Side(40, 0, 1.0), 7)):
        least, law = side.law(total)
        hits, rate = least + np.arange(len(law)), total / side.whole

        mean = float(law @ hits)
        assert mean == pytest.approx(side.sample * rate, rel=1e-6)
        variance = side.sample * rate * (1.0 - rate) * (side.whole - side.sample) / (side.whole - 1)
        assert float(law @ (hits - mean) ** 2) == pytest.approx(variance, rel=1e-4)


@pytest.mark.slow
def test_the_search_finds_the_highest_of_many_peaks() -> None:
    """Few drawn, or few left out, make the border a staircase with many: every total of the first side is tried."""
    for first, second, share in (
        (Side(1025, 700, 0.5 / 1025), Side(3000, 900, 0.5 / 3000), 0.4),
        (Side(2419, 2395, 0.1 / 2419), Side(3335, 3302, 0.9 / 3335), 0.95),
        (Side(2087, 10, 0.5 / 2087), Side(4808, 2404, 0.5 / 4808), 0.85),
        (Side(1829, 37, 0.5 / 1829), Side(1863, 1844, 0.5 / 1863), 0.96),
    ):
        seen = share * sum(each.sample_worth * each.sample for each in (first, second))

        limit = largest_sum(first, second, seen, ALPHA)
        border = Border(first, second, seen, ALPHA)
        end = max(border.others)
        exact = max(border.at(one, max(0, one - 1), end) for one in range(end + 1))

        assert exact - 1e-12 <= limit
        assert limit - exact <= 0.011 * (exact - seen)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.025, 0.0005])
def test_chernoffs_limit_is_above_and_not_far(alpha) -> None:
    for first, second in (
        (Side(40, 20, 0.5 / 40), Side(40, 20, 0.5 / 40)),
        (Side(30, 29, 0.1 / 30), Side(50, 10, 0.9 / 50)),
        (Side(900, 300, 0.5 / 900), Side(700, 650, 0.5 / 700)),
        (Side(800, 800, 0.5 / 800), Side(800, 400, 0.5 / 800)),
        (Side(3000, 1500, 0.01 / 3000), Side(9000, 4000, 0.99 / 9000)),
    ):
        for share in (0.0, 0.03, 0.5, 0.9, 1.0):
            seen = share * sum(each.sample_worth * each.sample for each in (first, second))
            exact = Border(*sorted((first, second), key=lambda side: side.whole), seen, alpha).limit()

            simple = chernoff_limit((first, second), seen, alpha)

            assert simple >= exact - 0.01 * (exact - seen) - 1e-12  # the search may be so far above
            step = max(first.sample_worth, second.sample_worth)
            assert simple - seen <= 2.1 * (exact - seen) + 2.0 * step


def test_of_large_sets_the_limit_is_no_less_than_normal_and_not_far() -> None:
    """The normal limit, with the variance of drawing without replacement at equal rates, for sets of any size."""
    for whole, drawn in ((SEARCHED + 1, 5000), (10**6, 10**5), (10**6, 10**6 - 1000), (4 * 10**8, 10**7)):
        side = Side(whole, drawn, 0.5 / whole)
        variance = 2.0 * (0.5**2) * 0.24 / drawn * (whole - drawn) / (whole - 1)

        assert 1.96 * variance**0.5 < largest_sum(side, side, 0.4, ALPHA) - 0.4 < 2.1 * 1.96 * variance**0.5


def test_where_all_were_drawn_the_sum_is_known_and_where_nobody_was_all_may_be_hits() -> None:
    known, unknown = Side(30, 30, 0.5 / 30), Side(20_000, 0, 0.5 / 20_000)

    assert largest_sum(known, known, 41 * known.worth, ALPHA) == pytest.approx(41 * known.worth, abs=1e-12)
    assert largest_sum(unknown, unknown, 0.0, ALPHA) == pytest.approx(1.0)
