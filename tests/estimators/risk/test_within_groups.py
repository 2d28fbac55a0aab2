"""What each group gives away by itself: by its own records, at their own resolution, all groups at once."""

import numpy as np
import pytest

from estimators import Counts, Decision, Scores, advantage, by_group
from estimators.decisions.gate import judge
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.errors import DimensionMismatch, MixedTypes, NotFinite, RaggedRows
from estimators.risk.groups import GroupTable
from estimators.risk.within_groups import by_group_of_counts
from estimators.sample.counting import by_edges, by_grid, finest
from tests.cases import each_case, refusals
from tests.oracles import most_misses


@pytest.mark.parametrize("prior", [0.5, 0.35])
def test_a_group_that_leaks_is_found_among_groups_that_do_not(prior) -> None:
    rng = np.random.default_rng(6)
    groups = np.repeat(["young", "old", "rare"], [1500, 1400, 5])
    members = rng.normal(size=len(groups)) + 1.5 * (groups == "old")
    scores = Scores.of(members, rng.normal(size=len(groups)))
    result = {g.label: g for g in by_group(scores, groups, groups, prior)}

    assert result["old"].advantage.lower > result["young"].advantage.upper
    assert result["rare"].advantage is None
    assert [c.code for c in result["rare"].cautions] == ["group_too_small"]


@pytest.mark.slow
def test_no_group_is_called_a_leak_when_none_leaks() -> None:
    rng, runs, wrong = np.random.default_rng(7), 20, 0
    for run in range(runs):
        groups, scores = rng.integers(0, 6, 1200), Scores.of(*rng.normal(size=(2, 1200)))
        answers = [g.advantage for g in by_group(scores, groups, groups, seed=run)]
        wrong += any(each is not None and each.lower > 0 for each in answers)

    assert wrong <= most_misses(runs, 0.025)


@each_case("prior", [0.5, 0.2])
def test_a_group_has_the_advantage_of_its_own_records_alone(prior) -> None:
    rng = np.random.default_rng(8)
    labels = rng.choice(["a", "b", "c"], 800, p=[0.5, 0.3, 0.2])
    members, nonmembers = rng.normal(0.5, 1, 400), rng.normal(size=400)
    rows = by_group(Scores.of(members, nonmembers), labels[:400], labels[400:], prior)

    for row in rows:
        own = labels == row.label
        alone = advantage(Scores.of(members[own[:400]], nonmembers[own[400:]]), prior, confidence=1 - 0.05 / len(rows))
        found = row.advantage.lower, row.advantage.value, row.advantage.upper
        assert found == (alone.lower, alone.value, alone.upper)


@pytest.mark.slow
@each_case("of_counts", [False, True])
def test_a_group_whose_scores_are_far_closer_together_than_all_others_is_seen_at_its_own_resolution(of_counts) -> None:
    rng = np.random.default_rng(9)
    wide, narrow = rng.normal(0, 1e6, (2, 20_000)), rng.uniform(0, 1e-3, (2, 100))
    narrow[0] += 1e-3  # all of these are within a cell that any cut of all records together makes
    scores = Scores.of(*np.concatenate([wide, narrow], axis=1))
    labels = np.repeat(["wide", "narrow"], [20_000, 100])
    counts = finest(scores)
    table = GroupTable.of_scores(scores, labels, labels, counts.cells)
    rows = by_group_of_counts(counts, table) if of_counts else by_group(scores, labels, labels)

    assert rows[0].label == "narrow"
    assert rows[0].advantage.lower > 0.8


def test_small_groups_those_of_one_side_and_of_categories_that_no_two_records_share_have_no_answer() -> None:
    rng = np.random.default_rng(3)
    sides = np.repeat(["big", "odd"], [290, 10]), np.repeat(["big", "alone"], [695, 5])
    alone, big, odd = by_group(Scores.of(rng.random(300), rng.random(700)), *sides)
    words = [f"w{i}" for i in range(80)]
    labels = np.repeat(["some", "other"], [40, 20])
    rows = by_group(Scores.of([*words[:40], *"xy" * 10], [*words[40:], *"xy" * 10]), labels, labels)

    assert [c.code for each in (odd, alone) for c in each.cautions] == ["group_too_small"] * 2
    assert big.cautions == ()
    assert alone.advantage is odd.advantage is None
    sizes = [(each.label, each.n_members, each.n_nonmembers) for each in (alone, big, odd)]
    assert sizes == [("alone", 0, 5), ("big", 290, 695), ("odd", 10, 0)]
    assert [(each.label, each.advantage is None) for each in rows] == [("other", False), ("some", True)]
    assert "categories" in rows[1].cautions[0].message


SCORES = Scores.of(np.arange(20.0), np.arange(20.0))


test_labels_that_are_not_one_a_record_are_refused = refusals("labels, error", [
    (["a"] * 19, DimensionMismatch), ([], DimensionMismatch), ([["a"], ["b", "c"]] * 10, RaggedRows),
    ([float("nan")] * 20, NotFinite), ([None] * 20, MixedTypes),
], ask=lambda labels: by_group(SCORES, labels, ["a"] * 20))  # fmt: skip


def test_groups_of_counts_on_a_grid_are_seen_as_finely_as_the_grid_has_them() -> None:
    rng = np.random.default_rng(5)
    labels = np.repeat(["a", "b"], [900, 100])
    scores = Scores.of(rng.normal(np.where(labels == "b", 2.0, 0.0), 1), rng.normal(size=1000))
    counts = by_grid(scores)
    rows = by_group_of_counts(counts, GroupTable.of_scores(scores, labels, labels, counts.cells))
    of_records = by_group(scores, labels, labels)

    assert isinstance(counts, Counts)
    assert rows[1].advantage.lower == pytest.approx(of_records[1].advantage.lower, abs=0.02)
    assert rows[0].advantage.upper == pytest.approx(of_records[0].advantage.upper, abs=0.02)


@each_case("last, cells", [(1, "1 of 9"), (60, "9 of 9")])
def test_a_group_crowded_in_one_cell_of_counts_is_said_to_be_and_passes_with_that_word_only(last, cells):
    rng = np.random.default_rng(6)
    apart, low = rng.uniform([[0.5], [0.1]], [[0.9], [0.5]], (2, 400))
    apart[:last], low[:last] = rng.uniform(0, 9 if last > 1 else 1, (2, last))
    scores = Scores.of(*(np.append(rng.uniform(0, 9, 2000), rare) for rare in (apart, low)))
    labels = np.repeat(["most", "rare"], [2000, 400])
    counts = by_edges(scores, list(range(1, 9)))
    table = GroupTable.of_scores(scores, labels, labels, counts.cells)
    codes = {each.label: [c.code for c in each.cautions] for each in by_group_of_counts(counts, table)}
    judgement = judge(counts, [MaxGroupAdvantage(0.3, table)])

    assert codes["rare"] == ["group_in_few_cells"]
    assert f"its 800 records lie in {cells} cells" in " ".join(each.message for each in judgement.cautions)
    assert "of a side in one: what differs within a cell is not seen" in judgement.covers[1]
    assert judge(scores, [MaxGroupAdvantage(0.3, np.tile(labels, 2))]).decision is Decision.FAIL


def test_a_group_whose_records_one_cell_of_a_grid_hides_does_not_pass() -> None:
    """Twice as good as all others together, and all of it closer to 2 than a cell is wide."""
    rng = np.random.default_rng(7)
    rare = [2.0 - 1e-6 * rng.uniform(*ends, 300) for ends in ((0.0, 0.6), (0.4, 1.0))]
    scores = Scores.of(*(np.append(2.0 * rng.random(80_000), each) for each in rare))
    labels = np.repeat(["most", "rare"], [80_000, 300])
    counts = by_grid(scores)
    limit = MaxGroupAdvantage(0.3, GroupTable.of_scores(scores, labels, labels, counts.cells))
    judgement = judge(counts, [limit])

    assert judge(scores, [MaxGroupAdvantage(0.3, np.tile(labels, 2))]).decision is Decision.FAIL
    assert counts.doubts == ()
    assert judgement.decision is Decision.NOT_APPLICABLE
    assert [each.message[:39] for each in judgement.doubts] == ["group rare: 300 of 300 members and 300 "]
