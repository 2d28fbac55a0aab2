"""Scores of two bodies, one a side, read as one table of both sides would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.csv_values import Spelling, typed_texts
from macekit.decoding.roles import OneSide
from macekit.decoding.table import Table, Values, stacked

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

    @classmethod
    def of(cls, table: Table, layout: OneSide, names: Sequence[str], limit: int) -> Side:
        """The scores of a table whose columns are called so."""
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
        columns, notes = zip(
            *(side.spelled(name) for side, name in zip(sides, what, strict=True)), strict=True
        )
    recorder, samples = ColumnRecorder(), []
    for role, file, name, side, values, of_side in zip(
        SIDES, files, what, sides, columns, notes, strict=True
    ):
        for at, column in enumerate(side.columns):
            called = column or (str(at) if len(side.columns) > 1 else "")
            recorder.add((role, at), role, f"{file}: {called}" if called else file, values[at], of_side[at])
        table = Table(dict(enumerate(values)))
        samples.append(stacked(table, tuple(range(len(values))), name, side.limit))
    return DecodedBody({"": Sample(samples[0], samples[1])}, columns=recorder.columns())
