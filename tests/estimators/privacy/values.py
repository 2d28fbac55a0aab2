"""Counts of which every distinct score, or every record, is a cell."""

import numpy as np

from estimators.sample.cells import Categories, Intervals, Values
from estimators.sample.counts import Counts


def counts_of(members: np.ndarray, nonmembers: np.ndarray) -> Counts:
    labels, at = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    size = len(labels)
    a, b = at[: len(members)], at[len(members) :]
    return Counts(np.bincount(a, minlength=size), np.bincount(b, minlength=size), Intervals(labels[1:]))


def tallied(members: np.ndarray, nonmembers: np.ndarray, size: int, cells: type[Categories] = Values) -> Counts:
    """Of numbers of cells."""
    columns = [np.bincount(side, minlength=size) for side in (members, nonmembers)]
    return Counts.trusted(*columns, cells(np.arange(size)))


def ranks(members: np.ndarray, nonmembers: np.ndarray) -> Counts:
    """Every record a cell, as of continuous scores."""
    side = (np.argsort(np.concatenate([members, nonmembers])) < len(members)).astype(np.int64)
    return Counts.trusted(side, 1 - side, Intervals(np.arange(len(side) - 1.0)))
