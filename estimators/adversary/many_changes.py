"""Leaks that change sides many times along a score: whether there is a sign of them, and the rules that find them.

A comb of narrow leaks, a score near whole numbers, copies with fewer digits: no cut, no range and no coarse cell sees
them. Whether there is anything to see is told by how much the best rule of all records gains with each doubling of the
changes it may make, beside what it would gain by chance. If so, rules at many scales are taught on part of the records
and judged on the rest, in several orders, as in ``holdout``. They have a part of the level of their own, whether they
are asked or not, so that not asking them can only make the lower end smaller, never wrong.

The rules read cells as fine as the sample affords, averaged over more and more neighbours, and *aspects* of a score
that are known without any label: how far it lies from a whole number (or tenth, or hundredth), from a value that others
have too, and how short it is when written down.
"""

from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import Guesses
from estimators.adversary.holdout import ORDERS, GuessRecord, Validation, Way, validation_of
from estimators.arrays import Floats, Integers, lengths, quantiles
from estimators.python.dataclass import dataclass
from estimators.sample.counting import EXACT_RECORDS
from estimators.sample.counts import Counts
from estimators.sample.splits import HYPERGEOMETRIC_LIMIT
from estimators.sample.unlike_sides import PRECISION

Number = TypeVar("Number", np.int64, np.float64)

MANY_CHANGES = "many_changes"  # what answers call these rules
STEPS = 2048  # groups of neighbouring scores, at most, by which the sign is looked for
FEWEST_STEPS = 64  # different scores below which the rules are asked in any case, as they cost nothing
LABELLINGS = 64  # random labellings by which chance is known of few values
ROUNDING = 1e-13  # what a sum of shares that cancel may differ from nothing

SIZES = (64, 256, 1024, 2048)
BY_CHANCE = {
    4: (1.021, 1.134, 1.176, 1.215),
    8: (2.269, 2.623, 2.769, 2.870),
    16: (np.nan, 4.530, 4.917, 5.095),
    32: (np.nan, np.nan, 7.784, 8.099),
    64: (np.nan, np.nan, 11.499, 12.123),
    128: (np.nan, np.nan, np.nan, 17.348),
}
"""What the best rule with so many changes gains by chance beyond that with two, in units of sqrt(1/n1 + 1/n0)/2: its
mean, at so many steps of one record each (benchmarks changes)."""

BY_CHANCE_JOINED = {4: 1.201, 8: 2.808, 16: 4.990, 32: 7.936, 64: 11.837, 128: 16.847}
"""The same of STEPS groups of many records."""

SPREAD = {4: 0.272, 8: 0.422, 16: 0.530, 32: 0.605, 64: 0.660, 128: 0.700}
"""Its standard deviation, which hardly depends on the steps."""

ROOM = 16  # steps for each change: with fewer, chance depends on what a step holds

HINT = 1.5
"""Standard deviations above chance from which the rules are asked; without a leak one sample in five has as many."""

STRIKING = 3.0  # the same, of an aspect

EVIDENT = 3.5
"""And from which the upper end covers more changes; without a leak, or with one of two changes, at most two samples
in a hundred have as many (benchmarks changes)."""

ENOUGH = 2.0
"""Standard deviations beyond chance by which still more changes may gain where enough are covered."""

PARTS = (0.28, 0.12, 0.15, 0.19, 0.26)
"""Records to learn from, and blocks on each of which the rule is judged that was chosen before."""

ONE_ORDER = 1_000_000
"""Records of both sides from which one order is enough: another moves the end by some ten-thousandths."""

CELLS = 8192
IN_A_CELL = 3  # finest cells at most, and records that one of them has at least on average
WIDTHS = (1, 3, 5, 9, 17, 33, 65, 129, 257)  # cells that a rule averages over

SPANNED = 6.0
"""Multiples of a decimal unit that scores span at least, if how far they lie from one is to be an aspect."""

LOOKED_AT = 4096  # finest cells, about, by which an aspect is looked at first
NEIGHBOURHOOD = 8  # of all records, around a score, one in so many tells how many members are expected at it
UNITS = 3  # decimal units that are looked at, at most

CLOSENESS = 16
"""Equal steps by which a distance is told from half a unit down to the last, which halves as often again."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What the best rule of all records gains by more changes, in standard deviations beyond what chance explains.

    Attributes:
        beyond: The most that any number of changes gains beyond two; infinite where scores have too few different
            values for the question: then looking costs nothing.
        evident: So many changes gain more than chance explains, and more changes no more; None if none do.
    """

    beyond: float
    evident: int | None


def gain_by_changes(counts: Counts, worth: float = 1.0, gain: Floats | None = None) -> Changes:
    """What is gained by 4, 8, 16, ... changes of guess along ordered scores.

    Args:
        worth: How many independent records a record says as much as: less than 1 where some belong together.
        gain: What guessing "member" in each cell gains at even odds, where records do not weigh the same.
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    steps = int(min(STEPS, 4 * n1 * n0 * worth // (n1 + n0)))
    starts = counts.group_starts(max(steps, 1))
    if len(starts) < FEWEST_STEPS:
        all_gain = worth == 1.0 and len(starts) == counts.size and _gain_of_values(counts) > EVIDENT
        return Changes(np.inf, counts.size - 1 if all_gain else None)
    if gain is None:
        members, nonmembers = (np.add.reduceat(side, starts) for side in (counts.members, counts.nonmembers))
        of_steps = (members / n1 - nonmembers / n0) / 2.0
    else:
        of_steps = np.add.reduceat(gain, starts)
    numbers = [changes for changes in BY_CHANCE if ROOM * changes <= len(starts)]
    best = best_by_changes(of_steps, numbers[-1])
    unit = np.sqrt((1.0 / n1 + 1.0 / n0) / worth) / 2.0
    is_joined = counts.n_records * worth > 2 * len(starts)
    more = {each: (best[each] - best[2]) / unit - _by_chance(each, len(starts), is_joined) for each in numbers}
    beyond = max(more[each] / SPREAD[each] for each in numbers)
    if beyond <= EVIDENT:
        return Changes(float(beyond), None)
    evident = next(
        each
        for each in numbers
        if all(more[after] - more[each] <= ENOUGH * SPREAD[after] for after in numbers if after > each)
    )
    return Changes(float(beyond), evident)


def _gain_of_values(counts: Counts) -> float:
    """What telling all of a few values apart gains beyond two changes, in standard deviations beyond chance."""
    n1, n0, pooled = counts.n_members, counts.n_nonmembers, counts.pooled
    if counts.size < 4 or n1 + n0 >= HYPERGEOMETRIC_LIMIT:
        return 0.0
    labellings = np.random.default_rng(0).multivariate_hypergeometric(pooled, n1, LABELLINGS)
    members = np.concatenate([counts.members[None], labellings])
    gain = members / n1 - (pooled - members) / n0
    sums = np.concatenate([np.zeros((len(gain), 1)), gain.cumsum(axis=1)], axis=1)
    rises = [(each - np.minimum.accumulate(each, axis=1)).max(axis=1) for each in (sums, -sums)]
    # both sides have the same mass: sums end at nothing
    beyond = np.abs(gain).sum(axis=1) - 2.0 * np.maximum(*rises)
    spread = float(beyond[1:].std())
    return float((beyond[0] - beyond[1:].mean()) / spread) if spread else 0.0


def _by_chance(changes: int, steps: int, is_joined: bool) -> float:
    """The mean at so many steps, which is nearly a line in one over their root."""
    table = [(size**-0.5, mean) for size, mean in zip(SIZES, BY_CHANCE[changes], strict=True) if mean == mean]
    roots, means = zip(*reversed(table), strict=True)
    mean = float(np.interp(steps**-0.5, roots, means))
    return mean * (BY_CHANCE_JOINED[changes] / BY_CHANCE[changes][-1] if is_joined else 1.0)


@dataclass(frozen=True, slots=True)
class Around:
    """Member where so many neighbouring cells together hold more member weight."""

    width: int

    @property
    def name(self) -> str:
        """The word for it."""
        return f"around_{self.width}"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Sign of the gain around each cell."""
        sums = np.concatenate([np.zeros((len(gain), 1)), gain.cumsum(axis=1)], axis=1)
        return sums_around(sums, self.width) > (-ROUNDING if tie else ROUNDING)


@dataclass(frozen=True, eq=False)
class Aspect:
    """A way to read a score, known without labels: the cell of each finest cell, and what rules average over."""

    cell: Integers
    size: int
    widths: tuple[int, ...] = (1,)

    def table(self, blocks: Integers) -> Integers:
        """Records in each of its cells, of as many rows of finest cells."""
        order, starts, cells = self._in_order
        sums = np.zeros((len(blocks), self.size), dtype=np.int64)
        sums[:, cells] = np.add.reduceat(blocks if order is None else blocks.take(order, 1), starts, 1)
        return sums

    @cached_property
    def _in_order(self) -> tuple[Integers | None, Integers, Integers]:
        """Finest cells in the order of its cells (None: they lie in it), where each begins there, and which it is."""
        cell, order = self.cell, None
        if (cell[1:] < cell[:-1]).any():
            order = cell.astype(np.int16).argsort(kind="stable")  # a radix sort
            cell = cell[order]
        starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
        return order, starts, cell[starts]

    @property
    def families(self) -> tuple[Around, ...]:
        """Its rules, the finest first."""
        return tuple(Around(width) for width in self.widths)

    def strikes(self, excess: Floats, variance: Floats, records: Integers, worth: float = 1.0) -> bool:
        """Whether the members of its cells exceed what is expected by more than chance explains.

        Args:
            excess: Members in each finest cell beyond what its neighbourhood leads one to expect.
            variance: Of their number, by chance.
            records: Of both sides in it.
            worth: How much of an independent record a record says.
        """
        beyond, by_chance, seen = (
            np.bincount(self.cell, weights=each, minlength=self.size) for each in (excess, variance, records)
        )
        enough = (seen >= 5) & (by_chance > ROUNDING)
        surprise = worth * (beyond[enough] ** 2 / by_chance[enough]).sum()
        cells = np.count_nonzero(enough)
        return bool(surprise > cells + STRIKING * np.sqrt(2.0 * cells))


def widths_for(cells: int) -> tuple[int, ...]:
    """Of how many neighbours rules on so many cells take the average."""
    return tuple(width for width in WIDTHS if width == 1 or 8 * width <= cells)


def along(counts: Counts) -> Aspect:
    """The score itself: cells as fine as the sample affords, averaged over more and more neighbours."""
    starts = counts.group_starts(max(2, min(CELLS, counts.n_records // IN_A_CELL)))
    cell = np.repeat(np.arange(len(starts)), lengths(starts, counts.size))
    return Aspect(cell, len(starts), widths_for(len(starts)))


def aspects_of(values: Floats, records: Integers, single: bool, precision: bool) -> list[Aspect]:
    """What else is known of scores without labels: how close to round numbers and to repeated values, how short.

    Args:
        values: The value of each cell, increasing.
        records: Records of both sides in it.
        single: Whether each cell is one value.
        precision: Whether the sides are written differently.
    """
    aspects = [_by_closeness(distance) for distance in _distances(values)]
    repeated = records > 1
    if single and 0 < 2 * np.count_nonzero(repeated) <= len(records):
        several = np.minimum(np.log2(np.maximum(records, 1)), CLOSENESS)
        aspects.append(Aspect(several.astype(np.int64), CLOSENESS + 1))
        near, span = _to_nearest(values, values[repeated]), float(values[-1] - values[0])
        if span > 0.0:
            with np.errstate(over="ignore", invalid="ignore"):
                aspects.append(_by_closeness(near * (np.count_nonzero(repeated) / span)))
    if precision:
        aspects.append(Aspect(_length(values), LONGEST + 1))
    return aspects


def sign_of(counts: Counts, worth: float = 1.0, gain: Floats | None = None) -> tuple[bool, int | None]:
    """Whether there is a sign of many changes, and how many are evident; arguments as of ``gain_by_changes``."""
    changes = gain_by_changes(counts, worth, gain)
    return changes.beyond > HINT or _may_strike(counts, worth), changes.evident


def readings(counts: Counts) -> list[Aspect]:
    """Every way to look for many changes; which there are does not depend on who is a member."""
    return [along(counts), *_aspects(counts, 1, precision=True)]


def _may_strike(counts: Counts, worth: float = 1.0) -> bool:
    """Whether the sides differ in an aspect beyond how they differ along the score, by some thousands of cells."""
    every = max(1, counts.size // LOOKED_AT)
    aspects = _aspects(counts, every, any(doubt.code == PRECISION for doubt in counts.doubts))
    if not aspects:
        return False
    members, records = counts.members[::every], counts.pooled[::every]
    share = _share_around(members, records)
    excess, variance = members - records * share, records * share * (1.0 - share)
    return any(each.strikes(excess, variance, records, worth) for each in aspects)


def _share_around(members: Integers, records: Integers) -> Floats:
    """The share of members around each cell, among the nearest records of a NEIGHBOURHOOD of all."""
    sums, below = (np.append(0, each.cumsum()) for each in (members, records))
    reach, middle = below[-1] / (2.0 * NEIGHBOURHOOD), (below[1:] + below[:-1]) / 2.0
    low = np.maximum(below.searchsorted(middle - reach) - 1, 0)
    high = np.minimum(below.searchsorted(middle + reach), len(records))
    share: Floats = (sums[high] - sums[low]) / np.maximum(below[high] - below[low], 1)
    return share


def _aspects(counts: Counts, every: int, precision: bool) -> list[Aspect]:
    """The aspects of one in so many cells; how short a score is only if ``precision`` says so."""
    values = counts.lower_edges().copy()
    if len(values) > 2:  # the outermost may be open to infinity
        values[[0, -1]] = values[[1, -2]]
    values = np.where(np.isfinite(values), values, 0.0)
    single = counts.n_records <= EXACT_RECORDS
    return aspects_of(values[::every], counts.pooled[::every], single, precision)


def _by_closeness(distance: Floats) -> Aspect:
    """Cells of equal width from half a unit down; the one beside no distance halves again and again towards it."""
    steps = 2.0 * CLOSENESS * np.where(distance < 0.5, distance, 0.5)  # of a spread below all floats it is NaN
    with np.errstate(divide="ignore"):
        halvings = np.minimum(-np.log2(steps), CLOSENESS)
    cell = np.where(steps >= 1.0, CLOSENESS - np.floor(steps), CLOSENESS + np.maximum(halvings, 0.0))
    return Aspect(cell.astype(np.int64), 2 * CLOSENESS + 1)


def _distances(values: Floats) -> list[Floats]:
    """How far each value lies from a multiple of a decimal unit, for units of which the scores span several."""
    low, high = quantiles(values[:: max(1, len(values) // 1024)], (0.05, 0.95))
    span = high - low
    if not 0.0 < span < 1e300:
        return []
    largest = int(np.floor(np.log10(span / SPANNED)))
    distances = []
    for exponent in range(largest, largest - UNITS, -1):
        scaled = values / 10.0**exponent
        if np.abs(scaled).max() > 2.0**50:
            break
        distances.append(np.abs(scaled - np.rint(scaled)))
    return distances


def _to_nearest(values: Floats, repeated: Floats) -> Floats:
    """How far each of increasing values lies from the nearest of some of them."""
    after = repeated.searchsorted(values)
    below, above = repeated[np.maximum(after - 1, 0)], repeated[np.minimum(after, len(repeated) - 1)]
    return np.minimum(np.abs(values - below), np.abs(above - values))


LONGEST = 9


def _length(values: Floats) -> Integers:
    """How short a value is written: decimals if they are few, else whether half or single precision holds it."""
    length = np.full(len(values), LONGEST)
    with np.errstate(over="ignore", invalid="ignore"):
        length[values.astype(np.float32) == values] = 8
        length[values.astype(np.float16) == values] = 7
        for decimals in range(6, -1, -1):
            length[np.round(values, decimals) == values] = decimals
    return length


def many_changes(fine: Counts, prior: float, seed: int, orders: int = ORDERS) -> tuple[Validation | None, int | None]:
    """What rules with many changes achieve on unseen records, if there is a sign of them; and how many are evident."""
    is_asked, evident = sign_of(fine)
    if not is_asked:
        return None, None
    way, orders = Way.of(fine, prior), 1 if fine.n_records >= ONE_ORDER else min(orders, ORDERS)
    return validation_of(way, [_achieved_by(way, readings(fine)[1:], seed, orders)], (MANY_CHANGES,)), evident


def _achieved_by(way: Way, others: list[Aspect], seed: int, orders: int) -> GuessRecord:
    """What the rule achieved on each block that was best before it, by leaving out one record at a time."""
    blocks = way.counts.shuffles(np.array(PARTS), way.counts.random(seed), orders)
    turn = -1 if way.turned else 1
    aspects = [along(way.counts), *(Aspect(each.cell[::turn], each.size) for each in others)]
    later = len(PARTS) - 1

    def past_and_next(tables: Integers) -> list[Integers]:
        """Of tables (orders, blocks, any): before each later block the sum of all so far, and that block."""
        each = tables[:, :-1].cumsum(axis=1), tables[:, 1:]
        return [some.reshape(orders * later, -1) for some in each]

    n = [past_and_next(side.sum(axis=2, keepdims=True)) for side in blocks]
    a, b = way.prior / n[0][0], (1.0 - way.prior) / n[1][0]
    best = np.full(orders * later, -np.inf)
    right = np.zeros((2, orders * later), dtype=np.int64)
    for aspect in aspects:
        (members, new_members), (nonmembers, new_nonmembers) = (
            past_and_next(aspect.table(side.reshape(-1, way.counts.size)).reshape(orders, len(PARTS), -1))
            for side in blocks
        )
        sums = np.cumsum(a * members - b * nonmembers, axis=1)
        sums = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)
        for width in aspect.widths:
            around = sums_around(sums, width)
            tie = 0.0 if way.prior > 0.5 else ROUNDING
            alone = (a * members * (around - a > tie) + b * nonmembers * (around + b <= tie)).sum(axis=1)
            better = alone > best + ROUNDING
            best[better] = alone[better]
            accused = around > tie
            right[0, better] = (new_members * accused).sum(axis=1)[better]
            right[1, better] = (new_nonmembers * ~accused).sum(axis=1)[better]
    hits, passes = right.reshape(2, orders, later).sum(axis=2)
    n1, n0 = (each[1].reshape(orders, -1).sum(axis=1) for each in n)
    achieved = 2.0 * (way.prior * hits / n1 + (1.0 - way.prior) * passes / n0) - 1.0
    return GuessRecord(hits, n1, passes, n0, achieved[:, None])


def sums_around(sums: NDArray[Number], width: int) -> NDArray[Number]:
    """Sums over so many cells around each, of running sums that start with none."""
    cells = np.arange(sums.shape[1] - 1)
    low, high = np.maximum(cells - width // 2, 0), np.minimum(cells + width // 2 + 1, len(cells))
    return sums[:, high] - sums[:, low]
