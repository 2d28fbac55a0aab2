"""ROC curve, area and operating points: other programs, slow literal twins, and coverage by simulation."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binom, norm, t
from sklearn.metrics import roc_auc_score, roc_curve

from estimators.errors import IncompatibleCells, OutOfRange
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy import roc
from estimators.sample.cells import Intervals, Values
from estimators.sample.counting import by_grid, finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from tests.cases import each_case
from tests.estimators.privacy.values import counts_of
from tests.oracles import most_misses


def labelled(members, nonmembers):
    """Truth and score, the way scikit-learn takes them."""
    truth = np.repeat([1, 0], [len(members), len(nonmembers)])
    return truth, np.concatenate([members, nonmembers])


def tied(rng, n_members, n_nonmembers, shift=0.7):
    return np.round(rng.normal(shift, size=n_members), 1), np.round(rng.normal(size=n_nonmembers), 1)


def delong(members, nonmembers, confidence):
    """DeLong's interval on the logit scale, pair by pair, with Student's quantile at Welch's degrees of freedom."""
    wins = (members[:, None] > nonmembers) + 0.5 * (members[:, None] == nonmembers)
    area = wins.mean()
    parts = [wins.mean(axis=1 - axis).var(ddof=1) / wins.shape[axis] for axis in (0, 1)]
    variance = sum(parts)
    freedom = variance**2 / sum(part**2 / (n - 1) for part, n in zip(parts, wins.shape, strict=True))
    quantile = t.ppf((1 + confidence) / 2, freedom) * (1 + 2 / freedom)
    reach = quantile * np.sqrt(variance) / (area * (1 - area))
    middle = np.log(area / (1 - area))
    return area, 1 / (1 + np.exp(reach - middle)), 1 / (1 + np.exp(-reach - middle))


def bracketed(members, nonmembers, fpr, confidence):
    """study 2.6 record by record: the order statistics j_L and j_U by a scan over the beta cdf."""
    alpha, n0 = (1 - confidence) / 2, len(nonmembers)
    j = np.arange(1, n0 + 1)
    below = beta.cdf(fpr, j, n0 - j + 1)
    falling = np.sort(nonmembers)[::-1]
    hits = (members > falling[int(np.floor(fpr * n0 + 1e-9))]).sum()
    value = hits / len(members)
    at_low = (members > falling[j[below >= 1 - alpha].max() - 1]).mean() if (below >= 1 - alpha).any() else 0.0
    at_high = (members >= falling[j[below <= alpha].min() - 1]).mean() if (below <= alpha).any() else 1.0
    lows, highs = [(value, alpha)], [(value, alpha)]
    never, surely = np.append(j, n0 + 1)[np.append(below, 0.0) <= alpha / 20].min(), j[below >= 1 - alpha / 20]
    of_none = (1 - fpr) ** n0 if surely.size == 0 else 0.0
    fewest = surely.max() if surely.size else int((below >= 1 - alpha).any())
    lows += [(rate, alpha - max(alpha / 20, of_none)) for rate in bent(members, falling, fewest - 1, fpr * n0, -1)]
    highs += [(rate, 0.95 * alpha) for rate in bent(members, falling, fpr * n0, never, 1)]
    n1 = len(members)
    lower = min(rate - np.hypot(rate - lower_limit(rate * n1, n1, at), max(0.0, rate - at_low)) for rate, at in lows)
    upper = max(rate + np.hypot(upper_limit(rate * n1, n1, at) - rate, max(0.0, at_high - rate)) for rate, at in highs)
    return value, (max(0.0, lower) if (below >= 1 - alpha).any() else 0.0), min(1.0, upper)


def bent(members, falling, fewest, most, way):
    """The rate at the last cut (the first for -1) that is a quarter of the rise, and half its error, off the chord."""
    cuts = [(0, 0), *(((members >= cut).sum(), (falling >= cut).sum()) for cut in np.sort([*members, *falling])[::-1])]
    start = max(i for i, (_, alarms) in enumerate(cuts) if alarms <= max(0.0, fewest) + 1e-9)
    if way > 0:
        end = min([i for i, (_, alarms) in enumerate(cuts) if alarms >= most] + [len(cuts) - 1])
    else:
        end = max(i for i, (_, alarms) in enumerate(cuts) if alarms <= most + 1e-9)
    (low, first), (high, last) = cuts[start], cuts[end]
    far = 0.25 * (high - low) + 0.5 * np.sqrt(high - low)
    off = [
        (hits, hits - low - (alarms - first) * (high - low) / max(1, last - first))
        for hits, alarms in cuts[start : end + 1]
    ]
    rates = [hits / len(members) for hits, above in off if way * above > far]
    return rates[-1:] if way > 0 else rates[:1]


@each_case("n_members, n_nonmembers", [(60, 60), (40, 360), (300, 25)])
def test_area_and_curve_agree_with_scikit_learn(n_members, n_nonmembers):
    members, nonmembers = tied(np.random.default_rng(1), n_members, n_nonmembers)

    curve = roc.roc(counts_of(members, nonmembers))
    area = roc.auc(counts_of(members, nonmembers)).estimate.value

    truth, scores = labelled(members, nonmembers)
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert area == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    assert set(zip(curve.fpr, curve.tpr, strict=True)) <= set(zip(fpr, tpr, strict=True))
    assert np.interp(fpr, curve.fpr, curve.tpr)[-1] == 1.0
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(area, abs=1e-12)


def test_a_long_curve_keeps_512_exact_points_and_the_low_corner(rng):
    members, nonmembers = rng.normal(1.0, size=4_000), rng.normal(size=16_000)

    curve = roc.roc(counts_of(members, nonmembers))

    falling, ours = np.sort(nonmembers)[::-1], np.sort(members)[::-1]
    assert 256 <= len(curve.fpr) <= 512
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    for fpr, tpr in zip(curve.fpr, curve.tpr, strict=True):  # as many members lie above some such threshold
        alarms, hits = round(fpr * 16_000), round(tpr * 4_000)
        above = ours[hits - 1] if hits else np.inf
        assert (falling > above).sum() <= alarms
        assert hits <= (members > (falling[alarms] if alarms < 16_000 else -np.inf)).sum()
    assert curve.tpr[curve.fpr == 0.0].max() == (members > falling[0]).mean()
    assert (curve.fpr < 0.01).sum() >= 50


@each_case("n_members, n_nonmembers, confidence", [(50, 50, 0.95), (30, 270, 0.9)])
def test_area_interval_is_delong_pair_by_pair(n_members, n_nonmembers, confidence):
    members, nonmembers = tied(np.random.default_rng(3), n_members, n_nonmembers)

    estimate = roc.auc(counts_of(members, nonmembers), confidence).estimate

    expected = delong(members, nonmembers, confidence)
    assert (estimate.value, estimate.lower, estimate.upper) == pytest.approx(expected, abs=1e-10)


@pytest.mark.slow
@each_case("truth, n_members, n_nonmembers", [(0.5, 30, 30), (0.97, 200, 50), (0.99, 50, 1000), (0.99, 30, 30)])
def test_area_interval_covers_also_where_plain_delong_does_not(truth, n_members, n_nonmembers):
    rng, shift, runs = np.random.default_rng(4), float(ndtri(truth)) * np.sqrt(2.0), 150
    samples = ((rng.normal(shift, size=n_members), rng.normal(size=n_nonmembers)) for _ in range(runs))
    misses = sum(truth not in roc.auc(counts_of(*each)).estimate.interval for each in samples)

    assert misses <= most_misses(runs, 0.05)  # logit-DeLong alone: 13% in the last rows


def mostly_tied(rng, n, share, shift=0.0):
    scores = rng.normal(shift, size=n)
    scores[rng.random(n) < share] = 0.0
    return scores


@pytest.mark.slow
@each_case("sides", [(8, 8), (15, 1000), (1000, 15), (50, 50)])
@each_case("share, shift", [(0.5, 1.0), (0.9, 2.5), (0.99, 2.5)])
def test_each_end_of_the_area_holds_however_many_records_tie(sides, share, shift):
    rng, runs = np.random.default_rng([9, *sides]), 80
    at_most = ndtr(shift) + 0.5
    truth = share**2 / 2 + share * (1 - share) * at_most + (1 - share) ** 2 * ndtr(shift / np.sqrt(2))
    laws = (sides[0], share, shift), (sides[1], share)
    samples = ([mostly_tied(rng, *law) for law in laws] for _ in range(runs))
    intervals = [roc.auc(counts_of(*each)).estimate.interval for each in samples]

    # before: up to 0.73 below, with 15:1000
    assert sum(each.lower > truth for each in intervals) <= most_misses(runs)
    assert sum(each.upper < truth for each in intervals) <= most_misses(runs)


@each_case("n, hits", [(15, 0), (15, 3), (50, 1), (200, 30), (200, 180)])
def test_against_a_side_that_ties_the_area_has_the_exact_limits_of_one_rate(n, hits):
    """All nonmembers tie, and so do members but those above: the area is 1/2 + rate/2."""
    counts = Counts.of([0, n - hits, hits], [0, 10**9, 0], edges=[0.0, 1.0])
    assert 2 * roc.auc(counts).estimate.upper - 1 == pytest.approx(upper_limit(float(hits), n, 0.025), abs=0.006)


@each_case("sides", [(40, 40), (40, 4000), (7, 63)])
def test_separated_sides_have_area_1_and_the_exact_limit_of_one_to_one_pairs_and_constant_scores_one_half(sides):
    answer = roc.auc(counts_of(np.arange(sides[0]) + 1e6, np.arange(sides[1])))
    counts = Counts.of([90], [10], edges=[])
    area, curve, point = roc.auc(counts).estimate, roc.roc(counts), roc.operating_point(counts, 0.1).estimate

    assert answer.estimate.value == answer.estimate.upper == 1.0
    assert answer.estimate.lower == pytest.approx(0.025 ** (1 / min(sides)), abs=1e-9)  # theta^n = alpha
    assert [c.code for c in answer.cautions] == ["few_misordered_pairs"]
    assert 0.0 < area.lower < area.value == 0.5 < area.upper < 1.0
    assert (curve.fpr.tolist(), curve.tpr.tolist()) == ([0.0, 1.0], [0.0, 1.0])
    assert (point.value, point.lower) == (0.0, 0.0)


def test_members_that_score_lower_get_an_area_below_one_half_and_a_caution(rng):
    sides = [rng.normal(mean, size=n).round(1) for mean, n in ((-1.0, 60), (0.0, 240))]
    backwards, negated = (roc.auc(counts_of(*(sign * side for side in sides))) for sign in (1, -1))

    ends = [(e.value, e.lower, e.upper) for e in (backwards.estimate, negated.estimate)]
    assert ends[0] == pytest.approx((1 - ends[1][0], 1 - ends[1][2], 1 - ends[1][1]), abs=1e-12)
    assert ends[0][0] < 0.5
    assert [c.code for c in backwards.cautions] == ["members_score_lower"]
    assert negated.cautions == ()


@each_case("fpr, confidence", [(0.1, 0.95), (0.05, 0.9), (0.01, 0.95), (0.4, 0.99)])
@each_case("sides", [(80, 80), (50, 450), (400, 100)])
def test_operating_point_is_the_bracket_record_by_record(fpr, confidence, sides):
    rng = np.random.default_rng(6)
    members, nonmembers = rng.normal(1.0, size=sides[0]), rng.normal(size=sides[1])

    estimate = roc.operating_point(counts_of(members, nonmembers), fpr, confidence).estimate

    expected = bracketed(members, nonmembers, fpr, confidence)
    assert (estimate.value, estimate.lower, estimate.upper) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@each_case("n", [200, 2000])
@each_case("shift", [0.0, 1.0, 3.0])
def test_operating_points_cover_in_all_twelve_cells_of_the_acceptance_list(shift, n):
    rng, runs, rates = np.random.default_rng(7), 400, (0.1, 0.01)
    truths = ndtr(shift - ndtri(1.0 - np.array(rates)))
    hits = np.zeros(2)
    for _ in range(runs):
        answers = roc.operating_points(counts_of(rng.normal(shift, size=n), rng.normal(size=n)), rates)
        hits += [t in a.estimate.interval for t, a in zip(truths, answers, strict=True)]

    assert (hits / runs >= 0.94).all()


@pytest.mark.slow
@each_case("step, fpr", [(0.1, 0.02), (0.5, 0.1), (0.5, 0.25), (1.5, 0.12)])
def test_operating_points_cover_when_scores_tie_and_sides_differ(step, fpr):
    rng, runs = np.random.default_rng(8), 500
    cuts = step * (np.arange(-60, 60) - 0.5)  # a rounded score reaches a step from half a step below it
    truth = norm.sf(cuts - 1.0)[norm.sf(cuts) <= fpr].max()
    hits = 0
    for _ in range(runs):
        members, nonmembers = rng.normal(1.0, size=100), rng.normal(size=900)
        counts = counts_of(step * np.round(members / step), step * np.round(nonmembers / step))
        hits += truth in roc.operating_point(counts, fpr).estimate.interval

    assert hits / runs >= 0.93  # 0.95 less two standard errors; quadrature alone: 0.90 at step 0.5, FPR 0.1


@pytest.mark.slow
@each_case("sides", [(1500, 1500), (300, 6000), (6000, 400)])
@each_case(
    "laws",
    [
        ([0.6, 0.4], [0.01, 0.99]),  # members and nonmembers of each value, from the top
        ([0.6, 0.4], [0.01002, 0.98998]),
        ([0.05, 0.3, 0.65], [0.009, 0.001, 0.99]),
        ([0.1, 0.2, 0.2, 0.5], [0.005, 0.005, 0.005, 0.985]),
        (0.1 * np.ones(10), np.repeat([0.002, 0.198], 5)),
        (0.8 ** np.arange(20) * 0.2 / (1 - 0.8**20), np.repeat([0.00125, 0.0825], [8, 12])),
    ],
)
def test_each_end_holds_where_the_rate_falls_on_a_step_of_few_scores(sides, laws):
    rng, runs, fpr, misses = np.random.default_rng(9), 400, 0.01, np.zeros(2, dtype=int)
    truth = laws[0][: np.cumsum(laws[1]).searchsorted(fpr + 1e-9, side="right")]
    cells = Values(np.arange(len(laws[0])))
    for _ in range(runs):
        members, nonmembers = (rng.multinomial(n, law)[::-1] for n, law in zip(sides, laws, strict=True))
        answer = roc.operating_point(Counts.trusted(members, nonmembers, cells), fpr).estimate
        misses += [answer.lower > np.sum(truth), answer.upper < np.sum(truth)]

    assert misses.max() <= most_misses(runs)


@pytest.mark.slow
@each_case("n, fpr", [(200, 0.1), (2000, 0.01)])
@each_case("confidence", [0.95, 0.999])
@each_case("knee", [(0.99, 1.0), (0.7, 0.97), (1.0, 1.02), (1.05, 1.35)])
def test_each_end_holds_where_many_members_stand_beside_the_rate(n, fpr, confidence, knee):
    """The curve rises by half between these parts of the rate. Quadrature missed in a quarter of the samples."""
    rng, runs, misses = np.random.default_rng(10), 100, np.zeros(2, dtype=int)
    for _ in range(runs):
        kind, members = rng.random(n), fpr + (1.0 - fpr) * rng.random(n)
        members[kind < 0.6] = fpr * rng.uniform(*knee, size=(kind < 0.6).sum())
        members[kind < 0.1] = 0.1 * fpr * rng.random((kind < 0.1).sum())
        truth = 0.6 if knee[1] <= 1.0 else 0.1
        answer = roc.operating_point(counts_of(-members, -rng.random(n)), fpr, confidence).estimate
        misses += [answer.lower > truth, answer.upper < truth]

    assert misses.max() <= most_misses(runs, (1.0 - confidence) / 2.0)


@each_case("of_ones", [0.6, 1.0])
@each_case("low", [False, True])
@each_case("count", [finest, by_grid, lambda scores: finest(scores).merge(finest(scores))])
def test_a_tie_with_which_too_many_are_accused_is_left_out(of_ones, low, count):
    ones = np.arange(1500) < 1500 * of_ones, np.arange(1500) < 750 * (1 + (of_ones == 1.0))
    kind = "discrete" if count not in (finest, by_grid) else "continuous"
    answer = roc.operating_point(count(Scores.of(*(side * (0.5 - low) for side in ones), kind)), 0.01, low=low)

    assert answer.estimate.value == answer.estimate.lower == 0.0
    assert answer.estimate.upper < 0.003  # no member of 1,500 lies beyond it; with the tie it was of_ones
    cells_of_several = Counts.of([600, 900], [750, 750], edges=[0.5])
    assert roc.operating_point(cells_of_several, 0.01, low=low).estimate.upper > 0.4


@each_case("n_nonmembers, codes", [(367, ["too_few_nonmembers"]), (368, [])])
def test_with_fewer_than_3_7_nonmembers_per_alarm_the_lower_end_is_0_and_says_so(n_nonmembers, codes):
    answer = roc.operating_point(counts_of(np.arange(100) + 1e4, np.arange(n_nonmembers)), 0.01)
    nearly_none = roc.operating_point(Counts.of([10, 30, 60], [50, 30, 20], [0.0, 1.0]), 5e-324)

    assert answer.estimate.value == 1.0
    assert (answer.estimate.lower == 0.0) == bool(codes)
    assert [c.code for c in answer.cautions] == codes
    assert all("at least 368" in c.message for c in answer.cautions)
    assert nearly_none.estimate.lower == 0.0
    assert "need at least inf" in nearly_none.cautions[0].message


@each_case("ask", [roc.roc, roc.auc, lambda counts: roc.operating_point(counts, 0.1)])
def test_categories_have_no_thresholds_and_a_rate_lies_strictly_between_0_and_1(ask):
    with pytest.raises(IncompatibleCells, match="no order"):
        ask(Counts.of([3, 4, 5], [5, 4, 3]))
    for fpr in (0.0, 1.0, float("nan")):
        with pytest.raises(OutOfRange, match="fpr"):
            roc.operating_point(Counts.of([3, 4, 5], [5, 4, 3], edges=[0.0, 1.0]), fpr)


@each_case("step", [0.0, 0.5])
def test_several_rates_at_once_say_what_each_says_alone(step):
    rng = np.random.default_rng(8)
    scores = rng.normal(0.8, 1.0, 300), rng.normal(size=500)
    counts = counts_of(*(step * np.round(side / step) if step else side for side in scores))
    rates = (0.3, 0.001, 0.1, 0.9)

    assert roc.operating_points(counts, rates) == tuple(roc.operating_point(counts, rate) for rate in rates)
    assert roc.operating_points(counts, ()) == ()


@each_case("n", [1, 30, 5000])
@each_case("rate", [0.0003, 0.1, 0.97])
@each_case("alpha", [0.0005, 0.025, 0.4])
def test_the_bracket_of_order_statistics_is_the_binomials(n, rate, alpha):
    at_least = binom.sf(np.arange(-1, n + 1), n, rate)  # P(Bin >= j) for j = 0, ..., n + 1

    assert roc._largest_count_exceeded(n, rate, alpha) == np.flatnonzero(at_least >= 1.0 - alpha)[-1]
    assert roc._smallest_count_reached(n, rate, alpha) == np.flatnonzero(at_least <= alpha)[0]


@each_case("n", [2**31, 10**12])
def test_beyond_scipys_binomial_law_the_interval_is_still_narrow_and_holds(n):
    cuts = np.linspace(-3.0, 4.0, 1401)
    expected = [np.diff(np.concatenate([[0.0], ndtr(cuts - shift), [1.0]])) for shift in (0.5, 0.0)]
    rng = np.random.default_rng(0)
    point = roc.operating_point(Counts(*(rng.multinomial(n, shares) for shares in expected), Intervals(cuts)), 0.01)

    at = np.searchsorted(1.0 - ndtr(-cuts), 0.99)  # the cut whose rate is at most 1%
    assert point.estimate.lower <= (1.0 - ndtr(cuts[at] - 0.5)) <= point.estimate.upper
    assert point.estimate.upper - point.estimate.lower < 0.005
