"""Scores of two bodies, one a side, read as one table of both sides would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macekit.call import CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Body, Call
from macekit.decoding import arrow, csv, jsonl, npy, npz, parquet
from macekit.decoding.body import DecodedBody, Sample, are_names
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded
from macekit.decoding.csv_values import Spelling, typed_texts
from macekit.decoding.roles import OneSide, one_side
from macekit.decoding.table import Table, Values, stacked
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

SIDES = "members", "nonmembers"


@dataclass(frozen=True, slots=True)
class Side:
    """The score columns of one side; those of CSV are still text, for the other side has a say in what they spell.

    ``columns`` are what they are called, empty where they have no names; ``notes`` what was understood of each that is
    no text. ``names`` says that whole numbers beside text are names, as asked.
    """

    columns: Sequence[str]
    texts: Sequence[pa.ChunkedArray] | None
    values: Sequence[Values]
    limit: int
    notes: Sequence[Sequence[str]] = ()
    names: bool = False


def read_side(call: Call, body: Body) -> Side:
    """The columns of a body that holds one side only: an array, a table, or a CSV of numbers without a header."""

    every: list[str] = []

    def choose(names: Sequence[str]) -> OneSide:
        every[:] = names
        return one_side(names, call)

    if call.media_type == JSON:
        raise Problem("bad-option", "a JSON request holds both sides; give it alone")
    data = expanded(call, body)
    limit = max(call.expanded_limit, 8 * len(data))
    if call.media_type == CSV:
        texts, layout = csv.read(data, choose, header_needed=False)
        columns = [texts.column(layout.positions.index(at)) for at in layout.scores]
        return Side([every[at] for at in layout.scores], columns, (), limit, names=are_names(call))
    if call.media_type == NPY:
        table, layout = npy.read(data, choose)
    elif call.media_type == NDJSON:
        table, layout = jsonl.read(data, choose)
    elif call.media_type == NPZ:
        table, layout = npz.read(data, choose, call.expanded_limit)
    elif call.media_type == PARQUET:
        table, layout = parquet.read(data, choose, limit)
    else:
        table, layout = arrow.read(data, choose, limit)
    return Side(
        [every[at] for at in layout.scores],
        None,
        [table.columns[at] for at in layout.scores],
        limit,
        [table.notes.get(at, ()) for at in layout.scores],
    )


def join_sides(members: Side, nonmembers: Side, files: tuple[str, str]) -> DecodedBody:
    """Both sides as a sample, and the columns of the two ``files`` that were read."""
    what = f"{files[0]}: score", f"{files[1]}: score"
    notes: list[list[Sequence[str]]]
    if (
        members.texts is not None
        and nonmembers.texts is not None
        and len(members.texts) == len(nonmembers.texts)
    ):
        spellings = [Spelling(members.names) for _ in members.texts]
        pairs = [
            typed_texts(pair, what, spelling)
            for *pair, spelling in zip(members.texts, nonmembers.texts, spellings, strict=True)
        ]
        columns = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
        notes = [[sorted(spelling.notes) for spelling in spellings]] * 2
    else:
        sides = [_values(side, name) for side, name in zip((members, nonmembers), what, strict=True)]
        columns, notes = [values for values, _ in sides], [notes for _, notes in sides]
    recorder = ColumnRecorder()
    for role, file, side, values, of_side in zip(
        SIDES, files, (members, nonmembers), columns, notes, strict=True
    ):
        for at, column in enumerate(side.columns):
            name = column or (str(at) if len(side.columns) > 1 else "")
            recorder.add((role, at), role, f"{file}: {name}" if name else file, values[at], of_side[at])
    a, b = (
        stacked(Table(dict(enumerate(values))), tuple(range(len(values))), name, side.limit)
        for values, name, side in zip(columns, what, (members, nonmembers), strict=True)
    )
    return DecodedBody({"": Sample(a, b)}, columns=recorder.columns())


def _values(side: Side, what: str) -> tuple[list[Values], list[Sequence[str]]]:
    """The columns of a side that is read by itself, and what was understood of each."""
    if side.texts is None:
        return list(side.values), list(side.notes)
    spellings = [Spelling(side.names) for _ in side.texts]
    pairs = zip(side.texts, spellings, strict=True)
    values = [each for column, spelling in pairs for each in typed_texts([column], [what], spelling)]
    return values, [sorted(spelling.notes) for spelling in spellings]
