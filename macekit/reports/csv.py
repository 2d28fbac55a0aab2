"""A report as CSV: a row for each number with its place in the answer, then a row for each sentence.

A spreadsheet takes a text that begins with one of a few letters for a formula. Such a text is written with an
apostrophe before it, which makes it text again; and so is what follows a letter that some spreadsheets part cells at.
"""

import csv as rows
import io
import re
from collections.abc import Iterable, Iterator

from macekit.reports import model
from macekit.reports.formatting import words

HEAD = ("section", "name", "column", "path", "value", "text")

BEFORE, SIGNS = "[\\s\\ufeff\"'`]*", "=+\\-@＝＋－＠﹢﹣﹦﹫−|%"
FORMULA = re.compile(f"^(?={BEFORE}[{SIGNS}\\t\\r\\n])|[;|\\t\\r\\n](?={BEFORE}[{SIGNS}])")
"""Where a spreadsheet might run what follows: a sign that begins a formula, wide or narrow, after blanks and quotes,
too; at the start, or after what parts cells or rows where a comma is a decimal point."""

CONTINUED = re.compile(r"\s*\\\n\s*")
"""A command that goes on in the next line, which would begin like a formula."""


def csv(report: model.Report) -> str:
    """Every number and every sentence of the report, once for each place it stands at."""
    sink = io.StringIO()
    table = rows.writer(sink, quoting=rows.QUOTE_ALL, lineterminator="\r\n")
    table.writerow(HEAD)
    headline = report.headline
    if headline.decision is not None:
        table.writerow((report.title, "decision", "", "", "", headline.decision))
    if headline.signature:
        table.writerow((report.title, "signature", "", "", "", headline.signature))
    warning = () if headline.warning is None else (headline.warning,)
    for sentence in (headline.sentence, *headline.covers, *warning):
        table.writerows(_words(report.title, "", "", (sentence,)))
    for section, block in report.blocks():
        for row in _block(section, block):
            table.writerow(row)
    return sink.getvalue()


def disarm_formula(text: str) -> str:
    """A text that no spreadsheet runs."""
    return FORMULA.sub(r"\g<0>'", text)


Row = tuple[str, str, str, str, str, str]


def _block(section: str, block: model.Block) -> Iterator[Row]:
    match block:
        case model.Paragraph(cells):
            yield from _words(section, "", "", cells)
        case model.Bullets(items):
            for item in items:
                yield from _words(section, "", "", item)
        case model.Listing(caption, text):
            yield _row(section, caption, text=CONTINUED.sub(" ", text))
        case model.Facts(items):
            for fact in items:
                yield from _words(section, fact.label, "", (fact.value,))
        case model.Table():
            yield from _table(section, block)
        case model.Figure():
            yield from _table(section, block.table)


def _table(section: str, table: model.Table) -> Iterator[Row]:
    for first, *rest in table.rows:
        name = words(first) or table.caption
        if isinstance(first, model.Number):
            yield from _words(section, name, table.head[0], (first,))
        for head, cell in zip(table.head[1:], rest, strict=True):
            if cell != "":
                yield from _words(section, name, head, (cell,))


def _words(section: str, name: str, column: str, cells: Iterable[model.Cell]) -> Iterator[Row]:
    """The numbers in a text, each by itself; and the text, if it says more than one number."""
    parts = tuple(cells)
    for number in model.numbers(parts):
        value = "" if number.value is None else repr(number.value)
        yield _row(section, name, column, number.path, value)
    if not (len(parts) == 1 and isinstance(parts[0], model.Number)):
        path = parts[0].path if len(parts) == 1 and isinstance(parts[0], model.Quote | model.Untrusted) else ""
        yield _row(section, name, column, path, text=words(model.Phrase(parts)))


def _row(section: str, name: str, column: str = "", path: str = "", value: str = "", text: str = "") -> Row:
    return (disarm_formula(section), disarm_formula(name), disarm_formula(column), path, value, disarm_formula(text))
