"""The advantage on one fixed set: what is true of it, whichever of its records were drawn."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from estimators import (
    AssessOptions,
    CellsTarget,
    Counts,
    Scores,
    ThresholdTarget,
    TwoSidedTarget,
    advantage_on_set,
    assess,
    fixed_set,
)
from estimators.adversary.changes import best_by_changes
from estimators.errors import OptionError, OutOfRange
from estimators.limits.without_replacement import Side, largest_sum
from estimators.optimum.advantage import advantage
from estimators.optimum.ends import Ends, checked_ends
from estimators.optimum.fixed_set import MOST, on_set
from tests.cases import each_case
from tests.oracles import comb, half_split_lower, most_misses


def best_on(members: np.ndarray, nonmembers: np.ndarray, prior: float, ends: Ends) -> float:
    """The best that a rule of the class has on the whole set: changes anywhere, or cells of the drawn records."""
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    worth = np.repeat([prior / len(members), (prior - 1) / len(nonmembers)], [len(members), len(nonmembers)])
    gain = np.bincount(where, worth, len(values))
    most = ends.changes or 2
    changes = best_by_changes(gain, 1 if isinstance(ends.target, ThresholdTarget) else most)[-1]
    if not isinstance(ends.target, CellsTarget):
        return float(changes)
    cells = np.bincount(ends.counts.cells.locate(values), gain, ends.counts.size)
    return float(max(changes, np.abs(cells).sum()))


@pytest.fixture(scope="module", autouse=True)
def _limits_of_the_same_hits_once() -> Iterator[None]:
    """A few numbers of hits come up again and again in a simulation: what they and their laws say is computed once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Side, "law", cache(Side.law))
        patch.setattr(fixed_set, "largest_sum", cache(largest_sum))
        yield


@pytest.fixture
def one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what a set shows if nothing leaks, which is slow, and nothing to either end."""
    monkeypatch.setattr(fixed_set, "DRAWS", 1)


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0.0, 1.0, 20.0])
def test_of_a_set_that_was_scored_completely_the_advantage_is_known(prior, shift) -> None:
    rng = np.random.default_rng(1)
    members, nonmembers = rng.normal(shift, 1.0, 70), rng.normal(0.0, 1.0, 40)
    data = Scores.of(members, nonmembers)

    result = advantage_on_set(data, 70, 40, prior=prior)

    truth = best_on(members, nonmembers, prior, checked_ends(data, prior, None, 0))
    assert result.estimate.lower == pytest.approx(truth, abs=1e-12)
    assert result.estimate.upper == pytest.approx(truth, abs=1e-12)
    assert result.estimate.interval.guarantee.finite_sample
    assert "all were scored" in result.sentence
    assert f"an advantage of {truth:.3f}" in result.sentence


@pytest.mark.slow
@pytest.mark.usefixtures("one_draw")
def test_one_threshold_on_every_sample_there_is_of_a_small_set() -> None:
    """Every third sample of 8 of 10 members, each with every ninth of 8 of 10 nonmembers."""
    rng = np.random.default_rng(3)
    members, nonmembers = np.round(rng.normal(1.0, 1.0, 10), 2), np.round(rng.normal(0.0, 1.0, 10), 2)
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    truth = best_by_changes(np.bincount(where, np.repeat([0.05, -0.05], 10), len(values)), 1)[-1]
    samples = [list(drawn) for drawn in combinations(range(10), 8)]
    missed = []
    for drawn, others in product(samples[::3], samples[::9]):
        data = Scores.of(members[drawn], nonmembers[others], "continuous")
        result = advantage_on_set(data, 10, 10, target=ThresholdTarget(), confidence=0.8)
        missed.append(result.estimate.upper < truth - 1e-12)

    assert len(missed) == 75
    assert np.mean(missed) <= 0.1


@pytest.mark.slow
@pytest.mark.usefixtures("one_draw")
@each_case("shift, whole, drawn", [(0.0, (45, 45), (15, 30)), (0.7, (60, 150), (50, 35)), (20.0, (40, 40), (20, 20))])
def test_each_end_misses_the_set_as_seldom_as_it_says(shift, whole, drawn) -> None:
    rng = np.random.default_rng(5)
    above, below, width = 0, 0, []
    for _ in range(2):
        members, nonmembers = rng.normal(shift, 1.0, whole[0]), rng.normal(0.0, 1.0, whole[1])
        for run in range(20):
            data = Scores.of(rng.permutation(members)[: drawn[0]], rng.permutation(nonmembers)[: drawn[1]])
            ends = checked_ends(data, 0.5, None, 0, 1)
            result = on_set(ends, *whole, 0.95).estimate
            truth = best_on(members, nonmembers, 0.5, ends)
            above += result.lower > truth + 1e-12
            below += result.upper < truth - 1e-12
            if run < 2:
                width.append(advantage(data).estimate.interval.width - result.interval.width)

    assert max(above, below) <= most_misses(40)
    assert np.mean(width) >= 0.0


@pytest.mark.slow
def test_the_more_of_a_set_was_scored_the_more_is_known() -> None:
    rng = np.random.default_rng(6)
    data = Scores.of(rng.normal(0.5, 1.0, 300), rng.normal(0.0, 1.0, 300))
    widths = [advantage_on_set(data, all_, all_).estimate.interval.width for all_ in (300, 330, 600, 10**6)]

    assert widths == sorted(widths)
    assert widths[0] == 0.0
    assert widths[1] < 0.5 * widths[2]


def test_what_a_set_shows_if_nothing_leaks_is_what_dealt_records_show() -> None:
    rng = np.random.default_rng(7)
    pool = rng.normal(0.0, 1.0, 60)
    data = Scores.of(pool[:30], pool[30:])
    result = advantage_on_set(data, 30, 30, target=ThresholdTarget())
    dealt = []
    for _ in range(400):
        order = rng.permutation(60)
        signs = np.where(np.argsort(order)[np.argsort(pool)] < 30, 1 / 60, -1 / 60)
        dealt.append(best_by_changes(signs, 1)[-1])

    # four standard errors of both means
    assert result.if_nothing_leaks == pytest.approx(np.mean(dealt), abs=0.03)


@pytest.mark.slow
def test_counts_say_the_same_as_their_records() -> None:
    rng = np.random.default_rng(8)
    members, nonmembers = rng.choice(list("abcd"), 90), rng.choice(list("bcde"), 50)
    labels = np.unique(np.concatenate([members, nonmembers]))
    counts = Counts.of(*([int((side == each).sum()) for each in labels] for side in (members, nonmembers)))
    of_scores = advantage_on_set(Scores.of(members, nonmembers), 100, 100).estimate
    of_counts = advantage_on_set(counts, 100, 100).estimate

    assert (of_scores.lower, of_scores.upper) == (of_counts.lower, of_counts.upper)


def test_the_upper_end_has_half_of_the_error_and_the_lower_one_is_wrong_about_all_that_was_not_scored():
    """Right about 25 of 30 members and 14 of 20 nonmembers; in a set that has one more of each, if not about these."""
    counts = Counts.of([25, 5], [6, 14])
    result, near = advantage_on_set(counts, 60, 50, confidence=0.9), advantage_on_set(counts, 31, 21)

    right, wrong = 25 / 31 + 14 / 21, 6 / 31 + 7 / 21
    assert near.estimate.lower == pytest.approx((right - wrong) / 2, abs=1e-12)
    sides = Side(60, 30, 0.5 / 60), Side(50, 20, 0.5 / 50)
    most = largest_sum(*sides, 0.5 * 25 / 30 + 0.5 * 14 / 20, 0.05)
    assert result.estimate.upper == pytest.approx(2.0 * most - 1.0, abs=1e-12)


@pytest.mark.slow
def test_an_assessment_states_both_and_decides_by_records_drawn_anew() -> None:
    rng = np.random.default_rng(9)
    data = Scores.of(rng.normal(0.0, 1.0, 200), rng.normal(0.0, 1.0, 150))
    plain = assess(data, AssessOptions(max_advantage=0.3))
    both = assess(data, AssessOptions(max_advantage=0.3, set_nonmembers=400))

    assert (both.advantage, both.verdict) == (plain.advantage, plain.verdict)
    assert plain.on_this_set is None
    assert both.on_this_set == advantage_on_set(data, 200, 400)
    assert both.sentence == f"{plain.sentence} {both.on_this_set.sentence}"


def test_a_set_that_cannot_be_is_refused_by_its_field() -> None:
    rng = np.random.default_rng(10)
    data = Scores.of(rng.normal(0.0, 1.0, 50), rng.normal(0.0, 1.0, 50))
    vectors = Scores.of(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)))
    for name, size in (("set_members", 49), ("set_nonmembers", MOST + 1), ("set_nonmembers", 0)):
        options: dict[str, Any] = {name: size}
        with pytest.raises(OutOfRange) as caught:
            assess(data, AssessOptions(**options))
        assert caught.value.field == name
    with pytest.raises(OptionError, match="one by one") as clustered:
        assess(data, AssessOptions(set_nonmembers=60), cluster=np.arange(100) // 2)
    assert clustered.value.field == "set_nonmembers"
    with pytest.raises(OptionError, match="learned score"):
        assess(vectors, AssessOptions(set_members=60))

    assert assess(vectors, AssessOptions(set_members=60, target=CellsTarget())).on_this_set is not None


@each_case("whole, scored, ones, confidence", ((16, 21), (15, 11), 14, 0.95), ((10, 60), (9, 30), 40, 0.8))
def test_each_end_misses_a_set_of_two_scores_as_seldom_as_it_says_over_every_sample(
    whole, scored, ones, confidence
) -> None:
    """All members score 1: the samples differ by how many nonmembers do, and five orders' luck was .0426 for .025."""
    truth, above, below = 1.0 - ones / whole[1], 0.0, 0.0
    for drawn in range(scored[1] + 1):
        chance = hypergeom.pmf(drawn, whole[1], ones, scored[1])
        if chance:
            data = Scores.of(np.ones(scored[0]), np.repeat([1.0, 0.0], [drawn, scored[1] - drawn]))
            ends = advantage_on_set(data, *whole, confidence=confidence).estimate.interval
            above += chance * (ends.lower > truth + 1e-12)
            below += chance * (ends.upper < truth - 1e-12)

    assert max(above, below) <= (1.0 - confidence) / 2.0


@pytest.mark.slow
@pytest.mark.usefixtures("one_draw")
@each_case(
    "target, shape, drawn",
    (ThresholdTarget(), "both tails", 180),
    (TwoSidedTarget(), "waves", 180),
    (None, "waves", 180),
    (None, "one far off", 197),
)
def test_no_rule_beyond_the_class_moves_the_lower_end(target, shape, drawn) -> None:
    """What all scored say is the truth of each part, for the same attackers: rules of another kind have no part."""
    rng = np.random.default_rng(11)
    nonmembers = rng.normal(size=200)
    members = {
        "both tails": np.concatenate([rng.normal(-3, 1, 100), rng.normal(3, 1, 100)]),
        "waves": np.sort(rng.choice(nonmembers, 200)) + 0.05,
        "one far off": np.append(rng.normal(size=199), 50.0),
    }[shape]
    misses = 0
    for _ in range(10):
        data = Scores.of(rng.permutation(members)[:drawn], rng.permutation(nonmembers)[:drawn])
        ends = checked_ends(data, 0.5, target, 0, 1)
        result = on_set(ends, 200, 200, 0.95)
        misses += result.estimate.lower > best_on(members, nonmembers, 0.5, ends) + 1e-9
        assert result.estimate.lower < result.estimate.upper
    assert misses <= most_misses(10)


@pytest.mark.slow
def test_neighbours_prove_no_more_of_a_set_than_its_ends_do(one_draw) -> None:
    """Nine narrow leaks: the lower end was .159, where neighbours on half of the same records show .360."""
    rng = np.random.default_rng(0)
    members, nonmembers = comb(9, 0.09, 6.0).draw(rng, 2000, 2000)
    drawn = members[:1200], nonmembers[:1200]

    result = advantage_on_set(Scores.of(*drawn), 2000, 2000)

    assert half_split_lower(*drawn, rng) - 0.01 < result.estimate.upper
    assert result.estimate.lower > half_split_lower(*drawn, rng) > 0.3
    assert "16 times along the score" in result.sentence
