"""The advantage on one fixed set: what is true of it, whichever of its records were drawn."""

from itertools import combinations

import numpy as np
import pytest

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
from estimators.advantage import Ends, advantage, checked_ends
from estimators.adversary.changes import best_by_changes
from estimators.errors import MaceError, OptionError, OutOfRange
from estimators.fixed_set import MOST, on_set
from tests.oracles import most_misses


def best_on(members: np.ndarray, nonmembers: np.ndarray, prior: float, ends: Ends) -> float:
    """The best that a rule of the class has on the whole set: cells of the drawn records, or two changes anywhere."""
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    worth = np.repeat([prior / len(members), (prior - 1) / len(nonmembers)], [len(members), len(nonmembers)])
    gain = np.bincount(where, worth, len(values))
    counts = ends.counts
    cells = np.abs(np.bincount(counts.cells.locate(values), gain, counts.size)).sum()
    return float(max(cells, best_by_changes(gain, 2)[-1]))


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


def test_one_threshold_on_every_sample_there_is_of_a_small_set(monkeypatch) -> None:
    """Every third sample of 8 of 10 members, each with every ninth of 8 of 10 nonmembers."""
    monkeypatch.setattr(fixed_set, "DRAWS", 1)  # slow, and nothing to either end
    rng = np.random.default_rng(3)
    members, nonmembers = np.round(rng.normal(1.0, 1.0, 10), 2), np.round(rng.normal(0.0, 1.0, 10), 2)
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    truth = best_by_changes(np.bincount(where, np.repeat([0.05, -0.05], 10), len(values)), 1)[-1]
    missed, samples = 0, 0
    for drawn in list(combinations(range(10), 8))[::3]:
        for others in list(combinations(range(10), 8))[::9]:
            data = Scores.of(members[list(drawn)], nonmembers[list(others)], "continuous")
            result = advantage_on_set(data, 10, 10, target=ThresholdTarget(), confidence=0.8)
            missed += result.estimate.upper < truth - 1e-12
            samples += 1

    assert samples == 75
    assert missed <= 0.1 * samples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift", "whole", "drawn"),
    [(0.0, (60, 60), (20, 40)), (0.7, (120, 400), (100, 90)), (20.0, (40, 40), (20, 20))],
)
def test_each_end_misses_the_set_as_seldom_as_it_says(shift, whole, drawn, monkeypatch) -> None:
    monkeypatch.setattr(fixed_set, "DRAWS", 1)  # slow, and nothing to either end
    rng = np.random.default_rng(5)
    above, below, width = 0, 0, []
    for _ in range(3):
        members, nonmembers = rng.normal(shift, 1.0, whole[0]), rng.normal(0.0, 1.0, whole[1])
        for run in range(20):
            data = Scores.of(rng.permutation(members)[: drawn[0]], rng.permutation(nonmembers)[: drawn[1]])
            ends = checked_ends(data, 0.5, None, 0, 1)
            result = on_set(ends, *whole, 0.95).estimate
            truth = best_on(members, nonmembers, 0.5, ends)
            above += result.lower > truth + 1e-12
            below += result.upper < truth - 1e-12
            if run < 4:
                width.append(advantage(data).estimate.interval.width - result.interval.width)

    assert max(above, below) <= most_misses(60)
    assert np.mean(width) >= 0.0


def test_the_more_of_a_set_was_scored_the_more_is_known() -> None:
    rng = np.random.default_rng(6)
    data = Scores.of(rng.normal(0.5, 1.0, 300), rng.normal(0.0, 1.0, 300))
    widths = [
        advantage_on_set(data, whole, whole).estimate.interval.width for whole in (300, 330, 600, 10**6)
    ]

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

    assert result.if_nothing_leaks == pytest.approx(
        np.mean(dealt), abs=0.03
    )  # four standard errors of both means


def test_counts_say_the_same_as_their_records() -> None:
    rng = np.random.default_rng(8)
    members, nonmembers = rng.choice(list("abcd"), 90), rng.choice(list("bcde"), 50)
    labels = np.unique(np.concatenate([members, nonmembers]))
    counts = Counts.of(*([int((side == each).sum()) for each in labels] for side in (members, nonmembers)))
    of_scores = advantage_on_set(Scores.of(members, nonmembers), 100, 100).estimate
    of_counts = advantage_on_set(counts, 100, 100).estimate

    assert (of_scores.lower, of_scores.upper) == (of_counts.lower, of_counts.upper)


def test_an_assessment_states_both_and_decides_by_records_drawn_anew() -> None:
    rng = np.random.default_rng(9)
    data = Scores.of(rng.normal(0.0, 1.0, 200), rng.normal(0.0, 1.0, 150))
    plain = assess(data, AssessOptions(max_advantage=0.3))
    both = assess(data, AssessOptions(max_advantage=0.3, set_nonmembers=400))

    assert both.advantage == plain.advantage
    assert both.verdict == plain.verdict
    assert plain.on_this_set is None
    assert both.on_this_set == advantage_on_set(data, 200, 400)
    assert both.sentence == f"{plain.sentence} {both.on_this_set.sentence}"


def test_a_set_that_cannot_be_is_refused_by_its_field() -> None:
    rng = np.random.default_rng(10)
    data = Scores.of(rng.normal(0.0, 1.0, 50), rng.normal(0.0, 1.0, 50))
    vectors = Scores.of(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)))
    refused: list[tuple[type[MaceError], str, dict[str, object]]] = [
        (OutOfRange, "set_members", {"set_members": 49}),
        (OutOfRange, "set_nonmembers", {"set_nonmembers": MOST + 1}),
        (OutOfRange, "set_nonmembers", {"set_nonmembers": 0}),
    ]
    for error, name, options in refused:
        with pytest.raises(error) as caught:
            assess(data, AssessOptions(**options))
        assert caught.value.field == name
    with pytest.raises(OptionError, match="one by one") as caught:
        assess(data, AssessOptions(set_nonmembers=60), cluster=np.arange(100) // 2)
    assert caught.value.field == "set_nonmembers"
    with pytest.raises(OptionError, match="learned score"):
        assess(vectors, AssessOptions(set_members=60))

    assert assess(vectors, AssessOptions(set_members=60, target=CellsTarget())).on_this_set is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "shape", "drawn"),
    [
        (ThresholdTarget(), "both tails", 270),
        (TwoSidedTarget(), "waves", 270),
        (None, "waves", 270),
        (None, "one far off", 297),
    ],
)
def test_no_rule_beyond_the_class_moves_the_lower_end(target, shape, drawn, monkeypatch) -> None:
    """What all scored say is the truth of each part, for the same attackers: rules of another kind have no part."""
    monkeypatch.setattr(fixed_set, "DRAWS", 1)  # slow, and nothing to either end
    rng = np.random.default_rng(11)
    nonmembers = rng.normal(size=300)
    members = {
        "both tails": np.concatenate([rng.normal(-3, 1, 150), rng.normal(3, 1, 150)]),
        "waves": np.sort(rng.choice(nonmembers, 300)) + 0.05,
        "one far off": np.concatenate([rng.normal(size=299), [50.0]]),
    }[shape]
    misses = 0
    for _ in range(20):
        data = Scores.of(rng.permutation(members)[:drawn], rng.permutation(nonmembers)[:drawn])
        ends = checked_ends(data, 0.5, target, 0, 1)
        result = on_set(ends, 300, 300, 0.95)
        truth = class_on(members, nonmembers, ends)
        misses += not result.estimate.lower <= truth + 1e-9
        assert result.estimate.lower < result.estimate.upper
    assert misses <= most_misses(20)


def class_on(members: np.ndarray, nonmembers: np.ndarray, ends: Ends) -> float:
    if isinstance(ends.target, CellsTarget):
        return best_on(members, nonmembers, 0.5, ends)
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    gain = np.bincount(where, np.repeat([0.5 / len(members), -0.5 / len(nonmembers)], 300), len(values))
    return float(best_by_changes(gain, 1 if isinstance(ends.target, ThresholdTarget) else 2)[-1])
