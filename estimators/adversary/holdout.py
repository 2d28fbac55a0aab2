"""The lower end: an adversary judged on records it has never seen cannot look better than it is.

Progressive validation (Blum, Kalai, Langford 1999; study 2.1): the records come in growing
blocks, every rule is fitted on the past and judged on the next block, and the guesses are those of the
rule that was best so far. Given the past, each is right with probability at most (1 + Adv)/2, so the exact
binomial limit of the number right is a lower bound on Adv, whatever the choice looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.families import Family, Guesses, TwoSided, families_for
from estimators.arrays import Floats, Integers, distinct, median
from estimators.limits.binomial import lower_limit, pools
from estimators.limits.two_rates import weighted_accuracy_lower
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Intervals
from estimators.sample.counts import Counts
from estimators.sample.splits import HYPERGEOMETRIC_LIMIT
from estimators.statement import baseline

Numbers = NDArray[np.int64] | NDArray[np.float64]

GROWTH = 1.35

SHUFFLES = 5
"""Orders over which lower ends that are not invariant take a median (metrics, clusters, fixed sets)."""

ORDERS = 4  # orders of the records, unless asked for others

FEW_CELLS, MORE_ORDERS = 16, 4
"""Up to so many cells there are so many times as many orders: samples are few tables, and of each the seed draws the
same, so that over samples too little is left to chance."""

SOON = 64  # numbers among which two columns that differ nearly always do so

PILOT = 1000
"""Records a side, at most, that show where a score should be looked at closely; they judge no rule."""

WHOLE = 512
"""Records of both sides up to which every score is a cell for the rules that cut it anywhere, with no pilot."""

OWN_PILOT = 1500
"""Records of both sides up to which each order has a pilot of its own; of more, which ones show the way hardly matters.
"""

PARTS = 8  # parts into which the gap between two records of the pilot is divided around a cut

FEWEST_TO_CHOOSE = 100
"""Records a side that choose the first rule to follow, at least; fewer choose none, and the simplest comes first."""

SIMPLER = 1.0  # standard errors by which a richer rule must win before the point estimate follows it


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What rules fitted on the past achieved on the future; ``orders`` are the ends between which other seeds lie."""

    lower: float
    value: float
    leader: str
    exact: bool
    orders: tuple[float, float]


@dataclass(frozen=True, eq=False, slots=True)
class GuessRecord:
    """Right guesses of the leading rules on the blocks they had not seen, one number for each shuffle.

    ``by_rule`` has the advantage of every rule, (shuffles, rules).
    """

    true_positives: Integers
    n_members: Integers
    true_negatives: Integers
    n_nonmembers: Integers
    by_rule: Floats

    def lower(self, prior: float, alpha: float, pooled: bool) -> Floats:
        """One-sided lower limits of level 1 - alpha: one exact binomial if the sample has the prior's shares."""
        tp, tn, n1, n0 = self.true_positives, self.true_negatives, self.n_members, self.n_nonmembers
        if pooled:
            drift = np.abs(n1 / (n1 + n0) - prior)  # block sizes are whole numbers: at most one record off
            return 2.0 * (lower_limit(tp + tn, n1 + n0, alpha) - drift) - 1.0
        return 2.0 * weighted_accuracy_lower(tp, n1, tn, n0, prior, alpha) - 1.0


@dataclass(frozen=True, eq=False, slots=True)
class Validation:
    """What the rules of these families achieved on records that they had not seen, before any level is chosen."""

    outcome: GuessRecord
    names: tuple[str, ...]
    prior: float
    pooled: bool
    one_pilot: bool = False
    """Whether one draw showed all orders where to look: then they differ less than seeds do."""

    def at(self, alpha: float) -> HeldOut:
        """Median over orders of the limit of level 1 - alpha, never below what the likelier side earns for free.

        The limit of one order is that of independent guesses; that a block has so many members and so many
        nonmembers makes guesses a little dependent, and the median is proven at twice the level (Rueger 1978). Both
        hold at the level itself in simulation (benchmarks coverage).
        """
        floor, outcome, prior = baseline(self.prior), self.outcome, self.prior
        limits = outcome.lower(prior, alpha, self.pooled)
        middle = median(np.column_stack([limits, outcome.by_rule]))
        lower, by_rule = float(middle[0]), middle[1:]
        # the simplest rule within a standard error of the best: a rich one fits noise and flatters the estimate
        error = np.hypot(
            prior / np.sqrt(median(outcome.n_members)), (1.0 - prior) / np.sqrt(median(outcome.n_nonmembers))
        )
        leader = int(np.argmax(by_rule >= by_rule.max() - SIMPLER * error))
        value = max(float(by_rule[leader]), floor)
        return HeldOut(max(lower, floor), value, self.names[leader], False, self._orders(limits, floor))

    def _orders(self, limits: Floats, floor: float) -> tuple[float, float]:
        """The least and the largest limit of any order, further apart by what a shared pilot hides."""
        least, most = float(limits.min()), float(limits.max())
        beyond = (most - least) / 2.0 if self.one_pilot else 0.0
        return max(least - beyond, floor), max(most + beyond, floor)


@dataclass(frozen=True, eq=False, slots=True)
class Way:
    """The way in which records are looked at, the same whichever way they were sent.

    An attacker gains as much by the negative of a score and, at even odds, by accusing the other side. Rules break
    draws from one end, and chance deals records out in one order: so it is settled by the counts themselves from which
    end and with which side as the members they are looked at. Only which of two equally good rules is taken hangs on
    it; but a way that is first by its counts, such as that with fewest members at its low end, is one in which rules
    look better than they are.
    """

    counts: Counts
    prior: float
    turned: bool = False
    exchanged: bool = False

    @classmethod
    def of(cls, counts: Counts, prior: float) -> Way:
        """The way whose numbers have the least SHA-256: of a few of them, or of all where a few are alike."""
        ways = _ways(counts, prior)
        digests = [_digest(_looked_at(counts, *way), SOON) for way in ways]
        if len(set(digests)) < len(ways):
            digests = [_digest(_looked_at(counts, *way), counts.size) for way in ways]
        return cls._as(counts, prior, *ways[digests.index(min(digests))])

    @classmethod
    def every(cls, counts: Counts, prior: float) -> list[Way]:
        """All of them, the one in which the records were sent first."""
        return [cls._as(counts, prior, *way) for way in _ways(counts, prior)]

    @classmethod
    def _as(cls, counts: Counts, prior: float, turned: bool, exchanged: bool) -> Way:
        cells = Intervals(np.arange(1.0, counts.size)) if turned else counts.cells
        return cls(Counts.trusted(*_looked_at(counts, turned, exchanged), cells), prior, turned, exchanged)

    def restore(self, record: GuessRecord) -> GuessRecord:
        """What was achieved, with the sides as they were sent."""
        if not self.exchanged:
            return record
        return GuessRecord(
            record.true_negatives, record.n_nonmembers, record.true_positives, record.n_members, record.by_rule
        )


def _ways(counts: Counts, prior: float) -> list[tuple[bool, bool]]:
    """Whether from the other end, and whether with the other side as the members."""
    ways = [(turned, False) for turned in (False, True)[: 1 + counts.cells.ordered]]
    return ways + ([(turned, True) for turned, _ in ways] if prior == 0.5 else [])


def _looked_at(counts: Counts, turned: bool, exchanged: bool) -> tuple[Integers, Integers]:
    """Both sides in this way, without a copy."""
    step = -1 if turned else 1
    first, second = counts.members[::step], counts.nonmembers[::step]
    return (second, first) if exchanged else (first, second)


def _digest(columns: Sequence[Integers], few: int) -> bytes:
    """SHA-256 of the first numbers of each, which says nothing about them: any order of the counts would."""
    return sha256(np.concatenate([each[:few] for each in columns]).astype("<i8").tobytes()).digest()


def together(records: Sequence[GuessRecord]) -> GuessRecord:
    """The orders of several records as those of one."""
    return GuessRecord(
        np.concatenate([each.true_positives for each in records]),
        np.concatenate([each.n_members for each in records]),
        np.concatenate([each.true_negatives for each in records]),
        np.concatenate([each.n_nonmembers for each in records]),
        np.concatenate([each.by_rule for each in records]),
    )


@lru_cache(maxsize=64)
def block_fractions(n_members: int, n_nonmembers: int) -> Floats:
    """A first part to learn from, then blocks that grow by a third: at least ten records a side to start."""
    first = max(0.1, min(0.5, 10.0 / min(n_members, n_nonmembers)))
    ends = first * GROWTH ** np.arange(int(np.ceil(np.log(1.0 / first) / np.log(GROWTH))))
    return np.diff(np.concatenate([[0.0], ends[ends < 1.0 - 1e-9], [1.0]]))


def _fractions(counts: Counts) -> tuple[Floats, int]:
    """Blocks, and which is the first whose guesses count: the end of what is learned first may choose a rule."""
    fractions = block_fractions(counts.n_members, counts.n_nonmembers)
    first = float(fractions[0])
    if first * (1.0 - 1.0 / GROWTH) * min(counts.n_members, counts.n_nonmembers) < FEWEST_TO_CHOOSE:
        return fractions, 0
    return np.concatenate([[first / GROWTH, first - first / GROWTH], fractions[1:]]), 1


def validate(counts: Counts, prior: float, seed: int, orders: int = ORDERS, way: Way | None = None) -> Validation:
    """Progressive validation of rules measurable on the cells of ``counts``, in several orders of the records."""
    way, (fractions, since) = way or Way.of(counts, prior), _fractions(counts)
    orders *= MORE_ORDERS if counts.size <= FEW_CELLS else 1
    blocks = way.counts.shuffles(fractions, way.counts.random(seed), orders)
    families = families_for(way.counts)
    return validation_of(way, [_guess_record(way, blocks, families, since)], _names(families))


def validate_anywhere(
    fine: Counts, prior: float, cells: int, seed: int, orders: int = ORDERS, way: Way | None = None
) -> Validation:
    """The same for a score with an order, by rules on so many cells and rules that cut the score anywhere.

    The first records of an order, from which every rule learns and on which none is judged, show where the best cuts
    lie; around these the score is looked at closely. Everywhere else it is joined to cells of equal mass. Few records
    need no pilot: every score is a cell.
    """
    way, (fractions, since) = way or Way.of(fine, prior), _fractions(fine)
    few = fine.size <= FEW_CELLS
    one_pilot = fine.n_records > OWN_PILOT and not few
    rng = way.counts.random(seed) if one_pilot else np.random.default_rng(seed)
    if fine.n_records <= WHOLE or few:
        orders *= MORE_ORDERS if few else 1
        looks = [(way.counts, way.counts.shuffles(fractions, rng, orders))]
    else:
        pilots = 1 if one_pilot else orders
        looks = [_close_look(way, cells, fractions, rng, orders // pilots) for _ in range(pilots)]
    rules = [families_for(counts, cells) for counts, _ in looks]
    records = [_guess_record(way, blocks, families, since) for (_, blocks), families in zip(looks, rules, strict=True)]
    return validation_of(way, records, _names(rules[0]), one_pilot=one_pilot)


def _names(families: Sequence[Family]) -> tuple[str, ...]:
    return tuple(family.name for family in families)


def _close_look(
    way: Way, cells: int, fractions: Floats, rng: np.random.Generator, orders: int
) -> tuple[Counts, tuple[Integers, Integers]]:
    """Cells that are narrow around the best cuts of a pilot, and the blocks of orders that all begin with it."""
    fine = way.counts
    ends = [side.cumsum() for side in (fine.members, fine.nonmembers)]
    pilot = [_draw(end, min(PILOT, round(float(fractions[0] * end[-1]))), rng) for end in ends]
    starts = close_to_cuts(ends[0] + ends[1], pilot, way.prior, fine.group_starts(cells), fine.n_records / cells)
    first = [np.bincount(starts.searchsorted(side, "right") - 1, minlength=len(starts)) for side in pilot]
    whole = [np.add.reduceat(side, starts) for side in (fine.members, fine.nonmembers)]
    line = Intervals(np.arange(1.0, len(starts)))
    rest = Counts.trusted(whole[0] - first[0], whole[1] - first[1], line)
    shares = np.outer([fine.n_members, fine.n_nonmembers], fractions)
    shares[:, 0] -= [len(side) for side in pilot]  # part of the first block of their side, or all of it
    blocks = rest.shuffles(np.maximum(shares, 0.0), rng, orders)
    for side, of_pilot in zip(blocks, first, strict=True):
        side[:, 0] += of_pilot
    return Counts.trusted(whole[0], whole[1], line), blocks


def _draw(ends: Integers, size: int, rng: np.random.Generator) -> Integers:
    """The cells of so many records drawn at random; cells end at these numbers of records."""
    records = np.sort(rng.choice(int(ends[-1]), size, replace=False, shuffle=False))
    return ends.searchsorted(records, side="right")


def close_to_cuts(ends: Integers, pilot: Sequence[Integers], prior: float, starts: Integers, width: float) -> Integers:
    """First cell of each group: groups of about ``width`` records that begin at ``starts``, cut further near cuts.

    Between the two records of the pilot next to its best cut all cuts are alike to it: that gap is divided evenly by
    records, and outward the groups double until they are as wide as the others.
    """
    in_cells = [np.bincount(side, minlength=len(ends)) for side in pilot]
    places = np.flatnonzero(in_cells[0] + in_cells[1])
    sides = [side[places] for side in in_cells]
    gain = prior * sides[0] / len(pilot[0]) - (1.0 - prior) * sides[1] / len(pilot[1])
    guesses = TwoSided().fit(gain[None, :], False)
    changes = np.flatnonzero((guesses[:, 1:] != guesses[:, :-1]).any(axis=0)) + 1
    unit = ends[-1] / (len(pilot[0]) + len(pilot[1]))
    outward = unit * 2.0 ** np.arange(np.ceil(np.log2(max(2.0, width / unit))))
    low, high = ends[places[changes - 1]][:, None], ends[places[changes] - 1][:, None]
    inside = low + (high - low) * np.arange(PARTS + 1) / PARTS
    targets = np.concatenate([inside, low - outward, high + outward], axis=1).ravel()
    near = ends.searchsorted(targets[(targets > 0) & (targets < ends[-1])]) + 1
    return distinct(np.concatenate([starts, near[near < len(ends)]]))


def validation_of(
    way: Way, records: Sequence[GuessRecord], names: tuple[str, ...], *, one_pilot: bool = False
) -> Validation:
    """What rules achieved in every order, with the sides as they were sent."""
    counts, prior = way.counts, way.prior
    fixed = counts.n_records < HYPERGEOMETRIC_LIMIT  # beyond, block sizes are random too (Counts.blocks)
    pooled = fixed and pools(counts.n_members, counts.n_nonmembers, prior)
    return Validation(way.restore(together(records)), names, prior, pooled, one_pilot)


def _guess_record(way: Way, blocks: tuple[Integers, Integers], families: Sequence[Family], since: int) -> GuessRecord:
    """What the rules of all shuffles and blocks, (shuffles, blocks, cells), fitted in one go, achieved."""
    guesses = rules_from_past(*blocks, way.prior, families)
    members, nonmembers = (side[:, 1:] for side in blocks)
    hits = np.einsum("fsbc,sbc->sfb", guesses, members)
    alarms = np.einsum("fsbc,sbc->sfb", guesses, nonmembers)
    n1, n0 = members.sum(axis=2), nonmembers.sum(axis=2)
    return follow_leader(hits, n1, n0[:, None] - alarms, n0, way.prior, since)


def rules_from_past(members: Numbers, nonmembers: Numbers, prior: float, families: Sequence[Family]) -> Guesses:
    """The rule of each family for each block but the first, (families, shuffles, blocks, cells)."""
    gain = prior * _past_shares(members) - (1.0 - prior) * _past_shares(nonmembers)
    rows = gain.reshape(-1, gain.shape[-1])
    return np.stack([family.fit(rows, prior > 0.5).reshape(gain.shape) for family in families])


def _past_shares(blocks: Numbers) -> Floats:
    """Share of each cell among the records before each block but the first."""
    past = blocks[:, :-1].cumsum(axis=1)
    shares: Floats = past / np.maximum(past.sum(axis=2, keepdims=True), 1)
    return shares


def follow_leader(
    true_positives: Integers,
    n_members: Integers,
    true_negatives: Integers,
    n_nonmembers: Integers,
    prior: float,
    since: int = 0,
) -> GuessRecord:
    """Take the guesses about each block from the rule that was best before it.

    Right guesses are (shuffles, rules, blocks), numbers of records (shuffles, blocks). Blocks before ``since`` only
    choose a rule.
    """
    leaders, accuracy = leaders_so_far(true_positives, n_members, true_negatives, n_nonmembers, prior)
    shuffles, blocks = n_members.shape
    of_leader = np.arange(shuffles)[:, None], leaders[:, since:], np.arange(since, blocks)
    return GuessRecord(
        true_positives[of_leader].sum(axis=1),
        n_members[:, since:].sum(axis=1),
        true_negatives[of_leader].sum(axis=1),
        n_nonmembers[:, since:].sum(axis=1),
        2.0 * accuracy - 1.0,
    )


def leaders_so_far(
    true_positives: Numbers, n_members: Numbers, true_negatives: Numbers, n_nonmembers: Numbers, prior: float
) -> tuple[NDArray[np.intp], Floats]:
    """The rule that was best before each block, (shuffles, blocks), and the accuracy of every rule in the end."""
    records = [np.maximum(n.cumsum(axis=1), 1)[:, None] for n in (n_members, n_nonmembers)]
    accuracy = prior * true_positives.cumsum(axis=2) / records[0]
    accuracy += (1.0 - prior) * true_negatives.cumsum(axis=2) / records[1]
    leaders = np.zeros(n_members.shape, dtype=np.intp)  # before the first block the simplest rule
    leaders[:, 1:] = accuracy[:, :, :-1].argmax(axis=1)
    return leaders, accuracy[:, :, -1]
