"""What is guessed of one run: records or pairs, surest first; which come next hangs on what was right so far."""

from dataclasses import dataclass

import numpy as np

from estimators.arrays import Booleans, Floats, Integers
from estimators.privacy.epsilon import Direction, shares_at_ends, ways_to_guess

LOOKS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Shares of the coins after which a run among several may stop; its bet has an equal part on each."""

MOST_PAIRS = 5_000_000
"""About as many records of a side are paired at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """What was guessed: how far each stop of the way is, and ways to guess a number that is fixed beforehand.

    ``wrong`` and ``right`` are those of the stops that can be best for a bet. ``ways`` have a row each: how many are
    guessed, how many rightly, and whether all guesses are the same; ``shares`` are their shares of the level. ``looks``
    are how many were wrong and right once a share of the coins that is fixed beforehand was opened (``LOOKS``).
    """

    coins: int
    wrong: Floats
    right: Floats
    looks: Integers
    ways: Integers
    shares: Floats


def of_coins(members: Integers, nonmembers: Integers) -> Guesses:
    """Records high up are called members, low down nonmembers."""
    pooled = members + nonmembers
    members, nonmembers = members[pooled > 0], nonmembers[pooled > 0]
    calls = ways_to_guess(members, nonmembers, Direction.HIGH)
    ways = np.column_stack([calls[:, 0] + calls[:, 1], calls[:, 2], calls[:, :2].min(axis=1) == 0])
    wrong, right = _from_both_ends((nonmembers[::-1], members[::-1]), (members, nonmembers))
    steps, coins = (wrong[: len(members)], right[: len(members)]), int(pooled.sum())  # each cell from one end
    return Guesses(coins, *_best_stops(*steps), _looks(coins, *steps), ways, shares_at_ends(calls))


def _from_both_ends(*ends: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """Wrong and right guesses so far, each time on from the end with fewer wrong so far, then with fewer guesses."""
    wrong, right = (np.concatenate(sides) for sides in zip(*ends, strict=True))
    before = [
        np.concatenate([np.cumsum(each) - each for each in sides])
        for sides in ([w + r for w, r in ends], [w for w, _ in ends])
    ]
    order = np.lexsort(before)
    return np.cumsum(wrong[order]), np.cumsum(right[order])


def of_pairs(members: Integers, nonmembers: Integers, seed: int) -> list[Guesses]:
    """Which of a pair is the member: the higher one is guessed, and of equal ones nothing.

    Pairs that lie furthest apart come first, which serves broad leaks; or those that reach furthest to either end,
    which serves few members far out.
    """
    pooled = members + nonmembers
    middle = np.cumsum(pooled) * 2 - pooled  # twice the middle rank of a cell
    rng = np.random.default_rng(seed)
    mine, others = (_in_random_order(side, middle, rng) for side in (members, nonmembers))
    pairs = min(len(mine), len(others))
    mine, others = mine[:pairs], others[:pairs]
    right, apart = mine > others, np.abs(mine - others)
    above, below = 2 * int(pooled.sum()) - np.maximum(mine, others), np.minimum(mine, others)
    up, down = (apart > 0) & (above <= below), (apart > 0) & (above > below)
    ends = _from_both_ends(_in_steps(above[up], right[up]), _in_steps(below[down], right[down]))
    wrong, hits = _in_steps(-apart[apart > 0], right[apart > 0])
    far = np.cumsum(wrong), np.cumsum(hits)
    return [
        Guesses(pairs, *_best_stops(*steps), _looks(pairs, *steps), *_numbers_of_guesses(*steps))
        for steps in (far, ends)
    ]


def _in_steps(places: Integers, right: Booleans) -> tuple[Integers, Integers]:
    """How many guesses are wrong and right at each place, the smallest first."""
    _, which = np.unique(places, return_inverse=True)
    number, hits = np.bincount(which), np.bincount(which, weights=right).astype(np.int64)
    return number - hits, hits


def _numbers_of_guesses(wrong: Integers, right: Integers) -> tuple[Integers, Floats]:
    """Ways to guess about 1, 2, 4, ... pairs, and all that differ; each with an equal share of the level."""
    total = wrong + right
    powers = 2 ** np.arange(int(total[-1]).bit_length() if len(total) else 0)
    at = np.unique(np.searchsorted(total, [*powers, *total[-1:]]))
    ways = np.column_stack([total[at], right[at], np.zeros(len(at), dtype=np.int64)])
    return ways, np.full(len(at), 1.0 / max(1, len(at)))


def _in_random_order(side: Integers, places: Integers, rng: np.random.Generator) -> Integers:
    """The places of the records of one side in random order."""
    if (
        side.sum() > MOST_PAIRS
    ):  # each stays by a coin: as good as any other draw, and no list of all is needed
        side = rng.binomial(side, MOST_PAIRS / side.sum())
    return np.asarray(rng.permutation(np.repeat(places, side)))


def _best_stops(wrong: Integers, right: Integers) -> tuple[Floats, Floats]:
    """Where a bet can be at its best: what it has is convex in both numbers, so at a corner of the hull of stops."""
    last = np.append(wrong[1:] > wrong[:-1], True)  # of stops with as many wrong it has most right
    across, up = wrong[last].astype(np.float64), right[last].astype(np.float64)
    while len(across) > 2:
        run, rise = np.diff(across), np.diff(up)
        corner = rise[:-1] * run[1:] > rise[1:] * run[:-1]  # above the line between its neighbours
        if corner.all():
            break
        keep = np.concatenate([[True], corner, [True]])
        across, up = across[keep], up[keep]
    return across, up


def _looks(coins: int, wrong: Integers, right: Integers) -> Integers:
    """Wrong and right guesses at the first stop with so large a share of the coins, or at the last."""
    if not len(wrong):
        return np.zeros((2, len(LOOKS)), dtype=np.int64)
    at = np.searchsorted(wrong + right, np.array(LOOKS) * coins)
    return np.stack([wrong, right])[:, np.minimum(at, len(wrong) - 1)]
