"""A source as blocks of a table, whose columns stand in one order; and whatever gives Arrow batches, as blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators import Counts, MaceError
from estimators.python.dataclass import dataclass, replace
from macekit.call import Call
from macekit.decoding.arrow import ROWS, cut
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import Labels, guarded, refusals
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.roles import Roles, roles
from macekit.decoding.table import Table, membership, record_columns, stacked
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.decoding.unnamed_columns import candidates
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa


LIMIT = 2**40  # bytes a block may expand to: files are one's own


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a part of a source, and what their columns are."""

    name: str
    table: Table
    roles: Roles

    @property
    def nbytes(self) -> int:
        """Bytes that the columns in use take."""
        return sum(_bytes(column) for column in self.table.columns.values())

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.table.columns[self.roles.member])

    def in_order(self) -> Block:
        """The same with the scores first, then membership, group, unit, model and clusters."""
        old = self.roles
        single = {role: getattr(old, role) for role in ("member", "group", "unit", "model")}
        places = [*old.scores, *(at for at in single.values() if at is not None), *old.clusters]
        new = {at: place for place, at in enumerate(places)}
        table = Table(
            {new[at]: column for at, column in self.table.columns.items()},
            self.table.start,
            [self.table.names[at] for at in places] if self.table.names else (),
            {new[at]: notes for at, notes in self.table.notes.items()},
            self.table.unnamed,
        )
        scores, clusters = ([new[at] for at in several] for several in (old.scores, old.clusters))
        moved: dict[str, Any] = {role: None if at is None else new[at] for role, at in single.items()}
        roles = replace(old, scores=tuple(scores), clusters=tuple(clusters), **moved)
        return Block(self.name, table, roles)

    def members(self, values: set[str], recorder: ColumnRecorder | None = None) -> NDArray[np.bool_]:
        """Who is a member; ``values`` are those that the column held so far."""
        if recorder is not None:
            record_columns(recorder, self.table, self.roles)
        return membership(self.table, self.roles, values)

    def scores(self, *places: int) -> NDArray[np.generic]:
        """The scores of each row, or those of some of the columns."""
        return stacked(self.table, places or self.roles.scores, "score", LIMIT)


class Source(Protocol):
    """What gives blocks; ``name`` is what messages call it."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def again(self) -> bool:
        """Whether ``blocks`` may be called once more, and gives the same."""

    def head(self, call: Call) -> Source | None:
        """The first rows by themselves, where a column that only these are looked at for would be read as a whole."""

    def blocks(self, call: Call) -> Iterator[Block]:
        """The columns in use, block by block; ``call`` names them."""


class RemoteTable(ABC):
    """A table that is counted where it lies: no rows of it come here."""

    name: str
    """What messages call it."""

    @abstractmethod
    def body(self, call: Call, options: Mapping[str, object]) -> DecodedBody:
        """Counts that the question is asked of, with the options that are left to it."""

    @abstractmethod
    def counts_by_group(self, call: Call, *, on_grid: bool) -> dict[object, Counts | None]:
        """The counts of each group, on the cells of all."""


def ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same blocks, the next of which is read while the last is looked at: one ahead, never more.

    The thread ends when its pool is let go. Nothing shuts the pool down: that joins the thread, and a garbage collector
    that did so while another thread starts would wait for ever for a lock that the start holds.
    """
    reader = ThreadPoolExecutor(1)
    coming = reader.submit(next, blocks, None)
    while (block := coming.result()) is not None:
        coming = reader.submit(next, blocks, None)
        yield block


@contextmanager
def blamed(name: str) -> Iterator[None]:
    """What is wrong with a part of a source is said with its name."""
    try:
        yield
    except (Problem, MaceError) as error:
        problem = Problem.of(error)
        if not name or problem.detail.startswith(f"{name}: "):
            raise
        raise problem.reworded(lambda text: f"{name}: {text}") from None


def _bytes(column: NDArray[np.generic] | Labels) -> int:
    if isinstance(column, Labels):
        return column.codes.nbytes + sum(len(text or "") for text in column.texts)
    return column.nbytes


NAME = "Arrow"
IN_MEMORY = frozenset(
    {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}
)
"""Frames that hold their rows already: they are tables, and no streams of them."""


@dataclass(frozen=True, slots=True)
class Batches:
    """A stream of Arrow batches; most can be read once."""

    origin: Any
    name: str = ""

    @property
    def again(self) -> bool:
        """Whether it may be read twice: a list, a lazy frame, a dataset that knows how many rows it has."""
        origin = self.origin
        sized = _is_dataset(origin) and (hasattr(origin, "count_rows") or hasattr(origin, "num_rows"))
        return isinstance(origin, Sequence) or _is_lazy(origin) or (sized and not hasattr(origin, "to_reader"))

    def head(self, call: Call) -> Batches | None:
        """The first rows of a dataset or of a lazy frame, which read only the columns that they are asked for."""
        origin = self.origin
        is_dataset = hasattr(origin, "scanner")
        if not is_dataset and not _is_lazy(origin):
            return None
        names = origin.schema.names if is_dataset else origin.collect_schema().names()
        layout = roles(names, call)
        others = candidates(names, layout, call)
        if others is None or not others.places:
            return None
        columns = [names[at] for at in sorted([*layout.positions, *others.places])]
        with refusals(NAME):
            if is_dataset:
                return Batches([origin.head(LOOKS, columns=columns)], self.name)
            return Batches([origin.select(columns).head(LOOKS).collect().to_arrow()], self.name)

    def blocks(self, call: Call) -> Iterator[Block]:
        """The columns in use of every batch, by their names."""
        layouts: dict[tuple[str, ...], Roles] = {}
        start = 0
        for batch in _batches(self.origin, lambda names: roles(names, call)):
            names = tuple(batch.schema.names)
            if names not in layouts:
                layouts[names] = roles(names, call)
            others = candidates(names, layouts[names], call)
            for table, layout in cut(iter([batch]), layouts[names], names, start=start, others=others):
                yield Block(self.name, table, layout)
            start += len(batch)


def is_stream(value: object) -> bool:
    """Whether a value gives Arrow batches and does not hold them all, as a frame in memory does."""
    if isinstance(value, np.ndarray | Mapping | str | bytes):
        return False
    kind = type(value)
    if (kind.__module__.partition(".")[0], kind.__name__) in IN_MEMORY or hasattr(value, "to_numpy"):
        return False
    if isinstance(value, Sequence):
        return bool(value) and all(_is_batch(each) for each in value)
    if hasattr(value, "__arrow_c_stream__") or _is_lazy(value) or _is_dataset(value):
        return True
    return isinstance(value, Iterator)


def _is_batch(value: object) -> bool:
    """Whether a value is a batch, or a table, of Arrow's."""
    return hasattr(value, "schema") and (hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"))


def _is_lazy(value: object) -> bool:
    """Whether a value is a lazy frame of Polars."""
    return hasattr(value, "collect_batches") and hasattr(value, "collect_schema")


def _is_dataset(value: object) -> bool:
    """Whether a value is a dataset or a scanner of Arrow, or a dataset of Hugging Face."""
    return hasattr(value, "to_batches") or (hasattr(value, "with_format") and hasattr(value, "iter"))


def _batches(origin: Any, choose: Any) -> Iterator[pa.RecordBatch]:
    """Batches of all columns, or only of those in use where a source can leave the others out."""
    import pyarrow as pa

    if hasattr(origin, "scanner"):  # a dataset of Arrow
        names = origin.schema.names
        columns = [names[at] for at in choose(names).positions]
        scanner = origin.scanner(columns=columns, batch_size=ROWS, batch_readahead=4, fragment_readahead=1)
        yield from guarded(iter(scanner.to_batches()), NAME)
    elif _is_lazy(origin):
        names = origin.collect_schema().names()
        lazy = origin.select([names[at] for at in choose(names).positions])
        frames = (frame.to_arrow().to_batches() for frame in lazy.collect_batches(chunk_size=ROWS))
        for batches in guarded(frames, NAME):
            yield from batches
    elif hasattr(origin, "with_format"):
        yield from _of_many(origin.with_format("arrow").iter(batch_size=ROWS))
    elif hasattr(origin, "to_reader"):  # a scanner, which has chosen its columns
        yield from guarded(iter(origin.to_reader()), NAME)
    elif hasattr(origin, "__arrow_c_stream__"):
        yield from guarded(pa.RecordBatchReader.from_stream(origin), NAME)
    else:
        yield from _of_many(origin)


def _of_many(batches: Iterable[object]) -> Iterator[pa.RecordBatch]:
    """Batches and tables of any library, one after another."""
    import pyarrow as pa

    for place, each in enumerate(batches):
        if isinstance(each, pa.RecordBatch):
            yield each
        elif hasattr(each, "__arrow_c_stream__"):
            yield from pa.table(each).to_batches()
        elif hasattr(each, "__arrow_c_array__"):
            yield pa.record_batch(each)
        else:
            got = type(each).__name__
            detail = f"item {place} is {got}; need record batches of Arrow, or tables of them"
            raise Problem("wrong-type", detail)
