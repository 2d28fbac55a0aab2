"""``text/csv``: a header, and a row for each record; separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from macekit.call import Body, Call
from macekit.decoding.body import are_names
from macekit.decoding.columns import Labels, guarded, refusals
from macekit.decoding.compression import expanded, first_bytes, unpacked
from macekit.decoding.csv_quotes import QuotedSource, Quotes
from macekit.decoding.csv_values import NUMBER, Spelling, is_value, typed_texts
from macekit.decoding.format import ROWS, ChooseUnnamed, Column, Format, LabelColumns, Readable, Side, Tables
from macekit.decoding.roles import C, Choose, Fields, Layout, Roles, Wide, one_side, roles, with_constants
from macekit.decoding.table import Table, Values
from macekit.decoding.typed import labels, padding_note, without_padding
from macekit.decoding.unnamed_columns import first_labels, first_lines, first_text, labels_of, with_labels
from macekit.decoding.whole_tables import Columns, all_columns, of_texts
from macekit.formats import ZIP
from macekit.problems import Problem
from macekit.schemas.query_string import kinds

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "CSV"
BOM = b"\xef\xbb\xbf"
SEPARATORS = (",", ";", "\t")
WIDTHS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
"""What Arrow says of a row of another width, before it quotes the row."""

QUOTATION = re.compile(r'"[^"]*"')
BLOCK = 2**18  # bytes read at a time, and the longest a row may be
PIECE = 2**20  # bytes of a whole body whose quotes are looked at together


class Csv(Format):
    """Text, typed by what its columns spell."""

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The columns in use, and what they are."""
        texts, layout, names = _texts(body, choose)
        reading = _Reading(names, layout, _names(layout, call))
        if not len(texts):
            kinds_of = {at: np.bool_ if role == "member" else np.float64 for at, role in layout.what.items()}
            return Table({at: np.empty(0, kind) for at, kind in kinds_of.items()}, names=names), layout
        table = reading.table(texts, 0)
        reading.end()
        return table, layout

    def side(self, call: Call, body: Body) -> Side:
        """The scores of one side, still text; without a header they have empty names."""
        data = expanded(call, body)
        texts, layout, names = _texts(data, lambda names: one_side(names, call), header_needed=False)
        columns = [texts.column(layout.positions.index(at)) for at in layout.scores]
        limit = self.limit(call, data)
        labels = self.labels_of_side(call, data, len(texts))
        return Side([names[at] for at in layout.scores], columns, (), limit, names=are_names(call), labels=labels)

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """The rows in blocks of a megabyte of text."""
        import pyarrow as pa

        source = unpacked(call, body)
        head = source.read(BLOCK)
        own, separator, size = header(head)
        names = with_constants(own, constants)
        layout = roles(names, call)
        labels = None
        if call.looks:
            labels = first_labels(self.first_labels, call, first_text(source, call, head), constants=constants)
        if call.looks:
            source.read(size)
        else:
            source.back(head[size:])
        file = pa.PythonFile(QuotedSource(source, Quotes(separator)), mode="r")
        batches = _batches(file, len(own), separator, layout, [*constants.values()])
        yield from with_labels(_tables(batches, names, layout), labels, call, constants)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the first rows."""
        start = first_bytes(call, body, BLOCK)
        names, separator, size = header(start)
        text = start[size:].decode(errors="replace")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        sample = [row for row in _readable(islice(rows, ROWS)) if row]
        if len(sample) > 1 and len(sample) < ROWS and not text.endswith(("\n", "\r")):
            sample.pop()  # the last row may be cut off
        values = [[row[at] for row in sample if at < len(row)] for at in range(len(names))]
        return list(map(Column.of_text, names, values))

    def whole_columns(self, call: Call, body: memoryview) -> Columns:
        """Every column as what it spells."""
        texts, layout, _ = _texts(body, all_columns)
        return {name: of_texts(column) for name, column in zip(layout.names, texts.columns, strict=True)}

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """Those of the first lines."""
        texts, layout, _ = _texts(first_lines(body, call), choose)
        return labels_of(texts, layout.names)


FORMAT = Csv()


def _tables(batches: Iterator[pa.RecordBatch], names: list[str], layout: Roles) -> Tables:
    reading, start = _Reading(names, layout), 0
    for batch in batches:
        yield reading.table(batch, start), layout
        start += len(batch)
    reading.end()


def _texts(body: memoryview, choose: Choose[C], header_needed: bool = True) -> tuple[pa.Table, C, list[str]]:
    """The columns in use as they are written, what they are, and the names of all: empty ones without a header."""
    import pyarrow as pa

    names, separator, size = header(bytes(body[:BLOCK]), header_needed)
    layout = choose(names)
    quotes = Quotes(separator)
    for at in range(size, len(body), PIECE):
        quotes.feed(bytes(body[at : at + PIECE]))
    quotes.end()
    batches = list(_batches(pa.BufferReader(pa.py_buffer(body[size:])), len(names), separator, layout))
    schema = pa.schema([(str(at), pa.string()) for at in layout.positions])
    return pa.Table.from_batches(batches, schema), layout, names


def _readable(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Rows up to the first that is none: whoever reads all of them will say what is wrong."""
    try:
        yield from rows
    except csv.Error:
        return


UNOPENED = {b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"7z\xbc\xaf": "7z"}
IS_TEXT = "is it text? If so, save it as UTF-8"


def header(head: bytes, required: bool = True) -> tuple[list[str], str, int]:
    """Column names, what separates them, and how many bytes they take; a first line of values may stand for none."""
    rest = head.removeprefix(BOM).lstrip(b"\r\n")
    line = re.match(rb"[^\r\n]*", rest)
    assert line is not None  # it matches nothing, too
    if not line[0].strip():
        raise Problem("incomplete-body", "the body is empty; need a header, and a row for each record")
    if len(line[0]) == len(rest) and len(head) == BLOCK:
        raise Problem("malformed-body", f"the first line of the CSV is longer than {BLOCK} bytes")
    if head.startswith(ZIP):
        detail = "the CSV begins as a ZIP archive does; of a spreadsheet, export the table as CSV"
        raise Problem("malformed-body", detail)
    try:
        text = line[0].decode()
    except UnicodeDecodeError:
        packed = next((name for magic, name in UNOPENED.items() if head.startswith(magic)), None)
        hint = f"{packed} is not opened: unpack it, or pack it as .gz or .zst" if packed else IS_TEXT
        raise Problem("malformed-body", f"the header of the CSV is not UTF-8: {hint}") from None
    if text.startswith('{"'):
        words = "the CSV begins as JSON does; send JSON as application/json, or as .json"
        raise Problem("malformed-body", words)
    if re.fullmatch('"?sep=.?"?', text, re.IGNORECASE):
        raise Problem("malformed-body", "the first line of the CSV says sep=, as for Excel; remove it")
    bare = QUOTATION.sub("", text)
    separator = max(SEPARATORS, key=bare.count)
    try:
        names = [name.strip() for name in next(csv.reader([text], delimiter=separator, strict=True))]
    except csv.Error:
        raise Problem("malformed-body", "the header of the CSV cannot be read: check its quotes") from None
    if not required and all(is_value(name) for name in names):
        return [""] * len(names), separator, len(head) - len(rest)
    if all(NUMBER.fullmatch(name) for name in names):
        words = "the first line of the CSV holds numbers; need a header with column names"
        raise Problem("missing-field", words)
    return names, separator, len(head) - len(rest) + len(line[0])


def _batches(
    file: Any, wide: int, separator: str, layout: Layout, constants: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Batches of the columns in use, all as text: Arrow would guess their types from the first block.

    ``constants`` are the values of further columns, which the file does not hold.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(at) for at in range(wide)]
    columns = [names[at] for at in layout.positions if at < wide]
    further = {str(at): constants[at - wide] for at in layout.positions if at >= wide}
    reading = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names)
    parsing = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    converting = arrow_csv.ConvertOptions(
        include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )
    try:
        with refusals(NAME):
            reader = arrow_csv.open_csv(file, reading, parsing, converting)
        for batch in guarded(iter(reader), NAME):
            arrays = [*batch.columns, *(pa.repeat(value, len(batch)) for value in further.values())]
            yield pa.RecordBatch.from_arrays(arrays, [*columns, *further]) if further else batch
    except Problem as problem:
        message = str(problem.__context__)
        if "Empty CSV" in message:
            return
        if "invalid UTF8" in message:
            detail = "CSV: the body holds a text that is not UTF-8: save it as UTF-8"
            raise Problem("malformed-body", detail) from None
        if (widths := WIDTHS.search(message)) is None:
            raise
        row = int(widths[1]) - 1
        detail = f"CSV: row {row} has {widths[3]} values, the header {widths[2]}"
        raise Problem("malformed-body", detail, index=row) from None


def _names(layout: Layout, call: Call) -> Collection[int]:
    """The columns whose numbers may be names: all if so asked; of arrays those that take text."""
    if isinstance(layout, Fields):
        return [at for at, name in layout.what.items() if "text" in kinds(call.operation, name)]
    return layout.positions if are_names(call) else ()


class _Reading:
    """Columns of text as tables: scores and arrays as what they spell, membership, groups and units as text."""

    def __init__(self, names: list[str], layout: Layout, of_names: Collection[int] = ()) -> None:
        self._names = names
        self._layout = layout
        self._spellings = {place: Spelling(place in of_names) for place in layout.positions}

    def table(self, data: pa.Table | pa.RecordBatch, start: int) -> Table:
        """The next rows."""
        with refusals(NAME):
            columns = self._columns(data, start)
        self._refuse_header(columns, start)
        notes = {place: sorted(spelling.notes) for place, spelling in self._spellings.items()}
        return Table(columns, start, self._names, notes)

    def end(self) -> None:
        """Nothing follows."""
        for spelling in self._spellings.values():
            spelling.end()

    def _columns(self, data: pa.Table | pa.RecordBatch, start: int) -> dict[int, Values]:
        import pyarrow.compute as pc

        layout, what = self._layout, self._layout.what
        if isinstance(layout, Wide):
            texts = without_padding(data.columns, lambda column: pc.not_equal(pc.utf8_trim_whitespace(column), ""))
            first = self._spellings[layout.positions[0]]
            sides = typed_texts(texts, [what[at] for at in layout.positions], first)
            for place, text in zip(layout.positions, texts, strict=True):
                self._spellings[place].notes |= first.notes
                self._spellings[place].notes.update(padding_note(len(data), len(text)))
            return dict(zip(layout.positions, sides, strict=True))
        columns: dict[int, Values] = {}
        for place, column in zip(layout.positions, data.columns, strict=True):
            spelling, find = self._spellings[place], self._finder(what[place], start)
            if place in layout.numeric:
                columns[place] = spelling.values(column, find)
                continue
            distinct = spelling.text(labels(column), find)
            if what[place] != "member":
                distinct = Labels(distinct.codes, [text or None for text in distinct.texts])
            columns[place] = distinct
        return columns

    def _finder(self, what: str, start: int) -> Callable[[int], tuple[str, int]]:
        return lambda at: (what, start + at)

    def _refuse_header(self, columns: Mapping[int, Values], start: int) -> None:
        """Refuse a row that says what the header says: files that were joined with both of their headers."""
        again = None
        for place, column in columns.items():
            if not isinstance(column, Labels) or self._names[place] not in column.texts:
                return
            if not isinstance(self._layout, Wide):
                same = np.array([text == self._names[place] for text in column.texts], dtype=np.bool_)
                again = same[column.codes] if again is None else again & same[column.codes]
        if again is not None and again.any():
            row = start + int(np.argmax(again))
            detail = f"CSV: row {row} is the header once more, as if two files were joined; remove it"
            raise Problem("malformed-body", detail, index=row)
