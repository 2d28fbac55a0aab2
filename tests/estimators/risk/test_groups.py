"""Groups of counts: what is said of them is what is said of their records."""

from collections.abc import Callable

import numpy as np
import pytest

from estimators import Counts, Scores, by_group, individual_risk
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxGroupRisk
from estimators.errors import InvalidCounts, MixedTypes, TooManyCells
from estimators.risk import groups
from estimators.risk.groups import GroupTable
from estimators.risk.individual import risk_by_cell
from estimators.risk.within_groups import by_group_of_counts
from estimators.sample.counting import by_category, by_edges, by_grid, finest
from tests.cases import refusals

N = 900
RNG = np.random.default_rng(4)
LABELS = RNG.choice(["a", "b", "c"], 2 * N, p=[0.6, 0.38, 0.02])
SHIFT = np.where(LABELS == "b", 1.5, 0.2)


def scores_of_groups(rounded: int | None = None) -> Scores:
    members, nonmembers = RNG.normal(SHIFT[:N], 1), RNG.normal(0, 1, N)
    if rounded is not None:
        members, nonmembers = (np.round(side, rounded) for side in (members, nonmembers))
    return Scores.of(members, nonmembers)


CELLS: dict[str, tuple[Scores, Callable[[Scores], Counts]]] = {
    "grid": (scores_of_groups(), by_grid),
    "intervals": (scores_of_groups(), finest),
    "a few intervals": (scores_of_groups(), lambda scores: by_edges(scores, [-1.0, 0.0, 1.0, 2.0])),
    "values": (scores_of_groups(0), by_category),
    "texts": (Scores.of(RNG.choice(["x", "y", "z"], N, p=[0.5, 0.3, 0.2]), RNG.choice(["x", "y"], N)), by_category),
}


@pytest.fixture(params=CELLS)
def world(request: pytest.FixtureRequest) -> tuple[Scores, Counts, GroupTable]:
    scores, count = CELLS[request.param]
    counts = count(scores)
    return scores, counts, GroupTable.of_scores(scores, LABELS[:N], LABELS[N:], counts.cells)


def test_the_table_adds_up_and_can_be_written(world) -> None:
    _, counts, table = world
    rows = table.to_list()
    again = GroupTable.of(counts, *([row[key] for row in rows[::-1]] for key in ("label", "members", "nonmembers")))

    assert (table.members.sum(axis=0) == counts.members).all()
    assert (again.labels.tolist(), again.members.tolist()) == (["a", "b", "c"], table.members.tolist())


def test_risk_of_groups_is_the_mean_over_their_records(world) -> None:
    scores, counts, table = world
    targets = np.concatenate([scores.members, scores.nonmembers])

    of_counts = risk_by_cell(counts, 0.3, 0.9).of_groups(counts, table, 0.9)

    expected = individual_risk(counts, 0.3, 0.9, targets, LABELS).groups
    assert of_counts.labels.tolist() == expected.labels.tolist()
    assert of_counts.records.tolist() == expected.records.tolist()
    assert of_counts.flagged.tolist() == expected.flagged.tolist()
    for name in ("risk", "lower", "upper"):
        np.testing.assert_allclose(getattr(of_counts, name), getattr(expected, name), rtol=1e-12)


def test_advantages_of_groups_are_those_of_their_records(world) -> None:
    scores, _, _ = world
    counts = finest(scores)
    table = GroupTable.of_scores(scores, LABELS[:N], LABELS[N:], counts.cells)
    of_counts = by_group_of_counts(counts, table, 0.3)
    expected = by_group(scores, LABELS[:N], LABELS[N:], 0.3)

    assert [each.label for each in of_counts] == [each.label for each in expected]
    for one, other in zip(of_counts, expected, strict=True):
        assert (one.n_members, one.n_nonmembers) == (other.n_members, other.n_nonmembers)
        assert (one.advantage.lower, one.advantage.upper) == (other.advantage.lower, other.advantage.upper)


def test_a_gate_holds_groups_of_counts_to_their_limit(world) -> None:
    scores, counts, table = world
    targets = np.concatenate([scores.members, scores.nonmembers])
    limits = MaxGroupRisk(0.3, table), MaxGroupRisk(0.3, LABELS, targets)
    of_counts, expected = (judge(counts, [limit]).limits[0].estimate for limit in limits)

    ours, theirs = ([of.value, of.interval.lower, of.interval.upper] for of in (of_counts, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


COUNTS = Counts.of([5, 3], [1, 7], edges=[0.5])


test_a_table_that_is_none_of_these_counts_is_refused = refusals("labels, members, nonmembers, error, words", [
    (["a", "b"], [[5, 0], [0, 2]], [[1, 0], [0, 7]], InvalidCounts,
     "in cell 1 all groups together have 2 members"),
    (["a", "b"], [[5, 0], [0, 3]], [[0, 0], [0, 7]], InvalidCounts, "in cell 0 .* 0 nonmembers, the counts 1"),
    (["a", "a"], [[5, 0], [0, 3]], [[1, 0], [0, 7]], InvalidCounts, "two have the same label"),
    (["a"], [[5, 3, 0]], [[1, 7, 0]], InvalidCounts, "whole number for each of 2 cells"),
    (["a"], [[5, 3.5]], [[1, 7]], InvalidCounts, "whole number"),
    (["a", "b"], [[6, 3], [-1, 0]], [[1, 7], [0, 0]], InvalidCounts, "whole number"),
    (["a"], [[True, True]], [[1, 7]], InvalidCounts, "whole number"),
    (["a", 1], [[5, 0], [0, 3]], [[1, 0], [0, 7]], MixedTypes, "all text or all numbers"),
    ([], [], [], InvalidCounts, "in cell 0 all groups together have 0 members"),
], ask=lambda labels, members, nonmembers: GroupTable.of(COUNTS, labels, members, nonmembers))  # fmt: skip


def test_a_table_larger_than_memory_is_for_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(groups, "MOST_COUNTS", 3)

    with pytest.raises(TooManyCells, match="2 groups on 2 cells"):
        GroupTable.of(COUNTS, ["a", "b"], [[5, 0], [0, 3]], [[1, 0], [0, 7]])
