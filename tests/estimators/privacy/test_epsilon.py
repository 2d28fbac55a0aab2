"""The lower bound on epsilon by literal twins and by worlds of known epsilon."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom

from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxEpsilon
from estimators.errors import OutOfRange, UnknownName
from estimators.limits.binomial import binomial_sum_law, lower_limit
from estimators.privacy.direction import Direction
from estimators.privacy.epsilon import _ordered_by_half, _ways_to_guess, check_claim, epsilon_lower_bound
from estimators.privacy.exposure import exposure
from estimators.sample.cells import Categories
from estimators.sample.counts import Counts
from tests.cases import each_case, refusals
from tests.estimators.privacy.values import counts_of
from tests.oracles import answers, most_misses

BOTH, ONE = 0.8, 0.2
"""Shares of the level of guesses at both ends, and at one; each is all that its kind has where it has one way."""


def in_thirds(members, nonmembers):
    """Three cells of which every share picks the outer two: one set of guesses at both ends, and one at each end."""
    return Counts.of(members, nonmembers, edges=[0.0, 1.0])


def bare_answers(rng, epsilon, n_members, n_nonmembers):
    members, nonmembers = answers(rng, epsilon, n_members, n_nonmembers)
    return np.sign(members), np.sign(nonmembers)


def laplace(rng, epsilon, n_members, n_nonmembers):
    """The Laplace mechanism: a member moves the answer by epsilon scales."""
    return rng.laplace(epsilon, 1.0, n_members), rng.laplace(0.0, 1.0, n_nonmembers)


def bounds(world, epsilon, sides, runs, direction="either", seed=11):
    rng = np.random.default_rng(seed)
    samples = (counts_of(*world(rng, epsilon, *sides)) for _ in range(runs))
    return np.array([epsilon_lower_bound(each, direction=direction).value for each in samples])


@each_case("n_a, n_b", [(30, 12), (400, 900), (20_000, 50_000)])
@each_case("odds", [(0.3, -1.0), (2.0, 2.0), (-4.0, 5.0)])
def test_law_of_two_binomials_is_their_convolution(n_a, n_b, odds):
    first, law = binomial_sum_law(n_a, odds[0], n_b, odds[1])

    w = np.arange(first, first + len(law))
    a, b = binom(n_a, expit(odds[0])), binom(n_b, expit(odds[1]))
    assert law.sum() == pytest.approx(1.0, abs=1e-8)
    assert law @ w == pytest.approx(a.mean() + b.mean(), rel=1e-9)
    for at in np.quantile(w, [0.45, 0.5, 0.55]).round():
        x = np.arange(n_a + 1)
        assert law[int(at) - first] == pytest.approx((a.pmf(x) * b.pmf(at - x)).sum(), rel=1e-6)


@each_case("confidence", [0.9, 0.95])
def test_equal_sides_give_the_exact_binomial_limit(confidence):
    bound = epsilon_lower_bound(in_thirds([5, 70, 25], [25, 70, 5]), confidence, direction="high")

    assert (bound.right, bound.guesses) == (50, 60)
    assert bound.value == pytest.approx(logit(lower_limit(50, 60, BOTH * (1 - confidence) / 2)), abs=1e-12)


@each_case("sides", [(200, 200), (200, 300), (300, 200)])
@each_case("exposed", ["members", "nonmembers"])
def test_a_guess_at_one_end_alone_is_a_coin_of_the_member_share(exposed, sides):
    n1, n0 = sides
    shown = {"members": ([n1 - 40, 40], [n0 - 2, 2]), "nonmembers": ([2, n1 - 2], [40, n0 - 40])}[exposed]

    bound = epsilon_lower_bound(Counts.of(*shown, edges=[0.0]), direction="high")

    prior_odds = n1 / n0 if exposed == "members" else n0 / n1
    assert (bound.right, bound.guesses) == (40, 42)
    assert binom.sf(39, 42, expit(bound.value + np.log(prior_odds))) == pytest.approx(ONE * 0.025, rel=1e-9)


@each_case("delta, direction, tests", [(1e-5, "high", 1), (4.5e-4, "high", 1), (3.1e-4, "either", 2)])
def test_a_delta_forgives_guesses_and_is_paid_for_once_by_markov(delta, direction, tests):
    epsilon = epsilon_lower_bound(in_thirds([5, 70, 25], [25, 70, 5]), 0.95, delta, direction).value

    forgiven = 0
    while 200 * delta / (forgiven + 1) > 0.8 * 0.025:
        forgiven += 1
    left = 0.025 - 200 * delta / (forgiven + 1)
    assert epsilon > 0.0
    assert binom.sf(50 - forgiven - 1, 60, expit(epsilon)) == pytest.approx(BOTH * left / tests, rel=1e-9)


def by_steinke_nasr_and_jagielski(counts, delta):
    """Their p-value for each way to guess at both ends, as printed, the level shared by all of those."""
    ways = [w for w in _ways_to_guess(counts.members, counts.nonmembers, Direction.EITHER) if w.all()]
    records, best = counts.n_records, 0.0
    for said_in, said_out, v in ways:
        for epsilon in np.arange(0.0, 5.0, 0.05):
            law = binom(said_in + said_out, expit(epsilon))
            before, i = law.sf(v - 1), np.arange(1, v + 1)
            dearest = ((law.sf(v - i - 1) - before) / i).max()
            if before + 2 * records * delta * dearest > 0.025 / len(ways):
                break
            best = max(best, epsilon)
    return best


@pytest.mark.slow
@each_case("delta", [1e-5, 1e-3])
@each_case("n", [100, 1000])
def test_with_delta_it_is_no_lower_than_by_the_p_value_of_steinke_nasr_and_jagielski(n, delta):
    counts = counts_of(*laplace(np.random.default_rng(12), 3.0, n, n))
    assert epsilon_lower_bound(counts, delta=delta).value >= by_steinke_nasr_and_jagielski(counts, delta)


@each_case("delta", [0.0, 1.2e-4])
def test_unequal_sides_weigh_each_guess_by_the_prior_odds_and_the_exact_law_beats_that_of_mean_bias(delta):
    epsilon = epsilon_lower_bound(in_thirds([1, 20, 29], [49, 280, 21]), 0.95, delta, direction="high").value

    lean, forgiven = np.log(50 / 350), 2 if delta else 0
    said_in, said_out, v = 50, 50, 29 + 49 - forgiven
    x, y = np.arange(said_in + 1)[:, None], np.arange(said_out + 1)
    joint = binom.pmf(x, said_in, expit(epsilon + lean)) * binom.pmf(y, said_out, expit(epsilon - lean))
    left = 0.025 - 400 * delta / (forgiven + 1)
    assert joint[x + y >= v].sum() == pytest.approx(BOTH * left, rel=1e-5)
    if not delta:
        # Hoeffding 1956: a sum of unlike coins is at most as spread as as many coins of their mean bias
        grid = np.linspace(0.0, 5.0, 5001)
        mean_bias = 0.5 * expit(grid + lean) + 0.5 * expit(grid - lean)
        assert epsilon > grid[mean_bias <= lower_limit(78, 100, 0.025)].max(initial=0.0)


@pytest.mark.slow
@each_case(
    "world, epsilon, sides, direction",
    *((bare_answers, 0.0, sides, "high") for sides in ((8, 8), (20, 20), (50, 50), (8, 72))),
    *((bare_answers, 0.0, sides, "either") for sides in ((100, 100), (20, 180), (180, 20), (200, 1800))),
    *((answers, 1.0, sides, "either") for sides in ((20, 180), (200, 1800))),
    *((answers, 4.0, sides, "either") for sides in ((100, 100), (180, 20))),
    (laplace, 1.0, (180, 20), "either"),
)
def test_the_bound_exceeds_the_true_epsilon_at_most_as_often_as_it_says(world, epsilon, sides, direction):
    assert (bounds(world, epsilon, sides, 60, direction) > epsilon).sum() <= most_misses(60)


@pytest.mark.slow
@each_case("epsilon, n, published", [(1.0, 1000, 0.866), (4.0, 100, 2.655), (4.0, 1000, 3.490)])
@each_case("direction", ["high", "either"])
def test_the_bound_is_about_as_high_as_the_study_s_at_twice_our_level(epsilon, n, published, direction):
    result = bounds(answers, epsilon, (n, n), 60, direction).mean()

    assert result >= 0.9 * published  # T-E1: level 5% in one direction; ours 2.5%, here in one or both


@pytest.mark.slow
@each_case("world", [answers, laplace])
def test_unequal_sides_do_not_make_it_vacuous(world):
    assert bounds(world, 4.0, (200, 1800), 20).mean() > 3.0
    assert bounds(world, 1.0, (200, 1800), 20).mean() > 0.6


def test_a_leak_at_the_low_end_is_found_from_either_side():
    members, nonmembers = laplace(np.random.default_rng(3), 2.0, 300, 900)

    turned = counts_of(-members, -nonmembers)

    straight = epsilon_lower_bound(counts_of(members, nonmembers), direction="high").value
    assert epsilon_lower_bound(turned, direction=Direction.LOW).value == pytest.approx(straight)
    assert epsilon_lower_bound(turned, direction="high").value == 0.0
    assert 0.0 < epsilon_lower_bound(turned, direction="either").value < straight


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=12), st.integers(0, 2**32 - 1))
def test_guesses_are_disjoint_and_chosen_without_the_labels(pooled, seed):
    whole, rng = np.array(pooled), np.random.default_rng(seed)
    one, other = (rng.binomial(whole, 0.3) for _ in range(2))
    first = _ways_to_guess(one, whole - one, Direction.EITHER)
    assert first[:, :2].tolist() == _ways_to_guess(other, whole - other, Direction.EITHER)[:, :2].tolist()
    assert bool(len(first)) == ((whole > 0).sum() > 1)
    for said_in, said_out, right in first:
        assert said_in + said_out > 0
        assert said_in * said_out > 0 or 2 * (said_in + said_out) <= whole.sum()
        assert 0 <= right <= said_in + said_out <= whole.sum()


def test_one_end_alone_is_guessed_by_powers_of_two():
    one = np.ones(100, dtype=np.int64)
    ways = _ways_to_guess(one, 0 * one, Direction.HIGH).tolist()

    assert [way[0] for way in ways if way[1] == 0] == [1, 2, 4, 8, 16, 32]
    assert [way[1] for way in ways if way[0] == 0] == [1, 2, 4, 8, 16, 32]
    assert [way[:2] for way in ways if way[0] and way[1]] == [[k, k] for k in (1, 3, 10, 20, 35, 50)]


def lonely(rng, share, side, n=5000):
    """Nothing leaks but of a share of one side, which lies beyond all others at its own end of the scores."""
    members, nonmembers = rng.normal(size=n), rng.normal(size=n)
    if side == "members":
        members[: int(share * n)] += 20.0
    else:
        nonmembers[: int(share * n)] -= 20.0
    return counts_of(members, nonmembers)


@each_case("side", ["members", "nonmembers"])
def test_a_leak_at_one_end_alone_is_seen_whichever_side_it_is_of(side):
    rng = np.random.default_rng(13)
    samples = [lonely(rng, 0.05, side) for _ in range(8)]
    low = [epsilon_lower_bound(each).value for each in samples]
    with_delta = [epsilon_lower_bound(each, delta=1e-5).value for each in samples]

    assert np.mean(low) >= 2.5
    assert np.mean(with_delta) >= 2.0
    assert check_claim(samples[0], 2.0).decision == "contradicted"


def asked_of_coins(seed, runs, records, epsilon, share=0.5, delta=0.0, tied=False):
    """Bounds where every record is in by its own coin and answered for with odds e^epsilon, or named outright."""
    rng, values = np.random.default_rng(seed), []
    for _ in range(runs):
        member = rng.random(records) < share
        score = np.where(member == (rng.random(records) < expit(epsilon)), 1.0, 0.0)
        score = np.where(rng.random(records) < delta, np.where(member, 2.0, -1.0), score)
        score += 0.0 if tied else 0.5 * rng.random(records)
        values.append(epsilon_lower_bound(counts_of(score[member], score[~member]), delta=delta).value)
    return np.array(values)


@pytest.mark.slow
@each_case("epsilon, share, tied", [
    (0.0, 0.5, True), (0.0, 0.3, False), (1.0, 0.1, True), (1.0, 0.5, False), (3.0, 0.3, True),
    (3.0, 0.1, False),
])  # fmt: skip
def test_canaries_of_randomised_response_seldom_contradict_it(epsilon, share, tied):
    """Nothing keeps epsilon more exactly."""
    assert (asked_of_coins(14, 80, 300, epsilon, share, tied=tied) > epsilon).mean() <= 0.025


@pytest.mark.slow
@each_case("epsilon", [0.0, 2.0])
def test_with_delta_records_that_are_given_away_are_no_violation(epsilon):
    """Each record is named outright with probability delta, else answered for: exactly (epsilon, delta)."""
    assert (asked_of_coins(15, 120, 400, epsilon, delta=2e-3) > epsilon).mean() <= 0.025


@pytest.mark.slow
def test_what_is_given_away_in_few_runs_is_no_violation_of_delta():
    """All memberships are printed with probability delta; that is (0, delta), and the worst run shows everything."""
    rng, runs, records, delta, above = np.random.default_rng(16), 800, 100, 0.01, 0
    for _ in range(runs):
        member = rng.random(records) < 0.5
        score = rng.random(records) + (10.0 * member if rng.random() < delta else 0.0)
        above += epsilon_lower_bound(counts_of(score[member], score[~member]), delta=delta).value > 0.0

    assert above <= 0.025 * runs


@each_case("delta", [0.0, 1e-6, 1e-5])
def test_few_members_far_below_are_seen_by_audit_and_by_gate(delta):
    """The two-sided threshold of TensorFlow Privacy's tests: 2 + 697 members, 213 + 313 nonmembers."""
    counts = Counts.of([2, 697], [213, 313], edges=[0.0])
    claim, gate = check_claim(counts, 3.0, delta), judge(counts, [MaxEpsilon(3.0, delta)])

    assert (claim.decision, gate.decision.value) == ("contradicted", "fail")
    assert exposure(counts).score_epsilon >= 2.9
    assert "the mechanism's epsilon is at least" in claim.sentence
    assert "epsilon of the mechanism" in claim.bound.guarantee.covers
    assert "the epsilon of this score" in gate.sentence
    assert "not that of the mechanism" in gate.limits[0].estimate.interval.guarantee.covers


def test_the_mechanism_s_epsilon_says_how_members_must_have_been_drawn():
    assumes = epsilon_lower_bound(THIRDS).guarantee.assumes

    assert "a member by a coin of its own, independent of all others" in assumes
    assert "A random split into sides of a fixed size is not covered by the proof as it is" in assumes


def test_categories_learn_their_order_on_one_half_and_are_judged_on_the_other():
    rng, runs, cells = np.random.default_rng(5), 50, Categories(np.arange(12))
    # r/q is e^2 or e^-2 in each of them
    liked = expit(2.0 * np.where(rng.permutation(12) % 2, 1.0, -1.0)) / 6.0

    quiet, leaky = (
        [
            epsilon_lower_bound(Counts(rng.multinomial(300, r), rng.multinomial(900, q), cells), seed=i)
            for i in range(runs)
        ]
        for r, q in ((np.full(12, 1 / 12), np.full(12, 1 / 12)), (liked, 1 / 6 - liked))
    )

    assert sum(b.value > 0.0 for b in quiet) <= most_misses(runs)
    assert sum(b.value > 2.0 for b in leaky) <= most_misses(runs)
    assert np.mean([b.value for b in leaky]) > 1.2
    assert all("order_learned_on_half" in [c.code for c in b.cautions] for b in leaky)


def test_what_cannot_say_anything_says_so():
    constant, tiny = Counts.of([50], [70], edges=[]), counts_of(np.array([3.0, 4.0]), np.array([1.0, 2.0]))

    for counts, code in ((constant, "one_cell"), (tiny, "too_few_records")):
        bound = epsilon_lower_bound(counts)
        assert (bound.value, [c.code for c in bound.cautions]) == (0.0, [code])


@each_case("sides", [(500, 500), (100, 900)])
def test_a_claim_is_contradicted_only_by_more_than_it_claims(sides):
    counts = counts_of(*answers(np.random.default_rng(6), 4.0, *sides))
    bold, modest = check_claim(counts, 1.0, prior=0.1), check_claim(counts, 4.5, 1e-6, prior=0.1)

    assert (bold.decision, modest.decision) == ("contradicted", "not contradicted")
    assert bold.ceiling == pytest.approx(0.8)
    assert 1.0 < bold.bound.value < 4.0
    assert modest.bound.value <= bold.bound.value
    said = "with 97.5% confidence (one end of a 95% interval) the mechanism's epsilon is at least"
    assert said in bold.sentence
    assert "does not prove the claim" in modest.sentence
    assert "canaries" in bold.bound.guarantee.assumes
    assert "empirical" in bold.bound.guarantee.covers


def test_a_larger_delta_leaves_less_to_epsilon_and_only_the_order_of_the_scores_matters():
    members, nonmembers = answers(np.random.default_rng(8), 3.0, 300, 700)
    counts = counts_of(members, nonmembers)
    falling = [epsilon_lower_bound(counts, delta=delta) for delta in (0.0, 1e-6, 1e-4, 1e-2, 0.5)]
    values = [each.value for each in falling]

    assert values == sorted(values, reverse=True)
    assert values[0] > values[2] > values[-1] == 0.0
    assert epsilon_lower_bound(counts_of(np.exp(members), np.exp(nonmembers))) == falling[0]


THIRDS = in_thirds([1, 2, 3], [3, 2, 1])

test_what_is_out_of_range_is_refused_by_name = refusals(
    "ask, error, field",
    (lambda: check_claim(THIRDS, -1.0), OutOfRange, "epsilon"),
    (lambda: check_claim(THIRDS, float("nan")), OutOfRange, "epsilon"),
    (lambda: epsilon_lower_bound(THIRDS, delta=1.0), OutOfRange, "delta"),
    (lambda: epsilon_lower_bound(THIRDS, 1.0), OutOfRange, "confidence"),
    (lambda: epsilon_lower_bound(THIRDS, direction="hihg"), UnknownName, "direction"),
)


def test_a_trillion_records_agree_with_the_same_shares_of_a_hundred_million():
    few = epsilon_lower_bound(Counts.of([3 * 10**7, 2 * 10**7], [2 * 10**7, 3 * 10**7], [0.0]))
    many = epsilon_lower_bound(Counts.of([3 * 10**11, 2 * 10**11], [2 * 10**11, 3 * 10**11], [0.0]))
    uneven = epsilon_lower_bound(Counts.of([3 * 10**11, 2 * 10**11], [4 * 10**11, 6 * 10**11], [0.0]))

    assert many.value == pytest.approx(few.value, abs=2e-3)
    assert few.value < many.value < np.log(1.5)
    assert 0.0 < uneven.value <= np.log(1.5) + 1e-9


def test_of_labels_without_an_order_every_sample_is_halved_in_its_own_way() -> None:
    """By the seed alone both halves erred the same way: of two labels the bound lay above 0 in 5% of 6,200 records."""
    above = 0
    for more in range(300):
        members = np.array([2000 + more, 200])
        counts = Counts.trusted(members, np.array([900, 1900]), Categories(np.arange(2)))
        above += 2 * _ordered_by_half(counts, 0)[0][1] > members[0]

    assert binom.isf(0.999, 300, 0.5) <= above <= binom.isf(0.001, 300, 0.5)
