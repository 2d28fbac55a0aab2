"""An answer where somebody works: as text, as Markdown, and as a notebook shows it.

The notebook gets plain elements and a picture as data: no style of ours that could leak, no script, nothing fetched.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from macekit.numbers import Row, rows

if TYPE_CHECKING:
    from macekit.chart import Chart

MOST_ROWS = 20
HEAD = ("", "estimate", "lower", "upper")


def text(sentence: str, decision: str | None, answer: Mapping[str, Any]) -> str:
    """The sentence, then the numbers."""
    from app.words import plain

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
    from app.report.verdicts import WORDS
    from app.words import plain

    return f"{WORDS[decision].sign} {WORDS[decision].word}" if decision in WORDS else plain(decision)


def _picture(chart: Chart) -> str:
    """An image keeps its styles to itself, and runs nothing."""
    data = b64encode(chart.to_svg().encode()).decode()
    return (
        f'<img alt="{escape(f"{chart.title}. {chart.description}")}" src="data:image/svg+xml;base64,{data}">'
    )


def _table(answer: Mapping[str, Any]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Head and rows as text, and what to say of the rows that are left out."""
    found = rows(answer)
    left = len(found) - MOST_ROWS
    told = ["", f"and {left} more: to_frame() has all"] if left > 0 else []
    return [HEAD, *(_cells(row) for row in found[:MOST_ROWS])], told


def _cells(row: Row) -> tuple[str, ...]:
    """The ends of an interval are rounded outward, so that what is shown holds."""
    from app.words import shown
    from estimators.statement import at_least, at_most

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
