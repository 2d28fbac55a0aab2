"""The statements of an answer as rows: what each is of, its estimate, and the ends of its interval."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from macekit.reports.model import Figure


POINTS = ("estimate", "risk", "tpr")
"""What an answer calls the estimate between two ends."""

PASSED_OVER = frozenset(
    {"records", "cells", "distribution", "band", "provenance", "guarantee", "warnings", "epsilon_lower_bound"}
)
"""What holds no statements, or one for each record or cell, or says again what another says in full."""


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
            yield from _statement(value, _called(here, value))
        elif isinstance(value, list):
            for place, each in enumerate(value):
                if isinstance(each, Mapping):
                    yield from _statement(each, _called(f"{here}.{place}", each, here))
        elif not path or path == "result":
            yield from _alone(here, value)
    if "auc" in at:
        yield Row(f"{path}.auc", at["auc"], at["auc_lower"], at["auc_upper"])


def _statement(value: Mapping[str, Any], name: str) -> Iterator[Row]:
    point = next((word for word in POINTS if word in value), None)
    if "lower" in value and "upper" in value:
        estimate = None if point is None else value[point]
        yield Row(name, estimate, value["lower"], value["upper"], value.get("confidence"))
    elif "lower_bound" in value:
        yield Row(name, None, value["lower_bound"], None, value.get("confidence"))
    elif "tightest" in value:
        yield Row(name, None, None, value["value"])
    yield from _walk(value, name)


def _alone(name: str, value: object) -> Iterator[Row]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield Row(name, value)


def _called(path: str, value: Mapping[str, Any], above: str | None = None) -> str:
    """A place by the name of what stands there, if it has one: ``groups.young`` and not ``groups.0``."""
    if "first" in value and "second" in value:
        return f"{above or path}.{value['first']} - {value['second']}"
    if "fpr" in value and isinstance(value["fpr"], float):
        return f"{above or path}.fpr {value['fpr']:g}"
    if "quantity" in value:  # of several bounds of one, each has a name of its own, too
        return ".".join([above or path, value["quantity"], *([value["name"]] if "name" in value else [])])
    own = value.get("name", value.get("label"))
    return path if own is None else f"{above or path}.{own}"


# --- chart --------------------------------------------------------------------------------------------------
# One picture of an answer: a Vega-Lite specification, and what is drawn from it without a browser.


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
        found: dict[str, Any] = json.loads(json.dumps({"$schema": schema, **self.figure.spec}))
        return found

    def to_svg(self) -> str:
        """The chart as SVG."""
        from macekit.reports.drawing import svg

        return svg((self.figure,)).decode()

    def to_png(self) -> bytes:
        """The chart as PNG."""
        from macekit.reports.drawing import png

        return png((self.figure,))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as SVG or PNG by its suffix.

        Args:
            path: The file, whose name ends in ``.svg`` or ``.png``.

        Returns:
            the path.

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


# --- showing ------------------------------------------------------------------------------------------------
# An answer in an interactive session: as text, as Markdown, and as a notebook shows it.

MOST_ROWS = 20
HEAD = ("", "estimate", "lower", "upper")


def text(sentence: str, decision: str | None, answer: Mapping[str, Any]) -> str:
    """The sentence, then the numbers."""
    from macekit.text import plain

    table, left = _table(answer)
    width = max(len(row[0]) for row in table)
    lines = [f"{row[0]:<{width}}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in table]
    said = ([_mark(decision)] if decision else []) + [plain(sentence)]
    return "\n".join([*said, *(["", *(line.rstrip() for line in lines)] if len(table) > 1 else []), *left])


def html(sentence: str, decision: str | None, answer: Mapping[str, Any], chart: Chart | None) -> str:
    """The decision, the sentence, the first chart, and the numbers."""
    table, left = _table(answer)
    head, *body = (
        [_element("th" if at == 0 or row is table[0] else "td", cell) for at, cell in enumerate(row)]
        for row in table
    )
    parts = [f"<p><strong>{escape(_mark(decision))}</strong></p>"] if decision else []
    parts.append(_element("p", sentence))
    if chart is not None:
        parts.append(_picture(chart))
    if body:
        listed = "".join(f"<tr>{''.join(row)}</tr>" for row in body)
        parts.append(f"<table><thead><tr>{''.join(head)}</tr></thead><tbody>{listed}</tbody></table>")
    parts += [_element("p", line) for line in left]
    return f"<div>{''.join(parts)}</div>"


def _mark(decision: str) -> str:
    """The word of a report, and its sign; what becomes of a claim has none."""
    from macekit.reports.palette import WORDS
    from macekit.text import plain

    return f"{WORDS[decision].sign} {WORDS[decision].word}" if decision in WORDS else plain(decision)


def _picture(chart: Chart) -> str:
    """An image keeps its styles to itself, and runs nothing."""
    data = b64encode(chart.to_svg().encode()).decode()
    return (
        f'<img alt="{escape(f"{chart.title}. {chart.description}")}" src="data:image/svg+xml;base64,{data}">'
    )


def _table(answer: Mapping[str, Any]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Head and rows as text, and what to say of the rows that are left out."""
    parts = rows(answer), _records(answer)
    left = sum(max(0, len(part) - MOST_ROWS) for part in parts)
    told = ["", f"and {left} more: to_frame() has all"] if left > 0 else []
    return [HEAD, *(_cells(row) for part in parts for row in part[:MOST_ROWS])], told


def _records(answer: Mapping[str, Any]) -> list[Row]:
    """The riskiest records, where so many were asked for with ``top``."""
    listed = answer.get("records")
    if not isinstance(listed, Mapping) or answer["provenance"]["options"].get("top") is None:
        return []
    columns = (listed[name] for name in ("index", "risk", "lower", "upper"))
    return [Row(f"record {index}", *numbers) for index, *numbers in zip(*columns, strict=True)]


def _cells(row: Row) -> tuple[str, ...]:
    """The ends of an interval are rounded outward, so that what is shown holds."""
    from estimators.statement import at_least, at_most
    from macekit.text import shown

    return (
        shown(row.name),
        _number(row.estimate, "{:z.3f}".format),
        _number(row.lower, at_least),
        _number(row.upper, at_most),
    )


def _number(value: float | None, rounded: Callable[[float], str]) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else rounded(value)


def _element(name: str, words: str) -> str:
    return f"<{name}>{escape(words)}</{name}>"


def first(charts: Sequence[Chart]) -> Chart | None:
    """The chart that is shown without being asked for."""
    return charts[0] if charts else None
