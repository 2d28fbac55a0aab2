"""Rules that change their guess a few times along a score, at any places: the best value for every number of changes.

Neighbouring gains of one sign are a run, and the best rule with no limit on its changes follows every run. Giving up a
run that is no larger than its two neighbours joins three runs to one and saves two changes, and no cheaper way to
save two exists (the pairing of valleys and peaks by which the best k trades of a price series are found). So the
sizes of the runs given up, sorted, are what each further pair of changes is worth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STRETCH = 256
"""Running sums that are first compared by their least and largest only."""


def best_by_changes(gain: Floats, most: int) -> Floats:
    """Largest sum of gain over "member" minus that over "nonmember", for at most 0, 1, ..., ``most`` changes."""
    if most <= 2:
        return _few_changes(gain)[: most + 1]
    gain = gain[gain != 0.0]
    if not gain.size:
        return np.zeros(most + 1)
    positive = gain > 0.0
    starts = np.flatnonzero(np.concatenate([[True], positive[1:] != positive[:-1]]))
    runs, saved = _join(np.abs(np.add.reduceat(gain, starts)))
    best = np.full(most + 1, -np.inf)
    for first in (False, True):
        for last in (False, True):  # a rule of known first and last guess gives up inner runs only
            pinned = _pinned(runs, first == positive[0], last == positive[-1])
            worth = np.sort(np.concatenate([saved, _join(pinned)[1]]))[::-1]
            least = float(np.abs(gain).sum()) - 2.0 * float(worth.sum())
            values = least + 2.0 * np.concatenate([[0.0], worth.cumsum()])
            changes = np.arange(int(first != last), most + 1, 2)
            best[changes] = np.maximum(best[changes], values[np.minimum(np.arange(len(changes)), len(worth))])
    return np.maximum.accumulate(best)


def _few_changes(gain: Floats) -> Floats:
    """The same for 0, 1 and 2 changes, by running sums alone."""
    sums = np.concatenate([[0.0], gain.cumsum()])
    total = sums[-1]
    constant = abs(total)
    threshold = np.abs(total - 2.0 * sums).max()
    inside, outside = _largest_rise(sums), _largest_rise(-sums)
    return np.maximum.accumulate([constant, threshold, max(2.0 * inside - total, total + 2.0 * outside)])


def _largest_rise(sums: Floats) -> float:
    """Most by which a value lies above one before it, or at it.

    Stretches are told apart by their least and largest values: only one that spans more than the best rise from one
    stretch to a later one is looked at value by value.
    """
    whole = sums.size // STRETCH * STRETCH
    rows, rest = sums[:whole].reshape(-1, STRETCH), sums[whole:]
    least, largest = rows.min(axis=1), rows.max(axis=1)
    before = np.minimum.accumulate(np.concatenate([sums[:1], least]))
    best = float((largest - before[:-1]).max(initial=0.0))
    if rest.size:
        best = max(best, float((rest - np.minimum(before[-1], np.minimum.accumulate(rest))).max()))
    wide = rows[largest - least > best]
    return max(best, float((wide - np.minimum.accumulate(wide, axis=1)).max(initial=0.0)))


def _pinned(runs: Floats, begins: bool, ends: bool) -> Floats:
    """The runs with guesses beyond both ends that no gain can outweigh."""
    inner = runs[int(begins) : len(runs) - int(ends)] if len(runs) > 1 or not (begins and ends) else runs[:0]
    if len(runs) == 1 and begins and ends:
        return np.array([np.inf])
    return np.concatenate([[np.inf], inner, [np.inf]])


def _join(runs: Floats) -> tuple[Floats, Floats]:
    """Give up inner runs no larger than both neighbours until none is left; what remains, and the sizes given up."""
    sizes = [np.empty(0)]
    while len(runs) > 2:
        inner = runs[1:-1]
        low = np.flatnonzero((inner < runs[:-2]) & (inner <= runs[2:])) + 1
        if not low.size:  # a run as large as the one before it, which cannot be given up
            low = np.flatnonzero((inner <= runs[:-2]) & (inner <= runs[2:]))[:1] + 1
        if not low.size:
            break
        sizes.append(runs[low])
        first_of_run = np.ones(len(runs), dtype=bool)
        first_of_run[low] = first_of_run[low + 1] = False
        signed = runs.copy()
        signed[low] *= -1.0
        runs = np.add.reduceat(signed, np.flatnonzero(first_of_run))
    return runs, np.concatenate(sizes)
