from collections.abc import Iterator
from itertools import product
from math import comb, inf, prod

import numpy as np
import pytest

from estimators.errors import InvalidCounts, OutOfRange, TooFewRecords
from estimators.theory.mis.binomials import Tally, excess, law_of
from estimators.theory.mis.certified import (
    delta_term,
    diversity,
    diversity_term,
    lower,
    records_from,
    upper,
    worst_delta_from,
)
from estimators.theory.mis.security import c_k, least_records, most_diverse, records_needed, worst_delta
from estimators.theory.mis.shape import Move, Shape
from tests.cases import each_case, refusals


def multinomial(n: int, p: tuple[float, ...]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every sample of n records with its probability."""
    for counts in product(range(n + 1), repeat=len(p)):
        if sum(counts) == n:
            ways = prod(comb(sum(counts[: k + 1]), c) for k, c in enumerate(counts))
            yield counts, ways * prod(q**c for q, c in zip(p, counts, strict=True))


SMALL = [
    (0.5, 0.3, 0.2), (1 / 3, 1 / 3, 1 / 3), (0.45, 0.45, 0.1), (0.9, 0.06, 0.04), (0.98, 0.02, 0.0),
    (0.6, 0.4, 0.0),
]  # fmt: skip
TERMS = {
    "c_k": (diversity_term(), lambda p: np.sqrt(p * (1.0 - p))),
    "delta at 2": (delta_term(2), lambda p: excess(p, 2)),
    "delta at 9": (delta_term(9), lambda p: excess(p, 9)),
    "delta at 100": (delta_term(100), lambda p: excess(p, 100)),
}


@pytest.mark.slow
@each_case("p", [
    (0.5, 0.3, 0.2), (1 / 3, 1 / 3, 1 / 3), (0.45, 0.45, 0.1), (0.5, 0.49, 0.01), (0.9, 0.09, 0.01),
    (1, 0, 0),
])  # fmt: skip
@each_case("name", TERMS)
@each_case("a", [0.5, 3.0, 20.0])
def test_the_exponential_inequality_behind_the_limits_holds_for_every_shift_and_rate(name, p, a):
    term, f = TERMS[name]
    n = 7
    law = law_of(n)
    for shape, sign in ((Shape.above(term, law, 0.5), 1.0), (Shape.below(term, law), -1.0)):
        tilt = shape.tilted(sign * a)
        truth = np.where(np.array(p) > 0.5, shape.top, f(np.array(p))).sum()
        tilted = Move(0.0, 0.0, shape.unit if sign > 0 else 0.0)
        for move in (Move(0.0, 0.0), Move(0.1 * shape.unit, 0.2 * shape.unit), tilted):
            slack = tilt.slack(move)
            g = np.append(move.at_none, move.of(shape.base[1:]))
            mean = sum(w * np.exp(sign * a * (truth - g[list(x)].sum())) for x, w in multinomial(n, p))

            assert np.log(mean) <= slack + 1e-9


@pytest.mark.slow
@each_case("universe, alpha", [(3, 0.025), (3, 0.4), (5, 0.4), (None, 0.025)])
@each_case("name", TERMS)
def test_limits_miss_no_more_often_than_they_say_over_every_sample(name, universe, alpha):
    term, f = TERMS[name]
    n = 10
    ends = {}
    for p in SMALL:
        truth, above, below = f(np.array(p)).sum(), 0.0, 0.0
        for counts, weight in multinomial(n, p):
            key = tuple(sorted(counts))
            if key not in ends:
                tally = Tally.of_counts(np.array([c for c in counts if c]), universe)
                ends[key] = lower(term, tally, alpha), upper(term, tally, alpha)
            above += weight * (ends[key][0] > truth + 1e-12)
            below += weight * (ends[key][1] < truth - 1e-12)

        assert above <= alpha
        assert below <= alpha


WORLDS = {
    "uniform": np.full(30, 1 / 30),
    "long tail": 0.7 ** np.arange(30) / (0.7 ** np.arange(30)).sum(),
    "one dominant": np.append(0.85, np.full(29, 0.15 / 29)),
}


@pytest.mark.slow
@each_case("universe", [30, None])
@each_case("world", WORLDS)
def test_intervals_cover_in_simulation_and_are_short(world, universe):
    p, n = WORLDS[world], 2000
    rng = np.random.default_rng(11)
    truths = c_k(p), worst_delta(p, 500), worst_delta(p, 2000)
    missed, width = np.zeros(3), np.zeros(3)
    runs = 2
    for _ in range(runs):
        tally = Tally.of_counts(rng.multinomial(n, p), universe)
        found = diversity(tally), worst_delta_from(tally, 500), worst_delta_from(tally, 2000)
        missed += [truth not in each.interval for truth, each in zip(truths, found, strict=True)]
        width += [each.interval.width / runs for each in found]

    assert missed.max() == 0
    assert width[1] < 0.4 * truths[1]
    assert width[2] < 0.8 * truths[2]
    assert width[0] == inf if universe is None else width[0] < 0.15 * truths[0] + 0.3


def test_the_upper_end_is_far_below_mcdiarmids_and_below_the_simple_bound_on_the_exact_c_k():
    p = np.full(100, 0.01)
    tally = Tally.of_counts(np.random.default_rng(0).multinomial(10_000, p), 100)
    mcdiarmid = float(diversity(tally).value or 0.0) + np.sqrt(2.0 * np.log(1.0 / 0.025))

    # no cap by Lemma 23 here: the limit itself
    assert upper(diversity_term(), tally, 0.025) < c_k(p) + 0.2 < mcdiarmid - 2.0
    assert worst_delta_from(tally, 10_000).upper < c_k(p) / (2.0 * np.sqrt(10_000)) - 0.008


@pytest.mark.slow
@each_case("gamma", [0.5, 0.9, 1.2, 3.0])
def test_away_from_gamma_1_exact_limits_for_each_category_cover_every_sample(gamma):
    n, alpha = 9, 0.1
    for size in (2, 9, 40):
        ends = {}
        for p in SMALL:
            truth, missed = worst_delta(np.array(p), size, gamma), np.zeros(2)
            for counts, weight in multinomial(n, p):
                key = tuple(sorted(counts))
                if key not in ends:
                    tally = Tally.of_counts(counts, 3)
                    ends[key] = worst_delta_from(tally, size, gamma, 1.0 - alpha).interval
                found = ends[key]
                missed += weight * np.array([found.lower > truth + 1e-12, found.upper < truth - 1e-12])

            assert missed.max() <= alpha / 2.0


@pytest.mark.slow
def test_without_a_universe_only_delta_has_an_upper_end_and_a_larger_one_never_shortens():
    """A little mass spread thinly over the unseen makes c_k as large as one likes."""
    tally = Tally.of_counts([400, 300, 200, 100])
    sizes = [c_k([0.999, *np.full(k, 0.001 / k)]) for k in (10, 10**3, 10**5)]

    assert diversity(tally).upper == inf
    assert diversity(tally).lower < c_k([0.4, 0.3, 0.2, 0.1])
    assert worst_delta_from(tally, 1000).upper < 0.05
    assert sizes[2] > 100 * sizes[0] / 2
    assert worst_delta([0.999, *np.full(10**5, 1e-8)], 1000) < 0.002

    counts = [50, 30, 20]
    ends = [diversity(Tally.of_counts(counts, universe)).upper for universe in (3, 5, 20, 1000)]

    assert np.all(np.diff(ends) > 0)
    assert ends[0] <= most_diverse(3)


@pytest.mark.slow
@each_case("universe", [25, None])
def test_certified_records_are_enough_and_not_many_more_than_the_sample_says(universe):
    p = np.random.default_rng(2).dirichlet(np.ones(25))
    tally = Tally.of_counts(np.random.default_rng(3).multinomial(3000, p), universe)
    found = records_from(tally, 0.02)

    assert records_from(Tally.of_counts([20, 20, 10]), 0.001) == inf  # the unseen alone might give away more
    assert worst_delta_from(tally, int(found)).upper <= 0.02
    assert records_needed(p, 0.02) <= found
    assert found < 1.3 * least_records(tally.shares, tally.times.astype(float), 0.02, 1.0) or universe is None


def test_a_tally_is_the_same_from_values_counts_and_text_and_the_estimate_is_its_own() -> None:
    counts, shares = Tally.of_counts([3, 0, 2, 2]), np.array([3, 2, 2]) / 7
    numbers = Tally.of_values(np.array([5, 5, 5, 7, 7, 9, 9]))
    for tally in (counts, numbers, Tally.of_values(["b", "a", "b", "c", "a", "b", "c"])):
        assert (tally.counts.tolist(), tally.times.tolist()) == ([2, 3], [2, 1])
        assert (tally.records, tally.categories, tally.unseen) == (7, 3, None)
        assert diversity(tally).value == pytest.approx(c_k(shares))
        assert worst_delta_from(tally, 40, 1.3).value == pytest.approx(worst_delta(shares, 40, 1.3))
    assert Tally.of_counts([3, 0, 2, 2], 6).unseen == 3


test_counts_that_are_none_are_refused = refusals(
    "ask, error",
    (lambda: Tally.of_values([]), TooFewRecords),
    (lambda: Tally.of_counts([]), TooFewRecords),
    (lambda: Tally.of_counts([0, 0]), TooFewRecords),
    (lambda: Tally.of_counts([1.5, 2]), InvalidCounts),
    (lambda: Tally.of_counts([-1, 2]), InvalidCounts),
    (lambda: Tally.of_counts([float("nan")]), InvalidCounts),
    (lambda: Tally.of_counts([3, 0, 2], 2), OutOfRange),
)
