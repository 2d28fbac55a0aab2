"""Scores that many records have, wherever they are counted: never too many of them, and a pass stands beside them."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from estimators import Counts, Scores, advantage
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.errors import InvalidCounts
from estimators.sample.cells import Grid
from estimators.sample.counting import by_grid
from estimators.sample.growing_grid import NestedGrid
from estimators.sample.parts import counts_of_parts
from estimators.sample.scores import Query
from estimators.sample.stream import CountStream
from macekit.sources.parts import counts_of_rows, rows_of
from tests.cases import each_case, refusals
from tests.oracles import most_misses

Sides = tuple[np.ndarray, np.ndarray]
N = 4000


def far() -> Sides:
    """Losses that leak, and one placeholder that makes a cell of all others."""
    rng = np.random.default_rng(0)
    return rng.gamma(2, 0.05, N), np.append(rng.gamma(2, 0.5, N - 1), 1e9)


def near_one() -> Sides:
    """Confidences of which four in five are closer to 1 than a cell of one step is wide, and leak there."""
    rng = np.random.default_rng(1)
    close = [1.0 - scale * rng.random(N) for scale in (1e-7, 1e-5)]
    return close[0], np.where(rng.random(N) < 0.2, rng.random(N), close[1])


def near_a_hundred() -> Sides:
    """The same in percent, where nothing is known of what they crowd at."""
    a, b = near_one()
    return 100.0 * a, 100.0 * b


def frequent(value: float, share: float) -> Callable[[], Sides]:
    """The same on both sides: some records have one score, the others any."""

    def sides() -> Sides:
        rng = np.random.default_rng(2)
        a, b = (np.where(rng.random(N) < share, value, rng.random(N)) for _ in range(2))
        return a, b

    return sides


def twenty() -> Sides:
    """Half of the records share twenty scores, a fortieth of all each."""
    rng = np.random.default_rng(4)
    a, b = (np.where(rng.random(N) < 0.5, rng.integers(1, 21, N) / 20.0, rng.random(N)) for _ in range(2))
    return a, b


def two_scores() -> Sides:
    """Nearly all members have one score, and nearly all nonmembers the next, in one cell."""
    a, b = 100.0 * np.random.default_rng(8).random((2, N))
    a[: N - N // 9], b[: N - N // 9] = 37.30001, 37.30002
    return a[::-1], b[::-1]


def of_three_decimals() -> Sides:
    """Of a thousand scores some have more than eight of 2,000 members, and none many of all records."""
    rng = np.random.default_rng(2)
    return np.round(rng.random(N // 2), 3), np.round(rng.random(2 * N), 3)


def among_others() -> Sides:
    """A third has a score next to 100, and a leak is among those beside it."""
    a, b = near_a_hundred()
    rng = np.random.default_rng(3)
    return np.where(rng.random(N) < 0.3, 100 - 1e-7, a), np.where(rng.random(N) < 0.3, 100 - 1e-7, b)


def rare(n_members: int, n_nonmembers: int) -> Callable[[], Sides]:
    """Some of each side are closer to 2 than a cell is wide, and members apart from nonmembers there."""

    def sides() -> Sides:
        rng = np.random.default_rng(5)
        close = (2.0 - 1e-7 * rng.uniform(*ends, 40) for ends in ((0.0, 0.4), (0.6, 1.0)))
        a, b = (np.append(2.0 * rng.random(n), each) for n, each in zip((n_members, n_nonmembers), close, strict=True))
        return rng.permutation(a), rng.permutation(b)

    return sides


WORLDS: dict[str, tuple[Callable[[], Sides], str, str]] = {
    "one far score": (far, "fail", "fail"),
    "close to 1": (near_one, "fail", "fail"),
    "close to 100": (near_a_hundred, "fail", "not applicable"),
    "a frequent score among others": (among_others, "fail", "not applicable"),
    "a frequent score at an end": (frequent(1.0, 0.3), "pass", "pass"),
    "a frequent score in the middle": (frequent(0.3, 0.3), "pass", "pass"),
    "twenty frequent scores": (twenty, "pass", "pass"),
    "a hundredth close to 2": (rare(N, N), "pass", "not applicable"),
    "a hundredth of members, few of all": (rare(N, 4 * N), "inconclusive", "not applicable"),
    "three decimals, of few members": (of_three_decimals, "pass", "pass"),
    "two scores, one a side": (two_scores, "fail", "not applicable"),
    "zero of both signs": (frequent(-0.0, 0.5), "pass", "pass"),
    "no frequent score": (frequent(0.3, 0.0), "pass", "pass"),
}


def in_blocks(a: np.ndarray, b: np.ndarray, size: int, start: CountStream | None = None) -> CountStream:
    stream = start or CountStream()
    for at in range(0, max(len(a), len(b)), size):
        stream = stream.plus(a[at : at + size], b[at : at + size])
    return stream


def halves(a: np.ndarray, b: np.ndarray) -> list[Sides]:
    return [(a[0::2], b[0::2]), (a[1::2], b[1::2])]


COUNTED: dict[str, Callable[[np.ndarray, np.ndarray], Counts]] = {
    "at once": lambda a, b: by_grid(Scores.of(a, b, Query.CONTINUOUS)),
    "as a stream": lambda a, b: CountStream().plus(a, b).counts(),
    "in blocks": lambda a, b: in_blocks(a, b, 100).counts(),
    "one side after the other": lambda a, b: CountStream().plus(a, b[:0]).plus(a[:0], b).counts(),
    "in blocks of one record": lambda a, b: in_blocks(a[:400], b[:400], 1).plus(a[400:], b[400:]).counts(),
    "merged": lambda a, b: by_grid(Scores.of(a[:9], b[:9], Query.CONTINUOUS)).merge(
        by_grid(Scores.of(a[9:], b[9:], Query.CONTINUOUS))
    ),
    "of parts": lambda a, b: counts_of_parts(
        [part for one in halves(a, b) if (part := CountStream().plus(*one).part())]
    ),
    "of rows": lambda a, b: counts_of_rows([rows_of(CountStream().plus(*one)) for one in halves(a, b)]),
    "written down": lambda a, b: Counts.from_dict(CountStream().plus(a, b).counts().to_dict()),
}


@cache
def of_scores(world):
    make, *_ = WORLDS[world]
    a, b = make()
    return a, b, judge(Scores.of(a, b), [MaxAdvantage(0.2)]).decision.value


@each_case("world", WORLDS)
@each_case("way", COUNTED)
def test_a_pass_of_counts_stands_where_no_crowd_hides_what_differs(world, way) -> None:
    _, by_scores, by_counts = WORLDS[world]
    a, b, decision = of_scores(world)

    counts = COUNTED[way](a, b)
    judged = judge(counts, [MaxAdvantage(0.2)])

    assert decision == by_scores
    assert judged.decision.value == by_counts
    hidden = by_counts == "not applicable"
    assert [each.code for each in judged.doubts] == ["crowded_cell"] * hidden
    assert judged.undecided_because == ("crowded_cell" if hidden else None)
    assert isinstance(counts.cells, Grid)
    for each in counts.cells.frequent:
        missed = [(a == each.score).sum() - each.members, (b == each.score).sum() - each.nonmembers]
        assert min(missed) >= 0
        small = way in ("in blocks", "in blocks of one record", "merged")
        assert sum(missed) <= (0.01 * N if small else 0)  # of few records many scores seem to be frequent


@each_case("way", COUNTED)
def test_counts_that_are_made_here_are_doubted_as_their_scores_are(way) -> None:
    """The last way reads them from what was written down."""
    a, b = np.random.default_rng(4).normal(size=(2, N))
    shared, repeated = (a, np.append(a[: N // 4], b[N // 4 :])), (np.repeat(a, 2), b)
    worlds = {"sides_share_records": (a, a[::-1]), "shared_scores": shared, "repeated_scores": repeated}
    for code, sides in worlds.items():
        assert [each.code for each in COUNTED[way](*sides).doubts] == [code]
    assert COUNTED[way](a, b).doubts == ()


@pytest.mark.slow
@each_case("shift", [0.0, 1.0])
def test_intervals_of_cells_that_were_cut_again_hold(shift) -> None:
    """Lognormal distances from 1, of which many lie in one cell: where it is cut hangs on both sides together."""
    runs, truth = 100, 2.0 * float(ndtr(shift / 2.0)) - 1.0
    above = below = 0
    for seed in range(runs):
        distances = np.exp(3.0 * np.random.default_rng([seed, 5]).normal([[-shift], [0.0]], 1.0, (2, 700)))
        members, nonmembers = 1.0 + 1e-9 * distances
        grid = NestedGrid.of([CountStream().plus(members, nonmembers).part()])
        first = grid.crowds()
        while crowds := grid.crowds():
            finer = {}
            for place in crowds:
                low, high = grid.range_of(place)
                sides = (side[(side >= low) & (side < high)] for side in (members, nonmembers))
                finer[place] = [CountStream.on_grid().plus(*sides).part()]
            grid = grid.cut(finer)
        result = advantage(grid.counts(), seed=seed)
        assert first
        above += result.lower > truth + 1e-12
        below += result.upper < truth

    assert max(above, below) <= most_misses(runs)


numbers = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1 - 1e-9, 1 - 2e-9, 1e9, 1e-300]) | st.floats(-1, 1)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.lists(st.tuples(numbers, st.booleans()), min_size=1, max_size=60),
    st.lists(st.integers(0, 60), max_size=6),
    st.booleans(),
)
def test_no_frequent_score_is_said_to_have_more_records_than_it_has(records, cuts, merges) -> None:
    a = np.array([score for score, member in records if member] + [0.25, 0.5] * 4)
    b = np.array([score for score, member in records if not member] + [0.25, 0.5] * 4)
    ends = sorted({0, *cuts, 68})
    streams = [CountStream().plus(a[start:end], b[start:end]) for start, end in pairwise(ends)]
    whole = CountStream()
    for start, end in pairwise(ends):
        whole = whole.plus(a[start:end], b[start:end])
    parts = [part for each in streams if (part := each.part())]
    counts = counts_of_parts(parts) if merges else whole.counts()

    assert isinstance(counts.cells, Grid)
    for each in counts.cells.frequent:
        assert 0 <= each.members <= (a == each.score).sum()
        assert 0 <= each.nonmembers <= (b == each.score).sum()
    assert counts.unlike().min() >= 0
    assert Counts.from_dict(counts.to_dict()).to_dict() == counts.to_dict()


test_frequent_scores_that_do_not_fit_are_refused = refusals("frequent", [
    [{"score": 1.5, "members": 6, "nonmembers": 0}], [{"score": 1.5, "members": -1, "nonmembers": 0}],
    [{"score": 1.5, "members": 1.0, "nonmembers": 0}],
    [{"score": float("nan"), "members": 1, "nonmembers": 0}],
    [{"score": "1.5", "members": 1, "nonmembers": 0}], [{"score": 1.5, "members": 1}],
    [{"score": 1.5, "members": 1, "nonmembers": 0, "records": 1}],
    [{"score": 10**400, "members": 1, "nonmembers": 0}],
    [{"score": 1.5, "members": 10**400, "nonmembers": 0}],
    [{"score": 1.5, "members": 2**62, "nonmembers": 0}] * 2, [1.5], 3,
    [{"score": 1.5, "members": 3, "nonmembers": 0}] * 2,
], error=InvalidCounts, ask=lambda frequent: Counts.from_dict({
    "members": [5, 5], "nonmembers": [5, 0],
    "cells": {"kind": "grid", "exponent": 0, "keys": [0, 1], "frequent": frequent},
}))  # fmt: skip
