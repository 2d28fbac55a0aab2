"""The cells of grids: as they are defined, in exact arithmetic, and each within one of any coarser grid."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estimators import Counts, Scores
from estimators.errors import InvalidCounts
from estimators.sample.counting import by_grid
from estimators.sample.grid import Grid, cells_at, finest_exponent
from estimators.sample.octaves import OctaveCounts, is_near, octave_numbers
from tests.cases import each_case, refusals

numbers = st.one_of(
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.0**-1000, -(2.0**-1000), 2.0**-1001, 1.0, -1.0, 0.5, -0.5]),
    st.integers(-1020, 1000).map(lambda power: -np.nextafter(2.0**power, 0.0)),
    st.floats(0.5, 1.0),
    st.integers(-53, -1).map(lambda power: 1.0 - 2.0**power),
    st.floats(1e-17, 1e-2).map(lambda distance: 1.0 - distance),
)
exponents = st.integers(-951, 1000)


def cell_of(score: float, exponent: int) -> tuple[Fraction, Fraction]:
    """Where the cell of a score begins and ends, by its definition: of the step, or a 256th of the octave.

    The octaves are those of the score, or next to 1 those of its distance from it, as far as floats have any.
    """
    exact = Fraction(score)
    if exponent <= -9 and 1 - 256 * Fraction(2) ** exponent <= exact < 1:
        distance, power = 1 - exact, -1
        while Fraction(2) ** power >= distance:
            power -= 1
        step = Fraction(2) ** max(power - 8, -53)
        return exact // step * step, (exact // step + 1) * step
    size = -exact if exact < 0 else exact
    power = exponent
    if -256 <= exact / Fraction(2) ** exponent < 256:
        power = -1000
        if size > Fraction(2) ** -1000 or exact == Fraction(2) ** -1000:
            octave = int(np.frexp(abs(score))[1]) - 1
            octave -= exact < 0 and size == Fraction(2) ** octave  # cells hold their lower end, not their upper one
            power = octave - 8
    step = Fraction(2) ** power
    key = exact // step
    return key * step, (key + 1) * step


def edges_of(exponent: int, key: int) -> tuple[Fraction, Fraction]:
    return key * Fraction(2) ** exponent, (key + 1) * Fraction(2) ** exponent


@pytest.mark.slow
@given(numbers, exponents)
@example(-256.0, 0)
@example(256.0, 0)
@example(1.0 - 2.0**-7, -15)
@example(1.0 - 2.0**-53, -15)
@example(0.5, -9)
@example(0.75, -8)
def test_a_cell_is_as_wide_as_the_step_or_a_256th_of_an_octave(score, exponent) -> None:
    wide = max(exponent, finest_exponent(score, score))
    (power,), (key,) = (column.tolist() for column in cells_at(np.array([score]), wide))

    assert edges_of(power, key) == cell_of(score, wide)


@pytest.mark.slow
@given(numbers, exponents, st.integers(0, 60))
def test_each_cell_lies_in_one_of_any_coarser_grid(score, exponent, coarser) -> None:
    fine = max(exponent, finest_exponent(score, score))
    first, second = (
        edges_of(int(power[0]), int(key[0]))
        for power, key in (cells_at(np.array([score]), each) for each in (fine, min(fine + coarser, 1010)))
    )

    assert second[0] <= first[0]
    assert first[1] <= second[1]


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(numbers, st.booleans()), min_size=1, max_size=60))
def test_scores_are_counted_in_their_cells(records) -> None:
    sides = [
        np.array([0.5, -2.5] * 4 + [score for score, member in records if member is side]) for side in (True, False)
    ]
    every = np.concatenate(sides)
    exponent = finest_exponent(float(every.min()), float(every.max()))
    counts = by_grid(Scores.of(*sides, "continuous"))

    assert isinstance(counts.cells, Grid)
    cells = [edges_of(*each) for each in zip(counts.cells.steps.tolist(), counts.cells.keys.tolist(), strict=True)]
    assert cells == sorted(cells)
    for column, side in ((counts.members, sides[0]), (counts.nonmembers, sides[1])):
        tally = Counter(cell_of(score, exponent) for score in side.tolist())
        assert [tally[cell] for cell in cells] == column.tolist()
    assert counts.cells.locate(every).tolist() == [cells.index(cell_of(score, exponent)) for score in every.tolist()]


@each_case("spread", [1.0, 6.0, 200.0])
def test_many_scores_are_counted_in_the_octaves_of_each(spread) -> None:
    """By index, and by sorting, where octaves lie far apart."""
    rng = np.random.default_rng(0)
    scores = np.exp(spread * rng.normal(size=5000)) * rng.choice([-1.0, 1.0], 5000)
    sides = np.array_split(scores[is_near(0, scores, 0)], 2)
    both = OctaveCounts.of_side(0, 0, sides[0]).plus(OctaveCounts.of_side(0, 1, sides[1]))

    expected = [Counter(octave_numbers(side).tolist()) for side in sides]
    for exponent in (0, 7):
        numbers, records = OctaveCounts.of(exponent, *both.cells()).cells()
        assert numbers.tolist() == sorted(expected[0] | expected[1])
        assert records.tolist() == [[own[number] for number in numbers.tolist()] for own in expected]


test_cells_that_lie_in_each_other_or_are_none_are_refused = refusals(
    "cells",
    [
        {"exponent": 0, "keys": [0, 1], "exponents": [0]},
        {"exponent": 0, "keys": [0, 1], "exponents": [0, 1]},
        {"exponent": 0, "keys": [0, 1], "exponents": [0, -1]},
        {"exponent": 0, "keys": [1, 1], "exponents": [0, -1]},
        {"exponent": 0, "keys": [3, 1], "exponents": [-1, -1]},
        {"exponent": 0, "keys": [0, 1], "exponents": [[0, 0]]},
        {"exponent": 0, "keys": [0, 1], "exponents": ["0", "x"]},
        {"exponent": 0, "keys": [0, 1], "exponents": [0, -1100]},
        {"exponent": 0, "keys": [0, 1], "exponents": 0},
        {"exponent": 0, "keys": [0, 1], "exponents": None},
    ],
    error=InvalidCounts,
    ask=lambda cells: Counts.from_dict({"members": [5, 5], "nonmembers": [5, 0], "cells": {"kind": "grid", **cells}}),
)


def test_counts_of_one_step_kept_from_before_merge_with_those_of_octaves() -> None:
    """Where a wide cell has records, all of what lies in it is in one cell; elsewhere nothing is lost."""
    before = Counts.from_dict(
        {"members": [5, 5], "nonmembers": [5, 0], "cells": {"kind": "grid", "exponent": -4, "keys": [0, 16]}}
    )
    now = by_grid(Scores.of([0.0, 0.001] + [0.2, 1000.0] * 3, [0.01, 0.3] + [0.2, 900.0] * 3))
    both = before.merge(now)

    assert isinstance(both.cells, Grid)
    assert both.to_dict() == now.merge(before).to_dict()
    assert (both.cells.lower_edges[0], both.cells.upper_edges[0]) == (0.0, 2.0**-4)
    assert (both.members[0], both.nonmembers[0]) == (7, 6)
    assert both.cells.upper_edges[1] - both.cells.lower_edges[1] == 2.0**-11
