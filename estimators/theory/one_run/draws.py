"""How it was drawn who is a member, and the guesses that follow."""

from enum import Enum

import numpy as np
from scipy.special import bdtr

from estimators.adversary.learned import learn_score
from estimators.arrays import Integers
from estimators.errors import OutOfRange, UnknownName
from estimators.privacy.epsilon import ORDER_LEARNED, Direction
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Caution
from estimators.theory.one_run.guesses import Order, of_coins, of_pairs

ODD = 1e-4
"""Fair coins make sides as unequal as are refused with this probability."""


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


def guesses_of(
    data: Scores | Counts, draw: Draw, direction: Direction, seed: int
) -> tuple[list[Order], list[Caution]]:
    """The orders of guesses, of one direction or of both, and what to know of the scores they are about."""
    cautions = list[Caution]()
    rng = np.random.default_rng((seed, 1))  # the learned score draws by the seed alone
    if draw is Draw.COIN:
        _require_fair(data.n_members, data.n_nonmembers)
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_score(data, 0.5, seed)
        counts = learned.counts
        cautions.append(learned.caution)
    else:
        counts = finest(data) if isinstance(data, Scores) else data
    members, nonmembers = counts.members, counts.nonmembers
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


def _ordered_by_half(
    members: Integers, nonmembers: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers]:
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
