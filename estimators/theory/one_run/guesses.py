"""What is guessed of one run: records or pairs, surest first; which come next hangs on what was right so far.

And how it was drawn who is a member, on which it rests whether records or pairs are guessed.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from scipy.special import bdtr

from estimators.adversary.learned import learn_score
from estimators.arrays import Booleans, Floats, Integers, random_of
from estimators.errors import OutOfRange, UnknownName
from estimators.privacy.direction import Direction
from estimators.privacy.epsilon import AT_BOTH_ENDS, ORDER_LEARNED, SHARES
from estimators.python.dataclass import dataclass
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.sample.splits import HYPERGEOMETRIC_LIMIT
from estimators.statement import Caution

LOOKS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Shares of the coins after which a run among several may stop; its bet has an equal part on each."""

PAIRINGS = 5  # how often records are paired at random: the median says what one pairing may not
MOST_PAIRS = 5_000_000  # about as many records of a side are paired at most


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """What was guessed: how far each stop of the way is, and ways to guess a number that is fixed beforehand.

    ``wrong`` and ``right`` are those of the stops that can be best for a bet. ``looks`` are how many were wrong and
    right once a share of the coins that is fixed beforehand was opened (``LOOKS``). ``ways`` have a row each: how many
    are guessed, which hangs on the number of coins alone, how many rightly, and whether all guesses are the same;
    ``shares`` are their shares of the level.
    """

    coins: int
    wrong: Floats
    right: Floats
    looks: Integers
    ways: Integers
    shares: Floats


Order = tuple[Guesses, ...]  # one order of guesses: about records, or about pairs, once for each pairing

Of = TypeVar("Of")
Answer = TypeVar("Answer", bound=Any)


def median(order: Sequence[Of], level: float, says: Callable[[Of, float], Answer]) -> Answer:
    """What more than half of the pairings show, each at its part of the level.

    If each is wrong with probability p at most, more than half of n are at once with at most 2 n p / (n + 1), whatever
    they have in common: the mean number of those that are wrong is n p (Markov).
    """
    part = level * (len(order) + 1) / (2 * len(order))
    return sorted(says(each, part) for each in order)[len(order) // 2]


def of_coins(members: Integers, nonmembers: Integers, rng: np.random.Generator) -> Guesses:
    """Records high up are called members, low down nonmembers."""
    pooled = members + nonmembers
    members, nonmembers = members[pooled > 0], nonmembers[pooled > 0]
    above, below = (nonmembers[::-1], members[::-1]), (members, nonmembers)
    wrong, right = _from_both_ends(above, below)
    steps, coins = (wrong[: len(members)], right[: len(members)]), int(pooled.sum())  # each cell from one end
    if coins < 2:
        nobody = np.zeros((0, 3), dtype=np.int64), np.zeros(0)
        return Guesses(coins, *_best_stops(*steps), _looks(coins, *steps), *nobody)
    ways = []
    for share in SHARES:
        number = min(max(1, round(share * coins)), coins // 2)
        ways.append((2 * number, _right_at_both(number, members, nonmembers, rng), 0))
    powers = _powers_of_two(coins // 2)
    ways += [(number, _right_of(number, *end, rng), 1) for end in (above, below) for number in powers]
    shares = [AT_BOTH_ENDS / len(SHARES)] * len(SHARES)
    shares += [(1.0 - AT_BOTH_ENDS) / (2 * len(powers))] * (2 * len(powers))
    return Guesses(coins, *_best_stops(*steps), _looks(coins, *steps), np.array(ways), np.array(shares))


def _powers_of_two(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length())]


def _right_of(number: int, wrong: Integers, right: Integers, rng: np.random.Generator) -> int:
    """How many of so many guesses are right, in this order."""
    return int(_first_records(number, wrong, right, rng)[1].sum())


def _right_at_both(number: int, members: Integers, nonmembers: Integers, rng: np.random.Generator) -> int:
    """How many are right of so many called member from above and nonmember from below, no record called both."""
    others, own = _first_records(number, nonmembers[::-1], members[::-1], rng)
    return int(own.sum()) + _right_of(number, members - own[::-1], nonmembers - others[::-1], rng)


def _first_records(
    number: int, wrong: Integers, right: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Of each cell, those among so many in this order: of the last cell some are taken without a look.

    The number has to be fixed beforehand, so a cell is cut. From more than NumPy draws from none is taken to be right.
    """
    total = np.cumsum(wrong + right)
    at = int(np.searchsorted(total, number))
    some = number - (int(total[at - 1]) if at else 0)
    if wrong[at] + right[at] < HYPERGEOMETRIC_LIMIT:
        hits = (
            int(rng.hypergeometric(right[at], wrong[at], some)) if wrong[at] and right[at] else some * (right[at] > 0)
        )
    else:
        hits = max(0, some - int(wrong[at]))
    empty = np.zeros(len(wrong) - at - 1, dtype=np.int64)
    return np.concatenate([wrong[:at], [some - hits], empty]), np.concatenate([right[:at], [hits], empty])


def _from_both_ends(*ends: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """Wrong and right guesses so far, each time on from the end with fewer wrong so far, then with fewer guesses."""
    wrong, right = (np.concatenate(sides) for sides in zip(*ends, strict=True))
    before = [
        np.concatenate([np.cumsum(each) - each for each in sides])
        for sides in ([w + r for w, r in ends], [w for w, _ in ends])
    ]
    order = np.lexsort(before)
    return np.cumsum(wrong[order]), np.cumsum(right[order])


def of_pairs(members: Integers, nonmembers: Integers, direction: Direction, rng: np.random.Generator) -> list[Order]:
    """Which of a pair is the member: the one further to the end that speaks for it, and of equal ones either.

    Pairs that lie furthest apart come first, which serves broad leaks; or those that reach furthest to either end,
    which serves few members far out. No bet is made on equal ones, which come last. Whom chance pairs matters to a
    bound, so each order stands for several pairings.
    """
    pooled = members + nonmembers
    places = np.cumsum(pooled) * 2 - pooled  # twice the middle rank of a cell
    orders = zip(*(_of_a_pairing(members, nonmembers, places, direction, rng) for _ in range(PAIRINGS)), strict=True)
    return list(orders)


def _of_a_pairing(
    members: Integers, nonmembers: Integers, places: Integers, direction: Direction, rng: np.random.Generator
) -> list[Guesses]:
    """The guesses about one pairing, of each order and direction."""
    mine, others = (_in_random_order(side, places, rng) for side in (members, nonmembers))
    pairs = min(len(mine), len(others))
    mine, others = mine[:pairs], others[:pairs]
    right, apart = mine > others, np.abs(mine - others)
    above = 2 * int((members + nonmembers).sum()) - np.maximum(mine, others)
    below = np.minimum(mine, others)
    up, down = (apart > 0) & (above <= below), (apart > 0) & (above > below)
    far = _in_steps(-apart[apart > 0], right[apart > 0])
    outer = _in_steps(above[up], right[up]), _in_steps(below[down], right[down])
    orders = [(far,), outer] if direction is not Direction.LOW else []
    if direction is not Direction.HIGH:  # the lower one is guessed: what was right is wrong
        orders += [tuple((hits, misses) for misses, hits in ends) for ends in ((far,), outer)]
    return [_of_ordered_pairs(pairs, *_from_both_ends(*ends), rng) for ends in orders]


def _of_ordered_pairs(pairs: int, wrong: Integers, right: Integers, rng: np.random.Generator) -> Guesses:
    """The guesses about pairs of which those of unequal records come in an order."""
    equal = pairs - int(wrong[-1] + right[-1] if len(wrong) else 0)
    heads = int(rng.binomial(equal, 0.5))
    steps = np.append(np.diff(wrong, prepend=0), equal - heads), np.append(np.diff(right, prepend=0), heads)
    powers = [*_powers_of_two(pairs), pairs]
    ways = np.array([(number, _right_of(number, *steps, rng), 0) for number in powers])
    shares = np.full(len(powers), 1.0 / len(powers))
    return Guesses(pairs, *_best_stops(wrong, right), _looks(pairs, wrong, right), ways, shares)


def _in_steps(places: Integers, right: Booleans) -> tuple[Integers, Integers]:
    """How many guesses are wrong and right at each place, the smallest first."""
    _, which = np.unique(places, return_inverse=True)
    number, hits = np.bincount(which), np.bincount(which, weights=right).astype(np.int64)
    return number - hits, hits


def _in_random_order(side: Integers, places: Integers, rng: np.random.Generator) -> Integers:
    """The places of the records of one side in random order."""
    # each stays by a coin: as good as any other draw, and no list of all is needed
    if side.sum() > MOST_PAIRS:
        side = rng.binomial(side, MOST_PAIRS / side.sum())
    return np.asarray(rng.permutation(np.repeat(places, side)))


def _best_stops(wrong: Integers, right: Integers) -> tuple[Floats, Floats]:
    """Where a bet can be at its best: what it has is convex in both numbers, so at a corner of the hull of stops."""
    if not len(wrong):
        return np.zeros(1), np.zeros(1)
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


ODD = 1e-4  # fair coins make sides as unequal as are refused with this probability


class Draw(Enum):
    """How it was drawn which records are members.

    Attributes:
        COIN: ``"coin"``: each record by a fair coin of its own.
        SPLIT: ``"split"``: the sides are a random split of one list of records.
        CHOSEN: ``"chosen"``: by date, by hand or otherwise; nothing is certified then.
    """

    COIN = "coin"
    SPLIT = "split"
    CHOSEN = "chosen"


ASSUMES = {
    Draw.COIN: "each record was in by a fair coin of its own, and scores were made without a look at the coins; of "
    "records that went in together by one coin, the promise is about all of them",
    Draw.SPLIT: "the sides were drawn at random out of one list of records, and scores were made without a look at "
    "who is on which side",
    Draw.CHOSEN: "members were not drawn at random, so no coin stands behind a guess and nothing is certified; the "
    "numbers are those of a random split, to compare runs by",
}


def draw_of(draw: Draw | str) -> Draw:
    """A draw by its name."""
    try:
        return Draw(draw)
    except ValueError:
        raise UnknownName.among("draw", draw, [each.value for each in Draw]) from None


def guesses_of(data: Scores | Counts, draw: Draw, direction: Direction, seed: int) -> tuple[list[Order], list[Caution]]:
    """The orders of guesses, of one direction or of both, and what to know of the scores they are about."""
    cautions = list[Caution]()
    if draw is Draw.COIN:
        _require_fair(data.n_members, data.n_nonmembers)
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_score(data, 0.5, seed)
        counts = learned.counts
        cautions.append(learned.caution)
    else:
        counts = finest(data) if isinstance(data, Scores) else data
    members, nonmembers = counts.members, counts.nonmembers
    rng = random_of(seed, members, nonmembers)  # by the seed alone, all samples err the same way
    if not counts.cells.ordered:
        direction = Direction.HIGH
        members, nonmembers = _ordered_by_half(members, nonmembers, rng)
        cautions.append(ORDER_LEARNED)
    cautions.extend(counts.doubts)
    if draw is Draw.CHOSEN:
        cautions.append(Caution("no_certificate", ASSUMES[draw]))
    if draw is not Draw.COIN:
        return of_pairs(members, nonmembers, direction, rng), cautions
    both = [(members, nonmembers)] if direction is not Direction.LOW else []
    if direction is not Direction.HIGH:
        both.append((members[::-1], nonmembers[::-1]))
    return [(of_coins(*each, rng),) for each in both], cautions


def _ordered_by_half(members: Integers, nonmembers: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """About one half, its cells in the order of member share on the other: a coin for each record says which."""
    first, second = rng.binomial(members, 0.5), rng.binomial(nonmembers, 0.5)
    order = np.argsort((first + 0.5) / (first + second + 1.0), kind="stable")
    return (members - first)[order], (nonmembers - second)[order]


def _require_fair(members: int, nonmembers: int) -> None:
    """Refuse what fair coins all but never make: then they were not fair, or not all records are here."""
    if 2.0 * float(bdtr(min(members, nonmembers), members + nonmembers, 0.5)) < ODD:
        raise OutOfRange.about(
            "draw",
            f"{members} members and {nonmembers} nonmembers are no fair coins; post every record that had a "
            "coin, or say split or chosen",
        )
