"""A source as blocks of a table, whose columns stand in one order wherever they stood before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from estimators import MaceError
from macekit.call import Call
from macekit.decoding.columns import Labels
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table
from macekit.problems import Problem


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

    def in_order(self) -> Block:
        """The same with the scores first, then membership, group, unit, model and clusters."""
        old = self.roles
        places = [
            at
            for at in (*old.scores, old.member, old.group, old.unit, old.model, *old.clusters)
            if at is not None
        ]
        new = {at: place for place, at in enumerate(places)}
        table = Table(
            {new[at]: column for at, column in self.table.columns.items()},
            self.table.start,
            [self.table.names[at] for at in places] if self.table.names else (),
            {new[at]: notes for at, notes in self.table.notes.items()},
        )
        roles = replace(
            old,
            scores=tuple(range(len(old.scores))),
            member=new[old.member],
            group=None if old.group is None else new[old.group],
            unit=None if old.unit is None else new[old.unit],
            model=None if old.model is None else new[old.model],
            clusters=tuple(new[at] for at in old.clusters),
        )
        return Block(self.name, table, roles)


class Source(Protocol):
    """What gives blocks; ``name`` is what messages call it."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def again(self) -> bool:
        """Whether ``blocks`` may be called once more, and gives the same."""

    def blocks(self, call: Call) -> Iterator[Block]:
        """The columns in use, block by block; ``call`` names them."""


def ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same blocks, the next of which is read while the last is looked at: one ahead, never more."""
    with ThreadPoolExecutor(1) as reader:
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


def _bytes(column: np.ndarray[tuple[int, ...], np.dtype[np.generic]] | Labels) -> int:
    if isinstance(column, Labels):
        return column.codes.nbytes + sum(len(text or "") for text in column.texts)
    return column.nbytes
