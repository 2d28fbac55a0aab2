"""A query: one number for each record, the higher the more like a member, and what is to be known of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import Floats
from estimators.python.dataclass import dataclass

DIRECTION = "higher is more like a member"
"""Which way every query of one number points; there is nothing to negate."""

NO_DIRECTION = "none: a learned adversary finds it"  # which way a vector points


@dataclass(frozen=True, slots=True)
class Query:
    """What a query is called, where it comes from, what it costs and says.

    Every query of one number points the same way: the higher its score, the more the record looks like a member.

    Attributes:
        name: What programs call it.
        paper: Where it comes from.
        says: What a high score says, in a sentence.
        cost: What it costs, in words.
        ties: What equal scores mean, and where a record lies of which there is an exact copy.
        needs: What it reads, such as ``synthetic`` and ``reference``, or the arguments that its function must have.
        vector: Whether its score is a row of numbers and not one number.

    Example:
        >>> from estimators.audits.queries import CATALOGUE
        >>> CATALOGUE["closeness"].needs, CATALOGUE["closeness"].direction
        (('synthetic',), 'higher is more like a member')
    """

    name: str
    paper: str
    says: str
    cost: str
    ties: str
    needs: tuple[str, ...] = ()
    vector: bool = False

    @property
    def direction(self) -> str:
        """Which way it points: the same for all but vectors."""
        return NO_DIRECTION if self.vector else DIRECTION


def by_name(queries: Sequence[Query]) -> dict[str, Query]:
    """Queries by their names, in their order."""
    catalogue = {query.name: query for query in queries}
    if len(catalogue) < len(queries):
        raise ValueError("two queries have the same name")
    return catalogue


def choose(catalogue: Mapping[str, Query], names: Sequence[str] | None, available: Sequence[str]) -> list[str]:
    """Names of the queries to ask: those of ``names``, or every one whose needs are met.

    Args:
        names: The wanted names; None for every query that needs nothing beyond ``available``.
        available: What there is, in the words of ``Query.needs``.
    """
    if names is None:
        return [name for name, query in catalogue.items() if set(query.needs) <= set(available)]
    for name in names:
        if name not in catalogue:
            raise errors.UnknownName.among("query", name, catalogue)
    return list(dict.fromkeys(names))


def finite(scores: Any) -> Floats:
    """Scores as float64, with a check that each can be ordered: a query that is not finite is an error of ours."""
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ArithmeticError("a query gave a score that is not finite")
    return values + 0.0


Integers = NDArray[np.intp]

PLACES = {1: "one number a record", 2: "one row of numbers a record"}


def plain_array(values: object, name: str) -> NDArray[np.generic]:
    """Anything array-like as an array of a plain type; text and numbers stay what they are."""
    if isinstance(values, np.ma.MaskedArray):
        refuse_first(np.ma.getmaskarray(values), errors.InputError, name, "is masked; fill it, or leave it out")
    try:
        array = np.asarray(values)
    except ValueError:
        raise errors.RaggedRows.about(name, "got rows of different length, need rows of one length") from None
    except (TypeError, RuntimeError):
        raise errors.InputError.about(
            name,
            f"got {type(values).__name__}, which NumPy cannot read; detach a tensor, bring it to this "
            "machine's memory and convert it to float32 first",
        ) from None
    return _plain(array, name) if array.dtype.kind == "O" else array


def numbers(values: object, name: str, dimensions: tuple[int, ...] = (1,), models: bool = False) -> Floats:
    """Finite numbers as float64, in one of these numbers of dimensions, for at least one record."""
    array = plain_array(values, name)
    if array.dtype.kind not in "biuf":
        raise errors.InputError.about(name, f"got {_words(array)}, need numbers")
    if 1 in dimensions and array.ndim == 2 and 2 not in dimensions and array.shape[1] == 1:
        array = array[:, 0]  # one column is one number a record
    if array.ndim not in dimensions:
        need = "a row of numbers a model" if models else " or ".join(PLACES[each] for each in dimensions)
        raise errors.DimensionMismatch.about(name, f"got an array of {array.ndim} dimensions, need {need}")
    if array.size == 0:
        raise errors.TooFewRecords.about(name, "got none, need at least one record")
    floats = array.astype(np.float64)
    require_finite(floats, name, models)
    return floats


def require_finite(array: Floats, name: str, models: bool = False) -> None:
    """Name the first record that is NaN or infinite, and what to do about it; with ``models`` a row is a model."""
    finite = np.isfinite(array)
    if finite.all():
        return
    place = [int(each) for each in np.argwhere(~finite)[0]]
    what = "NaN" if np.isnan(array[tuple(place)]) else "infinite"
    index = place[1] if models else place[0]
    where = f"record {index} of model {place[0]}" if models else f"record {index}"
    message = (
        f"{where} is {what}; look at what the model was given there (a missing value, an overflow in half "
        "precision), ask it again, or leave that record out"
    )
    raise errors.NotFinite.about(name, message, index)


def refuse_first(bad: NDArray[np.bool_], kind: type[errors.MaceError], name: str, says: str) -> None:
    """Name the first record, if there is one, of which this holds, or holds of a number in its row."""
    if bad.any():
        index = int(np.argwhere(bad)[0][0])
        raise kind.about(name, f"record {index} {says}", index)


def require_length(array: NDArray[np.generic], name: str, records: int, of: str) -> None:
    """As many rows as there are records."""
    if len(array) != records:
        raise errors.DimensionMismatch.about(name, f"got {len(array)}, need one for each of {records} {of}")


def labels_of(values: ArrayLike, name: str) -> NDArray[np.generic]:
    """Labels, one a record: all text, all whole or real numbers, or all booleans."""
    array = plain_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise errors.DimensionMismatch.about(
            name, f"got an array of {array.ndim} dimensions, need one label a record (of indicators, their argmax)"
        )
    if array.size == 0:
        raise errors.TooFewRecords.about(name, "got none, need at least one")
    if array.dtype.kind not in "biufU":
        raise errors.InputError.about(name, f"got {_words(array)}, need text, numbers or booleans")
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array.astype(np.float64))
        refuse_first(bad, errors.NotFinite, name, "has no label; leave it out, or give it one")
    return array


def places_among(labels: NDArray[np.generic], names: NDArray[np.generic], what: str) -> Integers:
    """The place of each label among names that differ; of one that is none of them an error names the record."""
    if (labels.dtype.kind in "US") != (names.dtype.kind in "US"):
        raise errors.InputError.about("labels", "labels and classes must both be text or both numbers")
    order = np.argsort(names)
    place = np.minimum(np.searchsorted(names[order], labels), len(names) - 1)
    columns = order[place]
    wrong = names[columns] != labels
    if wrong.any():
        index = int(np.argmax(wrong))
        message = f"the label of record {index} is none of the {len(names)} {what}"
        raise errors.InputError.about("labels", message, index)
    return columns


def _plain(array: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """An object array of texts, numbers or booleans as one of these; anything else has a message."""
    values = array.ravel().tolist()
    for kind, of in ((np.str_, str), (np.bool_, bool), (np.float64, int | float)):
        if all(isinstance(value, of) for value in values):
            try:
                return np.array(values, dtype=kind).reshape(array.shape)
            except OverflowError:
                raise errors.InputError.about(name, "a number is beyond 1e308") from None
    for index, value in enumerate(values):
        empty = value is None or value != value  # NaN is what frames have in the place of a text
        if empty or not isinstance(value, str | bool | int | float):
            row = index // max(1, array.size // max(1, len(array)))
            message = f"record {row} is {'missing' if empty else type(value).__name__}; need text or numbers"
            raise errors.InputError.about(name, message, row)
    raise errors.InputError.about(name, "text and numbers are mixed, need all of one type")


def _words(array: NDArray[np.generic]) -> str:
    return {"U": "text", "S": "bytes"}.get(array.dtype.kind, f"values of type {array.dtype}")
