"""Vectors of a frame that computes for itself: a pilot of its rows chooses boxes, and the frame counts them.

Four queries: whether all rows can be used, some rows of either side, and how many of all rows fall into each box. The
pilot's own rows are then taken out of the counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators import Caution, CellsTarget, Counts, LearnedTarget
from estimators.adversary.learned import DEFAULT_LEARNERS, taught_of
from estimators.adversary.pilot import LEAST_TAUGHT, MOST_BYTES, Pilot, too_few
from estimators.adversary.tree import IN_ENGINES, NEVER, between_rows
from estimators.sample.cells import Boxes
from estimators.sample.learned import FROM_WHERE
from macekit.call import Call
from macekit.decoding.account import Account
from macekit.decoding.body import ColumnRead
from macekit.decoding.roles import roles
from macekit.problems import Problem
from macekit.sources.frames import (
    Expr,
    Frame,
    Lazy,
    ScoreColumn,
    Sides,
    as_number,
    integers_of,
    lazy_of,
    narwhals,
    speaking_for,
    take_member,
)
from macekit.sources.vectors import VectorCounts, VectorQuestion, changed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def counts_of_frame(frame: Frame, call: Call, about: VectorQuestion) -> VectorCounts:
    """The counts of a frame's vectors, computed where it lies."""
    lazy = lazy_of(frame)
    with speaking_for(frame):
        schema = lazy.collect_schema()
    names = schema.names()
    layout = roles(names, call)
    columns = [
        ScoreColumn(frame, lazy, names[place], names[layout.member], True, schema[names[place]])
        for place in layout.scores
    ]
    for column in columns:
        assert column.kind == "grid"  # text was refused
    first = replace(columns[0], usable_too=tuple(columns[1:]))
    sides, account = first.sides(layout, names), Account()
    take_member(account, sides, layout, names)
    pilot = _pilot(lazy, columns, sides, about.seed)
    learned = isinstance(about.target, LearnedTarget)
    rule = pilot.teach_boxes(about.prior, about.seed, _learners(about, frame)) if learned else None
    boxes = pilot.boxes(_bins(about), sum(sides.sizes)) if rule is None else rule.boxes
    boxes = between_rows(boxes, pilot.rows)
    members, nonmembers = _others(first, columns, sides, boxes, pilot)
    read = tuple(ColumnRead("score", column.score, "numbers", None) for column in columns)
    if rule is not None:
        return VectorCounts(rule.counts(members, nonmembers), pilot.doubts, (*read, *account.columns()))
    message = f"the boxes were cut by {pilot.size} of the records, {FROM_WHERE['first']}; all is stated on the others"
    cautions = (Caution("boxes_from_pilot", message), *pilot.doubts)
    return VectorCounts(Counts(members, nonmembers, boxes), cautions, (*read, *account.columns()))


def _bins(about: VectorQuestion) -> int | None:
    return about.target.bins if isinstance(about.target, CellsTarget) else None


def _learners(about: VectorQuestion, frame: Frame) -> tuple[Any, ...]:
    """Those whose score the engine can compute."""
    assert isinstance(about.target, LearnedTarget)
    if about.target.learners == DEFAULT_LEARNERS:
        return IN_ENGINES
    names = {learner.name: learner for learner in IN_ENGINES}
    odd = next((each.name for each in about.target.learners if each.name not in names), None)
    if odd is not None:
        raise Problem(
            "bad-option",
            f"estimator.learners: a frame of {frame.engine} is scored by {' and '.join(names)} alone, for it cannot "
            f"compute {odd}; remove that, or give the records",
            field="estimator.learners",
        )
    return tuple(names[each.name] for each in about.target.learners)


def _pilot(lazy: Lazy, columns: list[ScoreColumn], sides: Sides, seed: int) -> Pilot:
    """Rows of either side that the engine gives first."""
    first, (members, nonmembers) = columns[0], sides.sizes
    inside = first.is_member(sides.members)
    most = MOST_BYTES // (8 * len(columns))
    names = [f"x{at}" for at in range(len(columns))]
    scores = [column.floats.alias(name) for column, name in zip(columns, names, strict=True)]
    rows = []
    for of_side, n, side in ((inside, members, "member"), (~inside, nonmembers, "nonmember")):
        size = min(taught_of(n), most)
        if size < LEAST_TAUGHT:
            raise too_few(side, n)
        answer = first.collect(lazy.filter(of_side).select(*scores).head(size))
        rows.append(np.column_stack([answer[name].to_numpy() for name in names]))
    return Pilot.of(rows[0], rows[1], seed)


def _others(
    first: ScoreColumn, columns: list[ScoreColumn], sides: Sides, boxes: Boxes, pilot: Pilot
) -> tuple[Integers, Integers]:
    """Members and nonmembers in each box, without the pilot's."""
    nw = narwhals()
    inside = as_number(first.is_member(sides.members)).alias("members")
    keyed = first.lazy.select(box_of(columns, boxes).alias("key"), inside)
    answer = first.collect(keyed.group_by("key").agg(nw.col("members").sum(), nw.len().alias("n")))
    counts = np.zeros((2, boxes.size), dtype=np.int64)
    at = integers_of(answer["key"]).astype(np.int64)
    np.add.at(counts[0], at, integers_of(answer["members"]).astype(np.int64))
    np.add.at(counts[1], at, integers_of(answer["n"]).astype(np.int64))
    counts[1] -= counts[0]
    for side, rows in enumerate((pilot.members, pilot.nonmembers)):
        counts[side] -= np.bincount(boxes.locate(rows), minlength=boxes.size)
    left = [n - len(rows) for n, rows in zip(sides.sizes, (pilot.members, pilot.nonmembers), strict=True)]
    if counts.min() < 0 or counts.sum(axis=1).tolist() != left:
        raise changed(first.frame.name)
    return counts[0], counts[1]


def box_of(columns: list[ScoreColumn], boxes: Boxes, node: int = 0) -> Expr:
    """The box of a row, by comparisons alone."""
    nw = narwhals()
    if node >= len(boxes.cuts):
        return nw.lit(node - len(boxes.cuts))
    low = box_of(columns, boxes, 2 * node + 1)
    if boxes.cuts[node] == NEVER:
        return low
    above = columns[boxes.axes[node]].floats > float(boxes.cuts[node])
    return nw.when(above).then(box_of(columns, boxes, 2 * node + 2)).otherwise(low)
