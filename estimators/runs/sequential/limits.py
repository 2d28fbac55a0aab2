"""Limits that hold at every look at once: bets against a claimed advantage, of which none can win much if it is true.

Who bets a share of their money on each record's guess being right, at odds that are fair if the accuracy is ``a``,
multiplies it by 40 or more at any time with probability 1/40 at most (Ville 1939). So every ``a`` against which the
bets have won 40-fold is excluded, whenever somebody looks (Waudby-Smith and Ramdas 2023). The stakes are a mixture over
sizes, the heaviest near those that are best at the number of records that was planned.

Members and nonmembers are bet on by ``1 + s1 (x - c1)`` and ``1 + s0 (y - c0)``: x and y say whether a guess was right,
and c1 and c0 are rates that make an accuracy of a, p c1 + (1-p) c0 = a. docs/methods.md, section 6.
"""

from collections.abc import Callable
from math import ceil

import numpy as np
from scipy.special import logsumexp

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass

STAKES = np.geomspace(0.002, 2.0, 18)
"""Sizes of the bets about coins; they grow as 1 over the standard deviation of a guess."""

SPREAD = 0.5  # how far the weights of the stakes reach around the best one, in factors of e
EVEN = 0.3  # share of the weight that is spread evenly over all stakes

LEARNING = 0.06
"""Share of the records for which a stake is best that come before its first bet: rules learn from few records only."""

ALONE = np.array([0.05, 0.15, 0.5, 1.0])  # sizes of the bets on one side's rate
SINGLE = 0.1  # share of the money that is bet on one side alone
CAP = 0.95  # largest share of the money that one record can cost

OUTWARD = np.concatenate([np.geomspace(1e-8, 0.03, 7), np.linspace(0.1, 1.0, 6)])
"""How far from a rule's rates on the records its true ones are tried, of as far as they can be; at every scale."""

CLOSER = 3
"""How often the rates that the bets exclude least are looked for between those that were tried before."""

POINTS = 80  # points of the line of corners that are tried first, about
LEAST = 6  # points around which better ones are looked for

NEAR = np.array([-0.75, -0.4, -0.15, 0.0, 0.15, 0.4, 0.75])
"""How far better ones are looked for, of the distance of neighbours."""

BORDER = np.geomspace(1e-8, 0.1, 10)
"""How far from the line's ends, where a rule is right about nearly all of one side, and the next one varies more."""

SLACK = 0.05
"""What the bets must have won beyond 1/alpha, as a logarithm: more than such a search can overlook."""

FINENESS = 0.004
"""How far a limit may be from the accuracy at which the bets have just won enough, as a share of its distance from what
was seen; always outward."""

NEAREST = 5e-6  # no accuracy that is nearer than this to what was seen is excluded


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """Right guesses in each block, by rules that were fixed before it; of either side it has one record at least."""

    true_positives: Integers
    n_members: Integers
    true_negatives: Integers
    n_nonmembers: Integers


def weights_of(planned: float, alpha: float) -> Floats:
    """Logarithms of the shares of the money that are staked at each size, if ``planned`` records are expected."""
    best = np.sqrt(_best_square(alpha) / planned)
    near = np.exp(-0.5 * (np.log(STAKES / best) / SPREAD) ** 2)
    shares = (1.0 - EVEN) * near / near.sum() + EVEN / len(STAKES)
    return np.asarray(np.log(shares))


def _best_square(alpha: float) -> float:
    """The number of records for which a stake is best, times the square of the stake."""
    return float(8.0 * np.log(1.0 / alpha))


def lower_accuracy(blocks: Blocks, prior: float, alpha: float, planned: float) -> float:
    """The accuracy below which the bets on right guesses have won 1/alpha-fold against every one; 0 if none."""
    if not len(blocks.n_members):
        return 0.0
    goal = -np.log(alpha)
    right = prior * blocks.true_positives.sum() / blocks.n_members.sum()
    right += (1.0 - prior) * blocks.true_negatives.sum() / blocks.n_nonmembers.sum()
    return _first_not_excluded(
        lambda accuracy: won_for(blocks, prior, accuracy, alpha, planned) >= goal, 0.0, float(right)
    )


def _first_not_excluded(excluded: Callable[[float], bool], far: float, near: float) -> float:
    """On the way from ``far``, which is excluded, to ``near``: an accuracy up to which all are excluded.

    It is walked, ever half of what is left, and only then narrowed down: which accuracies are excluded need not be an
    interval, and an end may not leave out one that stands.
    """
    inside = near
    while abs(near - far) > 2.0 * NEAREST:
        middle = (far + near) / 2.0
        if not excluded(middle):
            inside = middle
            break
        far = middle
    while abs(inside - far) > FINENESS * abs(near - far) + NEAREST:
        middle = (far + inside) / 2.0
        far, inside = (middle, inside) if excluded(middle) else (far, middle)
    return far


def won_for(blocks: Blocks, prior: float, accuracy: float, alpha: float, planned: float) -> float:
    """Logarithm of what bets on more right guesses have won against this accuracy, all blocks together.

    The rates at which the odds are fair are those of the past, moved to the line of this accuracy. How many records
    came before a block decides which stakes are bet on it; that says nothing of its scores, so the odds stay fair.
    """
    tp, n1, tn, n0 = (
        each.astype(np.float64)
        for each in (blocks.true_positives, blocks.n_members, blocks.true_negatives, blocks.n_nonmembers)
    )
    past = [
        (0.5 + np.concatenate([[0.0], right.cumsum()[:-1]])) / (1.0 + np.concatenate([[0.0], n.cumsum()[:-1]]))
        for right, n in ((tp, n1), (tn, n0))
    ]
    c1, c0 = on_line(past[0], past[1], prior, accuracy)
    n = n1 + n0
    unit1, unit0 = prior * n / n1, (1.0 - prior) * n / n0
    stakes = STAKES[:, None] * _scale(prior * unit1 * c1 * (1.0 - c1) + (1.0 - prior) * unit0 * c0 * (1.0 - c0))
    before = np.concatenate([[0.0], n.cumsum()[:-1]])
    stakes = np.minimum(stakes, _most(unit1 * c1, unit0 * c0))
    stakes *= before >= LEARNING * _best_square(alpha) / STAKES[:, None] ** 2
    s1, s0 = stakes * unit1, stakes * unit0
    money = tp * np.log1p(s1 * (1.0 - c1)) + (n1 - tp) * np.log1p(-s1 * c1)
    money += tn * np.log1p(s0 * (1.0 - c0)) + (n0 - tn) * np.log1p(-s0 * c0)
    return float(logsumexp(weights_of(planned, alpha) + money.sum(axis=1)))


def _scale(variance: Floats) -> Floats:
    """What a stake is multiplied by where guesses vary less than coins do: a half over the standard deviation."""
    return 0.5 / np.sqrt(np.maximum(variance, 1e-12))


def _most(first: Floats, second: Floats) -> Floats:
    """The largest stake that leaves something whatever a record shows."""
    return CAP / np.maximum(np.maximum(first, second), 1e-300)


def on_line(first: Floats, second: Floats, prior: float, accuracy: float) -> tuple[Floats, Floats]:
    """The rates nearest these two that make this accuracy."""
    gap = accuracy - (prior * first + (1.0 - prior) * second)
    c1 = first + gap
    low, high = max(0.0, (accuracy - (1.0 - prior)) / prior), min(1.0, accuracy / prior)
    c1 = np.clip(c1, low, high)
    return c1, np.clip((accuracy - prior * c1) / (1.0 - prior), 0.0, 1.0)


def upper_accuracy(
    corners: Floats,
    n_members: int,
    n_nonmembers: int,
    prior: float,
    alpha: float,
    planned: float,
    share: float,
    most: float = 1.0,
) -> float:
    """The largest accuracy that the best rule of a class may have, if at any time its rates lie under these corners.

    Args:
        corners: Rates of right guesses about members and nonmembers, in their order, (corners, 2): a line beyond which
            no rule of the class has rates on the records.
        n_members: Members in all.
        n_nonmembers: Nonmembers in all.
        prior: Probability that a record is a member.
        alpha: Error of the limit at all times together.
        planned: Records of both sides that are expected.
        share: The share of members that was expected before the first record.
        most: A limit that was found before, and holds still.
    """
    least, most = float((corners @ [prior, 1.0 - prior]).max()), min(most, 1.0)
    goal = SLACK - np.log(alpha)

    def money_against(points: Floats, rates: Floats) -> Floats:
        return won_against(points, rates, (n_members, n_nonmembers), prior, alpha, planned, share)

    search = Search(money_against, corners, (n_members, n_nonmembers), prior)
    if least >= most or search.least(min(most, 1.0 - 1e-9), goal) < goal:
        return most
    limit = least + 2.0 * NEAREST
    while limit < most:  # beyond it the rules that were seen so far are excluded; others may not be
        if search.least(limit, goal) >= goal:
            return limit
        far = _first_not_excluded(lambda accuracy: search.again(accuracy) >= goal, most, least)
        limit = max(far, limit) + FINENESS * (max(far, limit) - least)  # always further, so that it ends
    return most


class Search:
    """Looks for the rule against which bets have won least: wherever it lies on the records, and in truth.

    Points of the line, and true rates aside of them, are numbers in the order of a grid that is finest where it has to
    be; so all that is between two neighbours of the grid is looked at, whatever the number of records.
    """

    def __init__(
        self, money_against: Callable[[Floats, Floats], Floats], line: Floats, records: tuple[int, int], prior: float
    ) -> None:
        """Begin a search.

        Args:
            money_against: What bets have won, from rates on the records and true ones; both (rules, 2).
            line: The corners of a line beyond which no rule has rates on the records, in their order, (corners, 2).
            records: Members and nonmembers.
            prior: Probability that a record is a member.
        """
        self._won, self._line, self._records, self._prior = money_against, line, records, prior
        end, finest = len(line) - 1.0, 0.01 / sum(records)
        parts = ceil(POINTS / max(end, 1.0))
        border = BORDER[min(finest, BORDER[-1]) <= BORDER]
        along = np.concatenate([np.arange(end * parts + 1) / parts, border, end - border])
        outward = OUTWARD[finest <= OUTWARD]
        self._along = np.unique(along.clip(0.0, end))
        self._aside = np.concatenate([-outward[::-1], [0.0], outward])
        self._lowest = np.zeros((0, 2))

    def again(self, accuracy: float) -> float:
        """The least against the rules that were the lowest before, if their accuracy is this."""
        return float(self._money(self._lowest, accuracy).min())

    def least(self, accuracy: float, enough: float) -> float:
        """The least against any rule of this accuracy; what is below ``enough`` need not be known better.

        Args:
            accuracy: Of the rule, in truth; more than any point of the line has.
            enough: What is looked for.
        """
        sizes = np.array([len(self._along), len(self._aside)])
        nearest = np.column_stack([np.arange(sizes[0]), np.full(sizes[0], sizes[1] // 2)]).astype(np.float64)
        money = self._money(nearest, accuracy)
        if money.min() < enough:  # most often these say so
            self._lowest = np.concatenate([self._lowest, nearest[[money.argmin()]]])
            return float(money.min())
        places = np.stack(np.meshgrid(*(np.arange(size, dtype=np.float64) for size in sizes)), -1).reshape(-1, 2)
        near = np.stack(np.meshgrid(NEAR, NEAR), -1).reshape(-1, 2)
        least, lowest = np.inf, places[0]
        for level in range(1 + CLOSER):
            money = self._money(places, accuracy)
            order = np.argsort(money, kind="stable")
            if money[order[0]] < least:
                least, lowest = float(money[order[0]]), places[order[0]]
            if least < enough:
                break
            best_places = order[: 2 * LEAST]
            if level == 0:  # the best points of the line, and the best places aside of it
                firsts = [np.sort(np.unique(each, return_index=True)[1])[:LEAST] for each in places[order].T]
                best_places = order[np.unique(np.concatenate(firsts))]
            step = 4.0**-level
            places = (places[best_places, None] + step * near).clip(0.0, sizes - 1.0).reshape(-1, 2)
        self._lowest = np.concatenate([self._lowest, lowest[None]])
        return least

    def _money(self, places: Floats, accuracy: float) -> Floats:
        corner = np.interp(places[:, 0], np.arange(len(self._along)), self._along)
        aside = np.interp(places[:, 1], np.arange(len(self._aside)), self._aside)
        corners = np.arange(len(self._line))
        points = np.column_stack([np.interp(corner, corners, side) for side in self._line.T])
        return self._won(points, _rates(points, aside, self._records, self._prior, accuracy))


def _rates(points: Floats, aside: Floats, records: tuple[int, int], prior: float, accuracy: float) -> Floats:
    """True rates of this accuracy: from those nearest to the rates on the records (0) to the furthest (-1, 1)."""
    weights, n = np.array([prior, 1.0 - prior]), np.array(records)
    gap = accuracy - points @ weights
    variances = weights * (points * (1.0 - points) + 1.0 / n) / n
    nearest = gap * variances[:, 0] / (variances @ weights)
    lowest = np.maximum(-points[:, 0], (gap - weights[1] * (1.0 - points[:, 1])) / prior)
    highest = np.minimum(1.0 - points[:, 0], (gap + weights[1] * points[:, 1]) / prior)
    nearest = nearest.clip(lowest, np.maximum(lowest, highest))
    more = nearest + np.where(aside > 0.0, highest - nearest, nearest - lowest) * aside
    return np.column_stack([points[:, 0] + more, points[:, 1] + (gap - prior * more) / weights[1]]).clip(0.0, 1.0)


def won_against(
    points: Floats, rates: Floats, records: tuple[int, int], prior: float, alpha: float, planned: float, share: float
) -> Floats:
    """Logarithm of what bets on fewer right guesses have won against each rule.

    Most of the money is bet on both sides together, in proportion to what they weigh; a little on one side alone, so
    that rates which that side's records exclude are excluded.

    What else is given is as for ``upper_accuracy``.

    Args:
        points: Each rule's rates of right guesses on the records, (rules, 2).
        rates: Its true rates, (rules, 2).
    """
    c1, c0 = rates.T
    unit1, unit0 = prior / share, (1.0 - prior) / (1.0 - share)
    scale = _scale(prior * unit1 * c1 * (1.0 - c1) + (1.0 - prior) * unit0 * c0 * (1.0 - c0))
    together = -np.minimum(STAKES[:, None] * scale, _most(unit1 * (1.0 - c1), unit0 * (1.0 - c0)))
    alone = [[sign * np.minimum(ALONE[:, None], _most(c, 1.0 - c)) for sign in (1.0, -1.0)] for c in (c1, c0)]
    right, wrong = (points * records).T, ((1.0 - points) * records).T
    money = [
        _money_of_side(together * unit1, c1, right[0], wrong[0])
        + _money_of_side(together * unit0, c0, right[1], wrong[1]),
        *(_money_of_side(stakes, c1, right[0], wrong[0]) for stakes in alone[0]),
        *(_money_of_side(stakes, c0, right[1], wrong[1]) for stakes in alone[1]),
    ]
    single = np.full(4 * len(ALONE), np.log(SINGLE / (4 * len(ALONE))))
    shares = np.concatenate([np.log(1.0 - SINGLE) + weights_of(planned, alpha), single])
    logarithms = np.concatenate(money)
    logarithms += shares[:, None]
    largest = logarithms.max(axis=0)
    logarithms -= largest
    np.exp(logarithms, out=logarithms)
    return np.asarray(largest + np.log(logarithms.sum(axis=0)))


def _money_of_side(stakes: Floats, rate: Floats, right: Floats, wrong: Floats) -> Floats:
    """Logarithm of what bets of these stakes have won on one side's guesses, if this is how often they are right."""
    return right * np.log1p(stakes * (1.0 - rate)) + wrong * np.log1p(-stakes * rate)
