"""Frames that compute for themselves, in a cluster or a database: two queries there, and only counts come back.

Spark (classic and Connect), Dask, Ibis and SQLFrame, by one expression of Narwhals for all. What an engine would lose
without a word - a null, a NaN, an infinity, a third membership - is counted by the first query, and refused. Where a
cell of a grid is crowded, one more, or two, ask whether it holds one score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from estimators import MaceError
from estimators.arrays import Integers
from estimators.errors import InputError, NotFinite
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts
from estimators.sample.frequent import FREQUENT_SHARE, NONE, Frequent, crowded
from estimators.sample.grid import Grid, cells_at, finest_exponent
from estimators.sample.growing_grid import MOST_TIMES, NestedGrid
from estimators.sample.integers import as_64_bit
from estimators.sample.octaves import LARGEST_BELOW_ONE, LEAST_BELOW_ONE, LEAST_OCTAVE, OCTAVE_BITS, below_one
from estimators.sample.parts import MOST_VALUES, Part, PartKind, counts_of_parts
from estimators.sample.scores import require_enough
from estimators.sample.spelled_numbers import require_no_spelled_number
from macekit.call import Call
from macekit.decoding.body import ColumnRead
from macekit.decoding.columns import Labels
from macekit.decoding.columns_read import MOST_DISTINCT, ColumnRecorder
from macekit.decoding.roles import Roles, roles
from macekit.decoding.table import Table, membership, record_columns
from macekit.decoding.typed import inner_type, is_text, values_of
from macekit.problems import Problem, fault
from macekit.sources.parts import FREQUENT
from macekit.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

Lazy: TypeAlias = Any
"""A lazy frame of Narwhals, which is imported when a frame comes."""

Expr: TypeAlias = Any
"""An expression of Narwhals."""

KINDS = {"grid": "integers", "integers": "integers", "text": "text"}
"""What an answer calls columns that are not of floats or booleans."""

KINDS_OF_LABELS = {str: "text", bool: "booleans"}

MOST_MEMBERSHIPS = 1001
"""Different values of the member column that are looked at."""

MOST_FREQUENT = 512
"""So many scores can each have a 512th of all records, from which on they are frequent."""

LEAST = 2.0**LEAST_OCTAVE

NEAR, STEPS, KEYS = 2**60, 1100, 2**15
"""A cell near 0 has the number NEAR + (exponent + STEPS) * KEYS + key + KEYS / 2, which is no place on a grid."""

ONE = 2**40
"""Added to that of a cell next to 1, by its distance."""

MOST_ROWS = 2**24
"""Rows of an answer to the second query, where groups have cells of their own, and rows that are grouped by score."""

LIMIT = 2**40


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame, and the package that it is of."""

    native: Any
    engine: str
    name: str = ""


def frame_of(value: object) -> Frame | None:
    """A frame of one of the engines; None for anything else of its package."""
    engine = type(value).__module__.partition(".")[0]
    native = narwhals().from_native(value, pass_through=True)
    return None if native is value else Frame(value, engine)


def narwhals() -> Any:
    """The package that speaks to all engines."""
    try:
        import narwhals
    except ModuleNotFoundError:
        detail = "frames of Spark, Dask, Ibis and SQLFrame need narwhals, which is installed with macekit"
        raise Problem("not-installed", detail) from None
    return narwhals


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A frame, and which of its columns have which part in a question."""

    frame: Frame
    lazy: Lazy
    names: list[str]
    types: list[Any]
    layout: Roles

    @classmethod
    def of(cls, frame: Frame, call: Call) -> FrameTable:
        """What a call says of a frame's columns."""
        lazy = lazy_of(frame)
        with speaking_for(frame):
            schema = lazy.collect_schema()
        names = schema.names()
        return cls(frame, lazy, names, [*schema.values()], roles(names, call))

    def column(self, place: int, on_grid: bool, labels: Iterable[int] = ()) -> ScoreColumn:
        """One column of scores, with a cell of its own for each label of these columns."""
        return ScoreColumn(
            self.frame,
            self.lazy,
            self.names[place],
            self.names[self.layout.member],
            on_grid,
            self.types[place],
            tuple(self.names[each] for each in labels),
        )

    def sides(self, column: ScoreColumn, recorder: ColumnRecorder) -> Sides:
        """How far a column's scores reach on both sides; the recorder is told of the column of membership."""
        sides = column.sides(self.layout, self.names)
        only = Roles((), self.layout.member, None, None, member_value=self.layout.member_value)
        record_columns(recorder, Table({self.layout.member: sides.column}, 0, self.names), only)
        return sides


def count(frame: Frame, call: Call, on_grid: bool) -> tuple[Mapping[str, Counts], tuple[ColumnRead, ...]]:
    """The counts of each query of a frame, computed where it lies, and the columns that were read.

    What is asked of counts alone has to merge with others; for all else crowded cells are cut again.
    """
    table, recorder = FrameTable.of(frame, call), ColumnRecorder()
    queries = table.layout.queries
    columns, counts = [], {}
    for query, place in zip(queries or ("",), table.layout.scores, strict=True):
        column = table.column(place, on_grid)
        sides = table.sides(column, recorder)
        part = column.cells(sides).part
        columns.append(column.read(part, table.names[place] if queries else ""))
        counts[query] = counts_of_parts([part])
        if part.kind == "grid" and call.operation != "counts":
            cut = column.cut_again(NestedGrid.of([part]), sides, lambda cells: [cells.part])
            counts[query] = counts[query] if cut is None else cut.counts()
    return counts, (*columns, *recorder.columns())


@dataclass(frozen=True, slots=True)
class Groups:
    """The cells of each group of a frame, by its label, the columns that were read, and crowded cells cut again."""

    parts: dict[object, list[Part]]
    columns: tuple[ColumnRead, ...]
    cut: NestedGrid | None


def by_group(frame: Frame, call: Call, on_grid: bool) -> Groups:
    """What was counted of each group of a frame, where it lies."""
    table, recorder = FrameTable.of(frame, call), ColumnRecorder()
    (place,), group = table.layout.scores, table.layout.group
    assert group is not None  # it was named
    column = table.column(place, on_grid, [group])
    sides = table.sides(column, recorder)
    cells = column.cells(sides)
    parts, whole, labels = cells.by_label("group"), cells.part, cells.labels_of(0, "group")
    columns = (column.read(whole, ""), *recorder.columns(), labels.read("group", table.names[group]))
    cut = None
    if whole.kind == "grid" and call.operation != "counts":

        def of_each(finer: _Cells) -> list[Part | None]:
            own = finer.by_label("group")
            return [own.get(label) for label in parts]

        cut = column.cut_again(NestedGrid.of([*parts.values()]), sides, of_each)
    return Groups({label: [part] for label, part in parts.items()}, columns, cut)


def queries(dialect: str, table: str, score: str, member: str, exponent: int) -> tuple[str, ...]:
    """Three queries about a table of floats, in the words of a database; the last two answer rows of parts."""
    try:
        import ibis
    except ModuleNotFoundError:
        detail = "the words of a database need Ibis: pip install ibis-framework"
        raise Problem("not-installed", detail) from None
    nw = narwhals()
    name, equals, value = member.partition("=")
    unbound = ibis.table({score: "float64", name: "string" if equals else "boolean"}, name=table)
    frame = Frame(unbound, f"ibis for {dialect}")
    column = ScoreColumn(frame, lazy_of(frame), score, name, False, nw.Float64())
    members: list[object] = [value] if equals else [True]

    def rows(kind: str, exponent: int, cells: Lazy) -> Lazy:
        return cells.select(
            nw.lit(kind).alias("kind"),
            nw.lit(exponent).alias("exponent"),
            nw.col("key").cast(nw.String),
            nw.col("members"),
            (nw.col("n") - nw.col("members")).alias("nonmembers"),
        )

    by_score = column.counts_by(column.place(None), members).sort("n", "key", descending=True).head(MOST_FREQUENT)
    lazy_queries = (
        column.first(),
        rows("grid", exponent, column.counts_by(column.place(exponent), members)),
        rows(FREQUENT, 0, by_score),
    )
    with speaking_for(frame):
        return tuple(str(ibis.to_sql(query.to_native(), dialect)) for query in lazy_queries)


@dataclass(frozen=True, slots=True)
class Sides:
    """What the first query says: the values of membership, which of them are members', and how far scores reach."""

    values: pa.ChunkedArray
    column: Any
    member: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    low: Any
    high: Any
    sizes: tuple[int, int]

    @property
    def members(self) -> list[object]:
        """The values that members have."""
        values = self.values.to_pylist()
        return [value for value, inside in zip(values, self.member, strict=True) if inside]


@dataclass(frozen=True, slots=True)
class _Cells:
    """What the second query says, and each column of labels of its cells."""

    cells: Part
    labels: tuple[pa.ChunkedArray, ...]
    frequent: pa.Table | None = None
    """Rows that have one of the frequent scores, where a cell is crowded."""

    @property
    def part(self) -> Part:
        """The cells of all rows, with the frequent scores."""
        totals = np.array([self.cells.members.sum(), self.cells.nonmembers.sum()])
        frequent = Frequent.together(self.frequent_of_labels().values())
        return replace(self.cells, frequent=frequent.enough(totals))

    def frequent_of_labels(self) -> dict[object, Frequent]:
        """The frequent scores of the rows of each label of the first column of labels, or of all rows."""
        if self.frequent is None:
            return {}
        names = [name for name in ("label_0", "key", "members", "n") if name in self.frequent.column_names]
        several: dict[object, list[tuple[float, int, int]]] = {}
        for *label, score, members, n in zip(*(self.frequent[name].to_pylist() for name in names), strict=True):
            own = (float(score), int(members), int(n) - int(members))
            several.setdefault(label[0] if label else None, []).append(own)
        return {label: Frequent.of(each) for label, each in several.items()}

    def by_label(self, role: str) -> dict[object, Part]:
        """The cells of each label of the first column of labels."""
        labels, whole, frequent = self.labels_of(0, role), self.cells, self.frequent_of_labels()
        in_order = np.argsort(labels.numbers, kind="stable")
        ends = np.cumsum(np.bincount(labels.numbers))
        return {
            label: Part(
                whole.kind,
                whole.keys[at],
                whole.members[at],
                whole.nonmembers[at],
                frequent.get(label, NONE),
                np.broadcast_to(whole.exponents, len(whole.keys))[at],
            )
            for label, at in zip(labels.distinct, np.split(in_order, ends[:-1]), strict=True)
        }

    def labels_of(self, place: int, role: str) -> _LabelColumn:
        """One column of labels, of which none is missing."""
        import pyarrow as pa

        codes = pa.chunked_array([self.labels[place].combine_chunks()]).dictionary_encode().chunk(0)
        distinct = codes.dictionary.to_pylist()
        if codes.null_count or any(label != label for label in distinct):
            raise fault(NotFinite, role, "a row has no value; every row needs one")
        labels = np.array(distinct)
        order = np.argsort(labels, kind="stable")  # engines give rows in any order
        numbers = np.argsort(order)[codes.indices.to_numpy()]
        return _LabelColumn([distinct[at] for at in order], labels[order], numbers)


@dataclass(frozen=True, slots=True)
class _LabelColumn:
    """Labels in their order, and the place of each row's."""

    distinct: list[object]
    values: np.ndarray[Any, Any]
    numbers: np.ndarray[Any, Any]

    def read(self, role: str, name: str) -> ColumnRead:
        """What the answer says of this column."""
        return ColumnRead(role, name, KINDS_OF_LABELS.get(type(self.distinct[0]), "numbers"), len(self.distinct))


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One column of scores, and the queries about it."""

    frame: Frame
    lazy: Lazy
    score: str
    membership: str
    on_grid: bool
    dtype: Any
    labels: tuple[str, ...] = ()
    """Columns whose labels have cells of their own."""

    labels_together: bool = False
    """Whether frequent scores are asked for of all labels together, and not of each."""

    usable_too: tuple[ScoreColumn, ...] = ()
    """Columns beside it of a vector, whose rows have to be usable, too."""

    @property
    def usable(self) -> Expr:
        """Whether a row has a score that can be used."""
        usable = ~narwhals().col(self.score).is_null()
        if self.dtype.is_float():
            # what a file's range says leaves NaN out
            usable = usable & (self.numbers() - self.numbers() == 0)
        for column in self.usable_too:
            usable = usable & column.usable
        return usable

    def is_member(self, members: list[object]) -> Expr:
        """Whether a row is a member's; ``members`` are the values of membership that say so."""
        inside = narwhals().col(self.membership)
        return inside if members == [True] and isinstance(members[0], bool) else inside.is_in(members)

    @property
    def kind(self) -> PartKind:
        """How its values are counted: by their type, never by how many there are."""
        if self.dtype.is_float():
            return "grid"
        if self.dtype.is_integer() or self.dtype == narwhals().Boolean:
            return "grid" if self.on_grid else "integers"
        if self.dtype in (narwhals().String, narwhals().Categorical, narwhals().Enum):
            if self.on_grid:
                raise fault(InputError, "score", "got text, a grid needs numbers")
            return "text"
        detail = f"the column holds {self.dtype}, need numbers, text or booleans; cast it"
        raise fault(InputError, "score", detail)

    def first(self) -> Lazy:
        """The first query: for each membership its rows, those with a score, and how far scores reach."""
        nw = narwhals()
        score = self.numbers() if self.kind != "text" else nw.col(self.score)
        finite_rows = self.lazy.select(
            _where(self.usable).alias("usable"), score.alias("score"), nw.col(self.membership).alias("member")
        )
        ends = [] if self.kind == "text" else [nw.col("score").min().alias("low"), nw.col("score").max().alias("high")]
        grouped = finite_rows.group_by("member").agg(nw.len().alias("n"), nw.col("usable").count(), *ends)
        return grouped.head(MOST_MEMBERSHIPS)

    def place(self, exponent: int | None) -> Expr:
        """The place of a row on a grid of one step, or its value."""
        nw = narwhals()
        if exponent is None:
            return self.numbers() if self.dtype == nw.Boolean else nw.col(self.score)
        return _place(self.floats, exponent)

    def second(self, members: list[object], exponent: int | None) -> Lazy:
        """The second query: for each cell its rows, and the members among them."""
        if exponent is None:
            return self.counts_by(self.place(None), members)
        return self._counted(_with_cells(self._columns(self.floats, "score", members), exponent))

    def counts_by(self, key: Expr, members: list[object]) -> Lazy:
        """For each key of the rows, and each label, how many there are, and the members among them."""
        return self._counted(self._columns(key, "key", members))

    def _columns(self, first: Expr, name: str, members: list[object]) -> Lazy:
        """A column of the rows, their labels, and whether they are members'."""
        names = zip(self.labels, _names_of_labels(len(self.labels)), strict=True)
        labels = [narwhals().col(own).alias(each) for own, each in names]
        return self.lazy.select(first.alias(name), *labels, _where(self.is_member(members)).alias("members"))

    def _counted(self, rows: Lazy) -> Lazy:
        """How many of these rows have each key, and each label, and the members among them."""
        nw = narwhals()
        names = ["key", *_names_of_labels(len(self.labels))]
        return rows.group_by(*names).agg(nw.col("members").count(), nw.len().alias("n"))

    def frequent(self, sides: Sides, exponent: int, cells: list[int], rows_inside: int) -> pa.Table:
        """One more query where cells are crowded, or two: how many rows have a score of these that many rows have.

        Of more rows than an engine should group by their score, the least and the largest score of each cell.
        """
        nw = narwhals()
        rows = _with_cells(self._columns(self.floats, "score", sides.members), exponent)
        inside = rows.filter(nw.col("key").is_in(cells))
        if rows_inside > MOST_ROWS:
            ends = nw.col("score").min().alias("low"), nw.col("score").max().alias("high")
            answer = self.collect(inside.group_by("key").agg(*ends))
            candidates = {float(each) for name in ("low", "high") for each in answer[name].to_pylist()}
        else:
            of_members, of_all = nw.col("members"), nw.col("n")
            most = [FREQUENT_SHARE * n for n in sides.sizes]
            many = (of_members > most[0]) | (of_all - of_members > most[1])
            each_score = inside.group_by("score").agg(of_members.count(), nw.len().alias("n"))
            answer = self.collect(each_score.filter(many))
            if not self.labels or self.labels_together or not len(answer):  # nothing is left to ask
                return answer.rename_columns({"score": "key"})
            candidates = set(answer["score"].to_pylist())
        some = self.lazy.filter(self.floats.is_in(sorted(candidates)))
        return self.collect(replace(self, lazy=some).counts_by(self.floats, sides.members))

    def sides(self, layout: Roles, names: list[str]) -> Sides:
        """What the first query says, or what is wrong with the rows."""
        answer = self.collect(self.first())
        rows, usable = (int(sum(answer[name].to_pylist())) for name in ("n", "usable"))
        with _without_rows():
            column = values_of(answer["member"], "member", 0)
            member = membership(Table({layout.member: column}), layout, set())
        if usable < rows:
            raise _not_finite(f"{rows - usable} of {rows} rows are")
        sizes = np.array([int(n) for n in answer["n"].to_pylist()])
        totals = int(sizes[member].sum()), int(sizes[~member].sum())
        for n, side in zip(totals, ("member", "nonmember"), strict=True):
            require_enough(n, side)
        text = self.kind == "text"
        low, high = (None, None) if text else (min(answer["low"].to_pylist()), max(answer["high"].to_pylist()))
        return Sides(answer["member"], column, member, low, high, totals)

    def cells(self, sides: Sides) -> _Cells:
        """The cells of all rows, those of each group apart."""
        members = sides.members
        if self.kind == "grid":
            return self._on_grid(sides)
        most = MOST_ROWS if self.labels else MOST_VALUES
        answer = self.collect(self.second(members, None).head(most + 1))
        if self.kind == "text":
            self._require_text(answer["key"].type)
            with _without_rows():
                keys = Labels(np.arange(len(answer)), answer["key"].to_pylist()).array("score", 0, LIMIT)
                require_no_spelled_number(keys, "member", 0)
            return _cells("text", keys, answer)
        keys = integers_of(answer["key"])
        if len(answer) > MOST_VALUES and (len(answer) > most or len(np.unique(keys)) > MOST_VALUES):
            return self._on_grid(sides)
        return _cells("integers", keys, answer)

    def _require_text(self, kind: pa.DataType) -> None:
        """Refuse categories of what is no text, and text that Dask made of objects which are none."""
        if not is_text(inner_type(kind)):
            raise fault(InputError, "score", f"the column holds categories of type {inner_type(kind)}; cast it to that")
        if self.frame.engine != "dask" or not hasattr(self.frame.native, "expr"):
            return
        from pandas.api.types import infer_dtype, is_object_dtype

        for each in self.frame.native.expr.walk():
            if type(each).__name__ == "FromPandas" and is_object_dtype(each.frame.dtypes.get(self.score)):
                got = infer_dtype(each.frame.get(self.score))
                if got not in ("string", "empty"):
                    words = f"the column was made of {got} objects, which Dask writes as text; cast it before"
                    raise fault(InputError, "score", words)

    def read(self, part: Part, query: str) -> ColumnRead:
        """What the answer says of this column."""
        is_truth = self.dtype == narwhals().Boolean
        kind = "numbers" if self.dtype.is_float() else "booleans" if is_truth else KINDS[self.kind]
        few = part.kind != "grid" and len(part.keys) <= MOST_DISTINCT
        return ColumnRead("score", self.score, kind, len(part.keys) if few else None, (), query)

    def cut_again(
        self, grid: NestedGrid, sides: Sides, parts: Callable[[_Cells], Sequence[Part | None]]
    ) -> NestedGrid | None:
        """The grid with its crowded cells counted once more on finer ones; None if it has none.

        Args:
            grid: What was counted.
            sides: What the first query said.
            parts: The part of each group.
        """
        if not grid.crowds():
            return None
        for _ in range(MOST_TIMES):
            finer = {}
            for place in grid.crowds():
                low, high = grid.range_of(place)
                inside = self.lazy.filter((self.floats >= low) & (self.floats < high))
                rows = replace(self, lazy=inside)
                ends = rows.collect(inside.select(self.floats.min().alias("low"), self.floats.max().alias("high")))
                low, high = (ends[name][0].as_py() for name in ("low", "high"))
                if low is not None:
                    finer[place] = parts(rows._between(float(low), float(high), sides))
            grid = grid.cut(finer)
        return grid

    def _on_grid(self, sides: Sides) -> _Cells:
        low, high = float(sides.low), float(sides.high)
        if not np.isfinite([low, high]).all():
            raise _not_finite("some rows are")
        return self._between(low, high, sides)

    def _between(self, low: float, high: float, sides: Sides) -> _Cells:
        """Cells of the finest grid that holds both ends."""
        exponent, members = finest_exponent(low, high), sides.members
        answer = self.collect(self.second(members, exponent))
        numbers = integers_of(answer["key"]).astype(np.int64)
        near = numbers >= NEAR
        steps, keys = np.divmod(np.where(near, (numbers - NEAR) % ONE, 0), KEYS)
        exponents, keys = steps - STEPS, keys - KEYS // 2
        close = numbers >= NEAR + ONE
        exponents[close], keys[close] = below_one(exponents[close], keys[close])
        exponents, keys = np.where(near, exponents, exponent), np.where(near, keys, numbers)
        cells = _cells("grid", keys, answer, exponents)
        whole = Grid.of_steps(*cells_at(cells.cells.grid.lower_edges, exponent)).lower_edges
        at = np.unique(whole, return_inverse=True)[1]
        own = (np.bincount(at, column) for column in (cells.cells.members, cells.cells.nonmembers))
        many = [each for column, size in zip(own, sides.sizes, strict=True) for each in crowded(column, size)]
        inside = np.isin(at, many)
        if not inside.any():
            return cells
        rows = int(sum(column[inside].sum() for column in (cells.cells.members, cells.cells.nonmembers)))
        dense = numbers[inside].tolist()
        return replace(cells, frequent=self.frequent(sides, exponent, dense, rows))

    def numbers(self) -> Expr:
        """Scores as numbers; floats of 32 bits as the floats of 64 that they are."""
        nw = narwhals()
        if self.dtype == nw.Boolean:
            return as_number(nw.col(self.score))
        return nw.col(self.score).cast(nw.Float64) if self.dtype.is_float() else nw.col(self.score)

    @property
    def floats(self) -> Expr:
        """Scores as floats of 64 bits."""
        return self.numbers().cast(narwhals().Float64)

    def collect(self, query: Lazy) -> pa.Table:
        """What the engine answers to a query."""
        with speaking_for(self.frame):
            return query.collect("pyarrow").to_native()


def _place(numbers: Expr, exponent: int) -> Expr:
    """The place of numbers on a grid of one step."""
    nw = narwhals()
    key = (numbers * 2.0**-exponent).floor().cast(nw.Int64)
    # next to 0 the product may be 0 (estimators.sample.cells), or an error of PostgreSQL
    if exponent > 0:
        beside = nw.when(numbers < 0).then(nw.lit(-1)).otherwise(nw.lit(0))
        step = 2.0**exponent
        key = nw.when((numbers < step) & (numbers >= -step)).then(beside).otherwise(key)
    return key


def _with_cells(rows: Lazy, exponent: int) -> Lazy:
    """Rows with a number for the cell of their score: its place on a grid, or one of an octave's.

    Next to 0, and 1, cells are those of octaves, told apart from places by a number with the exponent of a step: at
    most that of the cell, as engines round logarithms. Column after column, so that no engine reads one twice; of what
    is far away, or nothing, no logarithm is taken, which PostgreSQL does in decimals.
    """
    nw = narwhals()
    score, away, size, step = (nw.col(name) for name in ("score", "away", "size", "step"))
    limit = 2.0 ** (exponent + OCTAVE_BITS)
    near = (score >= -limit) & (score < limit)
    distance, anchor = nw.when(near).then(score).otherwise(nw.lit(0.0)), nw.lit(NEAR)
    if exponent + OCTAVE_BITS > LEAST_BELOW_ONE and exponent <= LARGEST_BELOW_ONE:
        close = (score >= 1.0 - limit) & (score < 1.0)
        distance = nw.when(close).then(score - 1.0).otherwise(distance)
        anchor, near = nw.when(close).then(nw.lit(NEAR + ONE)).otherwise(anchor), near | close
    rows = rows.with_columns(distance.alias("away"))
    rows = rows.with_columns(nw.when(away.abs() >= LEAST).then(away.abs()).alias("size"))
    octave = nw.when(size.is_null()).then(nw.lit(float(LEAST_OCTAVE))).otherwise(size.log(2).floor())
    rows = rows.with_columns((octave - (OCTAVE_BITS + 1)).alias("step"))
    own = (away * nw.lit(2.0) ** -step).floor().cast(nw.Int64) + KEYS // 2
    number = own + (step + STEPS).cast(nw.Int64) * KEYS + anchor
    return rows.with_columns(nw.when(near).then(number).otherwise(_place(score, exponent)).alias("key"))


def lazy_of(frame: Frame) -> Lazy:
    """The frame as Narwhals speaks to it."""
    nw = narwhals()
    with speaking_for(frame):
        return nw.from_native(frame.native).lazy()


def as_number(truth: Expr) -> Expr:
    """1 where something holds and 0 where not: PostgreSQL casts no boolean to a number."""
    nw = narwhals()
    return nw.when(truth).then(nw.lit(1)).otherwise(nw.lit(0))


def _where(truth: Expr) -> Expr:
    """1 where something holds, to be counted: engines count for less than they sum, and have no wider type for it."""
    nw = narwhals()
    return nw.when(truth).then(nw.lit(1))


def _cells(kind: PartKind, keys: np.ndarray[Any, Any], answer: pa.Table, exponents: Integers | int = 0) -> _Cells:
    members = integers_of(answer["members"]).astype(np.int64)
    part = Part(kind, keys, members, integers_of(answer["n"]).astype(np.int64) - members, NONE, exponents)
    labels = _names_of_labels(len(answer.column_names))
    return _Cells(part, tuple(answer[name] for name in labels if name in answer.column_names))


def _names_of_labels(number: int) -> list[str]:
    """What columns of labels are called in the second query."""
    return [f"label_{i}" for i in range(number)]


def _not_finite(which: str) -> NotFinite:
    return fault(NotFinite, "score", f"{which} missing, NaN or infinite; every score must be finite")


def integers_of(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Whole numbers of whatever type an engine gives them."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and not column.null_count:
        return as_64_bit(column.to_numpy())
    return as_64_bit(np.array([int(value) for value in column.to_pylist()], dtype=object))


@contextmanager
def _without_rows() -> Iterator[None]:
    """What is wrong with a value; the rows of an engine have no numbers."""
    try:
        yield
    except (Problem, MaceError) as error:
        problem = Problem.of(error)
        nameless = problem.reworded(lambda text: re.sub(rf"(row|record) {problem.index}\b", r"a \1", text))
        nameless.index = None
        raise nameless from None


@contextmanager
def speaking_for(frame: Frame) -> Iterator[None]:
    """What an engine cannot do, or did not get done, in one line of its own words."""
    try:
        yield
    except (Problem, MaceError):
        raise
    except Exception as error:
        words = printable(str(error).strip().partition("\n")[0])[:300]
        detail = f"{frame.engine} cannot count this frame: {type(error).__name__}: {words}"
        raise Problem("bad-records", detail) from None
