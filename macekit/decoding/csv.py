"""``text/csv``: a header, and a row for each record; separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from macekit.call import Call
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import Labels, guarded, refusals
from macekit.decoding.compression import Source
from macekit.decoding.roles import Layout, Roles, TableLayout, Wide, choice, roles
from macekit.decoding.table import Table, Values, from_table
from macekit.decoding.typed import NUMBER, is_value, labels, typed_text, typed_texts, without_padding
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "CSV"
BOM = b"\xef\xbb\xbf"
SEPARATORS = (",", ";", "\t")
WIDTHS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
"""What Arrow says of a row of another width, before it quotes the row."""

QUOTATION = re.compile(r'"[^"]*"')
BLOCK = 2**18
"""Bytes read at a time, and the longest a row may be."""

C = TypeVar("C", bound=Layout)


def decode(call: Call, body: memoryview) -> DecodedBody:
    """The decoded body of a CSV body."""
    texts, layout = read(body, lambda names: choice(names, call))
    table = _table(texts, layout, 0) if len(texts) else _nothing(layout)
    return from_table(table, layout, call, max(call.expanded_limit, 8 * len(body)))


def read(
    body: memoryview, choose: Callable[[Sequence[str]], C], header_needed: bool = True
) -> tuple[pa.Table, C]:
    """The columns in use as they are written, and what they are; without a header they have empty names."""
    import pyarrow as pa

    names, separator, size = header(bytes(body[:BLOCK]), header_needed)
    layout = choose(names)
    batches = list(_batches(pa.BufferReader(pa.py_buffer(body[size:])), len(names), separator, layout))
    schema = pa.schema([(str(at), pa.string()) for at in layout.positions])
    return pa.Table.from_batches(batches, schema), layout


def blocks(call: Call, source: Source) -> Iterator[tuple[Table, Roles]]:
    """The rows in blocks of a megabyte of text."""
    import pyarrow as pa

    head = source.read(BLOCK)
    names, separator, size = header(head)
    layout = roles(names, call)
    source.back(head[size:])
    start = 0
    for batch in _batches(pa.PythonFile(source, mode="r"), len(names), separator, layout):
        yield _table(batch, layout, start), layout
        start += len(batch)


def header(head: bytes, required: bool = True) -> tuple[list[str], str, int]:
    """Column names, what separates them, and how many bytes they take; a first line of values may stand for none."""
    rest = head.removeprefix(BOM).lstrip(b"\r\n")
    line = re.match(rb"[^\r\n]*", rest)
    assert line is not None  # it matches nothing, too
    if not line[0].strip():
        raise Problem("incomplete-body", "the body is empty; need a header, and a row for each record")
    if len(line[0]) == len(rest) and len(head) == BLOCK:
        raise Problem("malformed-body", f"the first line of the CSV is longer than {BLOCK} bytes")
    try:
        text = line[0].decode()
    except UnicodeDecodeError:
        raise Problem("malformed-body", "the header of the CSV is not UTF-8") from None
    bare = QUOTATION.sub("", text)
    separator = max(SEPARATORS, key=bare.count)
    try:
        names = [name.strip() for name in next(csv.reader([text], delimiter=separator, strict=True))]
    except csv.Error:
        raise Problem("malformed-body", "the header of the CSV cannot be read: check its quotes") from None
    if not required and all(is_value(name) for name in names):
        return [""] * len(names), separator, len(head) - len(rest)
    if all(NUMBER.fullmatch(name) for name in names):
        raise Problem(
            "missing-field", "the first line of the CSV holds numbers; need a header with column names"
        )
    return names, separator, len(head) - len(rest) + len(line[0])


def _batches(file: Any, wide: int, separator: str, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Batches of the columns in use, all as text: Arrow would guess their types from the first block."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(at) for at in range(wide)]
    columns = [names[at] for at in layout.positions]
    reading = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names)
    parsing = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    converting = arrow_csv.ConvertOptions(
        include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )
    try:
        with refusals(NAME):
            reader = arrow_csv.open_csv(file, reading, parsing, converting)
        yield from guarded(iter(reader), NAME)
    except Problem as problem:
        message = str(problem.__context__)
        if "Empty CSV" in message:
            return
        if (widths := WIDTHS.search(message)) is None:
            raise
        row = int(widths[1]) - 1
        raise Problem(
            "malformed-body", f"CSV: row {row} has {widths[3]} values, the header {widths[2]}", index=row
        ) from None


def _table(data: pa.Table | pa.RecordBatch, layout: TableLayout, start: int) -> Table:
    """Scores and arrays as what they spell; membership, groups and units as text."""
    import pyarrow.compute as pc

    what = layout.what
    if isinstance(layout, Wide):
        with refusals(NAME):
            texts = without_padding(
                data.columns, lambda column: pc.not_equal(pc.utf8_trim_whitespace(column), "")
            )
            sides = typed_texts(texts, [what[at] for at in layout.positions])
        return Table(dict(zip(layout.positions, sides, strict=True)), start)
    columns: dict[int, Values] = {}
    for place, column in zip(layout.positions, data.columns, strict=True):
        with refusals(NAME):
            if place in layout.numeric:
                columns[place] = typed_text(column, what[place], start)
            else:
                distinct = labels(column)
                blank_is_missing = what[place] != "member"
                columns[place] = Labels(
                    distinct.codes,
                    [text or None for text in distinct.texts] if blank_is_missing else distinct.texts,
                )
    return Table(columns, start)


def _nothing(layout: TableLayout) -> Table:
    """A table without rows."""
    import numpy as np

    return Table(
        {
            place: np.empty(0, np.bool_ if name == "member" else np.float64)
            for place, name in layout.what.items()
        }
    )
