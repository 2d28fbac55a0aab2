"""One value a record, from whatever holds them, as the service would have read it from JSON: the same bits.

Arrays of numbers are not copied. What cannot be used is refused here, by its record, before anything is sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macekit.client.problems import fault

if TYPE_CHECKING:
    import pyarrow as pa

    from macekit.decoding.body import Column

MOST_LETTERS = 1000
SURROGATES = 0xD800, 0xE000
Columns = tuple[list[str], Callable[[int], object]]
"""The names of the columns of a table, and each column by its place."""

PLAIN = {bool, int, float, str, list, dict, type(None)}


def column(values: object, where: str) -> Column:
    """Numbers as an array, rows of numbers as a table of floats, text and booleans as they are."""
    if is_table(values):
        return column(_only_column(values, where), where)
    if isinstance(values, np.ndarray):
        return _array(values, where)
    if isinstance(values, str | os.PathLike):
        return _array(_from_file(values, where), where)
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and hasattr(values, "to_numpy"):  # a column of pandas that is NumPy's
        return _array(values.to_numpy(), where)
    if (arrow := arrow_of(values)) is not None:
        return _of_arrow(arrow, where)
    if hasattr(values, "__array__"):
        return _array(_as_array(values, where), where)
    if isinstance(values, Sequence) and not isinstance(values, bytes | bytearray | memoryview):
        return _from_list(list(values), where)
    got = whose_answer(values) or type(values).__name__
    raise fault("wrong-type", where, f"got {got}; need a list, an array or a column of a frame")


def whose_answer(value: object) -> str | None:
    """Whose answer a value is, in words; None if it is none, or counts that a question may be asked of."""
    from macekit.client.result import Result

    answer = value.answer if isinstance(value, Result) else value
    if not isinstance(answer, Mapping) or isinstance(answer.get("counts"), Mapping):
        return None
    kinds = {"sentence": str, "input_sha256": str, "provenance": Mapping}  # which might be columns' names
    if not any(isinstance(answer.get(name), kind) for name, kind in kinds.items()):
        return None
    from macekit.catalogue import BY_NAME
    from macekit.reports.saved import recognise

    operation = value.operation if isinstance(value, Result) else recognise(answer)
    return f"an answer of macekit.{BY_NAME[operation].python}" if operation in BY_NAME else "an answer"


def _only_column(table: object, where: str) -> object:
    """The column of a table that has one."""
    names, of = columns_of(table)
    if len(names) != 1:
        detail = f"got a table of {len(names)} columns; need one, as score=NAME says it, or an array of rows"
        raise fault("wrong-type", where, detail)
    return of(0)


def column_called(table: object, name: str, where: str) -> object:
    """The column of a table with this name."""
    names, of = columns_of(table)
    if names.count(name) != 1:
        raise fault("bad-option", "score", f"{where}: {names.count(name)} columns are called so, of {len(names)}")
    return of(names.index(name))


def labels(values: object, where: str) -> Column:
    """A label for each record, members first, whether they come as one column or side by side."""
    from estimators.errors import MixedTypes
    from macekit.problems import unknown_field

    if not isinstance(values, Mapping):
        return column(values, where)
    for name in values:
        if name not in ("members", "nonmembers"):
            raise unknown_field(str(name), ("members", "nonmembers"), where)
    if len(values) < 2:
        raise fault("missing-field", where, "need members and nonmembers, or one list")
    a, b = (column(values[side], f"{where}.{side}") for side in ("members", "nonmembers"))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind:
        return np.concatenate([a, b])
    if _kinds(a) != _kinds(b):
        raise fault(MixedTypes, where, "labels must be all text or all numbers")
    return _list(a) + _list(b)


def clusters(values: object) -> dict[str, Column]:
    """Columns of labels by their names, as ``cluster`` takes them; one without a name is called like the argument."""
    from macekit.decoding.columns import MOST_CLUSTERS, require_name

    if not isinstance(values, Mapping) or {"members", "nonmembers"} & values.keys():
        return {"cluster": labels(values, "cluster")}
    if not 1 <= len(values) <= MOST_CLUSTERS:
        raise fault("bad-option", "cluster", f"got {len(values)} columns, need one, or two that cross")
    return {
        require_name(str(name), place, "cluster"): labels(each, f"cluster[{place}]")
        for place, (name, each) in enumerate(values.items())
    }


def arrow_of(values: object) -> pa.Array | pa.ChunkedArray | None:
    """A column of Arrow's, of Polars or of pandas' newer types as Arrow; None if it is none of them.

    Nor is one of a type that Arrow lacks, such as a sparse column: NumPy may have it.
    """
    stream = hasattr(values, "__arrow_c_stream__")
    pandas = type(values).__module__.partition(".")[0] == "pandas"
    if not (stream or pandas or hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_array__")):
        return None
    import pyarrow as pa

    try:
        return pa.chunked_array(values) if stream else pa.array(values, from_pandas=pandas or None)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def is_table(value: object) -> bool:
    """Whether a value holds several columns: a mapping, fields with names, or a frame of any library."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.names)
    if isinstance(value, Mapping) or hasattr(type(value), "columns"):  # a lazy frame's own would be computed
        return True
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "to_numpy")


def columns_of(frame: Any) -> Columns:
    """The columns of a frame, each fetched only if it is used."""
    from macekit.problems import Problem

    if isinstance(frame, np.ndarray):
        fields = list(frame.dtype.names or ())
        return fields, lambda at: frame[fields[at]]
    if isinstance(frame, Mapping):
        columns = list(frame.values())
        return [str(name) for name in frame], lambda at: columns[at]
    if hasattr(frame, "iloc"):
        return [str(name) for name in frame.columns], lambda at: frame.iloc[:, at]
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        import pyarrow as pa

        try:
            table = pa.table(frame)
        except pa.ArrowInvalid:
            words = "a column is of a type that Arrow lacks, such as Int128; cast it to Int64, Float64 or text"
            raise Problem("wrong-type", words) from None
        return list(table.column_names), table.column
    got = type(frame).__name__
    raise Problem("wrong-type", f"{got} is no table that can be read here; collect it, or hand over Arrow")


def require_regular(path: str) -> None:
    """Refuse what might never end, or is waited for: a pipe or a device."""
    from macekit.problems import Problem

    if "\n" in path:
        raise Problem("bad-records", "this is text, and no path; give the path, or a frame that was made of the text")
    if os.path.isdir(path):
        raise Problem("bad-records", "the path is that of no regular file but of a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        words = "the path is that of no regular file; a pipe is read into an array first"
        raise Problem("bad-records", words)


def _of_arrow(values: pa.Array | pa.ChunkedArray, where: str) -> Column:
    from macekit.decoding.columns import Labels
    from macekit.decoding.typed import values_of

    numbers = values_of(values, where, 0)
    return _array(numbers.array(where, 0, 2**40) if isinstance(numbers, Labels) else numbers, where)


def _array(array: NDArray[Any], where: str) -> Column:
    """An array as the column it would be had it come as JSON: 64 bits, this machine's order, nothing missing."""
    from estimators.errors import InputError

    if array.ndim not in (1, 2):
        detail = f"got an array of {array.ndim} dimensions, need one value or one row a record"
        raise fault(InputError, where, detail)
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(array, where)
    array = np.asarray(array)  # a matrix stays one whatever is done to it
    kind = array.dtype.kind
    if kind == "O" or (kind == "U" and (array.ndim == 2 or _suspect(array))):
        return _from_list(array.tolist(), where)
    if kind == "U":
        wide = int(np.strings.str_len(array).max(initial=1))  # more room would be another fingerprint
        return array.astype(np.dtype(("U", wide)), copy=False)
    if kind not in "biuf":
        need = "bytes; decode them to text first" if kind == "S" else f"type {array.dtype}"
        raise fault(InputError, where, f"got {need}; need numbers, text or booleans")
    if kind == "b" and array.ndim == 1:
        return array
    if kind in "iu" and array.ndim == 1:
        beyond = kind == "u" and bool(len(array)) and int(array.max()) >= 2**63
        return array.astype(np.uint64 if beyond else np.int64, copy=False)
    with np.errstate(over="ignore"):  # a long double beyond 1e308 is infinite to us, and refused as that
        floats = array.astype(np.float64, copy=False)
    _require_finite(floats, where)
    return floats


def _require_finite(floats: NDArray[np.float64], where: str) -> None:
    from estimators.errors import NotFinite
    from estimators.sample.plain_arrays import first_not_finite

    index = first_not_finite(floats)
    if index is not None:
        raise fault(NotFinite, where, f"record {index} is NaN or infinite", index)


def _unmasked(array: np.ma.MaskedArray[Any, Any], where: str) -> NDArray[Any]:
    masked = np.ma.getmaskarray(array).reshape(len(array), -1).any(axis=1)
    if masked.any():
        raise _masked(where, int(np.argmax(masked)))
    data: NDArray[Any] = np.ma.getdata(array)
    return data


def _masked(where: str, index: int) -> Exception:
    from estimators.errors import NotFinite

    return fault(NotFinite, where, f"record {index} is masked; every one must be there", index)


def _suspect(array: NDArray[Any]) -> bool:
    """Whether text is to be looked at one by one: very long, or with letters that there are not."""
    if array.dtype.itemsize > 4 * MOST_LETTERS:
        return True
    own = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    letters = own.view(np.uint32) if own.dtype.itemsize else np.zeros(0, np.uint32)
    return bool(((letters >= SURROGATES[0]) & (letters < SURROGATES[1])).any())


def _from_list(values: list[Any], where: str) -> Column:
    """Values of Python's own, or of NumPy's, one by one."""
    from macekit.decoding.columns import column as column_of_list

    if set(map(type, values)) - PLAIN:
        values = [_plain(value, where, index) for index, value in enumerate(values)]
    kinds = set(map(type, values))
    if kinds == {list}:
        if set(map(type, chain.from_iterable(values))) - PLAIN:
            values = [[_plain(value, where, index) for value in row] for index, row in enumerate(values)]
        for index, row in enumerate(values):
            _require_known(set(map(type, row)), row, where, index)
    if str in kinds and float in kinds:  # a frame's way to say that a text is missing
        values = [None if value != value else value for value in values]
    _require_known(kinds, values, where)
    return column_of_list(values, where)


def _require_known(kinds: set[type], values: list[Any], where: str, row: int | None = None) -> None:
    if kinds <= PLAIN:
        return
    place = next(at for at, value in enumerate(values) if type(value) not in PLAIN)
    index = place if row is None else row
    got = type(values[place]).__name__
    raise fault("wrong-type", where, f"record {index} is of type {got}; need numbers or text", index)


def _plain(value: Any, where: str, index: int) -> Any:
    """A NumPy scalar, a decimal, a row of any kind or a tensor as Python's own; a time stays one, whatever its unit."""
    from estimators.arrays import is_masked
    from estimators.sample.integers import of_decimal

    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, bool | int | float | str):  # and what derives from them
        return next(kind for kind in (bool, int, float, str) if isinstance(value, kind))(value)
    if isinstance(value, Decimal):
        return of_decimal(value)
    if hasattr(value, "__array__"):
        if is_masked(value) and np.ma.getmaskarray(value).any():
            raise _masked(where, index)
        array = np.asarray(value)
        if array.dtype.kind in "mM":  # as Python's own, finer ones than microseconds would be integers
            return list(array) if array.ndim else array[()]
        return array.tolist()
    return value


def _as_array(values: object, where: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except Exception:  # of any library
        words = "cast Int128 to Int64 or Float64, detach a tensor and bring it to this machine's memory first"
        raise fault("bad-records", where, f"cannot be read as an array; {words}") from None


def _from_file(path: str | os.PathLike[str], where: str) -> NDArray[Any]:
    """The scores of one side, kept by numpy.save."""
    from macekit.formats import HEAD, MAGIC, holds_pickle
    from macekit.problems import pickle_problem

    text = str(path)
    named_npy = text.lower().endswith(".npy")
    require_regular(text)
    head = b""
    if named_npy:
        with open(text, "rb") as file:
            head = file.read(HEAD)
    if holds_pickle(text, head):
        raise pickle_problem(f"{where}: this is a pickle, which", where)
    if not named_npy:
        detail = "a side by itself is read from .npy only; give one file that holds both sides"
        raise fault("bad-records", where, detail)
    if not any(head.startswith(magic) for magic, form in MAGIC.items() if form == "npy"):
        raise fault("malformed-body", where, "the file is not NPY")
    try:
        array: NDArray[Any] = np.load(text, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "objects" in str(error).lower():
            message = f"{where}: the array holds Python objects, so it is a pickle, which"
            raise pickle_problem(message, where) from None
        raise fault("malformed-body", where, "the file is not NPY") from None
    return np.asarray(array)


def _kinds(values: Column) -> set[type]:
    """What the values are to Python; integers and fractions are both numbers."""
    return {float if kind is int else kind for kind in map(type, _list(values))}


def _list(values: Column) -> list[object]:
    return values.tolist() if isinstance(values, np.ndarray) else values
