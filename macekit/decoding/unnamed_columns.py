"""Columns of a table that nobody named, but which are called as if they said whose a row is.

Rows of one person, document or model are not independent, and whoever posts them may not know that this matters. So
these columns are looked at, in the first rows of a table alone, and never refused: what cannot be read says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import Scores
from estimators.clusters.dependent_rows import dependent_rows
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution
from macekit.call import Call
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.columns import refusals
from macekit.decoding.roles import MEMBER_NAMES, Choose, UnnamedColumns, choice, unnamed_columns
from macekit.decoding.typed import inner_type, labels
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 2**15  # rows at the start of a table that are looked at
BYTES = 2**21  # bytes at the start of a text that are looked at
MOST_SAMPLES = 4  # scores that they are held against, where there are several


def wanted(body_read: DecodedBody) -> bool:
    """Whether anything is to be looked at: not where it was said whose the rows are."""
    already_named = bool(body_read.clusters) or not (body_read.units is None and body_read.models is None)
    return body_read.rows is not None and bool(body_read.samples) and not already_named


def cautions(columns: Mapping[str, ArrayLike], body_read: DecodedBody) -> tuple[Caution, ...]:
    """The first caution that any of the scores raises, of the rows that the columns tell of."""
    rows = body_read.rows
    if rows is None:
        return ()
    arrays = {name: np.asarray(values)[:ROWS] for name, values in columns.items()}
    arrays = {name: each for name, each in arrays.items() if 0 < len(each) <= len(rows)}
    sides = {name: arrays.pop(name) for name in [*arrays] if name.lower() in MEMBER_NAMES}
    for name, each in sides.items():
        if body_read.samples and _says_otherwise(each, rows, next(iter(body_read.samples.values()))):
            words = f"column {name!r} may say who is a member, too, and says otherwise: name the right one as member"
            return (Caution("membership_contradicted", words),)
    for sample in list(body_read.samples.values())[:MOST_SAMPLES] if arrays else ():
        length = min(len(each) for each in arrays.values())
        rows_there = np.flatnonzero(rows < length)
        scores = _scores(sample, rows_there)
        if scores is not None:
            in_order = {name: each[rows[rows_there]] for name, each in arrays.items()}
            noticed = dependent_rows(scores, in_order)
            if noticed:
                return noticed
    return ()


def _says_otherwise(labels: NDArray[Any], rows: NDArray[np.intp], sample: Sample) -> bool:
    """Whether one of two or three labels stands on both sides."""
    if sample.members is None or not 2 <= len({*labels.tolist()}) <= 3:
        return False
    inside = np.arange(len(rows)) < len(np.asarray(sample.members))
    ones, others = ({*labels[rows[which & (rows < len(labels))]].tolist()} for which in (inside, ~inside))
    return bool(ones & others)


def _scores(sample: Sample, rows_there: NDArray[np.intp]) -> Scores | None:
    """Scores of some of the records; where one side has next to none of them, the other one cut in two."""
    if sample.members is None or sample.nonmembers is None:
        return None
    members, nonmembers = np.asarray(sample.members), np.asarray(sample.nonmembers)
    both = [
        members[rows_there[rows_there < len(members)]],
        nonmembers[rows_there[rows_there >= len(members)] - len(members)],
    ]
    if both[0].dtype.kind not in "biuf" or both[1].dtype.kind not in "biuf":
        return None
    sides = [(side if side.ndim == 1 else side[:, 0]).astype(np.float64) for side in both]
    if min(map(len, sides)) < MIN_RECORDS:
        if min(map(len, sides)) > 0:
            return None
        whole = max(sides, key=len)
        sides = [whole[: len(whole) // 2], whole[len(whole) // 2 :]]
    return Scores.of(sides[0], sides[1], "continuous")


def chosen_for(call: Call) -> Choose[UnnamedColumns]:
    """Which columns to look at, if there are any."""

    def choose(names: Sequence[str]) -> UnnamedColumns:
        columns = unnamed_columns(names, choice(names, call), call)
        if not columns.places:
            raise Problem("missing-field", "no column is called as if it said whose a row is")
        return columns

    return choose


def first_lines(body: memoryview) -> memoryview:
    """The first whole lines of a text."""
    if len(body) <= BYTES:
        return body
    head = bytes(body[:BYTES])
    return memoryview(head[: head.rfind(b"\n") + 1])


def labels_of(table: pa.Table, layout: UnnamedColumns) -> dict[str, ArrayLike]:
    """Columns of text or of whole numbers, without a gap, as numbers of their values."""
    import pyarrow as pa

    columns: dict[str, ArrayLike] = {}
    with refusals("table"):
        for name, column_as_sent in zip(layout.names, table.columns, strict=True):
            column_as_sent.validate(full=True)
            kind = inner_type(column_as_sent.type)
            column = column_as_sent.cast(kind)
            text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            if column.null_count or not (text or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
                continue
            distinct = labels(column)
            if not text or all(each and each.strip() for each in distinct.texts):
                columns[name] = distinct.codes
    return columns
