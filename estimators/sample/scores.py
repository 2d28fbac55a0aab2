"""Scores: what the adversary saw of each record, checked once and for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, cast
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import distinct, is_masked, random_of
from estimators.python.dataclass import dataclass
from estimators.sample import integers

MIN_RECORDS = 8
"""Fewest records a side: below it every interval is close to [baseline, 1]."""

FEW_VALUES = 64
"""A number with at most this many distinct values, each seen often, is read as a category."""

OFTEN = 5
"""Records that each different value has on average, at least, where numbers are read as categories."""

ArgumentScores = ArrayLike | Sequence[object]


class Query(Enum):
    """How a score is to be read.

    Attributes:
        AUTO: ``"auto"``: text, booleans and numbers with few distinct values are categories, other numbers continuous.
        CONTINUOUS: ``"continuous"``: numbers, or rows of numbers.
        DISCRETE: ``"discrete"``: every distinct value is a category.

    Example:
        >>> from estimators import Query, Scores
        >>> scores = Scores.of([1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], Query.DISCRETE)
        >>> scores.query
        <Query.DISCRETE: 'discrete'>
    """

    AUTO = "auto"
    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


@dataclass(frozen=True, eq=False)
class Scores:
    """One query's value for each member and nonmember record; ``Scores.of`` checks and makes it.

    Attributes:
        members: The members' scores: float64 of shape (n,) or (n, d) for a continuous query; for a discrete one of one
            sortable type (integers, numbers, strings or booleans), shape (n,).
        nonmembers: The nonmembers' scores, likewise.
        query: ``Query.CONTINUOUS`` or ``Query.DISCRETE``.
        reason: Why it is read so, in words.

    Example:
        >>> from estimators import Scores
        >>> scores = Scores.of(["cat", "dog"] * 10, ["dog"] * 20)
        >>> scores.query.value, scores.reason
        ('discrete', 'scores are text')
        >>> scores.n_members, scores.n_nonmembers, scores.dimension
        (20, 20, 1)
    """

    members: NDArray[np.generic]
    nonmembers: NDArray[np.generic]
    query: Query
    reason: str

    @classmethod
    def of(cls, members: ArgumentScores, nonmembers: ArgumentScores, query: Query | str = Query.AUTO) -> Scores:
        """Check both sides and decide how to read them.

        Args:
            members: One score for each record that the model was trained on, at least 8: numbers, rows of numbers,
                text or booleans, as a list or a NumPy array. A higher score need not mean member.
            nonmembers: One score for each record that it has never seen, at least 8, of the same type.
            query: How to read them: ``"auto"``, ``"continuous"`` or ``"discrete"`` (see ``Query``).

        Returns:
            the checked ``Scores``.

        Raises:
            InputError: a side is too small, a score is NaN, infinite or missing, or types or dimensions differ; the
                error names the side and the record.

        Example:
            >>> from estimators import Scores
            >>> Scores.of([0.9, 0.8, 0.7, float("nan"), 0.9, 0.6, 0.7, 0.8], [0.1] * 8)
            Traceback (most recent call last):
                ...
            estimators.errors.NotFinite: member scores: record 3 is NaN; every score must be finite
        """
        try:
            query = Query(query)
        except ValueError:
            raise errors.UnknownName.among("query", query, [q.value for q in Query]) from None
        sides = _side(members, "member"), _side(nonmembers, "nonmember")
        a, b = of_one_type(*sides, query)
        for side, name in ((a, "member"), (b, "nonmember")):
            if query is not Query.DISCRETE:
                require_no_spelled_number(side, name)
        _require_no_labels(a, b)
        for side, name in ((a, "member"), (b, "nonmember")):
            require_enough(len(side), name)
        if a.ndim != b.ndim or a.shape[1:] != b.shape[1:]:
            raise errors.DimensionMismatch(
                f"member scores have dimension {_dimension(a)}, nonmember scores {_dimension(b)}; "
                "both sides need the same query",
                field="nonmembers",
            )
        for kind, what in (("U", "text"), ("b", "booleans")):
            if (sides[0].dtype.kind == kind) != (sides[1].dtype.kind == kind):
                raise errors.MixedTypes(
                    f"member and nonmember scores are of different types ({what} on one side only); give both "
                    "sides the same",
                    field="nonmembers",
                )
        discrete, reason = _decide(a, b, query)
        if discrete:
            return cls(a, b, Query.DISCRETE, reason)
        if query is Query.AUTO:
            nearest = ', or say query "continuous" if an attacker sees the nearest floats'
            integers.require_different_floats((a, b), "member and nonmember scores", "members", nearest)
        return cls(_as_float(a), _as_float(b), Query.CONTINUOUS, reason)

    @property
    def n_members(self) -> int:
        """Number of member records."""
        return len(self.members)

    @property
    def n_nonmembers(self) -> int:
        """Number of nonmember records."""
        return len(self.nonmembers)

    @property
    def dimension(self) -> int:
        """Length of one score: 1 unless the query is a vector."""
        return _dimension(self.members)


def require_enough(records: int, side: str) -> None:
    """Refuse a side with too few records for any statement."""
    if records < MIN_RECORDS:
        raise errors.TooFewRecords.of_side(side, f"got {records}, need at least {MIN_RECORDS}")


def one_per_unit(scores: ArgumentScores, units: ArrayLike, seed: int = 0) -> NDArray[np.intp]:
    """Indices that keep one record, drawn at random, of each unit (a person, a household).

    Rows of one person are not independent: with five rows each and correlation 0.5 a 95% interval
    covers 91%. One row a unit restores what every interval here assumes.

    Args:
        scores: The scores of one side.
        units: Whom each record belongs to: a label for each, text or numbers.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        ascending indices of the records to keep.

    Raises:
        DimensionMismatch: not as many labels as scores.

    Example:
        >>> import numpy as np
        >>> from estimators import one_per_unit
        >>> scores = np.array([0.9, 0.8, 0.7, 0.4, 0.5])
        >>> keep = one_per_unit(scores, ["ann", "ann", "ann", "bob", "bob"])
        >>> len(keep), len(scores[keep])
        (2, 2)
    """
    labels, records = labels_of(units, "units"), _side(scores, "record")
    if len(labels) != len(records):
        raise errors.DimensionMismatch.about("units", f"got {len(labels)} labels for {len(records)} scores")
    if labels.dtype.kind == "U" and (labels == "").any():
        row = int(np.argmax(labels == ""))
        raise errors.InputError.about("units", f"record {row} has none; need whom each record belongs to", row)
    return one_of_each(labels, random_of(errors.require_count("seed", seed, 0), labels, records))


def one_of_each(labels: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.intp]:
    """Where one record of each label stands, drawn at random; ascending."""
    order = rng.permutation(len(labels))
    return np.sort(order[np.unique(labels[order], return_index=True)[1]])


AS_ASKED = "as asked"
"""Why a score is read so where whoever asked has said it."""


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


def _side(values: ArgumentScores, name: str) -> NDArray[np.generic]:
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


def of_one_type(a: NDArray[Any], b: NDArray[Any], query: Query) -> tuple[NDArray[Any], NDArray[Any]]:
    """Integers of both sides as one type that holds all of them; on a line, or beside fractions, as floats."""
    a, b = (side.astype(np.int64) if side.dtype.kind == "b" else side for side in (a, b))
    kinds = {a.dtype.kind, b.dtype.kind}
    whole = kinds <= set("iuO")
    if (whole and query is Query.CONTINUOUS) or kinds == {"O", "f"}:
        return as_floats(a, "member"), as_floats(b, "nonmember")
    return integers.as_one_type(a, b) if whole and a.ndim == b.ndim == 1 else (a, b)


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


LOOKS = 64
"""Scores all over a side that are looked at before all of them are."""

NUMBER = r"[+\-\u2212]?(?:\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
THOUSANDS = r"\d{1,3}(?:[,'_ ]\d{3})+\.\d+|\d{1,3}(?:[.' ]\d{3})+,\d+"
FRACTION = re.compile(
    rf"[+\-\u2212]?(?:\d+[.,]\d+|[.,]\d+|\d+\.|\d+[eEdD][+-]\d+|{THOUSANDS})(?:[eEdD][+-]?\d+)?[fF]?", re.ASCII
)
CURRENCY = r"[$\u20ac\u00a3\u00a5]"
ADORNED = re.compile(
    rf"(?:{NUMBER}\s*(?:%|\u2030|{CURRENCY}|USD|EUR|GBP)|[+\-\u2212]?{CURRENCY}\s*{NUMBER}|\[\s*{NUMBER}\s*\]"
    rf"|[A-Za-z_][\w.]*\(\s*\[?\s*{NUMBER}\s*\]?\s*(?:,[^()]*)?\))",
    re.ASCII,
)
"""A number with something around it: 81.3%, $8126.00, [0.81], tensor(0.81), array([0.5], dtype=float32)."""


def spells_number(text: str) -> bool:
    """Whether a text is a number that was written as text: a fraction, or a number with something around it.

    Whole numbers as text are not: they are names, such as postcodes, as often as numbers.
    """
    word = normalize("NFKC", text.strip())  # wide digits, too
    return bool(FRACTION.fullmatch(word) or ADORNED.fullmatch(word))


def require_no_spelled_number(side: NDArray[np.generic], name: str, start: int = 0) -> None:
    """Refuse text that spells numbers: read as categories, each would be one of its own."""
    if side.dtype.kind != "U" or side.ndim != 1 or not len(side):
        return
    step = max(1, len(side) // LOOKS)
    numbers = [spells_number(str(text)) for text in side[::step]]
    if 2 * sum(numbers) < len(numbers):
        return
    index = start + numbers.index(True) * step
    message = (
        f"record {index} is text that spells a number; give numbers as 0.81 or 1.2e-3, without percent or currency "
        'signs, thousands, letters, brackets or names around them, or say query "discrete" if they are categories'
    )
    raise errors.InputError.of_side(name, message, index)


def _require_no_labels(a: NDArray[np.generic], b: NDArray[np.generic]) -> None:
    """Refuse the scores of all records and, as the other side, who of them is a member."""
    if len(a) != len(b) or a.ndim != 1 or b.ndim != 1 or "U" in (a.dtype.kind, b.dtype.kind):
        return
    for scores, labels, name in ((a, b, "nonmember"), (b, a, "member")):
        if not _is_label(labels[:: max(1, len(labels) // LOOKS)]).all() or not _has_fractions(scores):
            continue
        values = distinct(labels)  # a side that looks like labels throughout is worth a closer look
        if len(values) == 2 and _is_label(values).all() and values[1] == 1:
            message = (
                f"only {values[0]:g} and 1, as many as there are scores of the other side; these look like labels. "
                "Give members' and nonmembers' scores apart, or one table of both: "
                'macekit.estimate({"score": scores, "member": labels})'
            )
            raise errors.InputError.of_side(name, message)


def _is_label(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    return np.isin(values, (-1, 0, 1))


def _has_fractions(scores: NDArray[np.generic]) -> bool:
    """Whether there are many different values, and fractions among them."""
    values = distinct(scores[:: max(1, len(scores) // LOOKS)])
    return values.dtype.kind == "f" and len(values) >= MIN_RECORDS and bool((values != np.floor(values)).any())


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


def _decide(a: NDArray[np.generic], b: NDArray[np.generic], query: Query) -> tuple[bool, str]:
    """Whether the score is discrete, and why."""
    kind = "text" if a.dtype.kind in "US" else "number"
    if a.ndim == 2:
        if kind == "text":
            raise errors.InputError("vector scores must be numbers", field="members")
        if query is Query.DISCRETE:
            raise errors.InputError("a discrete query needs one value per record, got rows", field="query")
        return False, f"a vector of {a.shape[1]} numbers"
    if kind == "text":
        if query is Query.CONTINUOUS:
            raise errors.InputError("a continuous query needs numbers, got text", field="query")
        return True, "scores are text"
    if query is not Query.AUTO:
        return query is Query.DISCRETE, AS_ASKED
    total = len(a) + len(b)
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        span = max(int(a.max()), int(b.max())) - min(int(a.min()), int(b.min())) + 1
        if span * OFTEN <= total:
            return True, f"integers from a range of {span}, in {total} records"
    few = _distinct_up_to(a, b, FEW_VALUES)
    if few is not None and few * OFTEN <= total:
        return True, f"only {few} distinct values in {total} records"
    return False, "many distinct values"


def _distinct_up_to(a: NDArray[np.generic], b: NDArray[np.generic], limit: int) -> int | None:
    """Number of distinct values of both sides if at most ``limit``; a short look settles most cases."""
    head = distinct(np.concatenate([a[:1024], b[:1024]]))
    if head.size > limit:
        return None
    if len(a) <= 1024 and len(b) <= 1024:
        return int(head.size)
    for side in (a, b):  # every record must be one of the values seen so far, or we look again
        position = np.minimum(np.searchsorted(head, side), head.size - 1)
        missing = side[head[position] != side]
        if missing.size:
            head = np.union1d(head, missing[: 4 * limit])
            if head.size > limit:
                return None
            rest = distinct(missing)
            head = np.union1d(head, rest)
            if head.size > limit:
                return None
    return int(head.size)


def _as_float(array: NDArray[np.generic]) -> NDArray[np.float64]:
    """Numbers as contiguous float64."""
    return np.ascontiguousarray(array, dtype=np.float64)


def _dimension(array: NDArray[np.generic]) -> int:
    return 1 if array.ndim == 1 else int(array.shape[1])
