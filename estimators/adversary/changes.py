"""Rules that change their guess a few times along a score, at any places: the best value for every number of changes.

Neighbouring gains of one sign are a run, and the best rule with no limit on its changes follows every run. Giving up a
run that is no larger than its two neighbours joins three runs to one and saves two changes, and no cheaper way to
save two exists (the pairing of valleys and peaks by which the best k trades of a price series are found). So the
sizes of the runs given up, sorted, are what each further pair of changes is worth.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Booleans, Floats, Integers, lengths

FEW = 2  # changes for which running sums are enough
OUTRIGHT = 2**13  # running sums up to which each is compared with all before it
STRETCH = 256  # of more, so many are first compared by their least and largest only

GUESSES = ((False, False), (True, True), (False, True), (True, False))
"""First and last guess of a rule: alike, and not."""

ALONE = np.zeros(1, dtype=np.int64)  # where rows begin, of one row


def best_by_changes(gain: Floats, most: int) -> Floats:
    """Largest sum of gain over "member" minus that over "nonmember", for at most 0, 1, ..., ``most`` changes."""
    best: Floats = best_by_changes_each(gain[None], most)[0]
    return best


def best_by_changes_each(gains: Floats, most: int) -> Floats:
    """The same for several gains along one score, a row for each: each of them as if it were alone."""
    if most <= FEW:
        return _few_changes(gains)[:, : most + 1]
    best, nonzero = np.zeros((len(gains), most + 1)), gains != 0.0
    sizes = np.count_nonzero(nonzero, axis=1)
    some, sizes = np.flatnonzero(sizes), sizes[sizes > 0]
    if not some.size:
        return best
    gain, ends = gains[nonzero], sizes.cumsum()
    positive = gain > 0.0
    begins = np.concatenate([[True], positive[1:] != positive[:-1]])
    begins[ends[:-1]] = True
    starts = np.flatnonzero(begins)
    whole = [float(np.abs(gain[end - size : end]).sum()) for end, size in zip(ends, sizes, strict=True)]
    rows, sizes_of_rows = _join(np.abs(np.add.reduceat(gain, starts)), starts.searchsorted(ends - sizes))
    with_ends = [  # a rule of known first and last guess gives up inner runs only
        _pinned(runs, first == positive[end - size], last == positive[end - 1])
        for runs, end, size in zip(rows, ends.tolist(), sizes.tolist(), strict=True)
        for first, last in GUESSES
    ]
    given_up = _join(np.concatenate(with_ends), np.cumsum([0, *map(len, with_ends[:-1])]))[1]
    least, worth_of_pairs = np.empty(len(with_ends)), np.zeros((len(with_ends), most // 2 + 1))
    for at, sizes_of_pinned in enumerate(given_up):
        row = at // len(GUESSES)
        worth = np.sort(np.concatenate([sizes_of_rows[row], sizes_of_pinned]))[::-1]
        least[at] = whole[row] - 2.0 * worth.sum()
        worth_of_pairs[at, 1 : len(worth) + 1] = worth[: most // 2]
    values = least[:, None] + 2.0 * worth_of_pairs.cumsum(axis=1)
    values = values.reshape(len(some), len(GUESSES), -1)
    best[some, ::2] = values[:, :2].max(axis=1)
    best[some, 1::2] = values[:, 2:, : (most + 1) // 2].max(axis=1)
    return np.maximum.accumulate(best, axis=1)


def _few_changes(gains: Floats) -> Floats:
    """The same for 0, 1 and 2 changes, by running sums alone."""
    sums = np.concatenate([np.zeros((len(gains), 1)), gains.cumsum(axis=1)], axis=1)
    total = sums[:, -1]
    threshold = np.abs(total[:, None] - 2.0 * sums).max(axis=1)
    inside, outside = _largest_rise(sums), _largest_rise(-sums)
    best = np.abs(total), threshold, np.maximum(2.0 * inside - total, total + 2.0 * outside)
    return np.maximum.accumulate(np.column_stack(best), axis=1)


def _largest_rise(sums: Floats) -> Floats:
    """Most by which a value of each row lies above one before it, or at it."""
    if sums.shape[1] <= OUTRIGHT:
        return np.asarray((sums - np.minimum.accumulate(sums, axis=1)).max(axis=1))
    return np.array([_largest_rise_by_stretches(row) for row in sums])


def _largest_rise_by_stretches(sums: Floats) -> float:
    """The same of one row: only a stretch that spans more than the best rise from one to a later one is looked into."""
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


def rule_of_changes(gain: Floats, most: int) -> Booleans:
    """Where the best rule with at most ``most`` changes, 1 or more, guesses member."""
    some = np.flatnonzero(gain)
    if not some.size:
        return np.zeros(len(gain), dtype=np.bool_)
    positive = gain[some] > 0.0
    starts = np.flatnonzero(np.concatenate([[True], positive[1:] != positive[:-1]]))
    sizes = np.abs(np.add.reduceat(gain[some], starts))
    rules = [
        _rule_between(gain, some[starts], sizes, positive[0], first, last, (most - int(first != last)) // 2)
        for first in (False, True)
        for last in (False, True)
    ]
    return max(rules, key=lambda rule: float(gain[rule].sum() - gain[~rule].sum()))


def _rule_between(
    gain: Floats, starts: Integers, sizes: Floats, positive: bool, first: bool, last: bool, pairs: int
) -> Booleans:
    """The best rule with a known first and last guess and so many pairs of changes between them."""
    begins, ends = first == positive, last == (positive ^ (len(sizes) % 2 == 0))
    runs = _pinned(sizes, begins, ends)
    if len(runs) == 1:
        return np.full(len(gain), first)
    begin = np.concatenate([[0], starts[int(begins) : len(starts) - int(ends)], [len(gain)]])
    if ends:
        begin[-1] = starts[-1]
    worth = np.sort(_join(runs)[1][0])
    left = max(0, len(worth) - pairs)
    size = worth[left - 1] if left else 0.0
    # of equal ones some may stay; sums are rounded otherwise
    for most in (np.nextafter(size, 0.0), size, np.inf):
        while left and (low := _lowest(runs, most)[:left]).size:
            runs, starts_of_runs = _give_up(runs, low)
            begin, left = begin[starts_of_runs], left - len(low)
    guesses = (np.arange(len(begin)) % 2 == 1) ^ first
    return np.repeat(guesses, lengths(begin, len(gain)))


def _join(runs: Floats, firsts: Integers = ALONE) -> tuple[list[Floats], list[Floats]]:
    """Give up inner runs no larger than both neighbours until none is left; what remains, and the sizes given up.

    ``firsts`` are the first runs of rows that lie side by side, each of which is joined by itself.
    """
    sizes, rows = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    while (low := _lowest(runs, firsts=firsts)).size:
        sizes.append(runs[low])
        rows.append(firsts.searchsorted(low, side="right"))
        runs, starts = _give_up(runs, low)
        firsts = starts.searchsorted(firsts)
    row = np.concatenate(rows)
    order = row.argsort(kind="stable")
    ends = row[order].searchsorted(np.arange(1, len(firsts) + 2))
    return _parted(runs, np.append(firsts, len(runs))), _parted(np.concatenate(sizes)[order], ends)


def _parted(values: Floats, ends: Integers) -> list[Floats]:
    """What lies from each of these places to the next."""
    return [values[begin:end] for begin, end in pairwise(ends.tolist())]


def _lowest(runs: Floats, most: float = np.inf, firsts: Integers = ALONE) -> Integers:
    """Inner runs no larger than both neighbours, and no larger than so much; of neighbours only one."""
    low = _inner(runs, np.less, most, firsts)
    if low.size:
        return low
    low = _inner(runs, np.less_equal, most, firsts)  # as large as the one before it, which cannot be given up
    if low.size < 2:
        return low
    return low[np.unique(firsts.searchsorted(low, side="right"), return_index=True)[1]]


def _inner(runs: Floats, beneath: np.ufunc, most: float, firsts: Integers) -> Integers:
    """Runs between two of their row that are no larger than the one after, and beneath the one before."""
    inner, low = runs[1:-1], np.zeros(len(runs), dtype=np.bool_)
    np.logical_and(beneath(inner, runs[:-2]), inner <= runs[2:], out=low[1:-1])
    if most < np.inf:
        low[1:-1] &= inner <= most
    low[firsts] = low[firsts - 1] = False
    return low.nonzero()[0]


def _give_up(runs: Floats, low: NDArray[np.int64]) -> tuple[Floats, Integers]:
    """The runs with each of these joined to both neighbours, and which of the runs each joined one begins with."""
    first_of_run = np.ones(len(runs), dtype=bool)
    first_of_run[low] = first_of_run[low + 1] = False
    signed = runs.copy()
    signed[low] *= -1.0
    starts = first_of_run.nonzero()[0]
    return np.add.reduceat(signed, starts), starts


DIRECTIONS = 41  # weights of the two rates for which the best rule is looked up
DIGITS = 10  # digits by which corners are told apart; they are rounded away from the rules


def corners_of(members: Integers, nonmembers: Integers, starts: Integers, changes: int | None) -> Floats:
    """Corners of a polygon that holds the rates of every rule on the joined cells, and of those of few changes.

    For each weight w the class's largest w TPR + (1-w) TNR is known exactly; where two such lines of neighbouring
    weights cross, no rule of the class lies beyond. (corners, 2), from right about all
    nonmembers to right about all members.
    """
    shares = [members / members.sum(), nonmembers / nonmembers.sum()]
    groups = [np.add.reduceat(side, starts) for side in shares]
    weights = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-np.linspace(-8.0, 8.0, DIRECTIONS))), [1.0]])
    heights = []
    for weight in weights:
        gain = weight * groups[0] - (1.0 - weight) * groups[1]
        best = float(np.abs(gain).sum())
        if changes is not None:
            fine = weight * shares[0] - (1.0 - weight) * shares[1]
            best = max(best, float(best_by_changes(fine, changes)[-1]))
        heights.append((1.0 + best) / 2.0)
    return _crossings(weights, np.array(heights))


def _crossings(weights: Floats, heights: Floats) -> Floats:
    """Where the lines ``w x + (1-w) y = h`` of neighbouring weights cross, within the square."""
    w, v, h, g = weights[:-1], weights[1:], heights[:-1], heights[1:]
    x = (h * (1.0 - v) - g * (1.0 - w)) / (w - v)
    y = (w * g - v * h) / (w - v)
    corners = np.clip(np.column_stack([x, y]), 0.0, 1.0).round(DIGITS)  # of few cells many are alike
    corners = np.unique(corners * [1.0, -1.0], axis=0) * [1.0, -1.0]
    return np.clip(corners + 10.0**-DIGITS, 0.0, 1.0)
