"""What every format is to a question: whole bodies, blocks, a head, one side, and tables as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from estimators.python.dataclass import dataclass, field, replace
from macekit.call import Body, Call
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.columns import Labels
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded
from macekit.decoding.csv_values import BOOLEANS, MISSING, NUMBER, Spelling, typed_texts
from macekit.decoding.roles import NOTHING, C, Choose, OneSide, Roles, UnnamedColumns, choice, one_side
from macekit.decoding.table import Table, Values, from_table, sides, stacked
from macekit.decoding.texts import Entry, texts_needed
from macekit.decoding.typed import inner_type, is_text
from macekit.decoding.unnamed_columns import Look, cautions_of_sides, first_labels, looked_for
from macekit.decoding.whole_tables import Columns, of_one_table
from macekit.formats import READERS
from macekit.problems import Problem, fault

if TYPE_CHECKING:
    import pyarrow as pa

Readable: TypeAlias = "Body | pa.NativeFile"  # a body, or a file that is read where it lies

Sides = tuple[NDArray[np.generic], NDArray[np.generic]]
Tables = Iterator[tuple[Table, Roles]]
LabelColumns = Mapping[str, Labels]
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
        side = Side.of(table, layout, [*names, *table.names[len(names) :]], call.expanded_limit)
        return replace(side, labels=self.labels_of_side(call, data, len(side.values[0])))

    def labels_of_side(self, call: Call, body: memoryview, rows: int) -> LabelColumns:
        """The first labels of one side's rows in columns that nobody named."""
        return first_labels(self.first_labels, call, body, rows, one_side) if looked_for(call).looks else {}

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """The columns in use block after block of about a megabyte, and what they are.

        ``constants`` are columns that have one value throughout a file that is read where it lies.
        """
        detail = "JSON and NPZ are read as a whole; they cannot be counted block by block"
        raise Problem("unsupported-media-type", detail)

    def blocks(
        self, call: Call, body: Body, recorder: ColumnRecorder | None = None, look: Look | None = None
    ) -> Iterator[Sides]:
        """Members and nonmembers block after block, of each of which ``recorder`` and ``look`` are told."""
        values: set[str] = set()
        for table, layout in self.tables(call, body, NOTHING):
            if look is not None:
                look.add(table, layout)
            yield sides(table, layout, call.expanded_limit, values, recorder)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """The columns' names and types, read off the head of a body."""
        tables = ", ".join(media_type for media_type, name in READERS.items() if name != "json")
        raise fault("unsupported-media-type", "Content-Type", f"a table is needed, one of {tables}")

    def rows(self, call: Call, body: Body) -> int | None:
        """How many rows there are, where the head or the end of a body says so."""
        return None

    def texts(self, call: Call, body: Body) -> Iterator[Entry]:
        """What was written of each text, one after another."""
        raise texts_needed()

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
    detail = "a table is needed: CSV, JSON lines, Arrow or Parquet"
    return Problem("unsupported-media-type", detail, field="Content-Type")


SIDES = "members", "nonmembers"


@dataclass(frozen=True, slots=True)
class Side:
    """The score columns of one side; those of CSV are still text, for the other side has a say in what they spell.

    ``columns`` are what they are called, empty where they have no names; ``notes`` what was understood of each that is
    no text. ``names`` says that whole numbers beside text are names, as asked. ``labels`` are the first
    in columns that nobody named.
    """

    columns: Sequence[str]
    texts: Sequence[pa.ChunkedArray] | None
    values: Sequence[Values]
    limit: int
    notes: Sequence[Sequence[str]] = ()
    names: bool = False
    labels: LabelColumns = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, layout: OneSide, names: Sequence[str], limit: int) -> Side:
        """The scores of a table whose columns are called so."""
        if not layout.scores:
            raise fault("missing-field", "score", "the table has no columns")
        return cls(
            [names[at] for at in layout.scores],
            None,
            [table.columns[at] for at in layout.scores],
            limit,
            [table.notes.get(at, ()) for at in layout.scores],
        )

    def spelled(self, what: str) -> tuple[Sequence[Values], Sequence[Sequence[str]]]:
        """The columns as they are read without the other side, and what was understood of each."""
        if self.texts is None:
            return self.values, self.notes
        spellings = [Spelling(self.names) for _ in self.texts]
        pairs = zip(self.texts, spellings, strict=True)
        values = [each for column, spelling in pairs for each in typed_texts([column], [what], spelling)]
        return values, [sorted(spelling.notes) for spelling in spellings]


def join_sides(members: Side, nonmembers: Side, files: tuple[str, str]) -> DecodedBody:
    """Both sides as a sample, and the columns of the two ``files`` that were read."""
    sides = members, nonmembers
    what = f"{files[0]}: score", f"{files[1]}: score"
    texts, others = members.texts, nonmembers.texts
    columns: Sequence[Sequence[Values]]
    notes: Sequence[Sequence[Sequence[str]]]
    if texts is not None and others is not None and len(texts) == len(others):
        spellings = [Spelling(members.names) for _ in texts]
        pairs = [typed_texts(pair, what, each) for *pair, each in zip(texts, others, spellings, strict=True)]
        columns = [[pair[side] for pair in pairs] for side in (0, 1)]
        notes = [[sorted(each.notes) for each in spellings]] * 2
    else:
        columns, notes = zip(*(side.spelled(name) for side, name in zip(sides, what, strict=True)), strict=True)
    recorder, samples = ColumnRecorder(), []
    for role, file, name, side, values, of_side in zip(SIDES, files, what, sides, columns, notes, strict=True):
        for at, column in enumerate(side.columns):
            called = column or (str(at) if len(side.columns) > 1 else "")
            recorder.add((role, at), role, f"{file}: {called}" if called else file, values[at], of_side[at])
        table = Table(dict(enumerate(values)))
        samples.append(stacked(table, tuple(range(len(values))), name, side.limit))
    sample = Sample(samples[0], samples[1])
    return DecodedBody(
        {"": sample}, columns=recorder.columns(), cautions=cautions_of_sides(sample, members.labels, nonmembers.labels)
    )


Type = Literal["number", "text", "boolean", "other"]

ROWS = 1000  # rows of CSV and lines of JSON that are looked at

DTYPES: dict[str, Type] = {"b": "boolean", "U": "text", "i": "number", "u": "number", "f": "number"}
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table as its head alone tells it: its name, and what it holds."""

    name: str
    type: Type
    numbering: bool = False
    """Whether it may number the records: all different whole numbers in text, any where only types are read."""

    @classmethod
    def of_text(cls, name: str, values: Sequence[str]) -> Column:
        """By what text spells, leaving out what is missing."""
        words = [word for value in values if (word := value.strip().lower()) not in MISSING]
        whole = [WHOLE.fullmatch(value.strip()) for value in values]
        numbering = len(values) > 1 and all(whole) and len({int(value) for value in values}) == len(values)
        if words and all(NUMBER.fullmatch(word) for word in words):
            return cls(name, "number", numbering)
        return cls(name, "boolean" if words and BOOLEANS.issuperset(words) else "text", numbering)

    @classmethod
    def of_values(cls, name: str, values: Sequence[object]) -> Column:
        """By the values that are there."""
        present = [value for value in values if value is not None]
        kinds = set(map(type, present))
        whole = kinds == {int} and len(present) == len(values) > 1 and len(set(present)) == len(values)
        if kinds and kinds <= {int, float}:
            return cls(name, "number", whole)
        return cls(name, "text" if kinds == {str} else "boolean" if kinds == {bool} else "other")

    @classmethod
    def of_dtype(cls, name: str, kind: np.dtype[np.generic], plain: bool = True) -> Column:
        """By the type of an array; one that is not ``plain`` is no column."""
        if not plain:
            return cls(name, "other")
        return cls(name, "other" if kind.shape else DTYPES.get(kind.kind, "other"), kind.kind in "iu")

    @classmethod
    def of_schema(cls, schema: pa.Schema) -> list[Column]:
        """All columns of a schema of Arrow's."""
        from pyarrow import types

        return [cls(field.name, _of_type(field.type), types.is_integer(field.type)) for field in schema]


def _of_type(kind: pa.DataType) -> Type:
    from pyarrow import types

    inner = inner_type(kind)
    if types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner):
        return "number"
    return "boolean" if types.is_boolean(inner) else "text" if is_text(inner) else "other"
