"""What every format is to a question: whole bodies, blocks, a head, one side, and tables as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macekit.call import Body, Call
from macekit.decoding.body import DecodedBody
from macekit.decoding.column_types import Column
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded
from macekit.decoding.pairs import Side
from macekit.decoding.roles import C, Choose, OneSide, Roles, UnnamedColumns, choice, one_side
from macekit.decoding.table import Table, from_table, sides
from macekit.decoding.whole_tables import Columns, of_one_table
from macekit.formats import READERS
from macekit.problems import Problem, fault

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING: Mapping[str, str] = MappingProxyType({})
Readable: TypeAlias = "Body | pa.NativeFile"
"""A body, or a file that is read where it lies."""

Sides = tuple[NDArray[np.generic], NDArray[np.generic]]
Tables = Iterator[tuple[Table, Roles]]
LabelColumns = Mapping[str, ArrayLike]
ChooseUnnamed = Choose[UnnamedColumns]


class Format:
    """One format; who derives from it reads what it can, and refuses the rest in these words."""

    expansion = 8
    """How much larger than the body its columns may get, where more is not granted."""

    def limit(self, call: Call, body: memoryview) -> int:
        """Bytes that the columns may take."""
        return max(call.expanded_limit, self.expansion * len(body))

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The columns in use of a whole body, and what they are."""
        raise table_needed()

    def decode(self, call: Call, body: memoryview) -> DecodedBody:
        """The whole body as a question takes it."""
        table, layout = self.read(call, body, lambda names: choice(names, call))
        return from_table(table, layout, call, self.limit(call, body))

    def side(self, call: Call, body: Body) -> Side:
        """The scores of a body that holds one side only."""
        names: list[str] = []

        def choose(every: Sequence[str]) -> OneSide:
            names[:] = every
            return one_side(every, call)

        data = expanded(call, body)
        call = replace(call, expanded_limit=max(call.expanded_limit, 8 * len(data)))
        table, layout = self.read(call, data, choose)
        return Side.of(table, layout, [*names, *table.names[len(names) :]], call.expanded_limit)

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str] = NOTHING) -> Tables:
        """The columns in use block after block of about a megabyte, and what they are.

        ``constants`` are columns that have one value throughout a file that is read where it lies.
        """
        raise Problem(
            "unsupported-media-type",
            "JSON and NPZ are read as a whole; they cannot be counted block by block",
        )

    def blocks(self, call: Call, body: Body, recorder: ColumnRecorder | None = None) -> Iterator[Sides]:
        """Members and nonmembers block after block; ``recorder`` is told of each what columns were read."""
        values: set[str] = set()
        for table, layout in self.tables(call, body):
            yield sides(table, layout, call.expanded_limit, values, recorder)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """The columns' names and types, read off the head of a body."""
        tables = ", ".join(media_type for media_type, name in READERS.items() if name != "json")
        raise fault("unsupported-media-type", "Content-Type", f"a table is needed, one of {tables}")

    def whole_columns(self, call: Call, body: memoryview) -> Columns:
        """Every column of one table by its name, its missing values with it."""
        raise table_needed()

    def whole_tables(self, call: Call, body: memoryview) -> DecodedBody:
        """Several tables in one: a column says of each row to which it belongs."""
        return of_one_table(call, self.whole_columns(call, body))

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """The first labels of columns of a table of so many rows, by their names; none where they are not read."""
        return {}


def table_needed() -> Problem:
    """What is said where only tables will do."""
    return Problem(
        "unsupported-media-type", "a table is needed: CSV, JSON lines, Arrow or Parquet", field="Content-Type"
    )
