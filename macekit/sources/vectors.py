"""Vectors of more records than are held: a pilot of them chooses one score, or boxes, and all others are counted so.

What can be read twice is read twice: the pilot is drawn from all records, then left out. Of what comes once it is drawn
from the records that are held when there are enough of either side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from estimators import Caution, CellsTarget, Counts, LearnedTarget
from estimators.adversary.learned import LearnedRule
from estimators.adversary.pilot import LEAST_TAUGHT, Pilot, PilotDraw
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Boxes
from estimators.sample.doubts import DOUBTS
from estimators.sample.learned import FROM_WHERE, LearnedCounts
from estimators.sample.stream import CountStream
from macekit.call import Call
from macekit.decoding.body import ColumnRead, DecodedBody, Sample
from macekit.decoding.columns_read import ColumnRecorder
from macekit.operations.options import parse_question, target
from macekit.problems import Problem
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.questions import Estimator
from macekit.sources.blocks import Block, Source, blamed

ENOUGH = 20_000  # rows of either side that could teach, for which rows are held that come once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorQuestion:
    """What a question says of how vectors are to be read."""

    prior: float
    seed: int
    target: LearnedTarget | CellsTarget

    @classmethod
    def of(cls, operation: str, options: Mapping[str, object], textual: bool) -> VectorQuestion:
        """From the options of a question; those it does not have are as in any other."""
        question = parse_question(QUESTIONS[operation], DecodedBody(options=dict(options), textual=textual))
        estimator = getattr(question, "estimator", None)
        adversaries = target(estimator) if isinstance(estimator, Estimator) else None
        return cls(
            getattr(question, "prior", 0.5),
            getattr(question, "seed", 0),
            adversaries if isinstance(adversaries, LearnedTarget | CellsTarget) else LearnedTarget(),
        )


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """Counts of the records that are not of the pilot, what to know of it, and the columns that were read."""

    counts: Counts
    cautions: tuple[Caution, ...]
    columns: tuple[ColumnRead, ...]

    def body(self, options: Mapping[str, object], textual: bool = False) -> DecodedBody:
        """The counts with the options that are left."""
        left = {name: value for name, value in options.items() if name != "query"}
        estimator = left.get("estimator")
        if self.counts.cells.kind == Boxes.kind and isinstance(estimator, Mapping):  # so many boxes were cut
            left["estimator"] = {name: value for name, value in estimator.items() if name != "bins"}
        sample = Sample(
            counts=self.counts.to_dict(), signs=tuple(each for each in self.cautions if each.code in DOUBTS)
        )
        return DecodedBody({"": sample}, left, textual, columns=self.columns, cautions=self.cautions)


class ByScore:
    """Counts of one learned score."""

    def __init__(self, rule: LearnedRule) -> None:
        self._rule, self._stream = rule, CountStream.on_grid()

    def add(self, members: Floats, nonmembers: Floats) -> None:
        """Score some more rows."""
        self._stream = self._stream.plus(self._rule.score(members), self._rule.score(nonmembers))

    def counts(self, among: str) -> Counts:
        """On the grid of the scores."""
        counts, rule = self._stream.counts(), self._rule
        return LearnedCounts(counts.members, counts.nonmembers, counts.cells, rule.learner, rule.n_taught, among)


class ByBox:
    """Counts of boxes."""

    def __init__(self, boxes: Boxes) -> None:
        self._boxes, self._columns = boxes, np.zeros((2, boxes.size), dtype=np.int64)

    def add(self, members: Floats, nonmembers: Floats) -> None:
        """Sort some more rows into boxes."""
        for side, rows in enumerate((members, nonmembers)):
            self._columns[side] += np.bincount(self._boxes.locate(rows), minlength=self._boxes.size)

    def counts(self, among: str) -> Counts:
        """Boxes have no order."""
        return Counts(self._columns[0], self._columns[1], self._boxes)


def counts_of_vectors(
    source: Source, first_blocks: deque[Block], rest: Iterator[Block], most: int, call: Call, about: VectorQuestion
) -> VectorCounts:
    """The counts of a source whose first blocks were read; of what comes once ``most`` bytes are held."""
    draw = PilotDraw(about.seed)
    if source.again:
        for block in chain(emptied(first_blocks), rest):
            _draw(draw, block)
        blocks, among = in_order(source, call), "all"
    else:
        _hold_until_enough(draw, first_blocks, rest, most)
        blocks, among = chain(emptied(first_blocks), rest), "first"
    pilot = draw.pilot()
    counter, cautions = counter_of(pilot, about, draw.rows, among)
    recorder, rows = _count(blocks, pilot, counter)
    if source.again and rows != draw.rows:
        raise changed(source.name)
    return VectorCounts(counter.counts(among), (*cautions, *pilot.doubts), recorder.columns())


def in_order(source: Source, call: Call) -> Iterator[Block]:
    """The blocks of a source, their columns in one order, as long as these have the same names in all."""
    first: Block | None = None
    for each in source.blocks(call):
        block = each.in_order()
        first = first or block
        if block.table.names != first.table.names:
            what = next(
                role
                for role, one, other in zip(
                    first.roles.what.values(), first.table.names, block.table.names, strict=True
                )
                if one != other
            )
            detail = (
                f"{block.name or 'a later batch'}: the column of {what} is not called as in "
                f"{first.name or 'the first'}; name it, or read them apart"
            )
            raise Problem("bad-records", detail, field=what)
        yield block


def emptied(first_blocks: deque[Block]) -> Iterator[Block]:
    """What was first_blocks, let go block by block."""
    while first_blocks:
        yield first_blocks.popleft()


def counter_of(
    pilot: Pilot, about: VectorQuestion, records: int, among: str
) -> tuple[ByScore | ByBox, tuple[Caution, ...]]:
    """What counts by the pilot, and what to know of that; the caution about a learned score goes with its counts."""
    if isinstance(about.target, LearnedTarget):
        return ByScore(pilot.teach(about.prior, about.seed, about.target.learners)), ()
    return ByBox(pilot.boxes(about.target.bins, records)), (about_boxes(pilot, among),)


def about_boxes(pilot: Pilot, among: str) -> Caution:
    """Which records cut the boxes."""
    message = f"the boxes were cut by {pilot.size} of the records, {FROM_WHERE[among]}; all is stated on the others"
    return Caution("boxes_from_pilot", message)


def changed(name: str) -> Problem:
    """What is wrong with records that are not the same when they are read again."""
    return Problem(
        "bad-records",
        f"{name + ': ' if name else ''}the records are not the same when they are read a second time, which "
        "vectors need; keep them as they are meanwhile, or give them in one pass, as an iterator of batches",
    )


def _draw(draw: PilotDraw, block: Block) -> None:
    """Draw from a block."""
    with blamed(block.name):
        member = block.members(set())
        draw.add(_rows(block), member)


def _hold_until_enough(draw: PilotDraw, first_blocks: deque[Block], rest: Iterator[Block], most: int) -> None:
    """Draw from what is held, and hold more until both sides can teach."""
    for block in first_blocks:
        _draw(draw, block)
    size = sum(block.nbytes for block in first_blocks)
    while not draw.can_teach(ENOUGH) and size <= most and (following := next(rest, None)) is not None:
        first_blocks.append(following)
        size += following.nbytes
        _draw(draw, following)
    if size > most and not draw.can_teach(LEAST_TAUGHT):
        raise Problem(
            "too-large",
            f"vectors are scored by what is learned from some records of both sides, and the first {draw.rows} rows "
            "are almost all of one side; give files, which can be read twice, or rows in another order",
        )


def _rows(block: Block) -> Floats:
    return block.scores().astype(np.float64, copy=False)


def _count(blocks: Iterator[Block], pilot: Pilot, counter: ByScore | ByBox) -> tuple[ColumnRecorder, int]:
    """Count all rows but those of the pilot: the columns that were read, and the number of rows."""
    recorder, values, start = ColumnRecorder(), set[str](), 0
    for block in blocks:
        with blamed(block.name):
            member, rows = block.members(values, recorder), _rows(block)
        others = pilot.others(start, len(rows))
        if not np.array_equal(rows[~others], pilot.within(start, len(rows))):
            raise changed("")
        counter.add(rows[others & member], rows[others & ~member])
        start += len(rows)
    return recorder, start
