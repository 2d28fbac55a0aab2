"""Answers of theory as they are read: numbers, bounds with the tightest marked, curves as short tables, the sentence.

Every answer is shown by the same rules, from its own names. In tables numbers are rounded so that what is said holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from estimators.statement import figures_down, figures_up
from macekit.schemas.statements import BoundAnswer
from macekit.text import plain, shown

Text = list[str]
Row = Sequence[str]

MOST_ROWS = 12
"""Rows of a curve that are printed."""

LONGEST = 24
"""Letters of a text that goes into a table."""

PASSED_OVER = frozenset({"sentence", "warnings", "guarantee", "provenance", "says", "source", "assumes"})
DOWN = ("lower", "at_least", "security")
"""Words in the names of lower ends; everything else that theory promises is at most so much."""

UP = ("upper", "at_most")

TIGHTEST = "*"


def text(answer: Mapping[str, Any]) -> Text:
    """The whole answer."""
    alone = dict(_alone(answer, ""))
    width = max(map(len, alone), default=0) + 2
    blocks = [[f"{name:<{width}}{value}" for name, value in alone.items()], *_blocks(answer, "")]
    told = [plain(answer["sentence"]), *(f"note: {plain(note['message'])}" for note in answer["warnings"])]
    return [line for block in blocks if block for line in (*block, "")] + told


def _alone(part: Mapping[str, Any], above: str) -> Iterator[tuple[str, str]]:
    """Numbers and words that stand by themselves, under the names of what they stand in."""
    for name, value in part.items():
        here = f"{above} {_words(name)}".strip()
        if name in PASSED_OVER or value is None:
            continue
        if isinstance(value, Mapping) and not _is_columns(value):
            yield from _alone(value, here)
        elif not isinstance(value, Mapping | list):
            yield here, f"{value:.12g}" if isinstance(value, float) else _cell(name, value)


def _blocks(part: Mapping[str, Any], above: str) -> Iterator[Text]:
    """Tables, in the order of the answer."""
    for name, value in part.items():
        here = f"{above} {_words(name)}".strip()
        if name in PASSED_OVER or not value:
            continue
        if name == "bounds":
            yield _bounds(value)
        elif isinstance(value, Mapping) and _is_columns(value):
            yield _columns(here, value)
        elif isinstance(value, Mapping):
            yield from _blocks(value, here)
        elif isinstance(value, list) and isinstance(value[0], Mapping):
            yield _listed(value)


def _bounds(bounds: Sequence[BoundAnswer]) -> Text:
    """Every bound, one a line, those of one quantity together."""
    marked = any(bound["tightest"] for bound in bounds)
    rows: list[Row] = [(f"{TIGHTEST} is the tightest that is proven" if marked else "", "at most", "source")]
    for quantity in dict.fromkeys(bound["quantity"] for bound in bounds):
        rows.append((_words(quantity), "", ""))
        rows += [_bound(bound) for bound in bounds if bound["quantity"] == quantity]
    return _table(rows, last_is_text=True)


def _bound(bound: BoundAnswer) -> Row:
    mark = TIGHTEST if bound["tightest"] else " "
    refuted = "" if bound["proven"] else "; printed, and refuted"
    return (
        f"{mark} {plain(bound['says'])}",
        _cell("upper", bound["value"]),
        f"{plain(bound['source'])}{refuted}",
    )


def _listed(parts: Sequence[Mapping[str, Any]]) -> Text:
    """Several things of one kind, one a line; long texts are left to JSON."""
    first = parts[0]
    titled = "says" if "says" in first else next(iter(first))
    names = [
        name
        for name, value in first.items()
        if name not in PASSED_OVER | {titled, "quantity"}
        and not isinstance(value, Mapping | list)
        and all(len(str(part[name])) <= LONGEST for part in parts)
    ]
    rows = [[plain(str(part[titled])), *(_cell(name, part[name]) for name in names)] for part in parts]
    return _table([["", *map(_words, names)], *rows])


def _is_columns(part: Mapping[str, Any]) -> bool:
    """Whether a part holds nothing but columns of one length."""
    columns = _flat(part)
    return (
        bool(columns)
        and all(isinstance(each, list) for each in columns.values())
        and len({len(each) for each in columns.values()}) == 1
    )


def _flat(part: Mapping[str, Any]) -> dict[str, Any]:
    """Columns by name; those one level deeper go by their own names."""
    found: dict[str, Any] = {}
    for name, value in part.items():
        found |= value if isinstance(value, Mapping) else {name: value}
    return {name: value for name, value in found.items() if value is not None}


def _columns(title: str, part: Mapping[str, Any]) -> Text:
    """A curve, thinned out; of records, those with the most to lose."""
    columns = _flat(part)
    first, second, *_ = [*columns.values(), *columns.values()]
    places = list(range(len(first)))
    if "record" in columns:
        places = sorted(places, key=lambda place: -second[place])[:MOST_ROWS]
    elif len(places) > MOST_ROWS:
        step = (len(places) - 1) / (MOST_ROWS - 1)
        places = [round(step * each) for each in range(MOST_ROWS)]
    (_, along), *others = columns.items()
    rows = [
        [_position(along[place]), *(_cell(name, column[place]) for name, column in others)]
        for place in places
    ]
    left = [f"{len(places)} of {len(first)} rows; --json has all"] if len(places) < len(first) else []
    return [title, *_table([list(map(_words, columns)), *rows]), *left]


def _table(rows: Sequence[Row], last_is_text: bool = False) -> Text:
    """Cells below each other: the first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]

    def line(row: Row) -> str:
        first, *others = row
        cells = [
            f"{first:<{widths[0]}}",
            *(f"{cell:>{wide}}" for cell, wide in zip(others, widths[1:], strict=True)),
        ]
        if last_is_text:
            cells[-1] = row[-1]
        return "   ".join(cells).rstrip()

    return [line(row) for row in rows]


def _cell(name: str, value: object) -> str:
    """A value as it is printed; a number is rounded up unless its name says that it is a lower end."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return figures_down(value) if _is_lower(name) else figures_up(value)
        case _:
            return shown(str(value))


def _position(value: object) -> str:
    """Where along a curve: no bound, so it is rounded to the nearest."""
    return f"{value:.6g}" if isinstance(value, float) else _cell("", value)


def _is_lower(name: str) -> bool:
    return any(word in name for word in DOWN) and not any(word in name for word in UP)


def _words(name: str) -> str:
    return plain(name.replace("_", " "))
