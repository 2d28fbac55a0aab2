"""A frame of an engine as what a question is asked of: counts of it, made where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators import Counts, LearnedTarget
from estimators.adversary.learned import DEFAULT_LEARNERS, Learner, taught_of
from estimators.adversary.pilot import IN_ENGINES, LEAST_TAUGHT, MOST_BYTES, NEVER, SIDES, Pilot, between_rows, too_few
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Boxes
from estimators.sample.parts import counts_of_groups, counts_of_parts
from estimators.statement import Caution
from macekit.call import Call
from macekit.catalogue import command
from macekit.decoding.body import ColumnRead, DecodedBody, Sample
from macekit.decoding.columns_read import ColumnRecorder
from macekit.engines import frames
from macekit.problems import Problem, fault
from macekit.questions.counts.work import GROUPED, counts_suffice, vectors_suffice
from macekit.sources import reading
from macekit.sources.blocks import RemoteTable
from macekit.sources.vectors import VectorCounts, VectorQuestion, about_boxes, changed


@dataclass(frozen=True, slots=True)
class EngineTable(RemoteTable):
    """A frame that computes for itself."""

    frame: frames.Frame
    name: str = ""

    def body(self, call: Call, options: Mapping[str, object]) -> DecodedBody:
        """Its counts, or rows of a cluster's counts; refused where the question looks at every record."""
        frame = self.frame
        if vectors_suffice(call, options):
            about = VectorQuestion.of(call.operation, options, textual=False)
            return counts_of_frame(frame, call, about).body(options)
        clustered = "cluster" in dict(call.query) and call.operation not in ("counts", "compare")
        self._require_counts(call, options, clustered)
        on_grid = reading.goes_to_grid(call, options, textual=False)
        left = reading.not_of_counting(options)
        if clustered:
            rows = rows_by_cluster(frame, call, on_grid)
            if rows.on_grid:
                left["query"] = "continuous"  # few cells of a grid are no categories
            sample = Sample(rows.members, rows.nonmembers)
            return DecodedBody(
                {"": sample},
                left,
                groups=rows.groups,
                clusters=rows.clusters,
                columns=rows.columns,
                cautions=rows.doubts,
            )
        if "group" in dict(call.query) and call.operation in GROUPED:
            groups = frames.by_group(frame, call, on_grid)
            return reading.with_groups(groups.parts, groups.columns, options, textual=False, cut=groups.cut)
        by_query, columns = frames.count(frame, call, on_grid)
        return reading.of_counts(by_query, left, textual=False, columns=columns)

    def counts_by_group(self, call: Call, *, on_grid: bool) -> dict[object, Counts | None]:
        """The counts of each group, on the cells of all."""
        return counts_of_groups(frames.by_group(self.frame, call, on_grid).parts)

    def _require_counts(self, call: Call, options: Mapping[str, object], clustered: bool) -> None:
        """Refuse what looks at every record."""
        if call.operation == "counts":
            suffice = reading.are_counted(call, options)
        elif call.operation == "compare" and not {"cluster", "unit", "group"} & dict(call.query).keys():
            suffice = counts_suffice(call, options) or counts_suffice(Call("advantage"), options)
        else:
            columns = tuple(each for each in call.query if each[0] != "cluster" or not clustered)
            suffice = counts_suffice(replace(call, query=columns), options)
        if not suffice:
            raise Problem(
                "bad-option",
                f"`{command(call.operation)}` as it was asked looks at every record, and of a frame of "
                f"{self.frame.engine} only counts come back; collect the records, or a sample of them, and give that",
            )


def table_of(value: object) -> EngineTable | None:
    """A frame of an engine; None for anything else of its package."""
    frame = frames.frame_of(value)
    return None if frame is None else EngineTable(frame, frame.name)


Integers = NDArray[np.int64]

# Counted there by cluster, cell and side, and rows again here.

MOST_ROWS = 10**7
"""Rows that clusters may have in all: what an engine counts of each cluster is rows again here."""


@dataclass(frozen=True, slots=True)
class ClusterRows:
    """Scores of both sides, each with its cell's least value, and of each row, members' first, its labels."""

    members: np.ndarray[Any, Any]
    nonmembers: np.ndarray[Any, Any]
    on_grid: bool
    clusters: Mapping[str, np.ndarray[Any, Any]]
    groups: np.ndarray[Any, Any] | None
    columns: tuple[ColumnRead, ...]
    doubts: tuple[Caution, ...]


def rows_by_cluster(frame: frames.Frame, call: Call, on_grid: bool) -> ClusterRows:
    """All that a question with ``cluster`` needs of a frame's rows, in an order that is not the engine's."""
    table, recorder = frames.FrameTable.of(frame, call), ColumnRecorder()
    (place,), clusters, group = table.layout.scores, table.layout.clusters, table.layout.group
    labelled = [("cluster", at) for at in clusters] + ([] if group is None else [("group", group)])
    column = replace(table.column(place, on_grid, [at for _, at in labelled]), labels_together=True)
    sides = table.sides(column, recorder)
    if sum(sides.sizes) > MOST_ROWS:
        detail = (
            f"{sum(sides.sizes)} rows; of a frame of {frame.engine} clusters may have at most "
            f"{MOST_ROWS} in all: take some of the clusters at random, with all their rows"
        )
        raise fault("too-large", "cluster", detail)
    cells = column.cells(sides)
    part = cells.part
    labels = [cells.labels_of(i, role) for i, (role, _) in enumerate(labelled)]
    values = part.grid.lower_edges if part.kind == "grid" else part.keys
    order = np.lexsort([values, *(each.numbers for each in labels)])
    members, nonmembers = (np.repeat(order, each[order]) for each in (part.members, part.nonmembers))
    rows = np.concatenate([members, nonmembers])
    own = [each.read(role, table.names[at]) for (role, at), each in zip(labelled, labels, strict=True)]
    return ClusterRows(
        values[members],
        values[nonmembers],
        part.kind == "grid",
        {table.names[at]: each.numbers[rows] for at, each in zip(clusters, labels, strict=False)},
        None if group is None else labels[-1].values[labels[-1].numbers[rows]],
        (column.read(part, ""), *recorder.columns(), *own),
        counts_of_parts([part]).doubts if part.kind == "grid" else (),
    )


# Vectors of a frame that computes for itself: a pilot of its rows chooses boxes, and the frame counts them.
#
# Four queries: whether all rows can be used, some rows of either side, and how many of all rows fall into each box. The
# pilot's own rows are then taken out of the counts.


@dataclass(frozen=True, slots=True)
class FrameVectors:
    """Columns of a frame that are a vector together, who is a member, and the columns that were read."""

    columns: tuple[frames.ScoreColumn, ...]
    sides: frames.Sides
    read: tuple[ColumnRead, ...]

    @classmethod
    def of(cls, frame: frames.Frame, call: Call) -> FrameVectors:
        """Those that a question names, if every row can be used."""
        table, recorder = frames.FrameTable.of(frame, call), ColumnRecorder()
        columns = tuple(table.column(place, True) for place in table.layout.scores)
        for column in columns:
            assert column.kind == "grid"  # text was refused
        sides = table.sides(replace(columns[0], usable_too=columns[1:]), recorder)
        read = [ColumnRead("score", column.score, "numbers", None) for column in columns]
        return cls(columns, sides, (*read, *recorder.columns()))

    @property
    def inside(self) -> frames.Expr:
        """Whether a row is a member's."""
        return self.columns[0].is_member(self.sides.members)

    def pilot(self, seed: int) -> Pilot:
        """Rows of either side that the engine gives first."""
        first, lazy = self.columns[0], self.columns[0].lazy
        most = MOST_BYTES // (8 * len(self.columns))
        names = [f"x{at}" for at in range(len(self.columns))]
        scores = [column.floats.alias(name) for column, name in zip(self.columns, names, strict=True)]
        rows = []
        for of_side, n, side in zip((self.inside, ~self.inside), self.sides.sizes, SIDES, strict=True):
            size = min(taught_of(n), most)
            if size < LEAST_TAUGHT:
                raise too_few(side, n)
            answer = first.collect(lazy.filter(of_side).select(*scores).head(size))
            rows.append(np.column_stack([answer[name].to_numpy() for name in names]))
        return Pilot.of(rows[0], rows[1], seed)

    def count(self, boxes: Boxes) -> Integers:
        """Members, and nonmembers, in each box."""
        nw, first = frames.narwhals(), self.columns[0]
        keyed = first.lazy.select(
            box_of(self.columns, boxes).alias("key"), frames.as_number(self.inside).alias("members")
        )
        answer = first.collect(keyed.group_by("key").agg(nw.col("members").sum(), nw.len().alias("n")))
        counts = np.zeros((2, boxes.size), dtype=np.int64)
        at = frames.integers_of(answer["key"]).astype(np.int64)
        np.add.at(counts[0], at, frames.integers_of(answer["members"]).astype(np.int64))
        np.add.at(counts[1], at, frames.integers_of(answer["n"]).astype(np.int64))
        counts[1] -= counts[0]
        return counts

    def others(self, boxes: Boxes, pilot: Pilot) -> tuple[Integers, Integers]:
        """The same without the pilot's."""
        counts, teachers = self.count(boxes), (pilot.members, pilot.nonmembers)
        for column, rows in zip(counts, teachers, strict=True):
            np.subtract(column, np.bincount(boxes.locate(rows), minlength=boxes.size), out=column)
        left = [n - len(rows) for n, rows in zip(self.sides.sizes, teachers, strict=True)]
        if counts.min() < 0 or counts.sum(axis=1).tolist() != left:
            raise changed(self.columns[0].frame.name)
        return counts[0], counts[1]


def counts_of_frame(frame: frames.Frame, call: Call, about: VectorQuestion) -> VectorCounts:
    """The counts of a frame's vectors, computed where it lies."""
    vectors = FrameVectors.of(frame, call)
    pilot = vectors.pilot(about.seed)
    if isinstance(about.target, LearnedTarget):
        rule = pilot.teach_boxes(about.prior, about.seed, _learners(about.target, frame))
        counts = rule.counts(*vectors.others(between_rows(rule.boxes, pilot.rows), pilot))
        return VectorCounts(counts, pilot.doubts, vectors.read)
    boxes = between_rows(pilot.boxes(about.target.bins, sum(vectors.sides.sizes)), pilot.rows)
    by_box = Counts(*vectors.others(boxes, pilot), boxes)
    return VectorCounts(by_box, (about_boxes(pilot, "first"), *pilot.doubts), vectors.read)


def _learners(target: LearnedTarget, frame: frames.Frame) -> Sequence[Learner]:
    """Those whose score the engine can compute."""
    if target.learners == DEFAULT_LEARNERS:
        return IN_ENGINES
    names = {learner.name: learner for learner in IN_ENGINES}
    odd = next((each.name for each in target.learners if each.name not in names), None)
    if odd is not None:
        detail = (
            f"a frame of {frame.engine} is scored by {' and '.join(names)} alone, for it cannot "
            f"compute {odd}; remove that, or give the records"
        )
        raise fault("bad-option", "estimator.learners", detail)
    return tuple(names[each.name] for each in target.learners)


def box_of(columns: Sequence[frames.ScoreColumn], boxes: Boxes, node: int = 0) -> frames.Expr:
    """The box of a row, by comparisons alone."""
    nw = frames.narwhals()
    if node >= len(boxes.cuts):
        return nw.lit(node - len(boxes.cuts))
    low = box_of(columns, boxes, 2 * node + 1)
    if boxes.cuts[node] == NEVER:
        return low
    above = columns[boxes.axes[node]].floats > float(boxes.cuts[node])
    return nw.when(above).then(box_of(columns, boxes, 2 * node + 2)).otherwise(low)
