"""What was read: each column by its name, what it was taken for, and what was dropped or understood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from estimators.risk.groups import spelled
from estimators.sample.integers import LEAST, MOST, or_infinite
from estimators.statement import Caution
from macekit.decoding.body import Column, ColumnRead, DecodedBody, Sample
from macekit.decoding.columns import FILLED, Labels
from macekit.problems import Problem

MOST_DISTINCT = 1000  # different values that are counted; of more it is only said that there are more

BEYOND = "integers of more than 64 bits"

LOOKS = 4096  # values that are looked at before all are: scores are mostly all different


class ColumnRecorder:
    """Columns as they are read, whole or block by block."""

    def __init__(self) -> None:
        self._entries: dict[object, _Entry] = {}

    def add(
        self, key: object, role: str, name: str, values: Column | Labels, notes: Iterable[str] = (), query: str = ""
    ) -> None:
        """The next values of a column, or all of them; ``key`` tells columns apart."""
        entry = self._entries.setdefault(key, _Entry(role, name, query))
        entry.kinds.add(kind_of(values))
        entry.reach(values)
        entry.notes.update(notes)
        if entry.distinct is not None:
            distinct = _distinct(values)
            together = None if distinct is None else entry.distinct | distinct
            entry.distinct = None if together is None or len(together) > MOST_DISTINCT else together

    def columns(self) -> tuple[ColumnRead, ...]:
        """What was read, in the order it was met."""
        return tuple(entry.column() for entry in self._entries.values())


@dataclass(slots=True)
class _Entry:
    role: str
    name: str
    query: str
    kinds: set[str] = field(default_factory=set)
    distinct: set[object] | None = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    low: int = 0
    high: int = 0

    def reach(self, values: Column | Labels) -> None:
        """Widen the range of integers that 64 bits, or no 64 bits, hold."""
        if not isinstance(values, np.ndarray) or not len(values):
            return
        long = values.dtype.kind == "O" and all(type(value) is int for value in values.tolist())
        if long or values.dtype in (np.int64, np.uint64):
            self.low = min(self.low, int(values.min()))
            self.high = max(self.high, int(values.max()))

    def column(self) -> ColumnRead:
        kinds = self.kinds - {"nothing"} or {"nothing"}
        kind, distinct, notes = min(kinds), self.distinct, self.notes
        if kinds == {"integers", "numbers"}:  # fractions among them: all are floats
            kind, notes = "numbers", notes - {FILLED}
            distinct = distinct and {or_infinite(cast("float", value)) for value in distinct}
        elif "text" in kinds and len(kinds) > 1:  # labels of several files, of which one has only text
            kind, distinct = ("text", distinct and {spelled(value) for value in distinct})
        elif self.high > (MOST if self.low < 0 else 2 * MOST + 1) or self.low < LEAST:
            notes = {*notes, BEYOND}
        return ColumnRead(
            self.role,
            self.name,
            kind,
            None if distinct is None or kind.startswith("rows") else len(distinct),
            tuple(sorted(notes, key=_place)),
            self.query,
        )


def _place(note: str) -> tuple[bool, bool, str]:
    """Where a note stands, whatever block it came from: who is a member last, members before nonmembers."""
    return note.endswith(": nonmembers"), note.endswith(": members"), note


def columns_read(body: DecodedBody) -> tuple[ColumnRead, ...]:
    """The columns of a decoded body; those of no table go by the names of their fields."""
    if body.columns:
        return body.columns
    recorder = ColumnRecorder()
    for role, query, values in _fields(body):
        recorder.add((role, query), role, query or role, values, query=query)
    for name, values in body.clusters.items():
        recorder.add(("cluster", name), "cluster", name, values)
    columns = recorder.columns()
    counts = tuple(
        ColumnRead("counts", name or "counts", "counts", None, query=name)
        for name, sample in body.samples.items()
        if sample.counts is not None
    )
    return columns + counts


def columns_by_query(body: DecodedBody) -> dict[str, list[ColumnRead]]:
    """Of several queries the columns of each, those of all included."""
    columns: dict[str, list[ColumnRead]] = {name: [] for name in body.samples}
    for each in columns_read(body):
        for name in [each.query] if each.query else columns:
            columns[name].append(each)
    return columns


def _fields(body: DecodedBody) -> Iterator[tuple[str, str, Column]]:
    """What each field is, the query it is of, and its values."""
    for query, sample in body.samples.items():
        for role, values in (("members", sample.members), ("nonmembers", sample.nonmembers)):
            if values is not None:
                yield role, query, values
    labels = ("groups", body.groups), ("units", body.units), ("model", body.models)
    for role, values in (("targets", body.targets), *labels):
        if values is not None:
            yield role, "", values
    for name, values in body.arrays.items():
        yield name, "", values


def kind_of(values: Column | Labels) -> str:
    """What a column holds, in a word or two."""
    if isinstance(values, Labels):
        return "text"
    if not len(values):
        return "nothing"
    if isinstance(values, list):
        return "booleans" if isinstance(values[0], bool) else "text"
    if values.ndim == 2:
        return f"rows of {values.shape[1]} numbers"
    return {"b": "booleans", "U": "text", "f": "numbers"}.get(values.dtype.kind, "integers")


def _distinct(values: Column | Labels) -> set[object] | None:
    """The different values, if they are few."""
    if isinstance(values, Labels):
        return _few(set(values.texts) if len(values.texts) <= MOST_DISTINCT else None)
    if isinstance(values, list):
        return _few(set(values[:LOOKS])) and _few(set(values))
    if values.ndim != 1:
        return None
    if values.dtype.kind == "O":
        return _few(set(values.tolist()))
    if values.dtype.kind == "b" and len(values):
        return {bool(values.min()), bool(values.max())}
    few = _few(set(values[:LOOKS].tolist()))
    return few if few is None or len(values) <= LOOKS else _few(_unique(values))


def _few(values: set[object] | None) -> set[object] | None:
    return values if values is None or len(values) <= MOST_DISTINCT else None


def _unique(values: NDArray[np.generic]) -> set[object]:
    """The different values of a long column that seem few, without sorting it."""
    if values.dtype.kind in "iu" and int(values.max()) - (low := int(values.min())) < MOST_DISTINCT:
        sizes = np.bincount(np.subtract(values, values.min(), dtype=np.int64, casting="same_kind"))
        return {low + int(at) for at in np.flatnonzero(sizes)}
    rest: NDArray[np.generic] = values
    distinct: Sequence[NDArray[np.generic]] = ()
    while len(rest) and sum(map(len, distinct)) <= MOST_DISTINCT:
        head = np.unique(rest[:LOOKS])
        distinct = (*distinct, head)
        at = np.minimum(np.searchsorted(head, rest), len(head) - 1)
        rest = rest[head[at] != rest]
    return {value for each in distinct for value in each.tolist()} if not len(rest) else set(range(MOST_DISTINCT + 1))


def join_queries(queries: Iterable[tuple[str, DecodedBody]]) -> DecodedBody:
    """Several bodies of one query each as one, each with its name before what was read and what is odd of it."""
    samples: dict[str, Sample] = {}
    columns: list[ColumnRead] = []
    cautions: list[Caution] = []
    for name, body in queries:
        if set(body.samples) != {""}:
            what = "holds several queries; each of several files is one"
            raise Problem("bad-option", f"a query: {what}", local=f"{name}: {what}")
        samples[name] = body.samples[""]
        columns += [replace(each, name=f"{name}: {each.name}", query=name) for each in columns_read(body)]
        cautions += [replace(each, message=f"{name}: {each.message}") for each in body.cautions]
    return DecodedBody(samples, columns=tuple(columns), cautions=tuple(cautions))
