"""A cell that hides a spike is divided, so that its other records are not flagged, nor bounded, for the spike."""

import numpy as np
import pytest
from scipy.stats import norm

from estimators import Scores, individual_risk
from estimators.risk.flags import Parts, divided, flag_members
from estimators.risk.partition import risk_cells
from estimators.sample.cells import Intervals
from estimators.sample.counting import by_rank
from estimators.sample.counts import Counts
from tests.cases import each_case
from tests.oracles import most_misses

LOW, HIGH = 0.3, 0.301


def spiked(rng, n: int, share: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    members = np.where(rng.random(n) < share, rng.uniform(LOW, HIGH, n), rng.normal(size=n))
    return members, rng.normal(size=n)


def false_share(result, sides) -> float:
    """Of the flagged records those whose own score lies outside the spike."""
    at = np.concatenate(sides)[result.flagged]
    return float(np.mean((at < LOW) | (at >= HIGH))) if len(at) else 0.0


@pytest.mark.slow
@each_case("n, runs", [(1000, 40), (10_000, 12)])
def test_of_records_flagged_for_a_spike_at_most_one_in_twenty_lies_beside_it(n, runs) -> None:
    rng, false, found = np.random.default_rng(31), [], []
    for _ in range(runs):
        sides = spiked(rng, n)
        result = individual_risk(Scores.of(*sides))
        false.append(false_share(result, sides))
        found.append(result.flagged[:n][(sides[0] >= LOW) & (sides[0] < HIGH)].mean())

    assert np.mean(false) <= 0.05
    assert np.mean(found) > (0.5 if n == 1000 else 0.9)


@pytest.mark.slow
@each_case("n, runs", [(1000, 60), (10_000, 15)])
@each_case("parts", [[(0.02, 0.3, 0.001)], [(0.1, 1.5, 0.01)], [(0.05, 0.3, 0.001), (0.05, 1.5, 0.001)]])
def test_the_false_share_holds_record_by_record_for_spikes_elsewhere_and_for_two(parts, n, runs) -> None:
    rng, false = np.random.default_rng(32), []
    for _ in range(runs):
        members, nonmembers, which = rng.normal(size=n), rng.normal(size=n), rng.random(n)
        for share, low, width in parts:
            members = np.where(which < share, rng.uniform(low, low + width, n), members)
            which = np.where(which < share, 2.0, which - share)
        at = np.concatenate([members, nonmembers])[individual_risk(Scores.of(members, nonmembers)).flagged]
        inside = sum(((at >= low) & (at < low + width)).astype(float) for _, low, width in parts)
        false.append(np.mean(1.0 - inside) if len(at) else 0.0)

    assert np.mean(false) <= 0.05 + 2.0 * np.std(false) / np.sqrt(runs)


@pytest.mark.slow
def test_the_interval_of_a_record_in_a_spike_and_of_one_beside_it_has_its_own_risk() -> None:
    rng, inside, beside = np.random.default_rng(33), [], []
    for _ in range(20):
        result = individual_risk(Scores.of(*spiked(rng, 10_000)), targets=[(LOW + HIGH) / 2, LOW - 0.02, HIGH + 0.02])
        density = norm.pdf((LOW + HIGH) / 2)
        spike = (0.95 * density + 0.05 / (HIGH - LOW)) / density
        truth = np.array([(spike - 1) / (spike + 1), 0.05 / 1.95, 0.05 / 1.95])
        held = (result.lower <= truth) & (truth <= result.upper)
        inside.append(held[0] and result.lower[0] > 0.75)
        beside.extend(held[1:] & (result.upper[1:] < 0.85))

    assert np.mean(inside) >= 0.9
    assert np.mean(beside) >= 0.9


@pytest.mark.slow
@each_case("sides", [(300, 300), (1000, 1000), (100, 900)])
def test_without_a_leak_cells_that_are_divided_flag_as_seldom_and_their_limits_hold(sides) -> None:
    rng, runs, flags, missed, some = np.random.default_rng(34), 60, 0, 0, 0
    for _ in range(runs):
        scores = Scores.of(*(rng.normal(size=n) for n in sides))
        result = individual_risk(scores)
        together = result.cells.signed_simultaneous
        flags += result.flagged.any()
        missed += (together.lower > 0).any() or (together.upper < 0).any()
        some += result.cells.size > risk_cells(scores).size

    assert max(flags, missed) <= most_misses(runs, 0.05)
    assert some > runs / 10


def test_parts_lie_within_their_cells_and_what_is_even_stays_whole(rng) -> None:
    fine = by_rank(Scores.of(*spiked(rng, 2000)))
    starts = np.arange(0, fine.size, 400)
    parts = divided(fine, starts)

    assert np.isin(starts, parts.starts).all()
    assert (np.diff(parts.starts) > 0).all()
    np.testing.assert_array_equal(parts.cell, np.searchsorted(starts, parts.starts, side="right") - 1)
    lone = np.bincount(parts.cell)[parts.cell] == 1
    assert 0 < lone.sum() < len(lone)
    assert (parts.choices[lone] == 1).all()
    assert not parts.rim[lone].any()
    assert set(parts.choices[~lone]) <= {400 * 401 // 2, *(m * (m + 1) // 2 for m in np.diff(starts))}
    even = Counts(np.full(50, 3), np.full(50, 3), Intervals(np.arange(49.0)))
    assert divided(even, np.array([0, 10, 30])).starts.tolist() == [0, 10, 30]


def test_a_part_pays_for_its_choices_and_a_rim_is_flagged_with_both_neighbours_or_up_to_an_end() -> None:
    counts = Counts(np.array([50, 40, 4, 55, 51]), np.array([55, 0, 0, 40, 105]), Intervals(np.arange(4.0)))
    groups, rim = np.array([0, 1, 4]), np.array([False, False, True, False, False])

    def flagged(choices: int, last: int = 40) -> list[bool]:
        some = Counts(counts.members, np.where(np.arange(5) == 3, last, counts.nonmembers), counts.cells)
        paid = np.array([1, choices, choices, choices, 1])
        parts = Parts(np.arange(5), np.array([0, 1, 1, 1, 2]), paid, rim)
        return flag_members(some, 0.5, groups=groups, parts=parts).flagged.tolist()

    assert flagged(1000) == [False, True, False, False, False]
    assert flagged(1000, 4) == [False, True, True, True, False]
    assert flagged(10**12)[1:3] == [True, False]  # with its cell
    cells, choices = np.array([0, 0, 0, 1]), np.array([9, 9, 9, 1])
    at_an_end = Parts(np.arange(4), cells, choices, np.array([0, 1, 0, 0]) > 0)
    ends = Counts(np.array([40, 3, 50, 107]), np.array([0, 0, 60, 140]), Intervals(np.arange(3.0)))
    assert flag_members(ends, 0.5, groups=np.array([0, 3]), parts=at_an_end).flagged.tolist() == [
        True, True, False, False,
    ]  # fmt: skip
