"""Training sets that differ in one record: for every pair of records, the sets with one and with the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from estimators.theory import subsets

Places = NDArray[np.intp]


class Neighbours:
    """Iterates over (i, j, places of the sets with i, places of the same with j instead), i < j, of n of 2n records.

    Places are those of the lexicographic order; every two neighbours come up exactly once.
    """

    def __init__(self, n: int) -> None:
        self.records = 2 * n
        self.bits = 1 << np.arange(self.records, dtype=np.int64)
        self.place = np.empty(1 << self.records, dtype=np.int32)
        start = 0
        for block in subsets.all_subsets(self.records, n):
            self.place[block @ self.bits] = np.arange(start, start + len(block), dtype=np.int32)
            start += len(block)
        fewer = subsets.all_subsets(self.records, n - 1)
        self.rest = np.concatenate([block @ self.bits for block in fewer])

    def __iter__(self) -> Iterator[tuple[int, int, Places, Places]]:
        for i, j in combinations(range(self.records), 2):
            one, other = self.bits[i], self.bits[j]
            rest = self.rest[(self.rest & (one | other)) == 0]
            yield i, j, self.place[rest | one].astype(np.intp), self.place[rest | other].astype(np.intp)
