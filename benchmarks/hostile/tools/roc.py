"""Rates of every threshold, which several tools begin with."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.hostile.question import Column

Integers = NDArray[np.int64]


def above(members: Column, nonmembers: Column) -> tuple[Integers, Integers]:
    """How many of either side lie at each distinct score or above it, from the highest score down; first none."""
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    sides = where[: len(members)], where[len(members) :]
    counts = (np.bincount(each, minlength=len(values))[::-1].cumsum() for each in sides)
    tp, fp = (np.concatenate([[0], each]) for each in counts)
    return tp, fp
