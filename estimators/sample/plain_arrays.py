"""What was sent for one side as an array of one plain type: what is missing, mixed or not finite is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import is_masked
from estimators.sample import integers

ArgumentScores = ArrayLike | Sequence[object]


def labels_of(values: object, name: str) -> NDArray[np.generic]:
    """Labels of records, one each, all text or all numbers."""
    several = isinstance(values, list | tuple) or (is_masked(values) and values.ndim)
    index = first_masked(list(cast("Sequence[object]", values))) if several else None
    if index is not None:
        raise errors.NotFinite.about(name, f"record {index} is masked; every label must be there", index)
    try:
        labels = integers.exact_array(values)
    except ValueError:
        message = "got rows of different length, need one label per record"
        raise errors.RaggedRows.about(name, message) from None
    if labels.ndim != 1:
        message = f"got an array of {labels.ndim} dimensions, need one label per record"
        raise errors.DimensionMismatch.about(name, message)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return labels  # nothing that could be missing, and no need to look at each
    items = values if isinstance(values, list | tuple) else labels.tolist()
    kinds = {"NaN" if isinstance(v, float) and v != v else _kind(v) for v in items}
    if "NaN" in kinds or (labels.dtype.kind == "f" and np.isinf(labels.astype(np.float64)).any()):
        raise errors.NotFinite.about(name, "a label is NaN or infinite")
    if kinds == {"text"}:
        require_no_last_nul(cast("list[str]", items), name, name)
    if len(kinds) > 1 or (labels.dtype.kind in "OcV" and kinds & {"missing", "row"}):
        raise errors.MixedTypes.about(name, "labels must be all text or all numbers")
    return labels


def array_of(values: ArgumentScores, name: str) -> NDArray[np.generic]:
    """One side as an array of a single plain type, finite and rectangular."""
    array = values if isinstance(values, np.ndarray) else _from_sequence(values, name)
    if is_masked(array):
        _require_unmasked(array, name)
    if array.dtype.kind == "O" and array.ndim in (1, 2):
        array = _from_objects(array, name)
    if array.dtype.kind not in "biufUSO":
        raise errors.InputError.of_side(name, f"type {array.dtype} is not supported; need numbers or text")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        message = f"got an array of {array.ndim} dimensions, need one score or one row per record"
        raise errors.InputError.of_side(name, message)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a long double beyond 1e308 is infinite to us, and refused as that
            floats = np.asarray(array, dtype=np.float64)
        _require_finite(floats, name)
        array = floats + 0.0 if _has_negative_zero(floats) else floats
    if array.dtype.kind == "S":
        array = np.char.decode(array.astype(np.bytes_), "utf-8", "surrogateescape")
    return array


def as_floats(numbers: NDArray[Any], name: str, start: int = 0) -> NDArray[np.float64]:
    """Numbers of one side as floats; ``start`` is the index of the first among all of its side.

    Raises:
        NotFinite: an integer is so large that no float is near it.
    """
    try:
        return numbers.astype(np.float64, copy=False)
    except OverflowError:
        index = start + int(np.argmax(np.isinf([integers.or_infinite(number) for number in numbers.tolist()])))
        message = f"record {index} is beyond 1e308; every score must be finite"
        raise errors.NotFinite.of_side(name, message, index) from None


def _require_unmasked(array: np.ma.MaskedArray[Any, Any], name: str) -> None:
    """Name the first record that is masked: what lies under a mask is no score."""
    mask = np.ma.getmaskarray(array).reshape(len(array), -1).any(axis=1) if array.ndim else np.ones(1, np.bool_)
    if mask.any():
        raise _masked(int(np.argmax(mask)), name)


def _require_no_masked(values: Sequence[object], name: str) -> None:
    """Likewise of values one by one, or of rows of them."""
    index = first_masked(values)
    if index is not None:
        raise _masked(index, name)


def first_masked(values: Sequence[object]) -> int | None:
    """The first record of a list that is masked, or that holds what is; None without one."""
    if not any(issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, values))):
        return None
    rows = (value if isinstance(value, list | tuple) else (value,) for value in values)
    masked = (any(is_masked(each) and np.ma.getmaskarray(each).any() for each in row) for row in rows)
    return next((index for index, has_mask in enumerate(masked) if has_mask), None)


def _masked(index: int, name: str) -> errors.NotFinite:
    return errors.NotFinite.of_side(name, f"record {index} is masked; every score must be there", index)


def _has_negative_zero(floats: NDArray[np.float64]) -> bool:
    """Whether -0.0 occurs: it equals 0.0 and must fall into the same cell."""
    zeros = floats[floats == 0.0]
    return bool(np.signbit(zeros).any())


def first_not_finite(array: NDArray[np.generic]) -> int | None:
    """The first record whose number, or one of whose numbers, is NaN or beyond what 64 bits hold; None without one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(array, dtype=np.float64)):  # one pass: what is not finite would show in the sum
            return None
        finite = np.isfinite(array.astype(np.float64, copy=False))
    return None if finite.all() else int(np.argmin(finite if array.ndim == 1 else finite.all(axis=1)))


def _require_finite(array: NDArray[np.float64], name: str) -> None:
    """Name the first record that is NaN or infinite."""
    index = first_not_finite(array)
    if index is not None:
        what = "NaN" if np.isnan(array[index]).any() else "infinite"
        raise errors.NotFinite.of_side(name, f"record {index} is {what}; every score must be finite", index)


def _from_sequence(values: ArgumentScores, name: str) -> NDArray[np.generic]:
    """A list, a frame's column or anything array-like, without silent conversions."""
    if isinstance(values, str | bytes):
        raise errors.InputError.of_side(name, "got a single text, need a list of scores")
    if isinstance(values, Sequence):
        _require_no_masked(values, name)
        kinds = {_kind(v) for v in values}
        if len(kinds) > 1:
            raise _mixed(values, name, 1)
        if kinds == {"text"}:
            require_no_last_nul(cast("Sequence[str]", values), f"{name} scores", f"{name}s")
        if kinds == {"row"}:
            lengths = [len(v) for v in values]  # type: ignore[arg-type]
            if len(set(lengths)) > 1:
                index = next(i for i, k in enumerate(lengths) if k != lengths[0])
                message = f"row {index} has {lengths[index]} values, row 0 has {lengths[0]}"
                raise errors.RaggedRows.of_side(name, message, index)
    try:
        with np.errstate(over="ignore"):
            return integers.exact_array(values)
    except (ValueError, OverflowError):
        return np.asarray(values, dtype=object)


def _mixed(values: Sequence[object], name: str, wide: int) -> errors.MixedTypes:
    """The first value of another type than the first one; ``wide`` values are a record."""
    kinds = [_kind(value) for value in values]
    at = next(place for place, kind in enumerate(kinds) if kind != kinds[0])
    message = f"record {at // wide} is {kinds[at]} but record 0 is {kinds[0]}"
    return errors.MixedTypes.of_side(name, message, at // wide)


def require_no_last_nul(texts: Sequence[str], what: str, field: str) -> None:
    """Refuse a text that ends in a NUL: NumPy fills texts up with them, so that it would be the one without."""
    if "\0" not in "".join(texts):
        return
    index = next((i for i, text in enumerate(texts) if text.endswith("\0")), None)
    if index is not None:
        message = f"{what}: record {index} is text that ends in a NUL character; write it without"
        raise errors.InputError(message, field=field, index=index)


def _kind(value: object) -> str:
    """Plain name of a value's type, the same for Python's and NumPy's."""
    if value is None:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "a boolean"
    if isinstance(value, np.timedelta64):  # one of NumPy's numbers
        return "timedelta64"
    if isinstance(value, int | float | np.number | Decimal):
        return "a number"
    if isinstance(value, str | np.str_):
        return "text"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return "masked" if is_masked(value) else _kind(value[()])
    if isinstance(value, Sequence | np.ndarray):
        return "row"
    return type(value).__name__


def _from_objects(array: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """An object array as a plain type; integers that 64 bits do not hold stay Python's own."""
    flat = array.tolist()
    _require_no_masked(flat, name)
    if array.ndim == 1:
        flat = [integers.of_decimal(v) if isinstance(v, Decimal) else v for v in flat]
    wide = 1 if array.ndim == 1 else array.shape[1]
    values = flat if array.ndim == 1 else [w for row in flat for w in row]
    kinds = {_kind(v) for v in values}
    if kinds == {"text"}:
        require_no_last_nul(cast("list[str]", values), f"{name} scores", f"{name}s")
        return np.asarray(flat, dtype=np.str_)
    try:
        if kinds == {"a number"} and array.ndim == 1 and all(isinstance(v, int | np.integer) for v in flat):
            whole = [int(v) for v in flat]
            str(max(whole, key=abs))
            return integers.as_64_bit(np.array(whole, dtype=object))
        if kinds == {"a number"}:
            return np.asarray(flat, dtype=np.float64)
    except (ValueError, OverflowError):  # Python's own limits on how long a number may be
        raise errors.InputError.of_side(name, "a number is beyond 1e308") from None
    if kinds == {"a boolean"}:
        return np.asarray(flat, dtype=np.bool_)
    if len(kinds) > 1:
        raise _mixed(values, name, wide)
    got = ", ".join(kinds) or "nothing"
    raise errors.InputError.of_side(name, f"got {got}, need numbers or text")
