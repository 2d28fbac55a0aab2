"""Fits to random halves of the data, and to halves that differ by one record; and the random streams behind them.

Every purpose has a stream of its own, so that no two things made from one seed share a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords, require_count
from estimators.python.dataclass import dataclass, replace


class Purpose(IntEnum):
    """What a stream is for."""

    CALIBRATING = 0
    HALVING = 1
    ADDING = 2
    LEARNING = 3
    JUDGING = 4
    DRAWING = 5
    SWAPPING = 6


def root_of(seed: int | None) -> np.random.SeedSequence:
    """What all streams of a seed grow from; without one, 128 bits from the operating system that nobody is told."""
    return np.random.SeedSequence(None if seed is None else require_count("seed", seed, 0))


def stream(root: np.random.SeedSequence, purpose: Purpose) -> np.random.Generator:
    """Keys of ``SeedSequence`` keep streams apart that have the same entropy."""
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(int(purpose),)))


Ints = NDArray[np.int64]
Fit = Callable[[NDArray[Any]], ArrayLike]
"""From the records of a training set, one a row, to a number or an array of numbers of a fixed shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """A fitting function on a data set. A training set is a random half, in random order.

    The order is random and a swap keeps everybody else's place, so a fit that minds the order differs little, too.
    ``shape`` is that of every fit: one that differed with the training set would tell of it whatever the noise.
    """

    fit: Fit
    data: NDArray[Any]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, fit: Fit, data: ArrayLike, generator: np.random.Generator) -> Refits:
        """Check that there is something to halve; a fit to a random half sets the shape."""
        try:
            rows = np.asarray(data)
        except ValueError:
            raise DimensionMismatch.about("data", "need records of one shape, one a row") from None
        if rows.ndim == 0 or len(rows) < 2:
            raise TooFewRecords.about("data", "need at least 2 records, one a row")
        result = cls(fit, rows, ())
        members = result.training_set(generator)[0]
        return replace(result, shape=numbers_of(fit(rows[members])).shape)

    @property
    def records(self) -> int:
        """Records in the data set."""
        return len(self.data)

    @property
    def half(self) -> int:
        """Records in a training set."""
        return self.records // 2

    def training_set(self, generator: np.random.Generator) -> tuple[Ints, Ints]:
        """Who is in, and who is not."""
        order = generator.permutation(self.records)
        return order[: self.half], order[self.half :]

    @property
    def baseline(self) -> float:
        """Accuracy of guessing: of an odd number of records more than half are out, and "out" is right about those."""
        return (self.records - self.half) / self.records

    def parameters(self, members: Ints) -> Floats:
        """What the fit returns, as one row of numbers."""
        result = numbers_of(self.fit(self.data[members]))
        if result.shape != self.shape:
            message = "returned arrays of different shapes; parameters need a fixed shape"
            raise DimensionMismatch.about("fit", message)
        return result.ravel()

    def draws(self, count: int, generator: np.random.Generator) -> Floats:
        """Independent fits to random halves, one a row."""
        sets = (self.training_set(generator)[0] for _ in range(require_count("draws", count)))
        return np.stack([self.parameters(members) for members in sets])

    def rounds(self, count: int, generator: np.random.Generator) -> Iterator[tuple[Floats, Floats, Ints, Ints]]:
        """In each round one half, each of its records swapped for another one from outside, each of these once.

        Yields the parameters before (one row) and after (one row a swap), who left and who came. A swap is one of the
        record that leaves, and turned round one of the record that comes: a random half with it, and a random one
        without. So a round gives every record one pair (but one, if they are odd), for half as many fits as records.
        """
        for _ in range(require_count("rounds", count)):
            members, others = self.training_set(generator)
            coming = others[: self.half]  # the order is random already
            before = self.parameters(members)
            after = []
            for place, newcomer in enumerate(coming):
                swapped = members.copy()
                swapped[place] = newcomer
                after.append(self.parameters(swapped))
            yield before, np.stack(after), members, coming


@dataclass(frozen=True, slots=True, eq=False)
class SwapPairs:
    """Parameters with a record in and with it swapped out, row by row: what ``theory/mip`` takes, without the data."""

    before: Floats
    after: Floats
    record: Ints


def swap_pairs(fit: Fit, data: ArrayLike, rounds: int, *, seed: int) -> SwapPairs:
    """``rounds`` pairs of every record."""
    generator = stream(root_of(seed), Purpose.SWAPPING)
    before, after, record = [], [], []
    for first, second, leaver, newcomer in Refits.of(fit, data, generator).rounds(rounds, generator):
        same = np.broadcast_to(first, second.shape)
        before += [same, second]
        after += [second, same]
        record += [leaver, newcomer]
    return SwapPairs(np.concatenate(before), np.concatenate(after), np.concatenate(record))


def fitted_draws(fit: Fit, data: ArrayLike, count: int, *, seed: int) -> Floats:
    """``count`` independent fits to random halves, one a row; independent of the pairs of the same seed."""
    generator = stream(root_of(seed), Purpose.DRAWING)
    return Refits.of(fit, data, generator).draws(count, generator)


def numbers_of(returned: ArrayLike) -> Floats:
    """What a fit returned, if it is a number or an array of numbers."""
    try:
        raw = np.asarray(returned)
    except (TypeError, ValueError):
        raise DimensionMismatch.about("fit", "returned rows of different lengths") from None
    if raw.size == 0:
        raise TooFewRecords.about("fit", "returned no number")
    if raw.dtype.kind not in "biuf":
        raise OutOfRange.about("fit", "returned what is no real number, nor an array of them")
    result = raw.astype(np.float64)
    if not np.isfinite(result).all():
        raise NotFinite.about("fit", "returned a number that is not finite")
    return result
