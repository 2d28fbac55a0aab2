"""Whatever gives Arrow batches, read as they come: datasets, readers, lazy frames, relations, iterables of batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from estimators.python.dataclass import dataclass
from macekit.call import Call
from macekit.decoding.arrow import ROWS, cut
from macekit.decoding.columns import guarded, refusals
from macekit.decoding.roles import Roles, roles
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.decoding.unnamed_columns import candidates
from macekit.problems import Problem
from macekit.sources.blocks import Block

if TYPE_CHECKING:
    import pyarrow as pa

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
