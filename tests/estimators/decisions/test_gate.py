"""A gate passes, fails or stays open as its limits do, and errs as seldom as it says."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators import Counts, Decision, Scores, advantage, by_group, individual_risk, preset, verdict
from estimators.adversary.learned import quadratic
from estimators.adversary.targets import CellsTarget, LearnedTarget, ThresholdTarget
from estimators.decisions.exposed_members import MaxExposed, doubts_of
from estimators.decisions.gate import judge
from estimators.decisions.gate_sample import Limit
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.decisions.riskiest import judge_groups
from estimators.decisions.tpr_limit import MaxTpr
from estimators.errors import DimensionMismatch, InputError, OptionError, OutOfRange
from estimators.privacy.closeness import epsilon_lower, epsilon_upper, tail_cells
from estimators.sample.counting import finest
from estimators.sample.scores import Query
from estimators.statement import roughly
from tests.cases import each_case, refusals
from tests.oracles import World, copied, gaussian_shift, identical, most_misses, rare_leak, vector_shift, xor


def sample(world: World, n: int, seed: int = 0) -> Scores:
    return Scores.of(*world.draw(np.random.default_rng(seed), n, n))


def test_the_tails_have_a_quarter_of_the_error_where_the_advantage_shows_epsilon_too() -> None:
    """And the upper end, at another delta, the half that is its own."""
    data, clean = sample(rare_leak(0.05), 2000), sample(identical(), 2000)
    (limit,), (above,) = (
        judge(each, [MaxEpsilon(1.0, delta)], confidence=0.95).limits for each, delta in ((data, 0.01), (clean, 0.02))
    )

    assert limit.estimate.lower == epsilon_lower(finest(data), 0.01, 0.0125)
    assert above.estimate.upper == epsilon_upper(tail_cells(finest(clean)), 0.02, 0.025)


@each_case("world, threshold", [(identical(), 0.1), (gaussian_shift(0.5), 0.1), (gaussian_shift(0.05), 0.08)])
def test_one_limit_on_the_advantage_is_its_verdict(world, threshold) -> None:
    data = sample(world, 1000)
    result = judge(data, [MaxAdvantage(threshold, ThresholdTarget())], seed=4)
    alone = verdict(advantage(data, target=ThresholdTarget(), seed=4), threshold)

    assert result.limits[0].verdict == alone
    assert (result.decision, result.records_needed) == (alone.decision, alone.records_needed)


@pytest.mark.slow
def test_all_limits_must_pass_and_one_that_fails_is_enough() -> None:
    data = sample(gaussian_shift(0.3), 2000)
    passes, fails, stays = MaxAdvantage(0.6), MaxMetric(0.52, preset("accuracy", 0.5)), MaxEpsilon(1.4, 0.01)

    asked = ([passes], [stays], [passes, stays], [passes, stays, fails])
    decided = [judge(data, each).decision.value for each in asked]
    assert decided == ["pass", "inconclusive", "inconclusive", "fail"]


def test_another_limit_makes_no_limit_harder_to_pass_but_harder_to_fail() -> None:
    data = sample(gaussian_shift(0.3), 500)
    alone = judge(data, [MaxAdvantage(0.2)]).limits[0].estimate
    beside = judge(data, [MaxAdvantage(0.2), MaxMetric(0.9, preset("f_beta", 0.5)), MaxEpsilon(9.0, 0.1)])

    assert beside.limits[0].estimate.upper == alone.upper
    assert beside.limits[0].estimate.lower < alone.lower
    assert beside.limits[0].estimate.lower == advantage(data, confidence=1 - 0.05 / 3).lower


def test_records_needed_are_the_most_any_open_limit_needs_and_more_than_did_not_settle_it() -> None:
    """At a limit of 0 a lower end of 0 is open, as far from the estimate as the limit is."""
    data = sample(identical(), 300)
    result = judge(data, [MaxAdvantage(0.1), MaxEpsilon(1.0, 0.02), MaxAdvantage(0.9)])
    records = [limit.verdict.records_needed for limit in result.limits]

    assert (result.decision, records[2]) == (Decision.INCONCLUSIVE, None)
    assert result.records_needed == max(records[0] or 0, records[1] or 0)
    said = f"about {roughly(result.records_needed or 0)} records in all would settle all of them, you sent 600"
    assert said in result.sentence
    rng = np.random.default_rng(0)
    for n in [100] * 10 + [400] * 10:
        result = judge(Scores.of(*rng.normal([[0.2], [0.0]], 1.0, (2, n))), [MaxAdvantage(0.0)])
        assert result.records_needed is None or result.records_needed >= 1.1 * 2 * n


def test_epsilon_at_delta_zero_fails_where_it_must_and_never_passes_whatever_the_records() -> None:
    leak = judge(sample(gaussian_shift(0.8), 1000), [MaxEpsilon(0.5)])
    none = judge(Counts.of([10**8] * 4, [10**8] * 4), [MaxEpsilon(40.0)])
    beside = judge(sample(identical(), 300), [MaxAdvantage(0.1), MaxEpsilon(1.0)])

    assert leak.decision is Decision.FAIL
    assert none.limits[0].estimate.upper == float("inf")
    for result in (none, beside):
        assert (result.decision, result.records_needed) == (Decision.INCONCLUSIVE, None)
        assert "no number of records" in result.sentence
        assert "delta_zero" in {caution.code for caution in result.cautions}


def test_the_records_epsilon_needs_are_about_enough() -> None:
    world = identical()
    records = judge(sample(world, 200), [MaxEpsilon(1.0, 0.01)]).records_needed
    enough = judge(sample(world, records, seed=1), [MaxEpsilon(1.0, 0.01)])

    assert 400 < records < 20_000
    assert enough.decision is Decision.PASS


@pytest.mark.slow
def test_a_few_records_that_are_surely_members_drown_neither_among_others_nor_in_cells_that_hide_them():
    data = sample(rare_leak(0.02), 10_000)
    fine, coarse = (judge(data, [MaxEpsilon(1.0, 0.005, bins=bins)]) for bins in (None, 4))

    for result in (fine, coarse):
        assert result.decision is Decision.FAIL
        assert result.limits[0].estimate.upper == float("inf")
    assert "class_rejected" in {caution.code for caution in coarse.cautions}
    assert judge(data, [MaxAdvantage(0.1)]).undecided_because == "exposed"
    assert judge(data, [MaxAdvantage(0.1)], accept_exposure=True).decision is Decision.PASS


def test_the_group_that_bears_most_decides_and_is_named() -> None:
    rng = np.random.default_rng(1)
    laws = [0.95, 0.05], [0.05, 0.95]
    sides = (np.r_[rng.choice(["x", "y"], 500, p=law), rng.choice(["u", "v"], 500)] for law in laws)
    data = Scores.of(*sides)
    groups = np.tile(np.repeat(["leaky", "tight"], 500), 2)

    result = judge(data, [MaxGroupRisk(0.3, groups)])

    table = individual_risk(data, groups=groups).groups
    assert result.decision is Decision.FAIL
    assert "group leaky (read off all records) is at least" in result.limits[0].verdict.reason
    assert result.limits[0].about == "the largest mean risk of 2 groups (read off all records)"
    assert result.limits[0].estimate.lower == table.lower.max()
    loose = [judge(data, [MaxGroupRisk(1.0, groups)], accept_exposure=accept) for accept in (False, True)]
    outcomes = [(each.decision, each.undecided_because) for each in loose]
    assert outcomes == [(Decision.INCONCLUSIVE, "exposed"), (Decision.PASS, None)]


@pytest.mark.slow
def test_limits_on_a_vector_are_judged_by_a_learned_score_that_must_be_accepted_to_pass() -> None:
    data, accuracy = sample(vector_shift(2, 0.3), 300), preset("accuracy", 0.5)
    group = MaxGroupRisk(1.0, np.array(["a"] * 600))
    limits = [MaxTpr(1.0, 0.1), MaxEpsilon(9.0, 0.1), MaxMetric(1.0, accuracy), group]
    targets = (LearnedTarget((quadratic(),), accept_learned_score=each) for each in (False, True))
    plain, accepted = (judge(data, limits, learned_by=target) for target in targets)

    assert {limit.verdict.decision for limit in plain.limits} == {Decision.INCONCLUSIVE}
    assert {limit.verdict.learned_score_accepted for limit in plain.limits} == {False}
    assert {limit.verdict.decision for limit in accepted.limits} == {accepted.decision} == {Decision.PASS}
    assert "learned_score" in {each.code for each in accepted.cautions}
    assert judge(data, [MaxMetric(0.51, accuracy)]).decision is Decision.FAIL
    assert judge(data, [MaxTpr(0.05, 0.1)]).decision is Decision.FAIL


@pytest.mark.slow
def test_a_learned_score_passes_only_where_it_was_accepted_by_name() -> None:
    """The upper end is that of one learned score: where 0.2 leaks it was below 0.19 in 7 of 10 samples."""
    data = sample(xor(), 100)
    plain, accepted = LearnedTarget((quadratic(),)), LearnedTarget((quadratic(),), accept_learned_score=True)
    undecided, passed = (judge(data, [MaxAdvantage(1.0, target)]) for target in (plain, accepted))
    of_two = judge(data, [MaxAdvantage(1.0, plain), MaxGroupRisk(1.0, np.array(["a"] * 200))])
    failed = judge(data, [MaxAdvantage(-0.5, plain)])

    assert (undecided.decision, undecided.records_needed) == (Decision.INCONCLUSIVE, None)
    assert undecided.sentence.startswith("Undecided: learned score: the upper end is not above 1, but ")
    assert "accept the learned score by name" in undecided.sentence
    assert "Learned score: the upper end is not above 1" in of_two.sentence
    assert passed.decision is Decision.PASS
    assert passed.sentence.startswith("Pass: learned score: with 95% confidence")
    assert failed.decision is Decision.FAIL  # the lower end holds for any attacker
    assert failed.sentence.startswith("Fail: learned score: with 95% confidence")


TWENTY, EVEN = sample(identical(), 20), Counts.of([10, 20], [20, 10])


test_what_is_no_limit_is_refused = refusals(
    "data, limits, options, error, words",
    (TWENTY, [MaxEpsilon(-1.0, 0.1)], {}, OutOfRange, None),
    (TWENTY, [MaxEpsilon(1.0, 1.0)], {}, OutOfRange, None),
    (TWENTY, [MaxAdvantage("0.1")], {}, OutOfRange, None),
    (TWENTY, [MaxAdvantage(float("nan"))], {}, OutOfRange, None),
    (TWENTY, [MaxGroupRisk(0.5, ["a"])], {}, DimensionMismatch, None),
    (TWENTY, [MaxTpr(1.5, 0.1)], {}, OutOfRange, None),
    (TWENTY, [MaxTpr(0.1, 0.0)], {}, OutOfRange, None),
    (TWENTY, [MaxTpr(float("nan"), 0.1)], {}, OutOfRange, None),
    (TWENTY, [], {}, OptionError, "at least 1"),
    (TWENTY, [MaxGroupRisk(0.9, ["a", "b"] * 20)], {"prior": 0.1}, OptionError, r"prior of 0\.5"),
    (EVEN, [MaxGroupRisk(0.5, ["a"] * 60)], {}, InputError, "counts hold no records"),
    (Scores.of(["a"] * 9, ["b"] * 9), [MaxTpr(1.1, 0.1)], {}, OutOfRange, "from 0 to 1"),
    ask=lambda data, limits, options: judge(data, limits, **options),
)


def test_a_limit_below_the_baseline_is_said_to_be_and_a_long_label_is_shortened() -> None:
    below = judge(sample(identical(), 200), [MaxAdvantage(0.1)], prior=0.1)
    long = judge(sample(identical(), 50), [MaxGroupRisk(0.1, np.array(["x" * 5000] * 100))])

    assert below.decision is Decision.FAIL
    assert "limit_below_baseline" in {caution.code for caution in below.cautions}
    assert len(long.limits[0].about) < 120


LABELS = np.array(["c0", "c1", "c2"])
R, Q = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4])


def drawn(rng: np.random.Generator, q: np.ndarray) -> Scores:
    return Scores.of(LABELS[rng.choice(3, 80, p=R)], LABELS[rng.choice(3, 160, p=q)])


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "leak"), [(0.5, True), (0.5, False), (0.25, True)])
def test_a_wrong_fail_is_rare_though_every_limit_is_the_truth_itself(prior, leak) -> None:
    rng, runs, fails, q = np.random.default_rng(5), 12, 0, Q if leak else R
    limits = _at_truth(prior, q, 1e-9)
    for run in range(runs):
        data = drawn(rng, q)
        fails += judge(data, [make(data) for make in limits], prior, seed=run).decision is Decision.FAIL

    assert fails <= most_misses(runs)


@pytest.mark.slow
@pytest.mark.parametrize(("which", "prior"), [(0, 0.25), (1, 0.5), (2, 0.5)])
def test_a_wrong_pass_is_rare_where_one_limit_lies_a_hair_below_the_truth(prior, which) -> None:
    rng, runs, passes = np.random.default_rng(6), 12, 0
    violated = _at_truth(prior, Q, -1e-9)[which]
    for run in range(runs):
        data = drawn(rng, Q)
        passes += judge(data, [violated(data), MaxAdvantage(1.0)], prior, seed=run).decision is Decision.PASS

    assert passes <= most_misses(runs)


def _at_truth(prior: float, q: np.ndarray, off: float) -> list[Callable[[Scores], Limit]]:
    """Advantage, epsilon and group risk, each with the truth as its maximum; a group is a category."""
    a, b = prior * R, (1 - prior) * q
    delta = 0.02
    epsilons = np.linspace(0, 1, 100_001)
    g = np.exp(epsilons)[:, None]
    apart = np.maximum(*((one - g * other).clip(0.0).sum(axis=1) for one, other in ((R, q), (q, R))))
    epsilon = float(epsilons[np.argmax(apart <= delta)])
    risk = float((np.abs(a - b) / (a + b)).max())
    limits: list[Callable[[Scores], Limit]] = [
        lambda _: MaxAdvantage(float(np.abs(a - b).sum()) + off, CellsTarget()),
        lambda _: MaxEpsilon(max(0.0, epsilon + 1e5 * off), delta),
        lambda data: MaxGroupRisk(risk + off, np.concatenate([data.members, data.nonmembers])),
    ]
    return limits if prior == 0.5 else limits[:2]


def release(copies: int, seed: int, rows: int = 5000) -> Scores:
    return Scores.of(*copied(rows, copies, seed))


def test_a_pass_on_average_and_a_fail_warn_first_of_those_whom_no_nonmember_is_like() -> None:
    fails = Counts.of([4000, 1000], [5000, 0], edges=[0.0]), Decision.FAIL

    for data, decision in [fails, *((release(50, seed), Decision.PASS) for seed in range(4))]:
        result = judge(data, [MaxAdvantage(0.1)])
        assert result.decision is decision
        assert result.cautions[0].code == "rare_exposure"
        assert result.exposure.alarm


def test_signs_of_a_wrong_input_are_said_first_whatever_is_limited() -> None:
    repeated = Scores.of(*np.random.default_rng(0).normal(size=(2, 100)).repeat(3, axis=1))

    for limit in (MaxTpr(0.5, 0.1), MaxEpsilon(5.0, 0.1)):
        assert judge(repeated, [limit]).cautions[0].code == "repeated_scores"


def test_a_true_positive_rate_is_limited_at_a_false_positive_rate_in_both_directions() -> None:
    data = release(250, 0)
    turned = Scores.of(np.negative(data.members), np.negative(data.nonmembers))
    limit = MaxTpr(0.01, fpr=0.001)

    high, low = judge(data, [limit]), judge(turned, [limit])
    assert high.decision is low.decision is Decision.FAIL
    assert high.limits[0].estimate == low.limits[0].estimate
    assert 0.04 < high.limits[0].estimate.lower <= 0.05
    assert judge(release(0, 0, rows=30_000), [limit]).decision is Decision.PASS
    assert judge(data, [MaxTpr(0.1, fpr=0.001)]).decision is Decision.PASS


@pytest.mark.slow
def test_a_limit_on_the_true_positive_rate_is_seldom_wrong() -> None:
    rng, runs = np.random.default_rng(0), 25
    wrong = {"fail": 0, "pass": 0}
    for _ in range(runs):
        members = rng.random(1000) - 2.0 * (rng.random(1000) < 0.05)
        data = Scores.of(members, rng.random(1000))
        for decision, off in (("fail", 1e-9), ("pass", -1e-9)):
            wrong[decision] += judge(data, [MaxTpr(0.0595 + off, 0.01)]).decision.value == decision

    assert max(wrong.values()) <= most_misses(runs)


OTHERS = (
    "It covers this score alone: another one of the same model, or several together, may give away more.",
    "It covers records that come as these did: records from elsewhere, and a group of these by itself, may be exposed "
    "more.",
)


@each_case("limits, words", [
    ([MaxAdvantage(0.2)], ("change their guess at most {} times along the score, or who sort the score into 16 ",)),
    ([MaxAdvantage(0.2, ThresholdTarget())], ("change their guess at most {} times along the score; a more",)),
    ([MaxAdvantage(0.2, CellsTarget(changes=8))], ("change their guess at most {} times along the score, or who",)),
    ([MaxTpr(0.2, 0.01)], ("at a false positive rate of 0.01 it covers the largest TPR of a set of at most",)),
    ([MaxAdvantage(0.2), MaxTpr(0.2, 0.01)], ("change their guess", "On the true positive rate")),
])  # fmt: skip
def test_under_a_pass_stands_what_it_covers_and_that_no_other_score_and_no_other_records_are(limits, words):
    result = judge(sample(identical(), 2000), limits)

    assert result.decision is Decision.PASS
    attackers, others = result.covers[: len(words)], result.covers[len(words) :]
    changes = result.limits[0].verdict.holds_up_to_changes
    assert all(word.format(changes) in line for word, line in zip(words, attackers, strict=True))
    assert others == OTHERS


def test_a_pass_names_the_changes_up_to_which_it_holds_and_another_decision_covers_nothing() -> None:
    data = sample(identical(), 2000)
    (limit,) = judge(data, [MaxAdvantage(0.2)]).limits
    changes = limit.verdict.holds_up_to_changes

    assert limit.verdict.reason.endswith(
        f"; the limit holds for every attacker who changes their guess at most {changes} times along the score"
    )
    assert judge(data, [MaxAdvantage(0.2, CellsTarget(changes=changes))]).decision is Decision.PASS
    more = judge(data, [MaxAdvantage(0.2, CellsTarget(changes=changes + 1))])
    assert (more.decision, more.covers) == (Decision.INCONCLUSIVE, ())
    assert more.limits[0].verdict.holds_up_to_changes is None
    failed = judge(sample(gaussian_shift(0.7), 2000), [MaxAdvantage(0.1)])
    assert (failed.decision, failed.covers, failed.limits[0].verdict.covers) == (Decision.FAIL, (), ())


def test_a_pass_on_counted_cells_says_so_and_one_on_names_or_in_clusters_has_no_number_of_changes() -> None:
    counted = judge(Counts.of([30, 30, 40], [30, 40, 30], edges=[0.0, 1.0]), [MaxAdvantage(0.4)])
    empty = [0] * 250  # edges where no score lies make cells, but none that a record has to itself
    crowded = judge(Counts.of([250, *empty], [250, *empty], edges=np.arange(1.0, 251.0)), [MaxAdvantage(0.4)])
    named = judge(Counts.of([50, 50], [50, 50]), [MaxAdvantage(0.4)])
    data = sample(identical(), 1000)
    clustered = judge(data, [MaxAdvantage(0.4)], cluster=np.arange(2000) // 4)

    assert "in 3 cells with up to 40.0% of a side in one: what differs within a cell" in counted.covers[1]
    assert counted.limits[0].verdict.holds_up_to_changes == 2
    assert "in 251 cells with up to 100.0% of a side in one: what differs within a cell" in crowded.covers[1]
    of_scores = judge(data, [MaxAdvantage(0.4)])
    for result, said in ((counted, True), (crowded, True), (of_scores, False)):
        covers = result.limits[0].estimate.interval.guarantee.covers
        assert ("that were counted is not seen" in covers) is said
    for result in (named, clustered):
        assert result.decision is Decision.PASS
        assert result.limits[0].verdict.holds_up_to_changes is None
        assert len(result.covers) == 3
        assert "the limit holds for" not in result.sentence


def test_equal_scores_of_many_records_hide_nothing_and_no_cell_of_them_is_said_to() -> None:
    """Past 131,072 records scores are counted in cells, of which those of equal scores are exact."""
    rng = np.random.default_rng(6)
    sides = (np.where(rng.random(70_000) < 0.2, 1.0, rng.random(70_000)) for _ in "ab")
    judgement = judge(Scores.of(*sides), [MaxAdvantage(0.2)])

    share = float(re.search(r"with up to ([\d.]+)% of a side in one", judgement.covers[1])[1])
    assert 0.0 < share < 0.1
    assert "in one cell" not in judgement.exposure.sentence


def test_a_pass_that_no_attacker_can_break_covers_every_one_of_them() -> None:
    apart = Scores.of(np.arange(400.0) + 1000, np.arange(400.0))

    result = judge(apart, [MaxAdvantage(1.0)], accept_exposure=True)

    assert judge(apart, [MaxAdvantage(1.0)]).undecided_because == "exposed"
    assert result.covers == ("It covers every attacker who reads this score.", *OTHERS)
    assert "the limit holds for" not in result.sentence


@pytest.mark.slow
def test_a_pass_by_a_learned_score_counts_changes_along_it() -> None:
    data = Scores.of(*np.random.default_rng(0).normal(size=(2, 2000, 2)))

    accepted = judge(data, [MaxAdvantage(0.3, LearnedTarget((quadratic(),), accept_learned_score=True))])
    refused = judge(data, [MaxAdvantage(0.3, LearnedTarget((quadratic(),)))])

    assert accepted.limits[0].verdict.holds_up_to_changes >= 1
    assert "along the learned score" in accepted.limits[0].verdict.reason
    assert "It covers this learned score alone" in accepted.covers[-2]
    assert refused.decision is Decision.INCONCLUSIVE
    assert (refused.limits[0].verdict.holds_up_to_changes, refused.covers) == (None, ())


def test_too_few_nonmembers_leave_a_true_positive_rate_open_and_say_how_many_are_needed_if_any_number_is() -> None:
    result = judge(release(100, 0, rows=1000), [MaxTpr(0.01, fpr=0.001)])
    never = judge(Scores.of([2.0] * 8, [1.0] * 8), [MaxTpr(0.0, 5e-324)])

    assert (result.decision, result.limits[0].threshold.lower) == (Decision.INCONCLUSIVE, 0.0)
    assert result.limits[0].cautions[0].code == "too_few_nonmembers"
    assert result.records_needed >= 2 * 4380
    assert (never.decision, never.records_needed) == (Decision.INCONCLUSIVE, None)


# --- records that repeat ------------------------------------------------------------------------------------------


@each_case(
    "limit, times",
    [
        (MaxTpr(0.02, 0.01), (1, 10)),
        (MaxEpsilon(0.3), (10, 1)),
        (MaxExposed(0.01), (1, 10)),
        (MaxTpr(0.02, 0.01), (1, 40)),
        (MaxExposed(0.01), (40, 1)),
    ],
)
def test_no_limit_fails_by_records_that_repeat_alone(limit: Limit, times: tuple[int, int]) -> None:
    """Of hold-out rows that stood there ten times 26 of 60 runs failed where nothing leaks."""
    decisions = Counter[str]()
    for run in range(20):
        rng = np.random.default_rng([9, run])
        sides = [np.repeat(rng.normal(size=1000 // each), each) for each in times]
        decisions[judge(Scores.of(*sides), [limit]).decision.value] += 1
    rng = np.random.default_rng(9)
    leak = Scores.of(np.repeat(rng.normal(5, 1, 4000), 2), rng.normal(size=8000))

    assert decisions == {"not applicable": 20}
    assert judge(leak, [limit]).decision.value == "fail"


@each_case(
    "rows, times",
    (lambda rng: rng.normal(size=20), 8),
    (lambda rng: rng.normal(size=30), 60),
    (lambda rng: rng.integers(0, 2000, 300), 20),
    (lambda rng: rng.integers(0, 1000, 50), 60),
)
def test_numbers_of_few_values_that_repeat_are_seen_in_their_order(
    rows: Callable[[np.random.Generator], NDArray[np.generic]], times: int
) -> None:
    """Read as categories, which are in no order, all of these failed where nothing leaks, at .83 to .95."""
    for run in range(4):
        rng = np.random.default_rng([5, run])
        scores = Scores.of(*(np.repeat(rows(rng), times) for _ in "ab"))
        judgement = judge(scores, [MaxAdvantage(0.2)])

        assert scores.query is Query.DISCRETE
        assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "repeated_scores")


@each_case("times, number", [(10, 30), (4, 30)])
def test_no_group_fails_by_records_that_repeat(times: int, number: int) -> None:
    """Each group has too few to show that they do, and 29 of 30 runs failed where nothing leaks."""
    for run in range(4):
        rng = np.random.default_rng([12, run])
        sides = [np.repeat(rng.normal(size=300), times) for _ in "ab"]
        groups = np.concatenate([np.repeat(rng.integers(0, number, 300), times) for _ in "ab"])
        judgement = judge(Scores.of(*sides), [MaxGroupAdvantage(0.2, groups)])

        assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "repeated_scores")
        assert Decision.FAIL not in {each.decision for each in judgement.limits[0].groups}
        own = [each.advantage for each in by_group(Scores.of(*sides), *np.split(groups, 2))]
        assert max(each.lower for each in own if each is not None) == 0.0
        assert judge_groups(0.2, {"loss": Scores.of(*sides)}, {"loss": groups}).decision is Decision.INCONCLUSIVE


@each_case("dimension, times", [(2, 8), (5, 50)])
def test_rows_of_numbers_that_repeat_are_seen_by_cells_too(dimension: int, times: int) -> None:
    """In boxes of vectors nobody looked: 51 of 60 groups of 40 rows had a lower end above 0 where nothing leaks."""
    for run in range(4):
        rng = np.random.default_rng([7, run])
        scores = Scores.of(*(np.repeat(rng.normal(size=(40, dimension)), times, axis=0) for _ in "ab"))
        groups = np.tile(np.repeat(["a", "b"], 20 * times), 2)
        judgement = judge(scores, [MaxAdvantage(0.2, CellsTarget()), MaxGroupAdvantage(0.2, groups, CellsTarget())])

        assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "repeated_scores")
        assert advantage(scores, target=CellsTarget()).lower == 0.0
        assert all(each.estimate is None or each.estimate.lower == 0.0 for each in judgement.limits[1].groups)


def test_a_group_whose_rows_repeat_fails_where_it_does_without_the_repeats() -> None:
    rng = np.random.default_rng(12)
    group = rng.integers(0, 5, 2000)
    sides = [np.repeat(rng.normal(size=2000) + shift, 10) for shift in (2.5 * (group == 3), 0.0)]
    judgement = judge(Scores.of(*sides), [MaxGroupAdvantage(0.2, np.tile(np.repeat(group, 10), 2))])

    assert judgement.decision.value == "fail"
    assert [each.label for each in judgement.limits[0].groups if each.decision is Decision.FAIL] == [3]
    assert 0.5 < judgement.limits[0].estimate.lower < 0.789  # 2 Phi(1.25) - 1


def test_a_group_that_repeats_by_itself_is_told_and_one_that_does_not_is_judged_as_it_is() -> None:
    """Integers of others hid the repeats of one group; the repeats of one took the fail from another."""
    rng = np.random.default_rng(3)
    own = [np.repeat(rng.normal(size=60), 100) for _ in "ab"]
    sides = [np.concatenate([each, rng.integers(0, 250, 1000)]) for each in own]
    groups = np.tile(np.repeat(["rows", "integers"], [6000, 1000]), 2)
    judgement = judge(Scores.of(*sides), [MaxGroupAdvantage(0.9, groups)])

    assert finest(Scores.of(*sides)).doubts == ()
    assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "repeated_scores")
    assert [odd.message[:12] for odd in judgement.cautions if odd.code == "repeated_scores"] == ["group rows: "]

    sides = [np.concatenate([rng.normal(shift, size=400), np.repeat(rng.normal(size=40), 30)]) for shift in (2, 0)]
    leaks, _ = by_group(Scores.of(*sides), *[np.repeat(["leaks", "repeats"], [400, 1200])] * 2)
    assert leaks.advantage is not None
    assert 0.5 < leaks.advantage.lower < 0.683  # 2 Phi(1) - 1; .04 where its rows were thinned, too


def test_one_score_for_all_records_answers_nothing_and_beside_another_query_is_no_obstacle() -> None:
    """A scoring job that gave 0.5 to everything passed."""
    constant = Scores.of(np.full(2000, 0.5), np.full(2000, 0.5))
    judgement = judge(constant, [MaxAdvantage(0.1)])
    other = Scores.of(*np.random.default_rng(0).normal(size=(2, 2000)))

    assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "one_score_for_all")
    assert [odd.code for odd in doubts_of({"a": constant}, clustered=False)] == ["one_score_for_all"]
    assert [*doubts_of({"a": constant, "b": other}, clustered=False)] == []


def test_names_that_repeat_are_no_leak_either() -> None:
    sides = [[f"{side} {row // 2}" for row in range(600)] for side in "ab"]
    for limit in (MaxAdvantage(0.1), MaxEpsilon(0.3)):
        judgement = judge(Scores.of(*sides), [limit])
        assert (judgement.decision.value, judgement.undecided_because) == ("not applicable", "repeated_scores")
