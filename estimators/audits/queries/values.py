"""One column of one table as it came: what its values are, and which are missing.

Columns are lists, NumPy arrays, or those of pandas, Polars and Arrow: whatever can be gone through.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats
from estimators.errors import InputError, MixedTypes, NotFinite
from estimators.python.dataclass import dataclass
from estimators.sample.scores import LOOKS, spells_number

WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,39})\Z")
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d{1,3})?\Z")
CODE = re.compile(r"[+-]?0\d+\Z")
UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s?([^\W\d_]{1,4})\Z")
FEW = 0.05
"""Texts that so small a share of a column are among its numbers or dates stand for something else than names."""
MANY = 16
"""So do up to as many as they, beside more different numbers or dates than this."""
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?\Z")


@dataclass(frozen=True, slots=True)
class Values:
    """Values of one column in one table, their type, and which are missing."""

    kind: str  # missing, whole, number, date, text, several
    values: NDArray[Any]
    missing: NDArray[np.bool_]


def read_values(table: str, name: str, column: Any, size: int) -> Values:
    """A column as it came, with the type of its values.

    Args:
        table: What messages call the table.
        name: What they call the column.
        column: A list, an array, or a column of pandas, Polars or Arrow.
        size: How many rows it has.

    Raises:
        InputError: an infinite number, or a value that is no number, text or date.
    """
    if isinstance(column, np.ma.MaskedArray):
        column = column.tolist()  # None where masked
    if isinstance(getattr(column, "dtype", None), np.dtype):
        array = np.asarray(column)
    else:  # NumPy would round integers that stand beside fractions or missing values
        array = np.empty(size, dtype=object)
        array[:] = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    if array.ndim != 1:
        raise _unreadable(table, name, f"{array.ndim} dimensions")
    kind = array.dtype.kind
    none = np.zeros(size, dtype=np.bool_)
    if kind in "bu" or kind == "i":
        return Values("whole", array.astype(np.int64) if kind == "b" else array, none)
    if kind == "f":
        return _floats(table, name, array.astype(np.float64))
    if kind in "mM":
        missing = np.isnat(array)
        unit = "datetime64[us]" if kind == "M" else "timedelta64[us]"
        moments = array.astype(unit).astype(np.int64)
        return Values("missing" if missing.all() else "date", np.where(missing, 0, moments), missing)
    if kind in "US":
        if kind == "S":
            raise _unreadable(table, name, "bytes")
        return _texts(array.astype(object))
    return _objects(table, name, array)


def _floats(table: str, name: str, array: Floats) -> Values:
    missing = np.isnan(array)
    infinite = np.isinf(array)
    if infinite.any():
        bad = int(np.argmax(infinite))
        message = f"column {name!r} is infinite in row {bad}; put a number or leave it empty"
        raise NotFinite.about(table, message, bad)
    return Values("missing" if missing.all() else "number", np.where(missing, 0.0, array), missing)


def _texts(array: NDArray[Any]) -> Values:
    """Texts without the blanks around them; nothing but blanks is a missing value."""
    stripped = np.array([text.strip() for text in array.tolist()], dtype=object)
    missing = np.array([not text for text in stripped], dtype=np.bool_)
    if missing.all():
        return Values("missing", np.zeros(len(array)), missing)
    return Values("text", stripped, missing)


def _objects(table: str, name: str, array: NDArray[Any]) -> Values:
    """A column of Python's own values: missing ones apart, the others of one type, or as texts."""
    items = array.tolist()
    missing = np.array([_is_missing(item) for item in items], dtype=np.bool_)
    present = [item for item, absent in zip(items, missing, strict=True) if not absent]
    if not present:
        return Values("missing", np.zeros(len(items)), missing)
    kinds = {_kind(item) for item in present}
    if None in kinds:
        odd = next(item for item in present if _kind(item) is None)
        raise _unreadable(table, name, type(odd).__name__)
    if kinds <= {"whole", "number"}:
        if kinds == {"whole"}:
            filled = np.empty(len(items), dtype=object)
            filled[:] = [0 if absent else int(item) for item, absent in zip(items, missing, strict=True)]
            return Values("whole", filled, missing)
        exact = np.empty(len(items), dtype=object)
        exact[:] = [0 if absent else _exact(item) for item, absent in zip(items, missing, strict=True)]
        _floats(table, name, np.array([_as_float(item) for item in exact.tolist()]))  # refuses infinities
        return Values("number", exact, missing)
    if kinds == {"date"}:
        moments = np.array([0 if absent else _moment(item) for item, absent in zip(items, missing, strict=True)])
        return Values("date", moments.astype(np.int64), missing)
    texts = np.array(["" if absent else _text(item) for item, absent in zip(items, missing, strict=True)], dtype=object)
    part = _texts(texts)
    if part.kind == "missing":
        return part
    return Values("text" if kinds == {"text"} else "several", part.values, part.missing)


def _unreadable(table: str, name: str, what: str) -> InputError:
    return MixedTypes.about(
        table, f"column {name!r} holds {what}; need a number, a text, a date or nothing in each row"
    )


def _is_missing(item: Any) -> bool:
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(item, np.datetime64 | np.timedelta64):
        return bool(np.isnat(item))
    return isinstance(item, float | np.floating) and bool(item != item)


def _kind(item: Any) -> str | None:
    if isinstance(item, str):
        return "text"
    if isinstance(item, bool | np.bool_ | int | np.integer):
        return "whole"
    if isinstance(item, float | np.floating) or type(item).__name__ == "Decimal":
        return "number"
    if isinstance(item, np.datetime64) or (hasattr(item, "isoformat") and hasattr(item, "year")):
        return "date"
    return None


def _exact(item: Any) -> int | float:
    """A number as an integer of any size, or as a float."""
    return int(item) if isinstance(item, bool | np.bool_ | int | np.integer) else float(item)


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _moment(item: Any) -> int:
    """Microseconds since 1970, in universal time where the value says which zone it is from."""
    offset = item.utcoffset() if hasattr(item, "utcoffset") else None
    plain = item.replace(tzinfo=None) - offset if offset is not None else item
    return int(np.datetime64(plain, "us").astype(np.int64))


def _text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, float | np.floating) and float(item).is_integer():
        return str(int(item))
    return str(item.isoformat()) if hasattr(item, "isoformat") else str(item)


def as_texts(part: Values) -> Values:
    """Every value as its text."""
    if part.kind in ("text", "several"):
        return part
    values = part.values.astype("datetime64[us]") if part.kind == "date" else part.values
    texts = np.empty(len(values), dtype=object)
    texts[:] = ["" if absent else _text(v) for v, absent in zip(values.tolist(), part.missing, strict=True)]
    return Values("text", texts, part.missing)


def fits_floats(part: Values) -> bool:
    """Whether all integers lie within what floats hold."""
    return part.values.dtype.kind != "O" or all(
        isinstance(item, float) or abs(item) < 10**300 for item in part.values.tolist()
    )


def as_digits(part: Values) -> Values:
    """Booleans that one table spells out, as those of the others."""
    if part.kind != "text" or not {text.lower() for text in part.values.tolist()} <= {"true", "false", ""}:
        return part
    digits = np.array(["1" if text.lower() == "true" else "0" for text in part.values.tolist()], dtype=object)
    return Values("text", digits, part.missing)


def as_numbers(part: Values) -> Values | None:
    """Texts as the numbers that they spell; None if one of them spells none, as a code with leading zeros."""
    if part.kind != "text":
        return part
    values = np.empty(len(part.values), dtype=object)
    for index, (text, absent) in enumerate(zip(part.values.tolist(), part.missing, strict=True)):
        if absent:
            values[index] = 0
        elif WHOLE.match(text):
            values[index] = int(text)
        elif NUMBER.match(text) and any(sign.isdigit() for sign in text) and abs(float(text)) < 1e300:
            values[index] = float(text)
        else:
            return None
    return Values("number", values, part.missing)


def as_dates(part: Values) -> Values | None:
    """Texts as the dates that they spell."""
    if part.kind != "text":
        return part
    if not all(absent or DATE.match(text) for text, absent in zip(part.values.tolist(), part.missing, strict=True)):
        return None
    texts = np.where(part.missing, "1970-01-01", part.values).astype(np.str_)
    try:
        return Values("date", texts.astype("datetime64[us]").astype(np.int64), part.missing)
    except ValueError:  # 31 February
        return None


def spells_any(part: Values, kind: str) -> bool:
    """Whether one of the texts of a column spells a value of this kind, ``number`` or ``date``."""
    pattern = NUMBER if kind == "number" else DATE
    present = np.unique(part.values[~part.missing].astype(np.str_)).tolist()
    return any(pattern.match(text) and any(sign.isdigit() for sign in text) for text in present)


def require_names(name: str, tables: Sequence[str], parts: Sequence[Values]) -> None:
    """Refuse numbers and dates that are read as names: those written otherwise, and those beside other texts.

    Names are equal or not, and none is near another: a release that follows the training rows closely would pass.
    """
    texts = Counter(text for part in parts if part.kind in ("text", "several") for text in _present(part))
    rows = Counter(dict.fromkeys(("whole", "number", "date", "spelled", "code", "name"), 0))
    for part in parts:
        if part.kind in rows:
            rows[part.kind] += len(_present(part))
    some = [*texts][:: max(1, len(texts) // LOOKS)]
    units = Counter(match[1] for text in some if (match := UNIT.match(text)))
    unit = next((unit for unit, number in units.most_common(1) if number > len(some) / 2), None)
    kinds = {text: _spelling(text, unit) for text in some}
    if set(kinds.values()) <= {"name"}:
        return
    kinds = {text: _spelling(text, unit) for text in texts}
    for text, kind in kinds.items():
        rows[kind] += texts[text]
    total, measured = rows.total(), rows["number"] + rows["spelled"]
    numbers = 0 if rows["code"] else rows["whole"] + measured
    most = max(numbers, rows["date"])
    usual = {"date"} if rows["date"] == most else {"whole", "number"}
    odd = {text for text, kind in kinds.items() if kind not in usual}
    few = most >= (1.0 - FEW) * total or (2 * most >= total and len(texts) > MANY + len(odd))
    if not odd or not (few or 2 * measured >= total):
        return
    table, row, text = next(
        (table, row, text)
        for table, part in zip(tables, parts, strict=True)
        for row, text in enumerate(map(str, part.values.tolist()))
        if text in odd and not part.missing[row]
    )
    what = "dates" if usual == {"date"} else "numbers"
    raise InputError.about(
        table,
        f"column {name!r} says {text!r} in row {row}, and holds {what}: write them plainly, with a decimal point and "
        "nothing around them, and leave a missing one empty; or name the column in `categories`, or in `leave_out`",
        row,
    )


def _present(part: Values) -> list[str]:
    return [str(value) for value in part.values[~part.missing].tolist()]


def _spelling(text: str, unit: str | None) -> str:
    """What a text looks like: a number, one written otherwise, a date, a code with leading zeros, or a name."""
    if CODE.match(text):
        return "code"
    if NUMBER.match(text) and any(sign.isdigit() for sign in text):
        return "whole" if WHOLE.match(text) else "number"
    if DATE.match(text):
        return "date"
    match = UNIT.match(text)
    return "spelled" if spells_number(text) or (match and match[1] == unit) else "name"


def take_rows(column: Any, rows: NDArray[np.intp]) -> Any:
    """Some values of a column, as they came."""
    if isinstance(getattr(column, "dtype", None), np.dtype):
        return np.asanyarray(column)[rows]
    items = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [items[row] for row in rows.tolist()]
