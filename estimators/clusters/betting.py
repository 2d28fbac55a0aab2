"""Limits for few clusters, valid at every number of them: a fortune that bets against what is claimed.

Of each cluster the share of right guesses is a number in [0, 1], whatever its rows have in common. If the accuracy is
at most t, a stake on each share exceeding t cannot gain on average (Waudby-Smith and Ramdas 2023); a fortune of
1/alpha is therefore made with probability alpha at most, and the t against which it is made are refused. Fortunes
of several stakes and shuffles are averaged, which costs no validity.

Where every cluster is of one side, the error of a rule has two rates that rest on clusters of their own, and its limit
is what both sides' fortunes do not refuse (``least_error``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from estimators.arrays import Booleans, Floats, Integers, lengths
from estimators.clusters.blocks import Guesses
from estimators.clusters.design import FEWEST_A_SIDE, Clusters, number_of
from estimators.clusters.effective import reach
from estimators.errors import TooFewRecords
from estimators.limits.root import brentq
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts

STAKES = np.array([0.3, 0.6, 0.9])
"""Shares of the fortune that are staked; the fortune made with each is averaged."""

GRID = 48  # cells along a score between which rules with few changes are looked at
SUBSETS = 8  # cells of which all subsets are looked at
MOST_CHANGES = 2  # changes of which every rule is looked at; for more, its mean alone is bounded
DRAWS = 5  # draws of rows from two columns that cross

HALVINGS = 24
BATCH = 1024


@dataclass(frozen=True, eq=False, slots=True)
class Shares:
    """What each cluster adds to the accuracy of each rule, (rules, clusters), and what it could; both are means.

    ``is_member`` says of which side a cluster's rows are, if none has rows of both.
    """

    earned: Floats
    possible: Floats
    is_member: Booleans | None = None

    def log_fortune(self, claims: Floats) -> Floats:
        """Log of the fortune made against each rule's claim that its accuracy is at most so much."""
        top = self.possible.max()
        gain = (self.earned / np.maximum(claims, 1e-12)[:, None] - self.possible) / top
        return _log_mean([np.log1p(stake * gain).sum(axis=1) for stake in STAKES])

    def some(self, rules: NDArray[np.generic]) -> Shares:
        """Only these rules."""
        return Shares(self.earned[rules], self.possible)


Guess = Callable[[Clusters, Integers, int], Guesses]
"""Guesses of rows of these clusters in these cells, by a seed."""

Draws = Sequence[tuple[Clusters, Integers]]  # some rows with the cluster of each, and which they are


@dataclass(frozen=True, eq=False, slots=True)
class BettingEnds:
    """Both ends: shares of right guesses of unseen clusters, and of wrong ones by every rule of a class.

    ``best_rates`` is the accuracy of the best rule, where there are too many to look at each, and the clusters it has.
    """

    unseen: tuple[Shares, ...]
    wrong: tuple[tuple[Shares, ...], ...]
    best_rates: tuple[tuple[float, float], ...]
    finite_sample: bool = True

    @classmethod
    def of(
        cls,
        clusters: Clusters,
        at: Integers,
        fine: Counts,
        starts: Integers | None,
        changes: int | None,
        guess: Guess,
        seed: int,
    ) -> BettingEnds:
        """Bet on the guesses, and against every rule that sees the cells or has so many changes along the score."""
        draws = draws_of(clusters, seed)
        unseen = bets_on(draws, at, guess, seed)
        wrong, best_rates = [], []
        every = np.arange(fine.size)
        if starts is not None and len(starts) <= SUBSETS:
            tables = [_tables(part, at[rows], starts, fine.size) for part, rows in draws]
            wrong.append(tuple(_of_subsets(*each) for each in tables))
        elif starts is not None:
            best_rates.append(_mean_of(draws[0], at, starts, fine.size, None))
        if changes is not None and changes <= MOST_CHANGES:
            grid = fine.group_starts(GRID)
            tables = [_tables(part, at[rows], grid, fine.size) for part, rows in draws]
            wrong.append(tuple(_of_changes(*each, changes, len(grid) == fine.size) for each in tables))
        elif changes is not None:
            best_rates.append(_mean_of(draws[0], at, every, fine.size, changes))
        return cls(unseen, tuple(wrong), tuple(best_rates))

    def lower(self, alpha: float) -> float:
        """That of the guesses."""
        return lower_by_bets(self.unseen, alpha)

    def upper(self, alpha: float) -> float:
        """No rule of the classes has an error that is not refused below this."""
        limits = [1.0 - _error_not_refused(each, alpha) for each in self.wrong]
        limits += [mean_upper(value, number, alpha) for value, number in self.best_rates]
        return 2.0 * max(limits) - 1.0


def draws_of(clusters: Clusters, seed: int) -> Draws:
    """All rows; of two columns that cross some of which no two share a label unless they share both groups of them."""
    return diagonals(clusters, seed) if len(clusters.columns) > 1 else [(clusters, np.arange(clusters.rows))]


def bets_on(draws: Draws, at: Integers, guess: Guess, seed: int) -> tuple[Shares, ...]:
    """Shares of right guesses of each draw and shuffle."""
    every = [(part, guess(part, at[rows], seed + i)) for i, (part, rows) in enumerate(draws)]
    return tuple(
        of_guesses(part, right, stage)
        for part, guesses in every
        for right, stage in zip(guesses.right, guesses.stage, strict=True)
    )


def lower_by_bets(unseen: Sequence[Shares], alpha: float) -> float:
    """The advantage up to which all are refused."""
    return 2.0 * float(refuse(unseen, alpha)[0]) - 1.0


def refuse(shares: Sequence[Shares], alpha: float) -> Floats:
    """For each rule the largest claim against which the mean fortune is 1/alpha or more."""
    low = np.zeros(len(shares[0].earned))
    high = np.ones(len(low))
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        is_enough = _log_fortune(shares, middle) >= -log(alpha)
        low, high = np.where(is_enough, middle, low), np.where(is_enough, high, middle)
    return low


def _error_not_refused(shares: Sequence[Shares], alpha: float) -> float:
    """Likewise for errors; where no cluster has rows of both sides, of either side by itself."""
    one, member = shares[0], shares[0].is_member
    if len(shares) > 1 or member is None:
        return _least_refused(shares, alpha)
    sides = [one.earned[:, each] / one.possible[each] for each in (member, ~member)]
    return least_error(sides[0], sides[1], float(one.possible[member].sum() / len(member)), alpha)


def _least_refused(shares: Sequence[Shares], alpha: float) -> float:
    """The least of these over all rules: only those that keep a claim below the best one's are searched."""
    best = np.argmin(np.sum([each.earned.mean(axis=1) for each in shares], axis=0))
    least = float(refuse([each.some(np.array([best])) for each in shares], alpha)[0])
    parts = [slice(i, i + BATCH) for i in range(0, len(shares[0].earned), BATCH)]
    is_enough = np.concatenate(
        [_log_fortune([Shares(each.earned[part], each.possible) for each in shares], least) for part in parts]
    )
    rest, low = np.flatnonzero(is_enough < -log(alpha)), 0.0
    for _ in range(HALVINGS):
        if not rest.size:
            break
        middle = (low + least) / 2.0
        open_ = _log_fortune([each.some(rest) for each in shares], middle) < -log(alpha)
        rest, low, least = (rest[open_], low, middle) if open_.any() else (rest, middle, least)
    return low if rest.size else least


def _log_fortune(shares: Sequence[Shares], claims: Floats | float) -> Floats:
    """Log of the mean fortune over shuffles or draws."""
    claims = np.broadcast_to(claims, len(shares[0].earned))
    return _log_mean([each.log_fortune(claims) for each in shares])


def _log_mean(logs: Sequence[Floats]) -> Floats:
    """Logarithm of the mean of what these are logarithms of; SciPy's looks for infinities, of which there are none."""
    every = np.array(logs)
    most = every.max(axis=0)
    return np.asarray(most + np.log(np.exp(every - most).mean(axis=0)))


def of_guesses(clusters: Clusters, right: Booleans, stage: Integers) -> Shares:
    """Shares of right guesses; in each block the clusters of either side have that side's part of the prior."""
    column, number = clusters.columns[0], clusters.numbers[0]
    block = np.zeros(number, dtype=np.int64)
    block[column] = stage
    earned, possible = np.zeros(number), np.zeros(number)
    for side, prior in clusters.sides:
        rows = np.bincount(column[side], minlength=number)
        hits = np.bincount(column[side], right[side], number)
        has = rows > 0
        of_side, of_all = np.bincount(block[has], minlength=block.max() + 1), np.bincount(block)
        weight = prior * (of_all / np.maximum(of_side, 1))[block]
        earned += np.where(has, weight * hits / np.maximum(rows, 1), 0.0)
        possible += np.where(has, weight, 0.0)
        block[(of_side == 0)[block]] = 0  # a block without a side proves nothing
    in_block = block > 0
    return Shares(earned[in_block][None, :], possible[in_block])


def _tables(clusters: Clusters, at: Integers, starts: Integers, size: int) -> tuple[Floats, Floats]:
    """What guessing member in a cell adds for each cluster, (clusters, cells), and what guessing nonmember adds."""
    cell = (np.searchsorted(starts, np.arange(size), "right") - 1)[at]
    column, number = clusters.columns[0], clusters.numbers[0]
    tables = []
    for side, prior in clusters.sides:
        keys = column[side] * len(starts) + cell[side]
        rows = np.bincount(keys, minlength=number * len(starts)).reshape(number, -1).astype(np.float64)
        of = rows.sum(axis=1, keepdims=True)
        tables.append(rows / np.maximum(of, 1.0) * (prior * number / np.count_nonzero(of)))
    return tables[0], tables[1]


def _of_subsets(members: Floats, nonmembers: Floats) -> Shares:
    """Shares of wrong guesses of every set of cells."""
    cells = members.shape[1]
    rules = (np.arange(2**cells)[:, None] >> np.arange(cells)) & 1
    return _of_sides((1.0 - rules) @ members.T + rules @ nonmembers.T, members, nonmembers)


def _of_changes(members: Floats, nonmembers: Floats, changes: int, exact: bool) -> Shares:
    """Shares that are wrong wherever within their cells the rules' changes lie, unless each cell is one value."""
    cells = members.shape[1]
    first, last = np.triu_indices(cells)
    if changes < MOST_CHANGES:
        first = np.arange(cells if changes else 1)
        last = np.full(len(first), cells - 1)
    sums = [np.concatenate([np.zeros((1, len(side))), side.T.cumsum(axis=0)]) for side in (members, nonmembers)]
    outer = first, last + 1
    begin = first + (not exact and changes > 0)
    inner = begin, np.maximum(begin, last + 1 - (not exact and changes == MOST_CHANGES))
    (m_in, n_in), (m_least, n_least) = ([side[ends[1]] - side[ends[0]] for side in sums] for ends in (outer, inner))
    member, nonmember = (side[-1] for side in sums)
    # guessing member inside: members outside the widest run are wrong, and nonmembers inside the narrowest
    wrong = np.concatenate([member - m_in + n_least, m_least + nonmember - n_in])
    return _of_sides(wrong, members, nonmembers)


def _of_sides(wrong: Floats, members: Floats, nonmembers: Floats) -> Shares:
    """Shares of wrong guesses, and whose."""
    possible = members.sum(axis=1), nonmembers.sum(axis=1)
    both = bool(((possible[0] > 0.0) & (possible[1] > 0.0)).any())
    return Shares(wrong, possible[0] + possible[1], None if both else possible[0] > 0.0)


def diagonals(clusters: Clusters, seed: int) -> Draws:
    """Draws of rows: the labels of both columns are dealt into as many groups, and only rows of equal groups stay."""
    rng = clusters.random(seed)
    groups = min(clusters.numbers)
    draws: list[tuple[Clusters, Integers]] = []
    while len(draws) < DRAWS:
        dealt = [
            rng.permutation(np.arange(number) % groups)[column]
            for number, column in zip(clusters.numbers, clusters.columns, strict=True)
        ]
        rows = np.flatnonzero(dealt[0] == dealt[1])
        if not _enough(clusters, dealt[0], rows):  # few pairs of labels have rows
            rows = clusters.lone_rows(seed + len(draws))
            dealt[0] = np.arange(clusters.rows)
        if not _enough(clusters, dealt[0], rows):
            raise TooFewRecords.about(
                "cluster",
                f"{len(rows)} rows can be drawn of which no two share a label; need at least {FEWEST_A_SIDE} "
                "of each side",
            )
        column = np.unique(dealt[0][rows], return_inverse=True)[1]
        draws.append(
            (
                Clusters(
                    clusters.names[:1],
                    (column,),
                    clusters.is_member[rows],
                    clusters.prior,
                    np.arange(len(rows), dtype=np.uint64),
                    clusters.values[rows],
                ),
                rows,
            )
        )
    return draws


def _enough(clusters: Clusters, column: Integers, rows: Integers) -> bool:
    """Whether the rows of either side are of enough clusters to learn from some and judge by others."""
    is_member = clusters.is_member[rows]
    return all(number_of(column[rows[side]]) >= FEWEST_A_SIDE for side in (is_member, ~is_member))


def _mean_of(
    draws: tuple[Clusters, Integers], at: Integers, starts: Integers, size: int, changes: int | None
) -> tuple[float, float]:
    """The accuracy of the best rule on its own clusters, each of one weight, and how many they are."""
    clusters, rows = draws
    members, nonmembers = _tables(clusters, at[rows], starts, size)
    number = len(members)
    gain = (members.sum(axis=0) - nonmembers.sum(axis=0)) / number
    most = float((members + nonmembers).sum(axis=1).max())
    return (1.0 + reach(gain, changes)) / 2.0, number / most


def mean_upper(value: float, number: float, alpha: float) -> float:
    """Upper limit of a mean of numbers in [0, 1] (Hoeffding 1963), from the mean alone."""

    def left(rate: float) -> float:
        return number * float(rel_entr(value, rate) + rel_entr(1.0 - value, 1.0 - rate)) + log(alpha)

    return 1.0 if value >= 1.0 or left(1.0 - 1e-12) <= 0.0 else float(brentq(left, value, 1.0 - 1e-12))


UP = (0.3, 0.6, 0.9)  # shares of the fortune that are staked on a rate being larger than claimed
DOWN = (0.3, 0.8)  # and on its being smaller; they have a quarter of the fortune

PART_UP = 0.75

CLAIMS = (24, 96)
"""Claims of a rate that are looked at, evenly from 0 to 1: for every rule, then for those that may be the best."""

NEAR = 1.0  # rules are looked at more closely if they came as near to the best as so many of these steps

MOST_SHARES = 40
"""Shares of a side, of which each is a mean over clusters where there are more; no fortune then leaves the floats."""

LEAST = 1e-6  # the least claim, in place of 0


def least_error(members: Floats, nonmembers: Floats, prior: float, alpha: float) -> float:
    """The least p a + (1-p) b of any rule whose rates of wrong guesses a and b are not refused.

    Shares of wrong guesses are (rules, clusters of the side). A rule is fixed, so that fortunes made against a and
    against b are independent and multiply.
    """
    one, other = _few(members), _few(nonmembers)
    least = np.empty(0)
    for claims in CLAIMS:
        least = _least(one, other, prior, alpha, claims)
        near = least <= least.min() + NEAR / claims
        one, other = one[near], other[near]
    return float(least.min())


def _few(shares: Floats) -> Floats:
    """Means over groups of clusters, if there are many."""
    number = shares.shape[1]
    if number <= MOST_SHARES:
        return shares
    starts = np.arange(MOST_SHARES) * number // MOST_SHARES
    return np.asarray(np.add.reduceat(shares, starts, axis=1) / lengths(starts, number))


def _least(members: Floats, nonmembers: Floats, prior: float, alpha: float, claims: int) -> Floats:
    """For each rule the least sum of both rates that stand, each at the claim below: so may all between."""
    grid = np.linspace(0.0, 1.0, claims + 1)
    first, second = (_fortunes_against(side, grid) for side in (members, nonmembers))
    # the least claim of the second rate at which its fortune leaves both together below 1/alpha
    left = -log(alpha) - first
    best = np.ones(len(members))
    for i in range(len(grid)):
        first_refused = np.argmax(second < left[:, i : i + 1], axis=1)
        open_ = second.min(axis=1) < left[:, i]
        value = prior * grid[max(i - 1, 0)] + (1.0 - prior) * grid[np.maximum(first_refused - 1, 0)]
        best = np.where(open_, np.minimum(best, value), best)
    return best


def _fortunes_against(shares: Floats, claims: Floats) -> Floats:
    """Log of the fortune made against each claim of a rule's rate, (rules, claims)."""
    claims = np.clip(claims, LEAST, 1.0 - LEAST)
    total = np.zeros((len(shares), len(claims)))
    for stakes, part, up in ((UP, PART_UP, True), (DOWN, 1.0 - PART_UP, False)):
        odds = (1.0 / claims) if up else 1.0 / (1.0 - claims)
        for stake in stakes:
            fortune = np.ones_like(total)
            for share in shares.T if up else 1.0 - shares.T:
                fortune *= (1.0 - stake) + (stake * share)[:, None] * odds
            total += part / len(stakes) * fortune
    return np.asarray(np.log(total))
