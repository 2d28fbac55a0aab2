"""What holds for every chart of every answer."""

import json
import math
import re
from collections.abc import Iterator
from functools import cache

import pytest

from macekit.call import HTML
from macekit.reports.content import figures, has_figures
from macekit.reports.drawing import inline_svg
from macekit.reports.model import Cell, Figure, Number, Phrase, Untrusted
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, at, rendered
from tests.macekit.reports.charts import vega
from tests.macekit.reports.charts.worlds import NAMES, world


@pytest.mark.slow
@each_case("name", NAMES)
def test_every_figure_has_a_name_a_title_and_words_and_a_specification_of_finite_numbers(name: str) -> None:
    found = drawn(name)

    assert len({figure.name for figure in found}) == len(found)
    for figure in found:
        assert figure.title
        assert figure.description.endswith(".")
        assert "nan" not in figure.description
        assert json.loads(json.dumps(figure.spec, allow_nan=False))
        for key, value in held(figure.spec):
            assert key not in {"url", "href", "$schema", "signals", "params"}
            assert not isinstance(value, float) or math.isfinite(value)


def pictures(name: str) -> list[str]:
    """The drawings of a page, or of a world that has none."""
    if name in CASES:
        return re.findall(r"<svg\b.*?</svg>", rendered(name, HTML).decode(), re.DOTALL)
    return [inline_svg(figure, figure.name) for figure in drawn(name)]


@pytest.mark.slow
@each_case("name", NAMES)
def test_every_figure_is_drawn_and_stays_small(name: str) -> None:
    found = pictures(name)

    assert len(found) == len(drawn(name))
    for svg in found:
        assert "NaN" not in svg
        assert "Infinity" not in svg
        assert len(svg) < 60_000
        assert "<path" in svg or "<line" in svg


@pytest.mark.slow
def test_every_kind_of_chart_has_its_marks_and_words_where_vega_lite_has_them() -> None:
    """Powers of ten aside: of those Vega-Lite writes some beyond the axis, and others are written here."""
    found = vega.kinds(figure.spec for name in NAMES for figure in drawn(name))
    assert len(found) > 20

    for spec in found:
        mine, theirs = vega.ours_and_theirs(spec)
        where = json.dumps(spec)[-400:]
        assert len(mine.shapes) == len(theirs.shapes), where
        for one, other in zip(mine.shapes, theirs.shapes, strict=True):
            assert one[0] == other[0], where
            assert one[1] == pytest.approx(other[1], abs=1.3), where
        logarithmic = '"log"' in json.dumps(spec)
        assert logarithmic or set(mine.words) == set(theirs.words), where
        for word in () if logarithmic else mine.words:
            for one, other in zip(sorted(mine.words[word]), sorted(theirs.words[word]), strict=True):
                assert one == pytest.approx(other, abs=1.5), (word, where)


def numbers(cells: tuple[Cell, ...]) -> Iterator[Number | Untrusted]:
    for cell in cells:
        if isinstance(cell, Phrase):
            yield from numbers(cell.words)
        elif isinstance(cell, Number | Untrusted):
            yield cell


def held(value: object) -> Iterator[tuple[str, object]]:
    """Every key with its value, however deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from held(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from held(inner)


@cache
def drawn(name: str) -> tuple[Figure, ...]:
    return figures(*world(name))


@pytest.mark.slow
@each_case("name", NAMES)
def test_every_number_of_a_table_stands_in_the_answer(name: str) -> None:
    answer, found = world(name)[1], drawn(name)

    for figure in found:
        assert 0 < len(figure.table.rows) <= 201
        for row in figure.table.rows:
            assert len(row) == len(figure.table.head)
            for cell in numbers(row):
                said = at(answer, cell.path)
                assert (str(said) if isinstance(cell, Untrusted) else said) == (
                    cell.text if isinstance(cell, Untrusted) else cell.value
                )


@each_case("operation", ["plan", "counts", "columns"])
def test_some_answers_have_nothing_to_see(operation: str) -> None:
    assert figures(operation, {}) == ()
    assert not has_figures(operation)


@pytest.mark.slow
@each_case(
    "name, expected",
    ("prior of a tenth", ["interval", "distribution", "roc", "low-fpr", "risk", "posterior"]),
    ("everything leaks", ["interval", "distribution", "roc", "low-fpr", "risk", "posterior", "epsilon"]),
    ("one category", ["interval", "distribution", "risk"]),
    ("counts with open ends", ["interval", "distribution", "roc", "low-fpr", "risk"]),
    ("groups", ["interval", "distribution", "roc", "low-fpr", "risk", "posterior", "groups"]),
    ("no points asked for", ["interval", "distribution", "roc", "risk", "posterior"]),
    ("prior of nine tenths, risk", ["risk", "groups"]),
    ("many queries", ["ranking", "differences"]),
    ("every limit", ["gate"]),
    ("vectors, risk", []),
)
def test_figures_come_in_the_order_they_are_read(name: str, expected: list[str]) -> None:
    assert [figure.name for figure in figures(*world(name))] == expected
