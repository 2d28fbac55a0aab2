"""What every reader of columns shares: refusals that quote nothing, lists as arrays, and text as labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from estimators import MaceError
from estimators.errors import InputError, MixedTypes, NotFinite, RaggedRows
from estimators.python.dataclass import dataclass
from estimators.risk.groups import one_kind, spelled
from estimators.sample.integers import as_64_bit, or_infinite
from estimators.sample.plain_arrays import require_no_last_nul
from macekit.decoding.body import Column
from macekit.problems import Problem, fault

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

ENDED = re.compile(
    r"truncated|unexpected end|end of (file|stream)|expected to (be able to )?read|length 0|too small|smaller than",
    re.I,
)


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Around calls that read what may be hostile: whatever they raise is the body's fault."""
    import pyarrow as pa

    try:
        yield
    except (Problem, MaceError):
        raise
    except MemoryError:
        raise Problem("memory-limit", f"reading this {name} body takes more memory than is granted") from None
    except NotImplementedError:  # Arrow's word for parts of a format that it does not read
        raise Problem("malformed-body", f"the body uses a part of {name} that is not read here") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        if ENDED.search(str(error)):
            raise Problem("incomplete-body", f"the {name} body ended before it was complete") from None
        raise Problem("malformed-body", f"the body is not {name}, or was damaged on the way") from None


def as_numpy(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The values of a column: Arrow's own ``to_numpy`` imports pandas, which takes longer than most questions."""
    import pyarrow as pa

    types = pa.types
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not isinstance(whole, pa.ChunkedArray) and not whole.null_count:  # not of chunks too large for one
        if types.is_boolean(whole.type):
            return np.asarray(np.from_dlpack(whole.cast(pa.uint8())).view(np.bool_))
        if types.is_integer(whole.type) or types.is_floating(whole.type):
            return np.asarray(np.from_dlpack(whole))
    return np.asarray(whole.to_numpy(zero_copy_only=False))


def guarded(items: Iterator[T], name: str) -> Iterator[T]:
    """The same items; what goes wrong in taking the next is the body's fault, what is done with it is not."""
    while True:
        with refusals(name):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


COLUMNS = frozenset(
    {"members", "nonmembers", "targets", "groups", "units", "cluster", "model"}
    | {"edges", "labels", "cuts", "keys", "exponents", "low", "high", "axes"}  # of cells
)
"""Names whose arrays are columns, at any depth."""

MOST_LETTERS = 1000  # characters of a category or a label
LONGEST_NAME = 200  # characters of the name of a query

MOST_QUERIES = 1000
MOST_CLUSTERS = 2  # columns of clusters

FILLED = "leading zeros dropped"
"""What is understood of integers, and of none if fractions stand among them."""

NUMBERS = {int, float}
KINDS = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a row",
    dict: "an object",
    type(None): "missing",
}


def column(values: list[object], where: str) -> Column:
    """Numbers as an array, rows of numbers as a table of floats, text and booleans as they are."""
    kinds = set(map(type, values))
    if not kinds:
        return np.empty(0)
    if kinds <= NUMBERS:
        return integers(values) if kinds == {int} else _floats(cast("list[float]", values), where)
    if kinds == {str}:
        require_text(values, where)
        require_no_last_nul(cast("list[str]", values), where, where)
        require_short(cast("list[str]", values), where)
        return values
    if kinds == {bool}:
        return values
    if kinds == {list}:
        return _rows(cast("list[list[object]]", values), where)
    raise mixed(values, where, KINDS)


def mixed(values: list[object], where: str, kinds: Mapping[type, str]) -> Problem | InputError:
    """The first value that is missing, or not what the first is, or what the first is."""
    missing = next((i for i, value in enumerate(values) if value is None), None)
    if missing is not None:
        return fault(NotFinite, where, f"record {missing} has no value; every record needs one", missing)
    first = kinds[type(values[0])]
    index = next((i for i, value in enumerate(values) if kinds[type(value)] != first), 0)
    if not index:
        return fault("wrong-type", where, f"record 0 is {first}; need numbers or text", 0)
    detail = f"record {index} is {kinds[type(values[index])]} but record 0 is {first}; give all of one kind"
    return fault(MixedTypes, where, detail, index)


def refuse_ragged(lengths: list[int], where: str) -> None:
    """Name the first row that is longer or shorter than the first."""
    if len(set(lengths)) > 1:
        index = next(i for i, length in enumerate(lengths) if length != lengths[0])
        detail = f"row {index} has {lengths[index]} values, row 0 has {lengths[0]}"
        raise fault(RaggedRows, where, detail, index)


def require_text(values: Sequence[object], where: str) -> None:
    """Refuse half of a surrogate pair: no text can be written with it."""
    texts = cast("Sequence[str]", values)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        index = next(i for i, text in enumerate(texts) if any("\ud800" <= c <= "\udfff" for c in text))
        detail = f"{where}: record {index} holds half of a surrogate pair"
        raise Problem("malformed-body", detail, index=index) from None


def require_short(texts: Sequence[str], where: str) -> None:
    """Refuse a text so long that NumPy, which gives each the room of the longest, would need far more than came."""
    if max(map(len, texts)) > MOST_LETTERS:
        index = next(i for i, text in enumerate(texts) if len(text) > MOST_LETTERS)
        raise fault("out-of-range", where, f"record {index} has more than {MOST_LETTERS} characters", index)


def require_name(name: str, place: int, field: str = "queries") -> str:
    """The name of a query, or of a column of clusters, if it can be one."""
    if not 0 < len(name) <= LONGEST_NAME:
        detail = f"{field}[{place}]: its name has {len(name)} characters; need 1 to {LONGEST_NAME}"
        raise Problem("out-of-range", detail, field=field, index=place)
    return name


def integers(values: list[object]) -> Column:
    """Integers exactly: as Python's own where 64 bits are too few."""
    for kind in (np.int64, np.uint64):
        try:
            return np.array(values, dtype=kind)
        except OverflowError:
            continue
    return np.array(values, dtype=object)


def _floats(values: list[float], where: str) -> NDArray[np.float64]:
    floats = floats_of(values)
    finite = np.isfinite(floats)
    if not finite.all():
        index = int(np.argmin(finite))
        detail = f"record {index} is NaN or beyond 1e308; leave it out, or look why"
        raise fault(NotFinite, where, detail, index)
    return floats


def _rows(rows: list[list[object]], where: str) -> NDArray[np.float64]:
    refuse_ragged(list(map(len, rows)), where)
    if not set(map(type, chain.from_iterable(rows))) <= NUMBERS:
        index, bad = next((i, v) for i, row in enumerate(rows) for v in row if type(v) not in NUMBERS)
        detail = f"row {index} holds a value that is {KINDS[type(bad)]}; need numbers"
        raise fault("wrong-type", where, detail, index)
    wide = len(rows[0])
    flat = cast("list[float]", list(chain.from_iterable(rows)))
    try:
        return _floats(flat, where).reshape(len(rows), wide)
    except NotFinite as error:
        row = (error.index or 0) // wide
        raise fault(NotFinite, where, f"row {row} holds NaN or a number beyond 1e308", row) from None


# A column of text as distinct texts and where each stands: what a table says in words is looked at once a
# word.


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts without repetition (None where one is missing), and the place of each record's among them."""

    codes: NDArray[np.integer]
    texts: list[str | None]

    @classmethod
    def of(cls, array: NDArray[np.generic]) -> Labels:
        """The labels of an array of text."""
        texts, codes = np.unique(array, return_inverse=True)
        return cls(codes.reshape(-1), texts.tolist())

    def __len__(self) -> int:
        return len(self.codes)

    def first(self, wanted: Iterable[bool]) -> int | None:
        """The first record whose text is one of those wanted, of each of which it is said."""
        matches = np.fromiter(wanted, np.bool_, len(self.texts))[self.codes]
        return int(np.argmax(matches)) if matches.any() else None

    def array(self, what: str, start: int, limit: int) -> NDArray[np.str_]:
        """The text of each record, in at most ``limit`` bytes: NumPy gives each the room of the longest."""
        missing = self.first(text is None for text in self.texts)
        if missing is not None:
            raise absent(what, start + missing)
        texts = [text or "" for text in self.texts]
        nul = self.first(text.endswith("\0") for text in texts)
        if nul is not None:
            detail = f"row {start + nul} is text that ends in a NUL character; write it without"
            raise fault(InputError, what, detail, start + nul)
        wide = max(map(len, texts), default=1)
        if wide > MOST_LETTERS:
            at = self.first(len(text) > MOST_LETTERS for text in texts)
            if at is not None:
                detail = f"row {start + at} has more than {MOST_LETTERS} characters"
                raise fault("out-of-range", what, detail, start + at)
        if 4 * wide * len(self) > limit:
            detail = f"{what}: texts of up to {wide} characters in {len(self)} rows take too much memory"
            raise Problem("too-large", detail)
        return np.array(texts, dtype=np.str_)[self.codes] if texts else np.zeros(0, np.str_)


def absent(what: str, row: int) -> NotFinite:
    """A value that is required and missing."""
    return fault(NotFinite, what, f"row {row} has no value; every row needs one (rows count from 0)", row)


def one_column(parts: Sequence[NDArray[Any] | Labels], what: str) -> NDArray[Any] | Labels:
    """Several blocks of a column: integers exactly, unless fractions stand among them."""
    texts = [part for part in parts if isinstance(part, Labels)]
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    if texts and numbers:
        raise fault(MixedTypes, what, "text and numbers in one column")
    return _joined_labels(texts) if texts else _joined_numbers(numbers)


def labels_alike(parts: Sequence[NDArray[Any] | Labels], what: str) -> Sequence[NDArray[Any] | Labels]:
    """Labels of several files: all text where they are so in one, as in CSV, whose numbers are text, too."""
    if len({isinstance(part, Labels) for part in parts}) < 2:
        return parts
    several = [(part.codes, part.texts) if isinstance(part, Labels) else _distinct(part) for part in parts]
    every = {label for _, labels in several for label in labels if label is not None}
    by_words = what == "member"  # of which several mean the same
    called = {label: spelled(label) for label in every} if by_words else one_kind(every, what)
    return [Labels(codes, [called.get(label) for label in labels]) for codes, labels in several]


def _distinct(column: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    labels, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1), labels.tolist()


def _joined_numbers(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    types = {part.dtype for part in parts}
    if len(types) == 1:
        return np.concatenate(parts)
    if any(part.dtype.kind == "f" for part in parts):
        return np.concatenate([floats_of(part.tolist()) if part.dtype.kind == "O" else part for part in parts])
    return as_64_bit(np.concatenate([part.astype(object) for part in parts]))


def _joined_labels(parts: Sequence[Labels]) -> Labels:
    places: dict[str | None, int] = {}
    codes = []
    for part in parts:
        own = np.array([places.setdefault(text, len(places)) for text in part.texts], dtype=np.int64)
        codes.append(own[part.codes])
    return Labels(np.concatenate(codes), [*places])


def floats_of(values: Sequence[float]) -> NDArray[np.float64]:
    """Numbers as floats; what no float is near is infinite, and refused as that."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:  # an integer of more than 308 digits
        return np.array([or_infinite(value) for value in values])
