"""Whole tables: every column as it is, its missing values with it, for questions about data and not about scores.

A body holds several tables: as JSON by their names, as CSV, JSON lines, Arrow or Parquet in one table, in which a
column says of each row to which it belongs. Types are kept; of CSV, where everything is text, a column is numbers, true
and false, or text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from macekit.call import Call
from macekit.catalogue import BY_NAME
from macekit.decoding.body import DecodedBody, options, table_options
from macekit.decoding.columns import as_numpy, refusals, require_short, require_text
from macekit.decoding.csv_values import BOOLEANS, FILLED_UP, INFINITE, MISSING, NUMBER, WHOLE
from macekit.decoding.roles import AllColumns
from macekit.decoding.typed import is_text, labels
from macekit.problems import Problem, fault, unknown_field
from macekit.schemas.query_string import WHOLE as TABLE

if TYPE_CHECKING:
    import pyarrow as pa

OTHER_WORDS = {
    "member": "train",
    "test": "holdout",
    "nonmember": "holdout",
    "released": "synthetic",
    "forget": "forgotten",
    "retain": "retained",
}
"""What they are called besides."""

MOST_COLUMNS = 2048

Column = NDArray[Any] | list[object]
Columns = dict[str, Column]


def of_one_table(call: Call, columns: Columns) -> DecodedBody:
    """The tables of a body that is one, and the options of the question."""
    tables = BY_NAME[call.operation].tables
    of_table = table_options(call).get(TABLE)
    name = TABLE if of_table is None else str(of_table)
    if name not in columns:
        detail = (
            f"no column {'of that name' if of_table is not None else 'is called table'}; name the column that "
            f"says of each row whether it is of {', '.join(tables)}"
        )
        raise fault("missing-field", TABLE, detail)
    return DecodedBody(options=options(call), textual=True, tables=_parts(columns, name, tables))


def all_columns(names: Sequence[str]) -> AllColumns:
    """Every column; each needs a name of its own."""
    if len(names) > MOST_COLUMNS:
        raise Problem("out-of-range", f"the table has {len(names)} columns, at most {MOST_COLUMNS}")
    for place, name in enumerate(names):
        if not name:
            raise Problem("bad-records", f"column {place} has no name; give every column one", index=place)
    if len(set(names)) < len(names):
        twice = next(place for place, name in enumerate(names) if name in names[:place])
        detail = f"column {twice} has the name of another; give every column its own"
        raise Problem("bad-records", detail, index=twice)
    return AllColumns(tuple(names))


def columns_of_json(table: str, columns: object) -> Columns:
    """Lists by the names of their columns, as a table."""
    if not isinstance(columns, dict):
        raise fault("wrong-type", table, "need an object, a list for each column")
    all_columns(list(columns))
    require_text(list(columns), f"{table}, names")
    for place, column in enumerate(columns.values()):
        if not isinstance(column, list):
            raise fault("wrong-type", table, f"column {place} is no list", place)
        odd = next((row for row, value in enumerate(column) if isinstance(value, list | dict)), None)
        if odd is not None:
            detail = f"column {place} holds a list or an object in row {odd}; need a value in each"
            raise fault("wrong-type", table, detail, odd)
        texts = [value for value in column if isinstance(value, str)]
        if texts:
            require_text(texts, f"{table}: column {place}")
            require_short(texts, f"{table}: column {place}")
    return cast("Columns", columns)


def _parts(columns: Columns, name: str, tables: Sequence[str]) -> dict[str, Columns]:
    """The rows of each table."""
    words = [None if word is None else str(word).strip().lower() for word in as_list(columns[name])]
    table_of = {word: each for each in tables for word in (each, each.removesuffix("s"))}
    table_of |= {word: table for word, table in OTHER_WORDS.items() if table in tables}
    odd = next((row for row, word in enumerate(words) if word not in table_of), None)
    if odd is not None:
        raise fault("bad-records", TABLE, f"row {odd} is none of {', '.join(table_of)}", odd)
    belongs = np.array([table_of[word] for word in words if word is not None])
    parts: dict[str, Columns] = {}
    for table in tables:
        rows = np.flatnonzero(belongs == table)
        if len(rows):
            parts[table] = {each: _rows(column, rows) for each, column in columns.items() if each != name}
    return parts


def _rows(column: Column, rows: NDArray[np.int64]) -> Column:
    return [column[row] for row in rows.tolist()] if isinstance(column, list) else column[rows]


def as_list(column: Column) -> list[object]:
    """Python's own values."""
    return column if isinstance(column, list) else column.tolist()


def require_tables(operation: str, tables: Mapping[str, Mapping[str, Column]]) -> None:
    """Refuse a question without one of the tables it is about, and a table whose columns differ in length."""
    row = BY_NAME[operation]
    for name in tables:
        if name not in row.tables:
            raise unknown_field(name, row.tables, "")
    missing = next((name for name in row.needed_tables if name not in tables), None)
    if missing is not None:
        raise fault("missing-field", missing, "is required and missing")
    for name, table in tables.items():
        sizes = {column: len(values) for column, values in table.items()}
        if not any(sizes.values()):
            raise fault("too-few-records", name, "there are no rows below the names of the columns")
        if len(set(sizes.values())) > 1:
            first, *others = sizes
            odd = next(column for column in others if sizes[column] != sizes[first])
            detail = f"column {odd!r} has {sizes[odd]} rows, {first!r} has {sizes[first]}"
            raise fault("dimension-mismatch", name, detail)


def of_texts(column: pa.ChunkedArray) -> Column:
    """A column of text as what it spells; what stands for nothing is missing, in text only blanks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with refusals("CSV"):
        distinct = labels(pc.utf8_trim_whitespace(column.cast(pa.string())))
    texts, places = cast("list[str]", distinct.texts), distinct.codes
    present = [text for text in texts if text.lower() not in MISSING - INFINITE]
    if present and all(_is_number(text) for text in present):
        if all(WHOLE.fullmatch(text) for text in present):
            return _pick([int(text) if WHOLE.fullmatch(text) else None for text in texts], places)
        numbers = np.array([float(text) if _is_number(text) else np.nan for text in texts])
        return np.asarray(numbers[places])
    if present and {text.lower() for text in present} <= BOOLEANS:
        truth = {"true": True, "false": False}
        return _pick([truth.get(text.lower()) for text in texts], places)
    require_short(texts or [""], "the table")
    return _pick([text or None for text in texts], places)


def _is_number(text: str) -> bool:
    """Whether a text is a number; one that is filled up with zeros is a code."""
    if text.lower() in INFINITE:
        return True
    return NUMBER.fullmatch(text) is not None and FILLED_UP.match(text) is None


def _pick(values: Sequence[object], places: NDArray[Any]) -> Column:
    """The value of each row; as an array where numbers of 64 bits are all there are."""
    if values and all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        numbers: NDArray[np.int64] = np.array(values, dtype=np.int64)
        return np.take(numbers, places)
    return [values[place] for place in places.tolist()]


def of_arrow(column: pa.ChunkedArray, place: int) -> Column:
    """A column with a type as values that the library takes, None or NaN where one is missing."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    with refusals("table"):
        column.validate(full=True)  # offsets and indices are the sender's
        if types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if types.is_null(kind):
            return [None] * len(column)
        if types.is_floating(kind):
            return as_numpy(column.cast(pa.float64()))
        if (types.is_integer(kind) or types.is_boolean(kind)) and not column.null_count:
            return as_numpy(column)
        if types.is_date(kind) or types.is_timestamp(kind):
            return as_numpy(column.cast(pa.timestamp("us")))
        if types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind):
            return list(column.to_pylist())
        if is_text(kind):
            texts = column.to_pylist()
            require_short([text for text in texts if text is not None] or [""], f"column {place}")
            return list(texts)
    runs = "run-end encoded values (decode them)" if types.is_run_end_encoded(kind) else "nested values"
    got = runs if types.is_nested(kind) else "times" if types.is_temporal(kind) else "another type"
    detail = f"column {place} holds {got}; need numbers, text, booleans or dates, or leave it out of the file"
    raise Problem("wrong-type", detail, index=place)
