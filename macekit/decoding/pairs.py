"""Scores of two bodies, one a side, read as one table of both sides would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macekit.call import CSV, JSON, NPY, PARQUET, Body, Call
from macekit.decoding import arrow, csv, npy, parquet
from macekit.decoding.body import Sample, are_names
from macekit.decoding.compression import expanded
from macekit.decoding.roles import OneSide, one_side
from macekit.decoding.spelled import Spelling, typed_texts
from macekit.decoding.table import Table, Values, stacked
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Side:
    """The score columns of one side; those of CSV are still text, for the other side has a say in what they spell."""

    texts: Sequence[pa.ChunkedArray] | None
    values: Sequence[Values]
    limit: int
    names: bool = False


def read_side(call: Call, body: Body) -> Side:
    """The columns of a body that holds one side only: an array, a table, or a CSV of numbers without a header."""

    def choose(names: Sequence[str]) -> OneSide:
        return one_side(names, call)

    if call.media_type == JSON:
        raise Problem("bad-option", "a JSON request holds both sides; give it alone")
    data = expanded(call, body)
    limit = max(call.expanded_limit, 8 * len(data))
    if call.media_type == CSV:
        texts, layout = csv.read(data, choose, header_needed=False)
        return Side(
            [texts.column(layout.positions.index(at)) for at in layout.scores], (), limit, are_names(call)
        )
    if call.media_type == NPY:
        table, layout = npy.read(data, choose)
    elif call.media_type == PARQUET:
        table, layout = parquet.read(data, choose, limit)
    else:
        table, layout = arrow.read(data, choose, limit)
    return Side(None, [table.columns[at] for at in layout.scores], limit)


def join_sides(members: Side, nonmembers: Side, what: tuple[str, str]) -> Sample:
    """Both sides as a sample; ``what`` the scores of each are called in messages."""
    if (
        members.texts is not None
        and nonmembers.texts is not None
        and len(members.texts) == len(nonmembers.texts)
    ):
        pairs = [
            typed_texts(pair, what, Spelling(members.names))
            for pair in zip(members.texts, nonmembers.texts, strict=True)
        ]
        columns = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
    else:
        columns = [_values(side, name) for side, name in zip((members, nonmembers), what, strict=True)]
    a, b = (
        stacked(Table(dict(enumerate(values))), tuple(range(len(values))), name, side.limit)
        for values, name, side in zip(columns, what, (members, nonmembers), strict=True)
    )
    return Sample(a, b)


def _values(side: Side, what: str) -> list[Values]:
    if side.texts is None:
        return list(side.values)
    return [values for column in side.texts for values in typed_texts([column], [what], Spelling(side.names))]
