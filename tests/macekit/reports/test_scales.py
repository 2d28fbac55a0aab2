"""The marks of an axis, wherever it lies: inside it, round, and told apart by what is written."""

import math

import numpy as np
import pytest

from macekit.reports.drawing.scales import Numeric, labels, nice, ticks


def read(text: str) -> float:
    """The number that a mark says."""
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))


def axes(count: int) -> list[tuple[float, float]]:
    """Axes of every size, far from 0 and near."""
    rng = np.random.default_rng(0)
    spans = 10.0 ** rng.uniform(-12, 12, count)
    return [(low, low + span) for low, span in zip(spans * rng.uniform(-30, 30, count), spans, strict=True)]


@pytest.mark.slow
def test_marks_are_inside_evenly_apart_and_say_different_numbers() -> None:
    for low, high in axes(2000):
        marks = ticks(low, high, 6)
        said = [read(text) for text in labels(marks, None)]

        assert 3 <= len(marks) <= 13
        assert low <= marks[0] < marks[-1] <= high
        step = marks[1] - marks[0]
        assert np.diff(marks) == pytest.approx(step, rel=1e-6)
        assert said == pytest.approx(marks, abs=1e-6 * step)


def test_marks_of_a_logarithmic_axis_are_powers_or_what_lies_within_one() -> None:
    rng = np.random.default_rng(1)
    for low, ratio in zip(10.0 ** rng.uniform(-9, 6, 500), 10.0 ** rng.uniform(0.1, 9, 500), strict=True):
        axis = Numeric((low, low * ratio), (0.0, 300.0), logarithmic=True)
        marks = axis.marks(6)
        texts = labels(marks, "~r")

        assert len(marks) >= 2
        assert all(-0.1 <= axis.at(mark) <= 300.1 for mark in marks)
        assert len(set(texts)) == len(texts)
        assert [read(text) for text in texts] == pytest.approx(marks, rel=1e-5)


def test_a_range_is_widened_to_round_numbers_and_no_further_than_needed() -> None:
    for low, high in axes(500):
        first, last = nice(low, high)
        marks = ticks(first, last, 10)

        assert [marks[0], marks[-1]] == pytest.approx([first, last], rel=1e-9, abs=1e-9 * (high - low))
        assert first <= low
        assert high <= last
        assert max(low - first, last - high) < 0.25 * (high - low)


@pytest.mark.parametrize("end", [0.0, 5e-324, 1e300, math.inf, math.nan])
def test_an_axis_without_a_span_has_at_most_its_one_number(end: float) -> None:
    assert ticks(end, end, 5) == ([end] if math.isfinite(end) else [])
    assert math.isfinite(Numeric((1.0, 1.0), (0.0, 9.0)).at(1.0))


def test_shares_are_written_in_percent_without_needless_zeros() -> None:
    assert labels([0.0, 0.05, 0.125, 1.0], "~p") == ["0%", "5%", "12.5%", "100%"]
    assert labels([-0.5, 0.0, 0.5], None) == ["\N{MINUS SIGN}0.5", "0.0", "0.5"]
    assert labels([1e-12, 1e-4, 1.0, 1000.0], "~r") == ["1e-12", "0.0001", "1", "1,000"]
