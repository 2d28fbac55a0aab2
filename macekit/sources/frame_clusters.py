"""Clusters of a frame that computes for itself: counted there by cluster, cell and side, and rows again here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from macekit.call import Call
from macekit.decoding.body import ColumnRead
from macekit.decoding.columns_read import ColumnRecorder
from macekit.problems import Problem
from macekit.sources.frames import Frame, FrameTable

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


def rows_by_cluster(frame: Frame, call: Call, on_grid: bool) -> ClusterRows:
    """All that a question with ``cluster`` needs of a frame's rows, in an order that is not the engine's."""
    table, recorder = FrameTable.of(frame, call), ColumnRecorder()
    (place,), clusters, group = table.layout.scores, table.layout.clusters, table.layout.group
    labelled = [("cluster", at) for at in clusters] + ([] if group is None else [("group", group)])
    column = table.column(place, on_grid, [at for _, at in labelled])
    sides = table.sides(column, recorder)
    if sum(sides.sizes) > MOST_ROWS:
        raise Problem(
            "too-large",
            f"cluster: {sum(sides.sizes)} rows; of a frame of {frame.engine} clusters may have at most "
            f"{MOST_ROWS} in all: take some of the clusters at random, with all their rows",
            field="cluster",
        )
    cells = column.cells(sides)
    part = cells.part
    labels = [cells.labels_of(i, role) for i, (role, _) in enumerate(labelled)]
    order = np.lexsort([part.keys, *(each.numbers for each in labels)])
    members, nonmembers = (np.repeat(order, each[order]) for each in (part.members, part.nonmembers))
    values = np.ldexp(part.keys.astype(np.float64), part.exponent) if part.kind == "grid" else part.keys
    rows = np.concatenate([members, nonmembers])
    own = [each.read(role, table.names[at]) for (role, at), each in zip(labelled, labels, strict=True)]
    return ClusterRows(
        values[members],
        values[nonmembers],
        part.kind == "grid",
        {table.names[at]: each.numbers[rows] for at, each in zip(clusters, labels, strict=False)},
        None if group is None else labels[-1].values[labels[-1].numbers[rows]],
        (column.read(part, ""), *recorder.columns(), *own),
    )
