"""Parts of counts as a table, for engines that only run a function on batches: a row a cell, summed by anybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from estimators.arrays import Integers
from estimators.sample.counts import Counts
from estimators.sample.frequent import NONE, Frequent
from estimators.sample.integers import as_64_bit, as_text
from estimators.sample.parts import Part, PartKind, counts_of_parts
from estimators.sample.stream import CountStream
from macekit.decoding.columns import refusals
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("kind", "exponent", "key", "members", "nonmembers")
"""``kind``, ``exponent`` and ``key`` tell cells apart; ``members`` and ``nonmembers`` are records, to be summed."""

FREQUENT = "frequent"
"""The kind of rows that count a score of a grid's cells by itself; these records stand in the cell's row, too."""

KINDS = (*get_args(PartKind), FREQUENT)


def rows_of(stream: CountStream) -> pa.Table:
    """What was counted as rows; none of nothing."""
    import pyarrow as pa

    none = np.zeros(0, np.int64)
    part = stream.part() or Part("grid", none, none, none)
    keys = part.keys if part.kind == "text" else as_text(part.keys)
    more = part.frequent
    return pa.table(
        {
            "kind": [part.kind] * len(keys) + [FREQUENT] * len(more),
            "exponent": np.append(np.broadcast_to(part.exponents, len(keys)), np.zeros(len(more), np.int64)),
            "key": pa.array([*keys.tolist(), *(repr(each.score) for each in more)], pa.string()),
            "members": np.concatenate([part.members, more.sides[0]]).astype(np.int64),
            "nonmembers": np.concatenate([part.nonmembers, more.sides[1]]).astype(np.int64),
        }
    )


def counts_of_rows(rows: object) -> Counts:
    """The counts of all rows, of as many parts as there are, summed before or not."""
    return counts_of_parts([part for table in _tables(rows) for part in _parts(table)])


def _tables(rows: object) -> Iterator[pa.Table]:
    """Rows as tables: a table or frame, several of them, or a mapping for each row."""
    import pyarrow as pa

    if isinstance(rows, pa.Table | pa.RecordBatch) or hasattr(rows, "__arrow_c_stream__"):
        with refusals("Arrow"):
            yield pa.table(rows)
    elif isinstance(rows, Iterable) and not isinstance(rows, str | bytes | Mapping):
        mappings: list[Mapping[str, object]] = []
        for each in rows:
            if isinstance(each, Mapping):
                mappings.append(each)
            else:
                yield from _tables(each)
        if mappings:
            with refusals("Arrow"):
                yield pa.table({name: [row.get(name) for row in mappings] for name in COLUMNS})
    else:
        got = type(rows).__name__
        detail = f"rows: got {got}; need tables, frames or rows as macekit.partial makes them"
        raise Problem("wrong-type", detail)


def _parts(table: pa.Table) -> Iterator[Part]:
    """The rows of a table, those of one kind and step together."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = next((name for name in COLUMNS if name not in table.column_names), None)
    if missing is not None:
        raise Problem("missing-field", f"rows: no column is called {missing}", field=missing)
    table = table.select(COLUMNS)
    hollow = next((name for name in COLUMNS if table[name].null_count), None)
    if hollow is not None:
        raise Problem("bad-counts", f"rows: the column {hollow} has rows without a value", field=hollow)
    try:
        kinds = table["kind"].cast(pa.string())
        texts = table["key"].cast(pa.string())
        exponents, members, nonmembers = (
            table[name].cast(pa.int64()) for name in ("exponent", "members", "nonmembers")
        )
    except pa.ArrowException:
        raise Problem("bad-counts", "rows: a column does not hold what macekit.partial wrote there") from None
    for kind in pc.unique(kinds).to_pylist():
        if kind not in KINDS:
            raise Problem("unknown-name", f"rows: kind is none of {', '.join(KINDS)}", field="kind")
        here = pc.equal(kinds, kind)
        keys = texts.filter(here).to_pylist()
        steps, *columns = (column.filter(here).to_numpy() for column in (exponents, members, nonmembers))
        if kind == FREQUENT:
            none = np.zeros(0, np.int64)
            yield Part("grid", none, none, none, _frequent(keys, *columns))
        else:
            yield Part(cast("PartKind", kind), _keys(kind, keys), columns[0], columns[1], NONE, steps)


def _frequent(texts: Sequence[str], members: Integers, nonmembers: Integers) -> Frequent:
    """The frequent scores of rows, each once."""
    try:
        scores = [float(text) for text in texts]
        if not np.isfinite(scores).all():
            raise ValueError
    except ValueError:
        raise Problem("bad-counts", "rows: a key of a frequent score is no number", field="key") from None
    return Frequent.of(zip(scores, members.tolist(), nonmembers.tolist(), strict=True))


def _keys(kind: str, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    if kind == "text":
        return np.array(texts, dtype=np.str_)
    try:
        keys = as_64_bit(np.array([int(text) for text in texts], dtype=object))
    except ValueError:
        raise Problem("bad-counts", "rows: a key of numbers is no whole number", field="key") from None
    if kind == "grid" and keys.dtype != np.int64:
        raise Problem("bad-counts", "rows: a key of a grid is out of range", field="key")
    return keys
