"""Limits at cuts: exact where a law is known, never below their level where the cut was read off the records."""

from itertools import product
from math import inf

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, binom, nchypergeom_fisher

from estimators.limits.binomial import lower_limit, upper_limit
from estimators.limits.cuts import FPR, TPR, AnyCut, FixedCut, GuessTable, PooledCut, odds_limits, sum_at_most
from estimators.metric.presets import PRESETS, preset
from tests.cases import each_case


@each_case("hits, n_a, others, n_c", [(7, 12, 3, 15), (1, 9, 8, 10), (400, 900, 90, 300)])
def test_the_odds_ratio_is_bounded_where_fishers_noncentral_law_says(hits, n_a, others, n_c) -> None:
    total, alpha = hits + others, 0.025
    low, high = np.exp(odds_limits(hits, n_a, others, n_c, alpha))

    assert nchypergeom_fisher.sf(hits - 1, n_a + n_c, n_a, total, low) == pytest.approx(alpha, rel=1e-6)
    assert nchypergeom_fisher.cdf(hits, n_a + n_c, n_a, total, high) == pytest.approx(alpha, rel=1e-6)


def test_large_tables_are_summed_near_their_hits_alone_and_an_end_of_which_nothing_is_seen_is_open() -> None:
    ends = odds_limits(550_000, 1_000_000, 450_000, 1_000_000, 0.025)

    middle, error = 2 * np.log(55 / 45), np.sqrt(2 / 550_000 + 2 / 450_000)
    assert ends == pytest.approx((middle - 1.96 * error, middle + 1.96 * error), abs=1e-5)
    assert (odds_limits(0, 8, 5, 9, 0.025)[0], odds_limits(8, 8, 0, 9, 0.025)[1]) == (-inf, inf)
    assert odds_limits(0, 8, 0, 9, 0.025) == (-inf, inf)


def test_two_binomials_together_are_summed() -> None:
    law = np.convolve(binom.pmf(np.arange(13), 12, 0.3), binom.pmf(np.arange(6), 5, 0.8))

    for most in range(18):
        found = sum_at_most(most, 12, float(np.log(0.3 / 0.7)), 5, float(np.log(4)))
        assert found == pytest.approx(law[: most + 1].sum(), abs=1e-12)
    assert sum_at_most(11, 12, inf, 5, -inf) == 0.0
    assert sum_at_most(12, 12, inf, 5, -inf) == 1.0


def test_a_rate_alone_has_clopper_and_pearsons_limits() -> None:
    limits = FixedCut(GuessTable(7, 30, 2, 50, 0.5))

    recall = limits.ratio(*preset("recall", 0.5).linear(0.5), 0.025)
    assert limits.ratio(*TPR, 0.025) == (lower_limit(7, 30, 0.025), upper_limit(7, 30, 0.025))
    assert recall == pytest.approx(limits.ratio(*TPR, 0.025), abs=0.01)
    assert limits.ratio(*FPR, 0.025) == (lower_limit(2, 50, 0.025), upper_limit(2, 50, 0.025))


@pytest.mark.parametrize(("n", "k"), [(9, 3), (40, 40), (40, 1)])
def test_the_rate_at_a_record_of_known_rank_lies_within_those_limits(n, k) -> None:
    share_beyond = beta(k, n - k + 1)

    assert share_beyond.sf(upper_limit(k, n, 0.025)) <= 0.025
    assert share_beyond.cdf(lower_limit(k, n, 0.025)) <= 0.025 + 1e-12


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_a_fixed_rules_advantage_misses_no_more_than_its_level_whatever_the_rates(prior) -> None:
    n1, n0, alpha = 12, 9, 0.05
    x, y = np.arange(n1 + 1), np.arange(n0 + 1)
    ends = np.array([[FixedCut(GuessTable(a, n1, c, n0, prior)).advantage(alpha) for c in range(n0 + 1)]
                     for a in range(n1 + 1)])  # fmt: skip
    for tpr, fpr in product((0.0, 0.05, 0.4, 0.9, 1.0), (0.0, 0.1, 0.5, 1.0)):
        truth = 2 * (prior * tpr + (1 - prior) * (1 - fpr)) - 1
        for misses in (ends[..., 0] > truth + 1e-9, ends[..., 1] < truth - 1e-9):
            assert binom.pmf(x, n1, tpr) @ misses @ binom.pmf(y, n0, fpr) <= alpha + 1e-12


@pytest.mark.parametrize("name", PRESETS)
def test_every_metric_lies_within_its_limits_and_they_within_its_range(name) -> None:
    table, metric = GuessTable(60, 100, 70, 400, 0.2), preset(name, 0.2)
    value = float(metric.value(table.tpr, table.fpr, 0.2))

    for limits in (FixedCut(table), PooledCut(table, True), AnyCut(table, lambda alpha: 1.0)):
        low, high = limits.ratio(*metric.linear(0.2), 0.025)
        least = -1.0 if name == "advantage" else 0.0
        assert least <= low < value < high <= 1.25  # balanced accuracy is at most 1


def test_limits_of_a_pooled_cut_are_those_of_odds_ratio_and_share_together() -> None:
    """A literal twin: the box of both, every corner and edge tried."""
    cut = PooledCut(GuessTable(60, 90, 30, 110, 0.5), False)
    alpha = 0.025

    found = cut.advantage(alpha)

    odds = np.exp(odds_limits(60, 90, 29, 109, 0.8 * alpha))
    least = brentq(lambda s: chance(s, odds[0], 90, 110, 90) - 0.1 * alpha, 90 / 200, 0.7)
    most = brentq(lambda s: 1 - chance(s, odds[0], 90, 110, 90) - 0.1 * alpha, 0.2, 90 / 200)
    shares = np.linspace(most, least, 501)
    pairs = (rates(share, ratio, 90, 110) for ratio, share in product(odds, shares))
    values = [tpr - fpr for tpr, fpr in pairs]
    assert found == pytest.approx((min(values), max(values)), abs=2e-6)


def rates(share: float, ratio: float, n1: int, n0: int) -> tuple[float, float]:
    """Solve n1 a + n0 c = share N with odds(a) = ratio odds(c)."""

    def beyond(c: float) -> float:
        odds = ratio * c / (1 - c)
        return n1 * odds / (1 + odds) + n0 * c - share * (n1 + n0)

    c = brentq(beyond, 1e-12, 1 - 1e-12, xtol=1e-14)
    odds = ratio * c / (1 - c)
    return odds / (1 + odds), c


def chance(share: float, ratio: float, n1: int, n0: int, beyond: int) -> float:
    """That fewer than ``beyond`` records lie beyond a cut that leaves this share."""
    tpr, fpr = rates(share, ratio, n1, n0)
    law = np.convolve(binom.pmf(np.arange(n1 + 1), n1, tpr), binom.pmf(np.arange(n0 + 1), n0, fpr))
    return float(law[:beyond].sum())


@pytest.mark.parametrize("seen", [(100, 0), (0, 100), (100, 100), (1, 0)])
def test_a_pooled_cut_at_the_edge_has_limits(seen) -> None:
    low, high = PooledCut(GuessTable(seen[0], 101, seen[1], 101, 0.5), bool(seen[0])).advantage(1e-4)

    assert -1.0 <= low <= high <= 1.0


@pytest.mark.slow
def test_limits_at_any_cut_hold_at_all_of_them_at_once() -> None:
    rng, runs, alpha, n1, n0 = np.random.default_rng(0), 25, 0.05, 40, 150
    low = high = advantage = 0
    for _ in range(runs):
        members, nonmembers = np.sort(rng.random(n1)), np.sort(rng.random(n0))
        tpr_low, fpr_high, own = [], [], []
        for cut in [*members[::3], *nonmembers[:4], *nonmembers[-4:]]:
            table = GuessTable(int((members >= cut).sum()), n1, int((nonmembers >= cut).sum()), n0, 0.5)
            limits = AnyCut(table, lambda alpha: 1.0)
            tpr_low.append(limits.ratio(*TPR, alpha)[0] > 1 - cut)
            fpr_high.append(limits.ratio(*FPR, alpha)[1] < 1 - cut)
            own.append(limits.advantage(alpha)[0] > 0.0)
        low, high, advantage = low + any(tpr_low), high + any(fpr_high), advantage + any(own)

    assert max(low, high, advantage) <= int(binom.isf(1e-3, runs, alpha))
