"""Members that no nonmember reaches are reported, and no more often without a leak than the confidence allows."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import betaincc, expit
from scipy.stats import hypergeom

from estimators.errors import OutOfRange, UnknownName
from estimators.privacy.exposure import CLEAR, OF_MEMBERS, OF_NONMEMBERS, SEVERE, SEVERE_SHARE, exposure
from estimators.privacy.ranges import Ranges, _hopeful
from estimators.privacy.share_ratio import ratio_limit
from estimators.sample.cells import Categories, Values
from estimators.sample.counting import by_grid, finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import at_least
from tests.cases import each_case, refusals
from tests.estimators.privacy.values import ranks, tallied
from tests.oracles import copied, gaussian_shift, most_misses

LEVEL = 0.025
FIFTY = Counts.of([4950, 50], [5000, 0], edges=[1.0])


def chance(m: int, n1: int, k: int, n0: int, log_ratio: float) -> float:
    """P(V_(m) <= g U_(k+1)) by a sum over 40,001 points."""
    odds = np.linspace(-30, 30, 40_001)
    density = m * odds - (n1 + 1.0) * np.logaddexp(0, odds)
    weights = np.exp(density - density.max())
    return float(weights @ betaincc(k + 1, n0 - k, expit(odds) / np.exp(log_ratio)) / weights.sum())


def test_a_release_with_one_row_in_a_hundred_word_for_word_alarms_every_time() -> None:
    for seed in range(10):
        result = exposure(Scores.of(*copied(5000, 50, seed)))

        assert result.alarm
        assert (result.tail.direction, result.tail.nonmembers) == ("high", 0)
        assert result.tail.members >= 50
        assert result.score_epsilon > 2.2
        assert result.tail.precision_lower > 0.9
        assert result.tail.tpr_lower < 0.0105


def test_the_epsilon_of_a_rare_leak_is_at_least_three(rng) -> None:
    lower = []
    for _ in range(8):
        members = rng.random(10_000) + 2.0 * (rng.random(10_000) < 0.02)
        lower.append(exposure(ranks(members, rng.random(10_000))).score_epsilon)

    assert np.mean(lower) > 3.4
    assert min(lower) > 3.0


def too_high(sample: Callable[[np.random.Generator], Counts], truth: float, runs: int, seed: int) -> bool:
    """Whether epsilon is said to be above the truth more often than once in a thousand such simulations."""
    rng = np.random.default_rng(seed)
    return sum(exposure(sample(rng)).score_epsilon > truth for _ in range(runs)) > most_misses(runs, LEVEL)


@pytest.mark.slow
@each_case("sides", [(8, 8), (100, 100), (15, 1000), (1000, 15)])
def test_without_a_leak_alarms_are_as_rare_as_the_confidence_says(sides) -> None:
    assert not too_high(lambda rng: ranks(*(rng.random(n) for n in sides)), 0.0, 80, 1)


@each_case("cells", [Values, Categories])
@each_case("sides", [(100, 100), (60, 600)])
def test_so_they_are_with_ties_and_with_labels(cells, sides) -> None:
    def sample(rng: np.random.Generator) -> Counts:
        return tallied(*(np.minimum(rng.zipf(1.6, n), 200) - 1 for n in sides), 200, cells)

    assert not too_high(sample, 0.0, 80, 2)


@pytest.mark.slow
@each_case("ratio", [2.0, 20.0])
def test_the_limit_holds_where_every_tail_has_the_largest_ratio(ratio) -> None:
    rng, runs = np.random.default_rng(3), 50
    samples = (ranks(rng.random(200) / ratio, rng.random(200)) for _ in range(runs))

    assert sum(exposure(each).members_epsilon > np.log(ratio) for each in samples) <= most_misses(runs, LEVEL)


@pytest.mark.slow
@each_case("ratio, sides", [(1.0, (200, 200)), (3.0, (60, 540)), (20.0, (200, 200))])
def test_it_holds_where_both_sides_attain_the_ratio_at_both_ends(ratio, sides) -> None:
    def sample(rng: np.random.Generator) -> Counts:
        laws = zip(sides, (ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)), strict=True)
        return ranks(*((rng.random(n) < p) + 0.5 * rng.random(n) for n, p in laws))

    assert not too_high(sample, np.log(ratio), 50, 8)


@pytest.mark.slow
def test_it_holds_for_the_worst_label_too() -> None:
    r, q = np.array([0.4] + [0.02] * 30), np.array([0.1] + [0.03] * 30)

    def sample(rng: np.random.Generator) -> Counts:
        return tallied(*(rng.choice(31, 150, p=law) for law in (r, q)), 31)

    assert not too_high(sample, np.log(4.0), 200, 4)


def test_nonmembers_that_no_member_reaches_set_the_two_laws_apart_and_expose_nobody(rng) -> None:
    members, nonmembers = rng.normal(size=5000), rng.normal(size=5000)
    nonmembers[:250] -= 20.0
    result = exposure(ranks(members, nonmembers))
    tail = result.nonmember_tail

    assert (tail.direction, tail.members, tail.nonmembers >= 250) == ("low", 0, True)
    assert result.score_epsilon == tail.score_epsilon > 3.0
    assert not result.alarm
    assert result.cautions == ()
    assert result.sentence.endswith(
        f"But {tail.nonmembers} of 5,000 nonmembers score lower than every member: with 97.5% confidence (one end of a "
        "95% interval) the epsilon of this score's two distributions is at least "
        f"{at_least(tail.score_epsilon)}; it is not that of the mechanism."
    )


@each_case("cells, share", [(Values, OF_NONMEMBERS[0] / OF_MEMBERS[0]), (Categories, 0.06 / 0.94)])
def test_what_is_shown_of_nonmembers_is_what_would_be_shown_of_members_at_their_share(cells, share) -> None:
    counts = tallied(np.repeat([0, 1, 2], [4, 300, 40]), np.repeat([0, 1, 2], [90, 400, 5]), 3, cells)
    turned = Counts.trusted(counts.nonmembers, counts.members, counts.cells)
    other, same = exposure(counts).nonmember_tail, exposure(turned, 1.0 - 0.05 * share).tail

    assert (other.direction, other.label) == (same.direction, same.label)
    assert (other.nonmembers, other.members) == (same.members, same.nonmembers)
    assert other.score_epsilon == pytest.approx(same.score_epsilon, abs=3e-5)


@pytest.mark.slow
def test_without_a_leak_the_chance_is_that_of_the_pooled_ranks() -> None:
    for m, n1, k, n0 in ((8, 8, 0, 8), (3, 10, 1, 50), (5, 100, 3, 1000), (30, 60, 9, 40)):
        of_ranks = float(hypergeom.cdf(k, n1 + n0, n0, m + k))

        assert chance(m, n1, k, n0, 0.0) == pytest.approx(of_ranks, rel=1e-6)
        assert ratio_limit(m, n1, k, n0, of_ranks * 0.999) == 0.0
        assert ratio_limit(m, n1, k, n0, of_ranks * 1.01) > 0.0


@pytest.mark.slow
def test_the_limit_is_where_the_chance_is_the_level_and_no_tail_is_passed_over_that_has_one(rng) -> None:
    for _ in range(25):
        n1, n0 = (int(np.exp(rng.uniform(np.log(2), np.log(20_000)))) for _ in range(2))
        m, k = int(np.ceil(n1 ** rng.uniform())), max(0, int(n0 ** rng.uniform(-0.4)) - 1)
        level = float(np.exp(rng.uniform(np.log(1e-6), np.log(0.05))))
        limit = ratio_limit(m, n1, k, n0, level)
        if limit == 0.0:
            continue

        assert chance(m, n1, k, n0, limit) <= level
        assert chance(m, n1, k, n0, limit + 2e-5) == pytest.approx(level, rel=3e-3)
        inside, allowance = np.array([m]), np.array([k])
        tails = Ranges([("high", 0, 0)], inside, allowance, allowance, np.array([level]))
        assert dict(_hopeful(tails, n1, n0))[0] >= limit


def test_a_limit_starts_above_what_another_tail_already_shows() -> None:
    whole = ratio_limit(50, 5000, 0, 5000, 0.005)

    assert ratio_limit(50, 5000, 0, 5000, 0.005, 1.0) == pytest.approx(whole, abs=2e-5)
    assert ratio_limit(50, 5000, 0, 5000, 0.005, 3.0) == 3.0
    assert ratio_limit(50, 5000, 5000, 5000, 0.005) == 0.0


def test_both_ends_are_looked_at_and_a_known_end_says_more_with_nonmembers_at_the_other():
    scores = Scores.of(*copied(5000, 50, 0))
    turned = Scores.of(np.negative(scores.members), np.negative(scores.nonmembers))
    high, low, known = exposure(scores), exposure(turned), exposure(scores, direction="high")

    assert (high.tail.direction, low.tail.direction) == ("high", "low")
    assert known.score_epsilon > high.score_epsilon == low.score_epsilon
    assert not exposure(scores, direction="low").alarm

    counts = Counts.of([0, 900, 100], [100, 900, 0], edges=[0.0, 1.0])
    high, low = exposure(counts, direction="high"), exposure(counts, direction="low")

    assert high.nonmember_tail.direction == "low"
    assert (low.tail, low.nonmember_tail) == (None, None)


def test_only_the_order_of_scores_counts_and_counts_on_a_grid_show_the_same_copies() -> None:
    scores = Scores.of(*copied(2000, 30, 3))

    assert exposure(scores) == exposure(Scores.of(np.exp(scores.members), np.exp(scores.nonmembers)))
    assert exposure(scores).tail == exposure(finest(scores)).tail
    assert exposure(by_grid(scores)).alarm
    assert exposure(by_grid(scores)).score_epsilon == pytest.approx(exposure(scores).score_epsilon, abs=0.1)


def test_a_column_that_says_exact_copy_is_enough() -> None:
    copies, others = np.r_[np.ones(250, int), np.zeros(4750, int)], np.zeros(5000, int)
    ordered = exposure(Scores.of(copies, others))
    labels = exposure(Scores.of(np.where(copies, "copy", "new"), np.where(others, "copy", "new")))

    assert (ordered.tail.members, ordered.tail.nonmembers) == (250, 0)
    assert ordered.score_epsilon > 3.8
    assert (labels.tail.direction, labels.tail.label) == ("label", "copy")
    assert labels.sentence.startswith("250 of 5,000 members have the label 'copy', which no nonmember has.")


def test_of_vectors_a_cell_is_exposed_and_is_no_label(rng) -> None:
    members = np.r_[np.full((500, 2), 9.0), rng.normal(size=(1500, 2))]
    counts = finest(Scores.of(members, rng.normal(size=(2000, 2))))
    some = np.ones((2, counts.size), dtype=np.int64)
    some[:, -1] = 80, 5
    pure, mixed = exposure(counts), exposure(Counts.trusted(some[0], some[1], counts.cells))

    assert pure.tail.direction == "cell"
    assert pure.tail.label == int(np.argmax(counts.members - 1e6 * counts.nonmembers))
    sentence, caution = pure.sentence, pure.cautions[0].message
    assert sentence.startswith(
        f"{pure.tail.members} of 2,000 members lie in one cell of vectors, in which no nonmember lies."
    )
    assert "Such a vector makes an attacker at least" in sentence
    assert "such a vector makes an attacker at least" in caution
    assert "best cell of these vectors" in pure.guarantee.covers
    assert mixed.tail.label == counts.size - 1
    assert mixed.sentence.startswith(
        f"80 of {some[0].sum()} members and 5 of {some[1].sum()} nonmembers lie in one cell of vectors. Such"
    )
    assert "label" not in sentence + caution + mixed.sentence + pure.guarantee.covers


def test_a_broad_leak_is_no_rare_exposure(rng) -> None:
    result = exposure(Scores.of(*gaussian_shift(0.1).draw(rng, 50_000, 50_000)))

    assert result.score_epsilon > 0.1
    assert result.tail.members < CLEAR * result.tail.nonmembers
    assert not result.alarm
    assert result.cautions == ()


def test_a_tail_with_nonmembers_takes_more_than_one_without_and_a_few_hide_no_copies() -> None:
    pure, mixed, surer = (
        exposure(Counts.of([2000 - m, m], [2000 - k, k], edges=[0.0])) for m, k in ((8, 0), (27, 4), (60, 4))
    )
    copies = exposure(Counts.of([4800, 200], [4995, 5], edges=[1.0]))

    assert (pure.alarm, mixed.alarm, surer.alarm, copies.alarm) == (True, False, True, True)
    assert 0.0 < mixed.score_epsilon < np.log(2.0) < surer.score_epsilon
    assert copies.finding == "200 of 5,000 members and 5 of 5,000 nonmembers score above one cut"
    assert copies.score_epsilon > 2.0


def test_it_is_said_who_is_exposed_and_how_surely_and_where_nothing_shows_what_could_have():
    (caution,) = exposure(FIFTY).cautions

    assert caution.code == "rare_exposure"
    assert caution.message == (
        "50 of 5,000 members score higher than every nonmember: such a score makes an attacker at least 90.1% sure of "
        "membership, in place of 50%, which an advantage, being an average, hides"
    )

    quiet = exposure(Counts.of([500, 500], [500, 500], edges=[0.0]))
    tiny = exposure(Counts.of([1, 1], [1, 1], edges=[0.0]))

    assert (quiet.tail, quiet.score_epsilon, quiet.alarm, quiet.severe) == (None, 0.0, False, False)
    assert quiet.sentence == (
        "No members are shown to have scores that no nonmember has, or almost none: fewer than 8 beyond every "
        "nonmember would not show, nor would any of the 500 in one cell of the counts."
    )
    assert "in one cell" not in exposure(Scores.of(*np.random.default_rng(0).random((2, 1000)))).sentence
    assert "too few records" in tiny.sentence


@pytest.mark.slow
@each_case("prior", [0.5, 0.01])
def test_an_exposure_is_severe_where_odds_rise_tenfold_for_one_member_in_two_hundred(prior) -> None:
    severe = []
    for of in (1000, 20_000):
        for alone in (8, 40, 50, 70, 90, 130, 145, 160, 500):
            counts = Counts.of([of - alone, alone], [of, 0], edges=[1.0])
            at_half_of_the_error = exposure(counts, 0.975).tail

            result = exposure(counts, prior=prior)

            of_ratio = getattr(at_half_of_the_error, "score_epsilon", 0.0) >= np.log(SEVERE)
            of_share = getattr(at_half_of_the_error, "tpr_lower", 0.0) >= SEVERE_SHARE
            assert result.alarm
            assert result.severe == (of_ratio and of_share), (of, alone)
            severe.append((result.severe, of_ratio, of_share))

    assert {(True, True, True), (False, True, False), (False, False, True)} <= set(severe)


def test_a_severe_exposure_is_named_before_a_purer_one_of_fewer_members() -> None:
    few = Counts.of([9700, 30, 270], [9985, 0, 15], edges=[1.0, 2.0])  # 300 above the cut, 30 between bounds
    pure = Counts.of([270 + 9700, 0, 30], [10_000 - 1, 1, 0], edges=[1.0, 2.0])
    both = Counts.of([9670, 300, 30], [9997, 3, 0], edges=[1.0, 2.0])

    assert not exposure(pure).severe
    assert exposure(few).tail.nonmembers == 15
    result = exposure(both)
    assert result.severe
    assert (result.tail.members, result.tail.nonmembers) == (330, 3)
    assert result.tail.score_epsilon >= np.log(SEVERE)
    assert result.tail.tpr_lower >= SEVERE_SHARE


@each_case(
    "members, nonmembers, who",
    ([950, 50], [1000, 0], "50 of 1,000 members score higher than every nonmember."),
    ([50, 950], [0, 1000], "50 of 1,000 members score lower than every nonmember."),
    ([60, 940], [4, 996], "60 of 1,000 members and 4 of 1,000 nonmembers score below one cut."),
)
def test_the_sentence_says_who_how_surely_and_with_which_confidence(members, nonmembers, who) -> None:
    said = exposure(Counts.of(members, nonmembers, edges=[1.0]), prior=0.2).sentence

    confidence = "with 97.5% confidence (one end of a 95% interval)."
    assert said.startswith(f"{who} Such a score makes")
    assert said.endswith(f"sure of membership, in place of 20%, {confidence}")


def test_as_few_members_as_it_says_do_show() -> None:
    for n1, n0 in ((8, 8), (50, 50), (1000, 1000), (100, 10_000), (20_000, 100)):
        least = exposure(Counts.of([n1], [n0])).least
        for m, shows in ((least, True), (least - 1, False)) if least is not None else ():
            split = Counts.trusted(np.array([n1 - m, m]), np.array([n0, 0]), Values(np.arange(2)))
            assert exposure(split).alarm is shows


def test_a_prior_moves_the_probability_alone_and_a_higher_confidence_says_less():
    even, rare = exposure(FIFTY), exposure(FIFTY, prior=0.01)

    assert even.tail is not None
    assert rare.tail.precision_lower == pytest.approx(expit(even.score_epsilon + np.log(1 / 99)))
    assert rare.score_epsilon == even.score_epsilon

    levels = [exposure(FIFTY, confidence) for confidence in (0.9, 0.95, 0.99, 0.999999)]

    assert [each.score_epsilon for each in levels] == sorted((e.score_epsilon for e in levels), reverse=True)
    assert levels[-1].score_epsilon > 0.5


def test_counts_of_any_size_have_an_answer_and_one_value_or_one_label_shows_nothing() -> None:
    result = exposure(Counts.of([10**18, 10**10], [10**18, 10**5], edges=[0.0]))

    assert np.log(5e4) < result.score_epsilon < np.log(1e5)
    one = np.array([0])
    for cells in (Values, Categories):
        assert exposure(Counts.trusted(one + 50, one + 40, cells(np.arange(1)))).tail is None


test_options_are_checked = refusals(
    "ask, error, words",
    (lambda: exposure(FIFTY, 1.0), OutOfRange, "confidence"),
    (lambda: exposure(FIFTY, direction="up"), UnknownName, "high, low"),
)
