"""An answer for one screen: the decision, the key numbers, the sentence to decide on, then the cautions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from textwrap import wrap
from typing import Any

from estimators.python.dataclass import dataclass, replace
from macekit.call import HTML
from macekit.catalogue import BY_NAME
from macekit.reports import model
from macekit.reports.formatting import is_lower, is_upper, numeric, words
from macekit.reports.palette import WORDS
from macekit.text import escape_controls, printable

WIDTH = 100  # columns of a screen, unless another number is passed
MOST_ROWS = 12  # rows of a curve that are printed: its ends, and as many between them
NARROWEST = 14  # columns below which no text is wrapped

GAP = "  "


@dataclass(frozen=True, slots=True)
class Screen:
    """What fits on one screen: the decision with its sign, the numbers, the sentences, and the cautions."""

    decision: str
    tables: tuple[model.Table, ...]
    sentences: tuple[str, ...]
    cautions: tuple[str, ...]


def text(operation: str, answer: Mapping[str, Any], width: int = WIDTH, signature: str = "") -> str:
    """The answer of ``operation`` as plain text; only sentences, and tables of many numbers, may be wider.

    ``signature`` says whether that of a kept answer was checked.
    """
    first = screen(operation, answer)
    blocks = [[line for line in (first.decision, signature) if line]]
    for table in first.tables:
        caption = [escape_controls(table.caption)] if table.caption and len(first.tables) > 2 else []
        blocks.append([*caption, *_lines(table, width)])
    blocks.append(_closing(first.sentences, first.cautions))
    return "\n\n".join("\n".join(block) for block in blocks if any(block))


def screen(operation: str, answer: Mapping[str, Any]) -> Screen:
    """The parts of that; of an operation that has no report, the numbers by their names."""
    from macekit.reports.content import content
    from macekit.reports.content.provenance import notes

    sentences, cautions = _sentences(answer), _cautions(answer)
    if HTML not in BY_NAME[operation].forms:
        columns = notes(list(model.AnswerPath(answer.get("columns"))))
        return Screen("", _numbers(answer), (*sentences, *([_read(columns)] if columns else [])), cautions)
    report = content(operation, answer)
    verdict = WORDS.get(report.headline.decision or "")
    decision = f"{verdict.sign} {verdict.word}" if verdict else ""
    columns, facts = _columns_read(report)
    tables = _tables(replace(report, facts=model.Facts(facts)))
    covers = [f"- {words(each)}" for each in report.headline.covers]
    lines = (*sentences, *([f"{model.COVERAGE}:"] if covers else []), *covers, *_bullets(report), *columns)
    return Screen(decision, tables, tuple(dict.fromkeys(lines)), cautions)


def _columns_read(report: model.Report) -> tuple[tuple[str, ...], tuple[model.Fact, ...]]:
    """What the report says of the columns that were read, as a line of its own; and its other facts."""
    lines = tuple(_read(fact.note) for fact in report.facts.items if fact.label == model.READ)
    return lines, tuple(fact for fact in report.facts.items if fact.label != model.READ)


def closing(answer: Mapping[str, Any]) -> str:
    """The sentence and the cautions alone, where the numbers go elsewhere."""
    return "\n".join(_closing(_sentences(answer), _cautions(answer)))


def _closing(sentences: Iterable[str], cautions: Iterable[str]) -> list[str]:
    return [*sentences, *(f"note: {caution}" for caution in cautions)]


def _sentences(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentence to decide on; of several metrics, that of the first."""
    return tuple(escape_controls(part["sentence"]) for part in _parts(answer) if "sentence" in part)[:1]


def _cautions(answer: Mapping[str, Any]) -> tuple[str, ...]:
    messages = (escape_controls(each["message"]) for part in _parts(answer) for each in part.get("warnings", ()))
    return tuple(dict.fromkeys(messages))


def _parts(answer: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return answer, *answer.get("metrics", ())


def _tables(report: model.Report) -> tuple[model.Table, ...]:
    """The facts and the tables of a report that fit on one screen; no number is stated twice."""
    blocks = [block for section in report.sections for block in section.brief]
    tables = [block for block in blocks if isinstance(block, model.Table)]
    of_tables = {path for table in tables for path in model.paths(table)}
    of_figures = (block.table for block in blocks if isinstance(block, model.Figure))
    tables += [_thinned(table) for table in of_figures if not model.paths(table) <= of_tables]
    facts = tuple(
        (fact.label, fact.value, "".join(map(words, fact.note)))
        for fact in report.facts.items
        if getattr(fact.value, "path", "") not in of_tables
    )
    return (*([model.Table("", ("", "", ""), facts)] if facts else []), *tables)


def _numbers(answer: Mapping[str, Any]) -> tuple[model.Table, ...]:
    """The numbers of an answer that has no report: those without an interval, then those with one."""
    alone: list[tuple[model.Cell, ...]] = []
    intervals: list[tuple[model.Cell, ...]] = []
    for name, value in answer.items():
        if isinstance(value, Mapping) and {"lower", "upper"} & value.keys():
            ends = (_number(f"{name}.{end}", value.get(end)) for end in ("estimate", "lower", "upper"))
            intervals.append((_label(name), *ends))
        elif isinstance(value, int | float):
            alone.append((_label(name), _number(name, value)))
    head = ("", "Estimate", "Lower end", "Upper end")
    tables = (model.Table("", ("", ""), tuple(alone)), model.Table("", head, tuple(intervals)))
    return tuple(table for table in tables if table.rows)


def _number(path: str, value: Any) -> model.Cell:
    """A number by what its place is called: ends of intervals are rounded outward."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return model.Number(value, path, "count")
    return model.Number(value, path, "floor" if is_lower(path) else "ceiling" if is_upper(path) else "plain")


def _label(name: str) -> str:
    return printable(name.replace("_", " ")).capitalize()


def _read(columns: model.Inline) -> str:
    return f"read: {''.join(map(words, columns))}"


def _bullets(report: model.Report) -> Iterator[str]:
    for section in report.sections:
        for block in section.brief:
            if isinstance(block, model.Bullets):
                yield from ("".join(map(words, item)) for item in block.items)


def _thinned(table: model.Table) -> model.Table:
    """A curve with fewer rows, both ends among them."""
    rows = len(table.rows)
    if rows <= MOST_ROWS:
        return table
    step = (rows - 1) / (MOST_ROWS - 1)
    few = tuple(table.rows[round(step * place)] for place in range(MOST_ROWS))
    return model.Table(table.caption, table.head, few, table.note, table.more + rows - MOST_ROWS, table.where)


def _lines(table: model.Table, width: int) -> list[str]:
    """The lines; where rows that follow each other have one name, it stands above them."""
    right = numeric(table)
    rows = [[words(cell) for cell in row] for row in table.rows]
    columns = list(zip(table.head, *rows, strict=True))
    names = [row[0] for row in rows]
    grouped = not right[0] and any(name == after for name, after in pairwise(names))
    places = [place for place, column in enumerate(columns) if any(column[1:]) and not (grouped and place == 0)]
    indent = GAP if grouped else ""
    widths = _widths([columns[place] for place in places], [right[place] for place in places], width - len(indent))

    def line_of(row: Sequence[str]) -> Iterator[str]:
        cells = [
            wrap(row[place], wide, break_on_hyphens=False) or [""] for place, wide in zip(places, widths, strict=True)
        ]
        for line in range(max(map(len, cells))):
            parts = (cell[line] if line < len(cell) else "" for cell in cells)
            aligned = (
                f"{part:>{wide}}" if right[place] else f"{part:<{wide}}"
                for part, place, wide in zip(parts, places, widths, strict=True)
            )
            yield indent + GAP.join(aligned).rstrip()

    lines = list(line_of(table.head)) if any(table.head) else []
    for name, group in groupby(rows, lambda row: row[0]):
        lines += [name] if grouped else []
        lines += [line for row in group for line in line_of(row)]
    more = [f"{table.more:,} more rows are in the JSON."] if table.more else []
    return [*map(_inert, lines), *more, *wrap(table.note, width)]


def _inert(line: str) -> str:
    """A line that no pipeline takes for a command: GitHub's runner obeys those that begin with two colons."""
    return line.replace(":", "\\x3a", 1) if line.lstrip().startswith("::") else line


def _widths(columns: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> list[int]:
    """As wide as the cells are, heads in several lines; the widest column gives way until the line fits."""
    least = [
        max(*map(len, head.split()), *map(len, cells), 1) if number else NARROWEST
        for (head, *cells), number in zip(columns, right, strict=True)
    ]
    widths = [max(min(len(head), NARROWEST), *map(len, head.split()), *map(len, cells)) for head, *cells in columns]
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room:
        wide = [place for place, most in enumerate(widths) if most > least[place]]
        if not wide:
            break
        widths[max(wide, key=lambda place: (not right[place], widths[place]))] -= 1
    return widths
