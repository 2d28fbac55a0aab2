"""The lower end: an adversary judged on records it has never seen cannot look better than it is.

Progressive validation (Blum, Kalai, Langford 1999; study 2.1): the records come in growing
blocks, every rule is fitted on the past and judged on the next block, and the guesses are those of the
rule that was best so far. Given the past, each is right with probability at most (1 + Adv)/2, so the exact
binomial limit of the number right is a lower bound on Adv, whatever the choice looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.families import Family
from estimators.limits.binomial import lower_limit, pools, weighted_accuracy_lower
from estimators.sample.counts import HYPERGEOMETRIC_LIMIT, Counts
from estimators.statement import baseline

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

GROWTH = 1.35
SHUFFLES = 5
SIMPLER = 1.0
"""Standard errors by which a richer rule must win before the point estimate follows it."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What rules fitted on the past achieved on the future."""

    lower: float
    value: float
    leader: str
    exact: bool


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


def block_fractions(n_members: int, n_nonmembers: int) -> Floats:
    """A first part to learn from, then blocks that grow by a third: at least ten records a side to start."""
    first = max(0.1, min(0.5, 10.0 / min(n_members, n_nonmembers)))
    ends = first * GROWTH ** np.arange(int(np.ceil(np.log(1.0 / first) / np.log(GROWTH))))
    return np.diff(np.concatenate([[0.0], ends[ends < 1.0 - 1e-9], [1.0]]))


def held_out(
    counts: Counts,
    prior: float,
    families: Sequence[Family],
    alpha: float,
    seed: int,
    shuffles: int = SHUFFLES,
) -> HeldOut:
    """Lower limit of the advantage, of level 1 - alpha, from rules measurable on the cells of ``counts``.

    With one shuffle the limit is exact when n1 = pN; the median of five hardly depends on the seed,
    missed at most 1.6% at a nominal 2.5% in simulation, and is proven at twice the level (Rueger 1978).
    """
    rng = np.random.default_rng(seed)
    outcome = _guess_record(counts, prior, families, shuffles, rng)
    fixed = counts.n_records < HYPERGEOMETRIC_LIMIT  # beyond, block sizes are random too (Counts.blocks)
    pooled = fixed and pools(counts.n_members, counts.n_nonmembers, prior)
    return summarise(outcome, [f.name for f in families], pooled, prior, alpha)


def summarise(
    outcome: GuessRecord, names: Sequence[str], pooled: bool, prior: float, alpha: float
) -> HeldOut:
    """Median over shuffles, never below what guessing the likelier side earns for free."""
    floor = baseline(prior)
    middle = np.median(np.column_stack([outcome.lower(prior, alpha, pooled), outcome.by_rule]), axis=0)
    lower, by_rule = float(middle[0]), middle[1:]
    # the simplest rule within a standard error of the best: a rich one fits noise and flatters the point estimate
    error = np.hypot(prior / np.sqrt(outcome.n_members[0]), (1.0 - prior) / np.sqrt(outcome.n_nonmembers[0]))
    leader = int(np.argmax(by_rule >= by_rule.max() - SIMPLER * error))
    return HeldOut(
        max(lower, floor),
        max(float(by_rule[leader]), floor),
        names[leader],
        pooled and len(outcome.by_rule) == 1,
    )


def _guess_record(
    counts: Counts, prior: float, families: Sequence[Family], shuffles: int, rng: np.random.Generator
) -> GuessRecord:
    """What the rules of all shuffles and blocks, fitted in one go, achieved."""
    fractions = block_fractions(counts.n_members, counts.n_nonmembers)
    members, nonmembers = counts.shuffles(fractions, rng, shuffles)  # (shuffles, blocks, cells)
    gain = prior * _past_shares(members) - (1.0 - prior) * _past_shares(nonmembers)
    rows = gain.reshape(-1, counts.size)
    guesses = np.stack([family.fit(rows, prior > 0.5).reshape(gain.shape) for family in families])
    next_members, next_nonmembers = members[:, 1:], nonmembers[:, 1:]
    hits = np.einsum("fsbc,sbc->sfb", guesses, next_members)
    alarms = np.einsum("fsbc,sbc->sfb", guesses, next_nonmembers)
    n1, n0 = next_members.sum(axis=2), next_nonmembers.sum(axis=2)
    return follow_leader(hits, n1, n0[:, None] - alarms, n0, prior)


def _past_shares(blocks: Integers) -> Floats:
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
) -> GuessRecord:
    """Take the guesses about each block from the rule that was best before it.

    Right guesses are (shuffles, rules, blocks), numbers of records (shuffles, blocks).
    """
    records = [np.maximum(n.cumsum(axis=1), 1)[:, None] for n in (n_members, n_nonmembers)]
    accuracy = prior * true_positives.cumsum(axis=2) / records[0]
    accuracy += (1.0 - prior) * true_negatives.cumsum(axis=2) / records[1]
    shuffles, blocks = n_members.shape
    leaders = np.zeros((shuffles, blocks), dtype=np.intp)  # before the first block the simplest rule
    leaders[:, 1:] = accuracy[:, :, :-1].argmax(axis=1)
    of_leader = np.arange(shuffles)[:, None], leaders, np.arange(blocks)
    return GuessRecord(
        true_positives[of_leader].sum(axis=1),
        n_members.sum(axis=1),
        true_negatives[of_leader].sum(axis=1),
        n_nonmembers.sum(axis=1),
        2.0 * accuracy[:, :, -1] - 1.0,
    )
