"""A frame of an engine as what a question is asked of: counts of it, made where it lies."""

from __future__ import annotations

from collections.abc import Mapping

from estimators import Counts
from estimators.python.dataclass import dataclass, replace
from estimators.sample.parts import counts_of_groups
from macekit.call import Call
from macekit.catalogue import command
from macekit.decoding.body import DecodedBody, Sample
from macekit.engines import frame_rows, frames
from macekit.problems import Problem
from macekit.questions.counts.work import GROUPED, counts_suffice, vectors_suffice
from macekit.sources import reading
from macekit.sources.blocks import RemoteTable
from macekit.sources.vectors import VectorQuestion


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
            return frame_rows.counts_of_frame(frame, call, about).body(options)
        clustered = "cluster" in dict(call.query) and call.operation not in ("counts", "compare")
        self._require_counts(call, options, clustered)
        on_grid = reading.goes_to_grid(call, options, textual=False)
        left = reading.not_of_counting(options)
        if clustered:
            rows = frame_rows.rows_by_cluster(frame, call, on_grid)
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
