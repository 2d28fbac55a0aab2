"""A source as blocks of a table, whose columns stand in one order wherever they stood before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators import Counts, MaceError
from estimators.python.dataclass import dataclass, replace
from macekit.call import Call
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import Labels
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table, membership, record_columns, stacked
from macekit.problems import Problem

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
