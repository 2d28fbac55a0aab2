"""Leaks that change sides many times along a score."""

import numpy as np
import pytest

from benchmarks.changes import FEW, MANY, neighbours_lower
from estimators import CellsTarget, Scores, ThresholdTarget, advantage, verdict
from estimators.adversary.changes import best_by_changes
from estimators.adversary.many_changes import (
    BY_CHANCE,
    ONE_ORDER,
    STEPS,
    gain_by_changes,
    many_changes,
    readings,
    sign_of,
)
from estimators.sample.counting import by_edges, finest
from tests.cases import each_case
from tests.oracles import most_misses


@pytest.mark.slow
@each_case("world", [
    "9 narrow leaks", "20 narrow leaks", "sine, 49 crossings", "lattice of 60", "lattice of 1,000",
    "near whole numbers",
])  # fmt: skip
def test_no_pass_that_neighbours_on_the_same_records_refute(world) -> None:
    """TRUTH: a score of truth .40 was certified at [.063, .109] and passed a limit of .15."""
    (draw, truth), ends = MANY[world], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        members, nonmembers = draw(rng, 3000)
        found = advantage(Scores.of(members, nonmembers, "continuous"), seed=seed)
        proven = neighbours_lower(members, nonmembers, rng)

        ends.append((found.lower, proven))
        assert found.upper >= proven - 0.01
        assert found.lower <= truth + 0.02
        assert verdict(found, 0.15).decision.value == "fail"
        assert {"many_changes", "resolution_rejected"} & {each.code for each in found.cautions}


def test_predictions_near_whole_numbers_fail_though_no_cut_and_no_range_sees_them() -> None:
    """Eight hundred changes: no class of few changes reaches them, and the upper end is withdrawn."""
    members, nonmembers = MANY["near whole numbers"][0](np.random.default_rng(1), 500)
    found = advantage(Scores.of(members, nonmembers, "continuous"))

    assert found.lower > 0.4
    assert (found.upper, found.class_rejected) == (1.0, True)
    assert "resolution_rejected" in {each.code for each in found.cautions}
    assert best_by_changes(finest(Scores.of(members, nonmembers)).weights(0.5), 2)[-1] < 0.2


def test_copies_with_fewer_digits_are_told_apart() -> None:
    """Members' scores went through single precision: truth 1, and [.000, .036] was certified."""
    rng = np.random.default_rng(2)
    members = rng.normal(size=2000).astype(np.float32).astype(np.float64)
    found = advantage(Scores.of(members, rng.normal(size=2000)))

    assert found.lower > 0.98
    assert found.upper == 1.0


def test_values_that_only_members_repeat_are_told_apart_where_no_two_records_are_one() -> None:
    """Members' scores may come again by their law, or as rows that stand there twice: only labels say which."""
    rng = np.random.default_rng(3)
    repeated = np.where(rng.random(1000) < 0.5, rng.choice(rng.normal(size=200), 1000), rng.normal(size=1000))
    scores = Scores.of(repeated, rng.normal(size=1000), "continuous")

    assert advantage(scores, cluster=np.arange(2000)).lower > 0.35
    assert advantage(scores).lower == 0.0
    assert "repeated_scores" in {each.code for each in advantage(scores).cautions}


@pytest.mark.slow
def test_without_a_leak_rules_with_many_changes_prove_one_as_seldom_as_they_say() -> None:
    """Asked always, here, at the whole level: what the answer gives them is a ninth of it."""
    runs, above, asked, evident = 120, 0, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        fine = finest(Scores.of(rng.normal(size=400), rng.normal(size=400)))
        changes = gain_by_changes(fine)
        found, _ = many_changes(fine, 0.5, run)
        asked += found is not None
        evident += changes.evident is not None
        above += found is not None and found.at(0.025).lower > 0.0

    assert above <= most_misses(runs)
    assert evident <= most_misses(runs, 0.02)
    assert 0.05 * runs < asked < 0.35 * runs


@each_case("world", ["confidences", "losses", "shift"])
@each_case("n", [300, 3000, 100_000])  # records as they are, and cells of counts, narrower next to 0 and 1
def test_a_leak_along_the_score_alone_is_no_sign_of_one_near_round_numbers(world, n) -> None:
    """What scores are near a round number has its neighbours' share of members; all were asked of confidences."""
    seeds = range(20 if n < 100_000 else 4)
    asked = [sign_of(finest(Scores.of(*FEW[world][0](np.random.default_rng(seed), n))))[0] for seed in seeds]

    assert sum(asked) <= most_misses(len(seeds), 0.03)


@each_case("n", [3000, 200_000])
def test_a_leak_near_hundredths_shows_beside_one_along_the_score(n) -> None:
    rng = np.random.default_rng(5)
    members, nonmembers = FEW["losses"][0](rng, n)
    near = rng.random(n) < 0.1
    members[near] = np.round(members[near], 2) + rng.normal(0.0, 2e-4, near.sum())
    fine = finest(Scores.of(np.abs(members), nonmembers))

    assert gain_by_changes(fine).beyond < 1.0
    assert sign_of(fine)[0]


def test_what_chance_gains_is_as_the_table_says() -> None:
    rng, steps, runs = np.random.default_rng(4), 1024, 120
    labels = np.repeat([1.0, -1.0], steps // 2) / steps
    gains = []
    for _ in range(runs):
        best = best_by_changes(rng.permutation(labels), 64)
        gains.append([(best[each] - best[2]) * np.sqrt(steps) for each in (4, 8, 16, 32, 64)])
    known = [BY_CHANCE[each][2] for each in (4, 8, 16, 32, 64)]

    np.testing.assert_allclose(np.mean(gains, axis=0), known, atol=0.2)
    assert max(each for means in BY_CHANCE.values() for each in means if each == each) < STEPS**0.5


def test_a_declared_class_is_not_widened_by_evidence_but_warned_of() -> None:
    members, nonmembers = MANY["9 narrow leaks"][0](np.random.default_rng(5), 3000)
    scores = Scores.of(members, nonmembers)
    targets = ThresholdTarget(), CellsTarget(changes=0), CellsTarget(changes=128)
    cut, few, more = (advantage(scores, target=target) for target in targets)

    assert (cut.class_rejected, cut.upper) == (True, 1.0)
    assert "class_rejected" in {each.code for each in cut.cautions}
    assert few.changes in (16, 32)
    assert more.changes == 128
    assert few.upper < more.upper


def test_cells_of_counts_few_values_and_constant_scores_are_looked_at_without_harm() -> None:
    rng = np.random.default_rng(6)
    wide = by_edges(Scores.of(rng.normal(size=500), rng.normal(size=700)), [-1.0, 0.0, 1.0])
    tied = finest(Scores.of(np.repeat([1.0, 2.0], 200), np.repeat([1.0, 2.0], 200)))
    huge = finest(Scores.of(rng.normal(size=300) * 1e300, rng.normal(size=300) * 1e300))

    for counts in (wide, tied, huge):
        assert gain_by_changes(counts).evident is None
        assert len(readings(counts)) >= 1
        found, _ = many_changes(counts, 0.01, 0)
        assert found is None or found.at(0.025).lower <= 0.99


@pytest.mark.slow
def test_of_a_million_records_one_order_says_what_four_say() -> None:
    rng = np.random.default_rng(3)
    place = rng.random((2, 1_300_000)) * 200.0
    shares = np.where(np.floor(place) % 2 == np.array([[0], [1]]), 0.6, 0.4)
    scores = [side[rng.random(side.size) < s][:600_000] for side, s in zip(place, shares, strict=True)]
    fine = finest(Scores.of(*scores))
    assert fine.n_records >= ONE_ORDER

    ends = [many_changes(fine, 0.5, seed)[0].at(0.003).lower for seed in range(5)]

    assert max(ends) < 0.2 < min(ends) + 0.01  # the truth: .6 - .4
    assert np.std(ends) < 0.001
