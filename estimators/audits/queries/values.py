"""One column of one table as it came: what its values are, and which are missing.

Columns are lists, NumPy arrays, or those of pandas, Polars and Arrow: whatever can be gone through.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats
from estimators.errors import InputError, MixedTypes, NotFinite
from estimators.python.dataclass import dataclass, replace
from estimators.sample.spelled_numbers import LOOKS, spells_number

WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,39})\Z")
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d{1,3})?\Z")
POINT_ZERO = re.compile(r"([+-]?(?:0|[1-9]\d*))\.0+\Z")
CODE = re.compile(r"[+-]?0\d+\Z")
THOUSANDS = r"\d{1,3}(?:[., '_\u00a0\u202f]\d{3})+"
AROUND = re.compile(
    rf"((?:[A-Z]{{3}}\s|[^\w\s]{{1,2}}\s?)?)(?:{THOUSANDS}|\d+)([.,]\d+)?((?:[^\d.,@][^.,@]{{0,11}})?)\Z"
)
"""A number, and what is written before and after it: a sign, a currency, a unit."""
FEW = 0.05
"""Texts that so small a share of a column are among its numbers or dates stand for something else than names."""
MANY = 16
"""So do up to as many different ones as there are different numbers or dates, if these are more than so many."""
DATE = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?)(?: ?(?:Z|UTC|([+-]\d\d)(?::?(\d\d))?))?\Z", re.ASCII
)
MOMENT = re.compile(
    r"""(\d{4}([./-])\d{1,2}\2\d{1,2}|\d{1,2}([./-])\d{1,2}\3(\d\d|\d{4}))([T ,].*)?  # 31/1/2020, 31.01.20 12:30
    |\d{4}-(\d\d|W\d\d(-\d)?)  # 2020-01, 2020-W05
    |\d{1,2}:\d\d(:\d\d(\.\d+)?)?\s?([ap]\.?m\.?)?
    |-?\d+\ days?.*
    |(\w+,\ )?\d{1,2}[.\s-]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.\s-]+\d{2,4}.*
    |(\w+,\ )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\ \d{1,2},?\ \d{4}.*""",
    re.VERBOSE | re.IGNORECASE,
)
"""A date, a time or a span of time, written otherwise than ISO 8601 has dates."""


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


def without_point_zero(parts: Sequence[Values]) -> list[Values]:
    """Texts of whole numbers alike, where one table has ``12`` and another ``12.0``, and none has both."""
    words = [{*part.values.tolist()} for part in parts]
    pointed = [{match[1] for text in each if (match := POINT_ZERO.match(text))} for each in words]
    if not any(pointed) or any(ends & each for ends, each in zip(pointed, words, strict=True)):
        return [*parts]
    return [
        replace(part, values=np.array([POINT_ZERO.sub(r"\1", text) for text in part.values.tolist()], dtype=object))
        for part in parts
    ]


def spelled_as_sides(parts: Sequence[Values]) -> list[Values]:
    """Texts of members and nonmembers, and those of further tables with their capitals and blanks.

    A released text that is none of theirs is the one of theirs that it is but for capitals and blanks, unless the sides
    themselves tell texts apart by these.
    """
    own, others = (
        {text for part in some if part.kind != "missing" for text in part.values.tolist()}
        for some in (parts[:2], parts[2:])
    )
    strange = {text: _letters(text) for text in others - own}
    usual = {_letters(text): text for text in own} if strange else {}
    if len(usual) < len(own) or usual.keys().isdisjoint(strange.values()):
        return [*parts]
    own_text = {text: usual.get(letters, text) for text, letters in strange.items()}
    return [
        *parts[:2],
        *(
            replace(part, values=np.array([own_text.get(text, text) for text in part.values.tolist()], dtype=object))
            for part in parts[2:]
        ),
    ]


def _letters(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().split())


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
    """Texts as the dates that they spell; None if one of them spells none."""
    if part.kind != "text":
        return part
    texts = part.values.tolist()
    known = {text: moment_of(text) for text, absent in zip(texts, part.missing, strict=True) if not absent}
    if None in known.values():
        return None
    return Values("date", np.array([known.get(text) or 0 for text in texts], dtype=np.int64), part.missing)


def moment_of(text: str) -> int | None:
    """Microseconds since 1970 of a date of ISO 8601, as those of a frame; None where it is none, as 31 February."""
    if (match := DATE.match(text)) is None:
        return None
    try:
        moment = int(np.datetime64(match[1], "us").astype(np.int64))
    except ValueError:
        return None
    hours, minutes = match[2] or "+0", int(match[3] or 0)
    return moment - 60_000_000 * (60 * int(hours) + (-minutes if hours.startswith("-") else minutes))


def spells_any(part: Values, kind: str) -> bool:
    """Whether one of the texts of a column spells a value of this kind, ``number`` or ``date``."""
    present = np.unique(part.values[~part.missing].astype(np.str_)).tolist()
    if kind == "date":
        return any(moment_of(text) is not None for text in present)
    return any(NUMBER.match(text) and any(sign.isdigit() for sign in text) for text in present)


def require_names(name: str, tables: Sequence[str], parts: Sequence[Values]) -> None:
    """Refuse numbers and dates that are read as names: those written otherwise, and those beside other texts.

    Names are equal or not, and none is near another: a release that follows the training rows closely would pass.
    """
    texts = Counter(text for part in parts if part.kind in ("text", "several") for text in _present(part))
    some = [*texts][:: max(1, len(texts) // LOOKS)]
    around = _around(some, len(texts))
    if {_spelling(text, around) for text in some} <= {"name"}:
        return
    rows, different = Counter[str](), Counter[str]()
    for part in parts:
        if part.kind in ("whole", "number", "date"):
            rows[part.kind] += len(_present(part))
            different[part.kind] += len({*_present(part)})
    kinds = {text: _spelling(text, around) for text in texts}
    for text, kind in kinds.items():
        rows[kind] += texts[text]
        different[kind] += 1
    dates: tuple[str, ...] = ("date", "moment")
    numbers: tuple[str, ...] = ("number", "spelled")
    if rows["code"] <= FEW * (rows["code"] + rows["whole"]):
        numbers = ("whole", *numbers)
    usual = max(numbers, dates, key=lambda which: sum(rows[kind] for kind in which))
    values = sum(different[kind] for kind in usual)
    most = rows["date"] if usual is dates else sum(rows[kind] for kind in numbers)
    measured = rows["number"] + rows["spelled"]
    plain = ("date",) if usual is dates else ("whole", "number")
    odd = {text for text, kind in kinds.items() if kind not in plain}
    if not odd or not (
        most >= (1.0 - FEW) * rows.total()
        or 2 * measured >= rows.total()
        or (values > MANY and 2 * values >= different.total())
    ):
        return
    table, row, text = next(
        (table, row, text)
        for table, part in zip(tables, parts, strict=True)
        for row, text in enumerate(map(str, part.values.tolist()))
        if text in odd and not part.missing[row]
    )
    if usual is dates:
        what, how = "dates or times", "dates as 2020-01-31 or 2020-01-31T12:30, and times as numbers"
    else:
        what, how = "numbers", "them plainly, with a decimal point and nothing around them"
    raise InputError.about(
        table,
        f"column {name!r} says {text!r} in row {row}, and holds {what}: write {how}, and leave a missing one empty; or "
        "name the column in `categories`, or in `leave_out`",
        row,
    )


def _present(part: Values) -> list[str]:
    return [str(value) for value in part.values[~part.missing].tolist()]


def _around(texts: Sequence[str], different: int) -> tuple[str, str] | None:
    """What most texts have before and after a number; None where that may be a name for one of a few."""
    found = [match for text in texts if (match := AROUND.match(text))]
    for around, number in Counter((each[1], each[3]) for each in found).most_common(1):
        if 2 * number > len(texts) and (different > MANY or any(each[2] for each in found)):
            return around
    return None


def _spelling(text: str, around: tuple[str, str] | None) -> str:
    """What a text looks like: a number or a date, either written otherwise, a code with leading zeros, or a name."""
    if CODE.match(text):
        return "code"
    if NUMBER.match(text) and any(sign.isdigit() for sign in text):
        return "whole" if WHOLE.match(text) else "number"
    if moment_of(text) is not None:
        return "date"
    if MOMENT.fullmatch(text):
        return "name" if DATE.match(text) else "moment"
    match = AROUND.match(text)
    return "spelled" if spells_number(text) or (match and (match[1], match[3]) == around) else "name"


def take_rows(column: Any, rows: NDArray[np.intp]) -> Any:
    """Some values of a column, as they came."""
    if isinstance(getattr(column, "dtype", None), np.dtype):
        return np.asanyarray(column)[rows]
    items = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [items[row] for row in rows.tolist()]
