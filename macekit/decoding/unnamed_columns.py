"""Columns of a table that nobody named, but which are called as if they said whose a row is.

Rows of one person, document or model are not independent, and whoever posts them may not know that this matters. So
these columns are looked at, in the first rows of a table, and never refused: what cannot be read says nothing. What is
read in blocks brings the labels of its first rows with them, and a ``Look`` keeps these rows, and some that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import MaceError, Scores
from estimators.clusters.dependent_rows import DEPENDENT, dependent_rows
from estimators.python.dataclass import replace
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution
from macekit.call import Call
from macekit.catalogue import ARRAYS
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.columns import Labels, refusals
from macekit.decoding.compression import Source
from macekit.decoding.roles import (
    MEMBER_NAMES,
    NOTHING,
    Choose,
    OneSide,
    Roles,
    TableLayout,
    UnnamedColumns,
    choice,
    unnamed_columns,
    with_constants,
)
from macekit.decoding.table import Table, membership, stacked
from macekit.decoding.typed import inner_type, labels, values_of
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

ChooseLayout = Callable[[Sequence[str], Call], TableLayout | OneSide]
ReadLabels = Callable[[Call, memoryview, Choose[UnnamedColumns], int], Mapping[str, Labels]]

ROWS = 2**15  # rows at the start of a table that are looked at
LATER, ROWS_LATER = 16, 2**11  # how often rows that follow are looked at, where that is cheap, and how many at once
BYTES = 2**21  # bytes at the start of a text that are looked at
PIECE = 2**18  # bytes of a text that are taken at a time
CONTRADICTED = "membership_contradicted"
CODES = frozenset({DEPENDENT, CONTRADICTED})
"""Codes of what is said of these columns."""

MOST_SAMPLES = 4  # scores that they are held against, where there are several


def wanted(body_read: DecodedBody) -> bool:
    """Whether anything is to be looked at: not where it was said whose the rows are."""
    already_named = bool(body_read.clusters) or not (body_read.units is None and body_read.models is None)
    return body_read.rows is not None and bool(body_read.samples) and not already_named


def spans(rows: int) -> list[slice]:
    """Which of so many rows are looked at where all are at hand: the first ones, and some spread over the others."""
    step = max(ROWS_LATER, -(-(rows - ROWS) // LATER))
    return [slice(0, ROWS), *(slice(at, at + ROWS_LATER) for at in range(ROWS, rows, step))]


def cautions(
    columns: Mapping[str, ArrayLike],
    body_read: DecodedBody,
    places: NDArray[np.intp] | None = None,
    *,
    by_step: bool = False,
) -> tuple[Caution, ...]:
    """The first caution that any of the scores raises, of the rows that the columns tell of.

    Args:
        places: Which rows of the table these are, in order; None for the first ones.
        by_step: Whether the groups are steps, each of them a sample of its own: one record may stand in all.
    """
    try:
        return _cautions(columns, body_read, places, by_step=by_step)
    except (Problem, MaceError):
        return ()


def _cautions(
    columns: Mapping[str, ArrayLike], body_read: DecodedBody, places: NDArray[np.intp] | None, *, by_step: bool
) -> tuple[Caution, ...]:
    rows = body_read.rows
    if rows is None:
        return ()
    if places is None:
        places = np.arange(min(ROWS, len(rows)))
    at = np.searchsorted(places, rows)
    at[np.append(places, -1)[at] != rows] = len(places)  # which is nowhere
    arrays = {name: np.asarray(values)[: len(places)] for name, values in columns.items()}
    arrays = {name: each for name, each in arrays.items() if 0 < len(each) <= len(rows)}
    sides = {name: arrays.pop(name) for name in [*arrays] if name.lower() in MEMBER_NAMES}
    for name, each in sides.items():
        if body_read.samples and _says_otherwise(each, at, next(iter(body_read.samples.values()))):
            words = f"column {name!r} may say who is a member, too, and says otherwise: name the right one as member"
            return (Caution(CONTRADICTED, words),)
    for sample in list(body_read.samples.values())[:MOST_SAMPLES] if arrays else ():
        length = min(len(each) for each in arrays.values())
        rows_there = np.flatnonzero(at < length)
        scores = _scores(sample, rows_there)
        if scores is not None:
            in_order = {name: each[at[rows_there]] for name, each in arrays.items()}
            if by_step and body_read.groups is not None:
                step = np.asarray(body_read.groups)[rows_there]
                in_order = {name: _within(step, each) for name, each in in_order.items()}
            noticed = dependent_rows(scores, in_order)
            if noticed:
                return noticed
    return ()


def _within(step: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """Labels that are others in each step."""
    steps, own = (np.unique(each, return_inverse=True)[1].reshape(-1) for each in (step, labels))
    return steps * len(own) + own


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


def each_once(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """What is said of parts of the same records, once where it differs in numbers in parentheses alone."""
    first: dict[tuple[str, str], Caution] = {}
    for each in cautions:
        first.setdefault((each.code, each.message.partition(" (")[0]), each)
    return tuple(first.values())


class Look:
    """The first rows of what is read in blocks: who is a member, the scores, and labels of columns that nobody named.

    Of blocks that follow it keeps some rows of a few, spread over all that came, where they have labels. Labels of
    several files are the same where they are written alike. A column that some of the first rows lack has a gap.
    """

    def __init__(self, *, by_step: bool = False) -> None:
        self._by_step = by_step
        self._steps: list[NDArray[np.generic]] = []
        self._left = ROWS
        self._member: list[NDArray[np.bool_]] = []
        self._scores: dict[str, list[NDArray[np.generic]]] = {}
        self._codes: dict[str, list[NDArray[np.intp]]] | None = None
        self._numbers: dict[str, dict[str, int]] = {}
        self._first = self._met = 0
        self._every = 1

    def add(self, table: Table, layout: Roles) -> None:
        """The next rows; what is wrong with them is for whoever reads them to say."""
        if table.unnamed is None or self._codes == {}:
            return
        if not self._left:
            self._add_later(table, layout)
            return
        if not table.unnamed:
            self._codes = {}
            return
        rows = min(self._left, *map(len, table.unnamed.values()))
        try:
            self._add(_first_rows(table, layout, rows), layout)
            self._first = len(self._member)
        except (Problem, MaceError):
            self._codes = {}

    def _add_later(self, table: Table, layout: Roles) -> None:
        """A block after the first rows: one in so many, and ever fewer, so that all that came are looked at alike."""
        self._met += 1
        labels = table.unnamed or {}
        if self._met % self._every or not set(self._codes or ()) <= labels.keys():
            return
        with suppress(Problem, MaceError):
            self._add(_first_rows(table, layout, min(ROWS_LATER, *map(len, labels.values()))), layout)
        if len(self._member) - self._first > LATER:
            self._every *= 2
            kept: list[list[Any]] = [self._member, self._steps, *self._scores.values(), *(self._codes or {}).values()]
            for parts in kept:
                del parts[self._first :: 2]

    def _add(self, table: Table, layout: Roles) -> None:
        member = membership(table, layout, set())
        if layout.queries:
            scores = {name: _numbers(table, (at,)) for name, at in zip(layout.queries, layout.scores, strict=True)}
        else:
            scores = {"": _numbers(table, layout.scores)}
        self._member.append(member)
        if self._by_step and layout.group is not None:
            step = table.columns[layout.group]
            self._steps.append(np.asarray(step.texts)[step.codes] if isinstance(step, Labels) else step)
        for name, values in scores.items():
            self._scores.setdefault(name, []).append(values)
        labels = table.unnamed or {}
        before: Mapping[str, list[NDArray[np.intp]]] = (
            {name: [] for name in labels} if self._codes is None else self._codes
        )
        self._codes = {
            name: [*codes, numbered(self._numbers.setdefault(name, {}), labels[name], len(member))]
            for name, codes in before.items()
            if name in labels
        }
        self._left = max(0, self._left - len(member))

    def added_to(self, body_read: DecodedBody) -> DecodedBody:
        """The body that was read of all rows, with the first caution that any of the scores raises."""
        return replace(body_read, cautions=(*self.cautions(), *body_read.cautions))

    def cautions(self) -> tuple[Caution, ...]:
        """The first caution that any of the scores raises, of these rows."""
        if not self._codes:
            return ()
        member = np.concatenate(self._member)
        members, nonmembers = np.flatnonzero(member), np.flatnonzero(~member)
        samples = {
            name: Sample(scores[members], scores[nonmembers])
            for name, parts in self._scores.items()
            for scores in (np.concatenate(parts),)
        }
        columns = {name: np.concatenate(codes) for name, codes in self._codes.items()}
        rows = np.concatenate([members, nonmembers])
        steps = np.concatenate(self._steps)[rows] if self._steps else None
        body = DecodedBody(samples, groups=steps, rows=rows)
        return cautions(columns, body, np.arange(len(member)), by_step=self._by_step)


def numbered(numbers: dict[str, int], labels: Labels, rows: int) -> NDArray[np.intp]:
    """The first labels by the numbers that they have in all files, to which those of new ones are added."""
    own = np.array([numbers.setdefault(str(text), len(numbers)) for text in labels.texts], dtype=np.intp)
    return np.asarray(own[labels.codes[:rows]])


def _first_rows(table: Table, layout: Roles, rows: int) -> Table:
    """The columns in use of the first rows."""
    columns = {
        at: Labels(column.codes[:rows], column.texts) if isinstance(column, Labels) else column[:rows]
        for at, column in table.columns.items()
    }
    return replace(table, columns=columns)


def _numbers(table: Table, places: tuple[int, ...]) -> NDArray[np.generic]:
    """Scores; of text, which has no order, nothing but how many there are."""
    first = table.columns[places[0]]
    if isinstance(first, Labels):
        return np.full(len(first), "", dtype=np.str_)
    return stacked(table, places, "score", BYTES * ROWS)


def looked_for(call: Call) -> Call:
    """The same call, for what is read in blocks: with ``looks`` where nobody said whose the rows are."""
    of_rows = {"unit", "cluster", "model"} & dict(call.query).keys()
    return replace(call, looks=0 if of_rows or ARRAYS.get(call.operation) else ROWS)


def first_labels(
    read: ReadLabels,
    call: Call,
    body: memoryview,
    rows: int = 0,
    of: ChooseLayout = choice,
    constants: Mapping[str, str] = NOTHING,
) -> Mapping[str, Labels]:
    """The labels of the first of so many rows; none where they cannot be read. ``of`` says what other columns are."""
    try:
        return read(call, body, chosen_for(call, lambda names, call: of(with_constants(names, constants), call)), rows)
    except (Problem, MaceError):
        return {}


def candidates(names: Sequence[str], layout: Roles, call: Call) -> UnnamedColumns | None:
    """Which columns to look at beside those in use; None if there is no look."""
    return unnamed_columns(names, layout, call) if call.looks else None


def with_labels(
    tables: Iterator[tuple[Table, Roles]],
    labels: Mapping[str, Labels] | None,
    call: Call,
    constants: Mapping[str, str] = NOTHING,
) -> Iterator[tuple[Table, Roles]]:
    """The same blocks, each with the labels of its rows, as far as those of the first rows of all go.

    ``constants`` are columns that have one label throughout.
    """
    rows = min(map(len, (labels or {}).values()), default=0)
    for table, layout in tables:
        if labels is None or table.start >= max(1, rows):
            yield table, layout
            continue
        here = {name: Labels(each.codes[table.start : rows], each.texts) for name, each in labels.items()}
        others = candidates(table.names, layout, call)
        one = np.zeros(len(table.columns[layout.member]), dtype=np.intp)
        whose = {name: Labels(one, [constants[name]]) for name in (others.names if others else ()) if name in constants}
        yield replace(table, unnamed=here | whose), layout


def cautions_of_sides(
    sample: Sample, members: Mapping[str, Labels], nonmembers: Mapping[str, Labels]
) -> tuple[Caution, ...]:
    """The same of a file for each side, both of which have a column of this name."""
    names = [name for name in members if name in nonmembers]
    if not names:
        return ()
    first, other = (min(map(len, side.values())) for side in (members, nonmembers))
    sizes = min(first, max(ROWS // 2, ROWS - other)), min(other, max(ROWS // 2, ROWS - first))
    columns = {}
    for name in names:
        numbers: dict[str, int] = {}
        sides = zip((members[name], nonmembers[name]), sizes, strict=True)
        columns[name] = np.concatenate([numbered(numbers, side, rows) for side, rows in sides])
    head = Sample(np.asarray(sample.members)[: sizes[0]], np.asarray(sample.nonmembers)[: sizes[1]])
    return cautions(columns, DecodedBody({"": head}, rows=np.arange(sum(sizes))))


def chosen_for(call: Call, of: ChooseLayout = choice) -> Choose[UnnamedColumns]:
    """Which columns to look at beside those that are in use, if there are any."""

    def choose(names: Sequence[str]) -> UnnamedColumns:
        columns = unnamed_columns(names, of(names, call), call)
        if not columns.places:
            raise Problem("missing-field", "no column is called as if it said whose a row is")
        return columns

    return choose


def first_text(source: Source, call: Call, head: bytes = b"") -> memoryview:
    """As much of a text as is looked at, of which ``head`` was read already, and a byte more; it is all given back."""
    text, most = bytearray(head), _most_bytes(call)
    while len(text) <= most and (piece := source.read(min(PIECE, most + 1 - len(text)))):
        text += piece
    source.back(bytes(text))
    return memoryview(text)


def _most_bytes(call: Call) -> int:
    """Bytes of a text that are looked at, for as many rows as are wanted."""
    return BYTES * (call.looks or ROWS) // ROWS


def first_lines(body: memoryview, call: Call) -> memoryview:
    """The first whole lines of a text."""
    most = _most_bytes(call)
    if len(body) <= most:
        return body
    head = bytes(body[:most])
    return memoryview(head[: head.rfind(b"\n") + 1])


def labels_of(table: pa.Table | pa.RecordBatch, names: Sequence[str]) -> dict[str, Labels]:
    """Columns of text or of whole numbers, without a gap, as numbers of their values."""
    import pyarrow as pa

    columns: dict[str, Labels] = {}
    with refusals("table"):
        for name, column in zip(names, table.columns, strict=True):
            column.validate(full=True)
            kind = inner_type(column.type)
            text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            if column.null_count or not (text or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
                continue
            in_index = text and pa.types.is_dictionary(column.type)  # where a long text stands once
            distinct = values_of(column, name, 0) if in_index else labels(column.cast(kind))
            if not isinstance(distinct, Labels):
                continue
            if not text or all(each and each.strip() for each in distinct.texts):
                columns[name] = distinct
    return columns


def labels_of_array(values: NDArray[Any]) -> Labels | None:
    """The same of an array; None if it holds other values."""
    if values.dtype.kind == "O":
        return labels_of_list(values.tolist())
    if values.ndim != 1 or values.dtype.kind not in "biuU":
        return None
    distinct = Labels.of(values)
    text = values.dtype.kind == "U"
    return distinct if not text or all(each and each.strip() for each in distinct.texts) else None


def labels_of_list(values: Sequence[object]) -> Labels | None:
    """The same of a list, whose values are of one type."""
    if {*map(type, values)} not in ({int}, {str}, {bool}):
        return None
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(each, len(numbers)) for each in values], dtype=np.intp)
    texts = [str(each) for each in numbers]
    return Labels(codes, [*texts]) if all(each.strip() for each in texts) else None
