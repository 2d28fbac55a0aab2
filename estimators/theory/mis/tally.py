"""A sample of a categorical variable: how many categories were seen how often, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import InvalidCounts, OutOfRange, TooFewRecords, require_count
from estimators.theory.mis.binomials import Floats, Law, law_of


@dataclass(frozen=True, slots=True)
class Tally:
    """``times`` categories have ``counts`` records each, ascending; ``universe`` is how many there are, if known.

    The names of categories change nothing here, so counts of counts are all that is kept: a million categories share a
    few hundred counts.
    """

    counts: NDArray[np.int64]
    times: NDArray[np.int64]
    universe: int | None = None

    @classmethod
    def of_counts(cls, counts: ArrayLike, universe: int | None = None) -> Tally:
        """A sample, from the number of records in each category.

        Args:
            counts: Records in each category; zeros may be left out.
            universe: Number of possible categories, listed or not. None: unknown.

        Returns:
            a ``Tally``, for ``mis.assess``.

        Raises:
            MaceError: counts that are no whole numbers of at least 0, no record, or fewer possible categories than
                are listed.

        Example:
            >>> from estimators.theory import mis
            >>> tally = mis.Tally.of_counts([40, 30, 20, 0], universe=5)
            >>> tally.records, tally.categories, tally.unseen
            (90, 3, 2)
        """
        entries = np.asarray(counts).ravel()
        if not entries.size:
            raise TooFewRecords("tallies: got none, need at least one", field="tallies")
        whole = entries.astype(np.float64)
        if not (np.isfinite(whole).all() and (whole >= 0.0).all() and (whole == np.floor(whole)).all()):
            raise InvalidCounts("tallies: need whole numbers of at least 0", field="tallies")
        if not 1.0 <= whole.sum() < 2.0**53:
            raise TooFewRecords("tallies: need at least one record, and fewer than 2^53", field="tallies")
        result = np.unique(entries[entries > 0].astype(np.int64), return_counts=True)
        return cls(*result, _universe(universe, entries.size))

    @classmethod
    def of_values(cls, values: Sequence[object] | NDArray[np.generic], universe: int | None = None) -> Tally:
        """A sample, from one value a record.

        Args:
            values: The category of each record, numbers or text.
            universe: As for ``Tally.of_counts``.

        Returns:
            a ``Tally``, for ``mis.assess``.

        Raises:
            MaceError: no value, or fewer possible categories than there are in the sample.

        Example:
            >>> from estimators.theory import mis
            >>> tally = mis.Tally.of_values(["red", "blue", "red", "green"])
            >>> tally.records, tally.categories
            (4, 3)
        """
        if not len(values):
            raise TooFewRecords("values: got none, need at least one", field="values")
        _, counts = np.unique(np.asarray(values), return_counts=True)
        return cls(*np.unique(counts.astype(np.int64), return_counts=True), _universe(universe, counts.size))

    @property
    def records(self) -> int:
        """Records in all."""
        return int((self.counts * self.times).sum())

    @property
    def categories(self) -> int:
        """Categories that were seen."""
        return int(self.times.sum())

    @property
    def unseen(self) -> int | None:
        """Categories that were not seen, if it is known how many there are."""
        return None if self.universe is None else self.universe - self.categories

    @property
    def shares(self) -> Floats:
        """Share of each distinct count: the sample's distribution, with ``times``."""
        return self.counts / self.records

    @property
    def law(self) -> Law:
        """Laws of the count of one category."""
        return law_of(self.records)


def _universe(universe: int | None, least: int) -> int | None:
    if universe is None:
        return None
    if require_count("universe", universe) < least:
        raise OutOfRange(
            f"universe: got {universe}, need at least the {least} categories that are there",
            field="universe",
        )
    return universe
