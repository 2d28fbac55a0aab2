"""Two scores of the same records: the limit of the difference of their advantages."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import gammaln, xlogy
from scipy.stats import norm

from estimators import Scores, difference, paired_difference
from estimators.adversary.paired import CENTRE, DIFFERENCES, SHIFT, WIDEN, Judged, Rules, _least
from estimators.sample.counting import by_category, by_rank
from tests.cases import each_case
from tests.oracles import most_misses

ALPHA = 0.025


def limit_of_a_mean(sums: np.ndarray, squares: np.ndarray, n: np.ndarray, weight: np.ndarray, z: float) -> np.ndarray:
    """Written out again: sum w D - 2/3 z^2 w - z sqrt(sum w^2 (D - centre)^2 + z^2 w^2 / 2), w the larger weight."""
    centre = np.clip(sums / n, -CENTRE, CENTRE)
    variance = (weight**2 * (squares - 2 * centre * sums + n * centre**2)).sum(axis=0)
    guard = z * weight.max()
    error = z * np.sqrt(np.maximum(variance, 0) + WIDEN * guard**2)
    return (weight * sums).sum(axis=0) - SHIFT * z * guard - error


@each_case("n", [10, 30, 100])
@each_case("alpha", [0.05, 0.025, 0.005, 0.0005])
def test_the_limit_for_one_rule_errs_no_more_often_than_it_says(n, alpha) -> None:
    """Every pair (records only the first gets right, only the second), enumerated; without SHIFT and WIDEN 10-fold."""
    only_first, only_second = (each.ravel() for each in np.mgrid[: n + 1, : n + 1])
    possible = only_first + only_second <= n
    a, c = only_first[possible], only_second[possible]
    differ, several, weight = (a - c)[None], (a + c)[None], np.array([[1.0 / n]])
    limits = limit_of_a_mean(differ, several, np.array([[n]]), weight, norm.isf(alpha))
    ways = gammaln(n + 1) - gammaln(a + 1) - gammaln(c + 1) - gammaln(n - a - c + 1)
    worst = 0.0
    for differ, share in product(
        [0.5 / n, 1 / n, 2 / n, 5 / n, 0.1, 0.3, 0.6, 0.9, 1.0], [0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1]
    ):
        p, q = differ * share, differ * (1 - share)
        chance = np.exp(ways + xlogy(a, p) + xlogy(c, q) + xlogy(n - a - c, 1 - p - q))
        worst = max(worst, float(chance[limits > p - q + 1e-12].sum()))

    assert worst <= alpha


@each_case("seed", range(4))
def test_no_rule_of_the_class_leaves_less_than_is_stated(seed) -> None:
    """All 2^7 rules on seven cells, by the formula written out; what is stated is below the least of them, and near."""
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 60, (2, 2, 7))
    prior, z = float(rng.choice([0.5, 0.1, 0.8])), 1.96
    n = tables.sum(axis=(1, 2))[:, None]
    weight = np.array([[prior], [1 - prior]]) / n
    least = {0: np.inf, 1: np.inf, 7: np.inf}
    for guess in product((0, 1), repeat=7):
        d = np.take_along_axis(DIFFERENCES[:, :, None], np.array(guess)[None, None, :, None], axis=3)[..., 0]
        sums, squares = ((tables * power).sum(axis=(1, 2))[:, None] for power in (d, d**2))
        value = float(limit_of_a_mean(sums, squares, n, weight, z)[0])
        changes = sum(x != y for x, y in pairwise(guess))
        for most, so_far in least.items():
            least[most] = min(so_far, value) if changes <= most else so_far

    for most, rules in ((0, Rules(None, 0)), (1, Rules(None, 1)), (7, Rules(np.arange(7), None))):
        stated = _least(tables, rules, prior, z)
        assert least[most] - 0.03 * abs(least[most] - 1) <= stated <= least[most] + 1e-12


def shifted(n1: int, n0: int, first: float, second: float, alike: float, rng: np.random.Generator) -> list[Scores]:
    """Two scores of the same records, normal, members shifted, with so much of their noise in common."""
    common = rng.normal(size=n1 + n0)
    scores = []
    for shift in (first, second):
        score = alike * common + np.sqrt(1 - alike**2) * rng.normal(size=n1 + n0)
        score[:n1] += shift
        scores.append(Scores.of(score[:n1], score[n1:], "continuous"))
    return scores


def optimal(shift: float, prior: float) -> float:
    """The advantage of the best threshold between N(shift, 1) and N(0, 1)."""
    if shift == 0.0:
        return abs(2 * prior - 1)
    cut = shift / 2 - np.log(prior / (1 - prior)) / shift
    return float(2 * (prior * norm.sf(cut - shift) + (1 - prior) * norm.cdf(cut)) - 1)


WORLDS = [
    (100, 100, 0.5, 0.5, 0.5, 0.999), (150, 150, 0.5, 0.0, 0.0, 0.5), (150, 150, 0.5, 3.0, 0.2, 0.0),
    (100, 100, 0.5, 7.0, 0.0, 0.5), (30, 360, 0.5, 0.8, 0.5, 0.9), (40, 360, 0.1, 1.5, 1.2, 0.9),
    (100, 100, 0.5, 1.0, 1.0, -0.9),
]  # fmt: skip


@pytest.mark.slow
@each_case("n1, n0, prior, first, second, alike", WORLDS)
def test_the_interval_of_a_paired_difference_covers_it(n1, n0, prior, first, second, alike) -> None:
    """Alike, mirrored, without leak, perfect, unequal, at a low prior: either end errs in at most 2.5%."""
    rng, runs, above, below = np.random.default_rng(40), 10, 0, 0
    truth = optimal(first, prior) - optimal(second, prior)
    for run in range(runs):
        a, b = shifted(n1, n0, first, second, alike, rng)
        interval = paired_difference(a, b, prior, seed=run).estimate.interval
        above += interval.lower > truth + 1e-9
        below += interval.upper < truth - 1e-9

    assert max(above, below) <= most_misses(runs, ALPHA)


@pytest.mark.slow
@each_case(
    "n1, n0, prior, first, second, alike, most",
    (1000, 1000, 0.5, 0.5, 0.3, 0.9, 0.9),
    (1000, 1000, 0.5, 1.0, 1.0, 0.99, 0.7),
    (200, 2000, 0.5, 0.8, 0.5, 0.9, 0.9),
)
def test_the_more_alike_two_scores_are_the_narrower_their_difference(n1, n0, prior, first, second, alike, most) -> None:
    """It was wider than for independent samples: 0.257 where that gives 0.165 and McNemar's test about 0.113."""
    rng, paired, apart = np.random.default_rng(41), [], []
    for run in range(2):
        a, b = shifted(n1, n0, first, second, alike, rng)
        paired.append(paired_difference(a, b, prior, seed=run).estimate.interval.width)
        apart.append(difference(a, b, prior, seed=run).estimate.interval.width)

    assert np.mean(paired) < most * np.mean(apart)


@pytest.mark.slow
@each_case("alike, runs", [(0.99, 15), (0.0, 5)])
def test_rows_in_another_order_get_the_interval_of_unrelated_records(alike, runs) -> None:
    """Nothing goes wrong unless one score mirrors the other: it only loses what they have in common."""
    rng, misses, widths = np.random.default_rng(45), 0, []
    truth = optimal(0.8, 0.5) - optimal(0.6, 0.5)
    for run in range(runs):
        a, b = shifted(300, 300, 0.8, 0.6, alike, rng)
        c = Scores.of(rng.permutation(b.members), rng.permutation(b.nonmembers), "continuous")
        intervals = [paired_difference(a, other, seed=run).estimate.interval for other in (b, c)]
        misses += truth not in intervals[1]
        widths.append([each.width for each in intervals])

    assert misses <= most_misses(runs, 2 * ALPHA)
    in_order, shuffled = np.mean(widths, axis=0)
    assert shuffled == pytest.approx(in_order, rel=0.05) if alike == 0.0 else shuffled > 1.3 * in_order


def test_a_score_does_not_differ_from_itself_order_turns_the_sign_and_labels_are_paired_too(rng) -> None:
    a, b = shifted(500, 500, 1.0, 0.4, 0.8, np.random.default_rng(42))
    same, there, back = paired_difference(a, a), paired_difference(a, b), paired_difference(b, a)
    labels = rng.integers(0, 4, 1000)
    first = Scores.of(np.where(rng.random(500) < 0.5, 0, labels[:500]), labels[500:], "discrete")
    second = Scores.of(labels[:500], labels[500:], "discrete")
    paired = paired_difference(first, second)
    unknown = paired_difference(by_category(first), by_category(second))  # which record is which

    assert same.estimate.lower <= 0.0 <= same.estimate.upper
    assert there.decided
    assert (there.estimate.lower, there.estimate.upper) == (-back.estimate.upper, -back.estimate.lower)
    assert paired.decided
    assert paired.estimate.lower <= 0.375 <= paired.estimate.upper  # half the members: 0.5 x (1 - 1/4)
    assert paired.estimate.interval.width < unknown.estimate.interval.width


def test_every_record_but_the_first_block_is_judged_by_a_rule_that_has_not_seen_it() -> None:
    a, _ = shifted(400, 600, 2.0, 0.0, 0.0, np.random.default_rng(44))
    fine = by_rank(a)
    for members, nonmembers in Judged.of(a, fine, Rules(np.arange(fine.size), 2), 10, 0.5, seed=0).right:
        assert ((members < 0).sum(), (nonmembers < 0).sum()) == (40, 60)
        right = 0.5 * members[members >= 0].mean() + 0.5 * nonmembers[nonmembers >= 0].mean()
        assert 0.79 <= right <= 0.88  # the best threshold gets 0.841
