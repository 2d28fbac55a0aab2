"""Fits to random halves of the data, and to halves that differ by one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import DimensionMismatch, NotFinite, TooFewRecords, require_count

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fit = Callable[[NDArray[Any]], ArrayLike]
"""From the records of a training set, one a row, to a number or an array of numbers of a fixed shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """A fitting function on a data set. A training set is a random half, in random order.

    The order is random and a swap keeps everybody else's place, so a fit that minds the order differs little, too.
    """

    fit: Fit
    data: NDArray[Any]

    @classmethod
    def of(cls, fit: Fit, data: ArrayLike) -> Refits:
        """Check that there is something to halve."""
        rows = np.asarray(data)
        if rows.ndim == 0 or len(rows) < 2:
            raise TooFewRecords("data: need at least 2 records, one a row", field="data")
        return cls(fit, rows)

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

    def array(self, members: Ints) -> Floats:
        """What the fit returns, in its own shape."""
        found = np.asarray(self.fit(self.data[members]), dtype=np.float64)
        if not np.isfinite(found).all():
            raise NotFinite("fit: returned a number that is not finite", field="fit")
        if found.size == 0:
            raise TooFewRecords("fit: returned no number", field="fit")
        return found

    def parameters(self, members: Ints) -> Floats:
        """The same as one row of numbers."""
        return self.array(members).ravel()

    def draws(self, count: int, generator: np.random.Generator) -> Floats:
        """Independent fits to random halves, one a row."""
        sets = (self.training_set(generator)[0] for _ in range(require_count("draws", count)))
        return _stacked([self.parameters(members) for members in sets])

    def rounds(
        self, count: int, generator: np.random.Generator
    ) -> Iterator[tuple[Floats, Floats, Ints, Ints]]:
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
            yield before, _stacked(after), members, coming


@dataclass(frozen=True, slots=True, eq=False)
class SwapPairs:
    """Parameters with a record in and with it swapped out, row by row: what ``theory/mip`` takes, without the data."""

    before: Floats
    after: Floats
    record: Ints


def swap_pairs(fit: Fit, data: ArrayLike, rounds: int, *, seed: int) -> SwapPairs:
    """``rounds`` pairs of every record."""
    before, after, record = [], [], []
    for first, second, left, came in Refits.of(fit, data).rounds(rounds, np.random.default_rng(seed)):
        same = np.broadcast_to(first, second.shape)
        before += [same, second]
        after += [second, same]
        record += [left, came]
    return SwapPairs(np.concatenate(before), np.concatenate(after), np.concatenate(record))


def fitted_draws(fit: Fit, data: ArrayLike, count: int, *, seed: int) -> Floats:
    """``count`` independent fits to random halves, one a row."""
    return Refits.of(fit, data).draws(count, np.random.default_rng(seed))


def _stacked(rows: list[Floats]) -> Floats:
    if len({len(row) for row in rows}) > 1:
        raise DimensionMismatch(
            "fit: returned arrays of different sizes; parameters need a fixed shape", field="fit"
        )
    return np.stack(rows)
