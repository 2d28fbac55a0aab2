"""Scores: what the adversary saw of each record, checked once and for all."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import distinct, random_of
from estimators.python.dataclass import dataclass
from estimators.sample import integers
from estimators.sample.plain_arrays import ArgumentScores, array_of, as_floats, labels_of
from estimators.sample.spelled_numbers import LOOKS, require_no_spelled_number

MIN_RECORDS = 8
"""Fewest records a side: below it every interval is close to [baseline, 1]."""

FEW_VALUES = 64
"""A number with at most this many distinct values, each seen often, is read as a category."""

OFTEN = 5
"""Records that each different value has on average, at least, where numbers are read as categories."""


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
        sides = array_of(members, "member"), array_of(nonmembers, "nonmember")
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
    labels, records = labels_of(units, "units"), array_of(scores, "record")
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


def of_one_type(a: NDArray[Any], b: NDArray[Any], query: Query) -> tuple[NDArray[Any], NDArray[Any]]:
    """Integers of both sides as one type that holds all of them; on a line, or beside fractions, as floats."""
    a, b = (side.astype(np.int64) if side.dtype.kind == "b" else side for side in (a, b))
    kinds = {a.dtype.kind, b.dtype.kind}
    whole = kinds <= set("iuO")
    if (whole and query is Query.CONTINUOUS) or kinds == {"O", "f"}:
        return as_floats(a, "member"), as_floats(b, "nonmember")
    return integers.as_one_type(a, b) if whole and a.ndim == b.ndim == 1 else (a, b)


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
