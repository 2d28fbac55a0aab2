"""Line charts of the papers' figures: every point that can be shown, and the same bytes for the same figure."""

from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from examples.theory.drawing import line_chart, svg, write_svg

X = np.array([0.1, 0.2, 0.3])


def chart(**options: bool) -> dict[str, object]:
    series = {"rising": (X, X**2), "falling": (X, 1 / X)}
    return line_chart("A title", "across", "up", series, dashed=["falling"], **options)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_figure_is_the_same_bytes_each_time(logarithmic: bool) -> None:
    first, second = (svg(chart(log_x=logarithmic, log_y=logarithmic)) for _ in range(2))

    assert first == second


def test_a_figure_shows_its_title_its_axes_and_a_name_for_each_line() -> None:
    words = {element.text for element in ET.fromstring(svg(chart())).iter() if element.text}

    assert {"A title", "across", "up", "rising", "falling"} <= words


def test_only_what_was_asked_for_is_dashed() -> None:
    lines = [
        element.get("stroke-dasharray")
        for element in ET.fromstring(svg(chart())).iter()
        if element.get("stroke-dasharray")
    ]

    assert set(lines) == {"5,4"}


def test_several_figures_make_one_file_and_each_has_its_title(tmp_path: Path) -> None:
    target = tmp_path / "both.svg"

    write_svg([chart(), {**chart(), "title": "Another"}], target)

    words = {element.text for element in ET.fromstring(target.read_text("utf-8")).iter()}
    assert {"A title", "Another"} <= words


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_line_has_a_gap_where_there_is_no_number(bad: float) -> None:
    spec = line_chart("t", "x", "y", {"a": ([1, 2, 3], [1.0, bad, 3.0])})

    (layer,) = spec["layer"]
    assert [(row["x"], row["part"]) for row in layer["data"]["values"]] == [(1.0, 0), (3.0, 1)]


def test_a_logarithmic_axis_leaves_out_what_is_not_above_0() -> None:
    spec = line_chart("t", "x", "y", {"a": ([0, 1, 2], [5.0, 0.0, 3.0])}, log_x=True, log_y=True)

    (layer,) = spec["layer"]
    assert [row["x"] for row in layer["data"]["values"]] == [2.0]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        line_chart("t", "x", "y", {"a": ([1, 2], [1.0])})


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([0.002, 3000.0], [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]),
        ([0.5, 60.0], [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
        ([2.0, 3.0], [2.0]),
        ([1e-9, 1e9], [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9]),
    ],
)
def test_a_logarithmic_axis_is_marked_at_round_numbers(values: list[float], marks: list[float]) -> None:
    spec = line_chart("t", "x", "y", {"a": ([0, 1], values)}, log_y=True)

    axis = spec["layer"][0]["encoding"]["y"]["axis"]
    assert axis["values"] == marks
