"""The statements of an answer as rows: what each is of, its estimate, and the ends of its interval."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macekit.client.problems import as_mace_problems

if TYPE_CHECKING:
    from macekit.reports.model import Figure, Table


POINTS = ("estimate", "risk", "tpr")  # what an answer calls the estimate between two ends

PASSED_OVER = frozenset(
    {
        "records",
        "cells",
        "distribution",
        "band",
        "posterior",
        "provenance",
        "guarantee",
        "warnings",
        "epsilon_lower_bound",
    }
)
"""What holds no statements, or one for each record, cell or point of a curve, or what another says in full."""


@dataclass(frozen=True, slots=True)
class Row:
    """One statement; ``name`` is its place in the answer."""

    name: str
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    confidence: float | None = None


def rows(answer: Mapping[str, Any]) -> list[Row]:
    """Every statement of an answer, the first one first; numbers without an interval have an estimate alone."""
    return list(_walk(answer, ""))


def _walk(at: Mapping[str, Any], path: str) -> Iterator[Row]:
    for name, value in at.items():
        if name in PASSED_OVER or value is None:
            continue
        here = name if not path or path == "result" else f"{path}.{name}"
        if isinstance(value, Mapping):
            yield from _statement(value, _name_of(here, value))
        elif isinstance(value, list):
            for place, each in enumerate(value):
                if isinstance(each, Mapping):
                    yield from _statement(each, _name_of(f"{here}.{place}", each, here))
        elif (not path or path == "result") and isinstance(value, int | float) and not isinstance(value, bool):
            yield Row(here, value)
    if "auc" in at:
        yield Row(f"{path}.auc", at["auc"], at["auc_lower"], at["auc_upper"])


def _statement(value: Mapping[str, Any], name: str) -> Iterator[Row]:
    point = next((word for word in POINTS if word in value), None)
    if "lower" in value and "upper" in value:
        estimate = None if point is None else value[point]
        yield Row(name, estimate, value["lower"], value["upper"], value.get("confidence"))
    elif "lower_bound" in value:
        yield Row(name, None, value["lower_bound"], None, value.get("confidence"))
    elif "score_epsilon" in value:
        yield Row(f"{name}.score_epsilon", None, value["score_epsilon"], None, value.get("confidence"))
    elif "tightest" in value:
        yield Row(name, None, None, value["value"])
    yield from _walk(value, name)


def _name_of(path: str, value: Mapping[str, Any], above: str | None = None) -> str:
    """A place by the name of what stands there, if it has one: ``groups.young`` and not ``groups.0``."""
    if "first" in value and "second" in value:
        return f"{above or path}.{value['first']} - {value['second']}"
    if "fpr" in value and isinstance(value["fpr"], float):
        return f"{above or path}.fpr {value['fpr']:g}"
    if "quantity" in value:  # of several bounds of one, each has a name of its own, too
        return ".".join([above or path, value["quantity"], *([value["name"]] if "name" in value else [])])
    own = value.get("name", value.get("label"))
    return path if own is None else f"{above or path}.{own}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chart:
    """A chart, from ``result.plot(name)`` or ``result.charts()``; in a notebook it shows itself.

    ``altair.Chart.from_dict(chart.spec)`` goes on from it.

    Attributes:
        figure: What the report draws; the properties below are made from it.

    Example:
        >>> import macekit
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> chart = macekit.estimate(counts=counts).plot("roc")
        >>> chart.name, chart.title
        ('roc', 'ROC: members found against false alarms')
        >>> chart.save("roc.svg").name
        'roc.svg'
    """

    figure: Figure

    @property
    def name(self) -> str:
        """What ``Result.plot`` calls it."""
        return self.figure.name

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.figure.title

    @property
    def description(self) -> str:
        """What it shows, in words."""
        return self.figure.description

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, in the plain values of JSON."""
        from macekit.reports.drawing import VERSION

        schema = f"https://vega.github.io/schema/vega-lite/v{VERSION.partition('.')[0]}.json"
        spec: dict[str, Any] = json.loads(json.dumps({"$schema": schema, **self.figure.spec}))
        return spec

    def to_svg(self) -> str:
        """The chart as SVG."""
        from macekit.reports.drawing import svg

        with as_mace_problems():
            return svg((self.figure,)).decode()

    def to_png(self) -> bytes:
        """The chart as PNG."""
        from macekit.reports.drawing import png

        with as_mace_problems():
            return png((self.figure,))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as SVG or PNG by its suffix.

        Args:
            path: The file, whose name ends in ``.svg`` or ``.png``.

        Raises:
            ValueError: another suffix.
        """
        target = Path(path)
        match target.suffix.lower():
            case ".svg":
                target.write_text(self.to_svg(), encoding="utf-8")
            case ".png":
                target.write_bytes(self.to_png())
            case _:
                raise ValueError("a chart is saved as .svg or .png")
        return target

    def __repr__(self) -> str:
        return f"<Chart {self.name}: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": f"{self.title}. {self.description}"}


def html(operation: str, answer: Mapping[str, Any], chart: Chart | None) -> str:
    """The decision, the sentences, the first chart, the numbers, and the cautions."""
    from macekit.reports.text import screen

    page = screen(operation, answer)
    parts = [f"<p><strong>{escape(page.decision)}</strong></p>"] if page.decision else []
    parts += [f"<p>{escape(sentence)}</p>" for sentence in page.sentences]
    if chart is not None:
        parts.append(_picture(chart))
    parts += map(_table, page.tables)
    parts += [f"<p>note: {escape(caution)}</p>" for caution in page.cautions]
    return f"<div>{''.join(parts)}</div>"


def _picture(chart: Chart) -> str:
    """An image keeps its styles to itself, and runs nothing."""
    data = b64encode(chart.to_svg().encode()).decode()
    return f'<img alt="{escape(f"{chart.title}. {chart.description}")}" src="data:image/svg+xml;base64,{data}">'


def _table(table: Table) -> str:
    from macekit.reports.formatting import words

    head = "".join(f"<th>{escape(words(name))}</th>" for name in table.head)
    rows = "".join(
        f"<tr><th>{escape(words(first))}</th>{''.join(f'<td>{escape(words(cell))}</td>' for cell in cells)}</tr>"
        for first, *cells in table.rows
    )
    more = f"<p>{table.more:,} more rows are in the JSON.</p>" if table.more else ""
    top = f"<thead><tr>{head}</tr></thead>" if any(table.head) else ""
    return f"<table>{top}<tbody>{rows}</tbody></table>{more}"


def first(charts: Sequence[Chart]) -> Chart | None:
    """The chart that is shown without being asked for."""
    return charts[0] if charts else None
