"""``application/x-ndjson``: an object a line for each record; a value is of the type that JSON says it is.

The keys of the first line are the columns. A line may lack one that is not read; one that is read and missing, or null,
is refused with its row. A further key is no column, unless it leaves open which columns are meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators import MaceError
from estimators.errors import MixedTypes, RaggedRows
from macekit.call import Body, Call
from macekit.decoding.columns import KINDS, Labels, absent, floats_of, integers, one_column
from macekit.decoding.compression import first_bytes, unpacked
from macekit.decoding.format import ROWS, ChooseUnnamed, Column, Format, LabelColumns, Readable, Tables
from macekit.decoding.json_values import parse, parse_object
from macekit.decoding.roles import NOTHING, C, Choose, Fields, Roles, Wide, roles, with_constants
from macekit.decoding.table import Table, Values, filled_sizes
from macekit.decoding.texts import Entry
from macekit.decoding.typed import padding_note
from macekit.decoding.unnamed_columns import first_labels, first_lines, first_text, labels_of_list, with_labels
from macekit.decoding.whole_tables import Columns, all_columns, columns_of_json
from macekit.problems import Problem, fault

BLOCK = 2**18  # bytes of lines that are read together

PREVIEW = 2**18
LONGEST_LINE = 2**24
MOST_KEYS = 2048  # different keys of all lines
HALF = re.compile("[\ud800-\udfff]")  # half of a surrogate pair

BLANK = b" \t\r"
BOM = b"\xef\xbb\xbf"
READER = msgspec.json.Decoder()

Read = Callable[[int], bytes]  # takes the next bytes, at most so many; none at the end


class JsonLines(Format):
    """Records with the types of JSON."""

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The columns in use, and what they are."""
        reading = Reading(choose)
        columns: dict[int, ValuesRead] = {}
        for start, block in reading.blocks(reader_of(body)):
            columns = columns or {at: ValuesRead(what) for at, what in reading.layout.what.items()}
            for at, values in block.items():
                columns[at].add(values, start, isinstance(reading.layout, Wide))
        notes: dict[int, list[str]] = {}
        if isinstance(reading.layout, Wide):
            sizes = filled_sizes([np.concatenate(columns[at].filled) for at in reading.layout.positions])
            for at, size in zip(reading.layout.positions, sizes, strict=True):
                notes[at] = padding_note(columns[at].rows, size)
                columns[at].end(size)
        rows = isinstance(reading.layout, Fields)
        values_of = {at: column.values(rows) for at, column in columns.items()}
        return Table(values_of, 0, reading.names, notes), reading.layout

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """The records in blocks of a quarter of a megabyte of text."""
        source = unpacked(call, body)
        labels = None
        if call.looks:
            labels = first_labels(self.first_labels, call, first_text(source, call), constants=constants)
        reading = Reading(lambda names: roles(names, call), constants)
        yield from with_labels(_tables(reading, source.read), labels, call, constants)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the first lines."""
        start = first_bytes(call, body, PREVIEW).removeprefix(BOM)
        lines = [(number, line) for number, line in enumerate(start.split(b"\n"), 1) if line.strip(BLANK)]
        if len(lines) > 1 and lines[-1][0] > start.count(b"\n"):
            lines.pop()  # the last line may be cut off
        if not lines:
            raise _empty()
        records = [record_of(line, number, row) for row, (number, line) in enumerate(lines[:ROWS])]
        names = dict.fromkeys(name for record in records for name in record)
        return [Column.of_values(name, [record.get(name) for record in records]) for name in names]

    def texts(self, call: Call, body: Body) -> Iterator[Entry]:
        """A value a line, read as it comes."""
        row = 0
        for first, lines in lines_of(unpacked(call, body).read):
            for number, line in enumerate(lines, first):
                if not line.strip(BLANK):
                    continue
                is_list = line.lstrip(BLANK).startswith(b"[")
                yield Entry((list_of if is_list else record_of)(line, number, row), f"line {number}", row)
                row += 1
        if not row:
            raise _empty()

    def whole_columns(self, call: Call, body: memoryview) -> Columns:
        """Every column, a value or None in each row."""
        return columns_of_json("the table", _lists(body, all_columns))

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """Those of the first lines, of one type in each column."""
        lists = _lists(first_lines(body, call), choose)
        labels = {name: labels_of_list(each) for name, each in lists.items()}
        return {name: each for name, each in labels.items() if each is not None}


FORMAT = JsonLines()


def _tables(reading: Reading[Roles], take: Read) -> Tables:
    columns: dict[int, ValuesRead] = {}
    for start, block in reading.blocks(take):
        columns = columns or {at: ValuesRead(what) for at, what in reading.layout.what.items()}
        for at, values in block.items():
            columns[at].add(values, start)
        table = Table({at: each.values_since() for at, each in columns.items()}, start, reading.names)
        yield table, reading.layout


def _lists(body: memoryview, choose: Choose[C]) -> dict[str, list[object]]:
    reading = Reading(choose)
    lists: dict[int, list[object]] = {}
    for _, block in reading.blocks(reader_of(body)):
        for at, values in block.items():
            lists.setdefault(at, []).extend(values)
    return {reading.names[at]: values for at, values in lists.items()}


def reader_of(body: memoryview) -> Read:
    """A body in memory as something to take from."""
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return bytes(body[at - size : at])

    return take


class Reading(Generic[C]):
    """The columns that the keys of the lines so far are."""

    def __init__(self, choose: Choose[C], constants: Mapping[str, str] = NOTHING) -> None:
        self._choose = choose
        self._constants = constants
        self._keys: set[str] = set()
        self._layout: C | None = None
        self.names: list[str] = []

    @property
    def layout(self) -> C:
        """What the columns are; known from the first line on."""
        return cast("C", self._layout)

    def blocks(self, take: Read) -> Iterator[tuple[int, dict[int, list[object]]]]:
        """The values of each column in use, block by block, and the row of the first; None where one is missing."""
        row = 0
        for first, lines in lines_of(take):
            records: list[dict[str, object]] = []
            for number, line in enumerate(lines, first):
                if line.strip(BLANK):
                    record = record_of(line, number, row + len(records))
                    if self._constants:
                        with_constants([*record], self._constants)
                        record |= self._constants
                    if not record.keys() <= self._keys:
                        self._take_keys(record, number, row + len(records))
                    records.append(record)
            if records:
                places = self.layout.positions
                yield row, {at: [each.get(self.names[at]) for each in records] for at in places}
            row += len(records)
        if not row:
            raise _empty()

    def _take_keys(self, record: dict[str, object], number: int, row: int) -> None:
        """Take keys that no line had before, if the same columns are meant with them and without them."""
        self.names += [key for key in record if key not in self._keys]
        self._keys.update(record)
        if len(self.names) > MOST_KEYS:
            raise _at(Problem("out-of-range", f"the lines have more than {MOST_KEYS} different keys"), number, row)
        if self._layout is None:
            self._layout = self._choose(self.names)
            return
        try:
            same = self._choose(self.names) == self._layout
        except (Problem, MaceError):
            same = False
        if not same:
            detail = (
                f"JSONL: line {number} has a key that no line before it has, and with it other columns could be meant; "
                "name the columns with score=NAME and member=NAME, or give every line the same keys"
            )
            raise Problem("bad-records", detail, index=row)


def _empty() -> Problem:
    return Problem("incomplete-body", "the body is empty; need a JSON object a line for each record")


def record_of(line: bytes, number: int, row: int) -> dict[str, object]:
    """The object in a line, or what is wrong with it.

    The fast reader takes the last of two values of one name. Every name has a colon of its own, so none was hidden if
    there are as many colons as names; a colon within a value only makes us read with care.
    """
    try:
        record = READER.decode(line)
        if type(record) is dict and line.count(b":") == len(record):
            return record
    except (ValueError, RecursionError):
        pass
    try:
        return parse_object(line.rstrip(BLANK))
    except Problem as problem:
        raise _at(problem, number, row) from None


def list_of(line: bytes, number: int, row: int) -> object:
    """The list in a line, or what is wrong with it."""
    if b"{" not in line:
        try:
            return READER.decode(line)
        except (ValueError, RecursionError):
            pass
    try:
        return parse(line.rstrip(BLANK))
    except Problem as problem:
        raise _at(problem, number, row) from None


def _at(problem: Problem, number: int, row: int) -> Problem:
    """A problem of a line, by its number, counted from 1."""
    detail = problem.detail.replace("the body", "the line", 1)
    return Problem(problem.kind.slug, f"JSONL, line {number}: {detail}", field=problem.field, index=row)


def lines_of(take: Read) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines, a block of them at a time, and the number of the first."""
    number, rest = 1, b""
    while data := take(BLOCK):
        data = data if rest or number > 1 else data.removeprefix(BOM)
        head, end, tail = data.rpartition(b"\n")
        if not end:
            rest += data
        else:
            lines = (rest + head).split(b"\n")
            _refuse_long(lines, number)
            yield number, lines
            number, rest = number + len(lines), tail
        _refuse_long([rest], number)
    if rest:
        yield number, [rest]


def _refuse_long(lines: list[bytes], first: int) -> None:
    for number, line in enumerate(lines, first):
        if len(line) > LONGEST_LINE:
            detail = f"JSONL, line {number}: longer than {LONGEST_LINE} bytes"
            raise Problem("too-large", detail, index=number - 1)


@dataclass(slots=True)
class ValuesRead:
    """One column as its blocks come: of one type from its first row to its last, however it is cut."""

    what: str
    kind: str | None = None
    parts: list[Values] = field(default_factory=list)
    filled: list[NDArray[np.bool_]] = field(default_factory=list)
    rows: int = 0
    first_missing: int | None = None

    def add(self, values: list[object], start: int, padded: bool = False) -> None:
        """The next rows; ``padded`` says that blanks may stand at the end of the column."""
        self.rows += len(values)
        if padded:
            self.filled.append(np.array([value is not None for value in values], dtype=np.bool_))
        if None in values:
            missing = next(at for at, value in enumerate(values) if value is None)
            if not padded:
                raise absent(self.what, start + missing)
            if self.first_missing is None:
                self.first_missing = start + missing
            values = [value for value in values if value is not None]
        if not values:
            return
        kinds = {KINDS[kind] for kind in set(map(type, values))}
        self.kind = self.kind or KINDS[type(values[0])]
        if kinds != {self.kind}:
            at = next(at for at, value in enumerate(values) if KINDS[type(value)] != self.kind)
            words = (
                f"row {start + at} is {KINDS[type(values[at])]} but others are {self.kind}; write one "
                "kind, and leave out rows that have no value"
            )
            raise fault(MixedTypes, self.what, words, start + at)
        if self.kind == KINDS[dict]:
            detail = f"row {start} is an object; need numbers, text or booleans"
            raise fault("wrong-type", self.what, detail, start)
        self.parts.append(self._typed(values, start))

    def end(self, size: int) -> None:
        """Nothing follows: what is missing may only stand behind the last of so many rows."""
        if self.first_missing is not None and self.first_missing < size:
            raise absent(self.what, self.first_missing)

    def values_since(self) -> Values:
        """The rows that were added since this was asked."""
        values = self.values()
        self.parts.clear()
        return values

    def values(self, rows_allowed: bool = False) -> Values:
        """All rows; a value may be a list of numbers where that is allowed."""
        if self.kind == KINDS[list] and not rows_allowed:
            detail = "row 0 is a list; need numbers, text or booleans, a column for each number"
            raise fault("wrong-type", self.what, detail, 0)
        if len(self.parts) == 1:
            return self.parts[0]
        if not self.parts:
            return np.empty(0)
        return one_column(self.parts, self.what)

    def _typed(self, values: list[object], start: int) -> Values:
        if self.kind == KINDS[str]:
            return self._labels(cast("list[str]", values), start)
        if self.kind == KINDS[bool]:
            return np.array(values, dtype=np.bool_)
        if self.kind == KINDS[list]:
            return self._in_rows(cast("list[list[object]]", values), start)
        if set(map(type, values)) == {int}:
            return cast("NDArray[np.generic]", integers(values))
        return floats_of(cast("list[float]", values))

    def _labels(self, values: list[str], start: int) -> Labels:
        places = {text: place for place, text in enumerate(dict.fromkeys(values))}
        labels = Labels(np.array([places[text] for text in values], dtype=np.int64), [*places])
        half = labels.first(HALF.search(text) is not None for text in places)
        if half is not None:
            detail = f"row {start + half} holds half of a surrogate pair"
            raise fault("malformed-body", self.what, detail, start + half)
        return labels

    def _in_rows(self, values: list[list[object]], start: int) -> NDArray[np.generic]:
        first = self.parts[0] if self.parts else None
        wide = first.shape[1] if isinstance(first, np.ndarray) else len(values[0])
        for row, value in enumerate(values, start):
            if len(value) != wide:
                words = f"row {row} has {len(value)} values, row 0 has {wide}"
                raise fault(RaggedRows, self.what, words, row)
            odd = set(map(type, value)) - {int, float}
            if odd:
                detail = f"row {row} holds a value that is {KINDS[odd.pop()]}; need numbers"
                raise fault("wrong-type", self.what, detail, row)
        return np.array([floats_of(cast("list[float]", value)) for value in values]).reshape(len(values), wide)
