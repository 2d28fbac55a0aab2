"""Practical epsilon from training sets drawn at random, when there are too many to go through.

With b = 1 where x is in D, the ratio r = P_in/P_out of one record and outcome makes b p_w(D) - r (1-b) p_w(D)
have mean 0. Since b is 1 in exactly half of all D, so has b u - r (1-b) u + (1-r) c/2 for u = p_w(D) - c and any c
fixed beforehand, and u varies less. Its terms are bounded, since losses are, so the empirical Bernstein
inequality (Maurer and Pontil 2009, Theorem 4) says which r the draws contradict: at every sample size, and
without a bound on either mean alone.

How often may one such inequality fail? A practical epsilon is a maximum M of +-ln r over cells, each a record,
an outcome and a sign. M is reached in one cell, and which one is no matter of chance. Every cell has an upper
limit; if M lies above the largest of them, it lies above that one cell's. So the chance of that is at most what
*one* inequality fails with, however many cells there are (an intersection-union test): half of alpha for the
upper end, and half of alpha over the number of records for uppers of each that hold together. A lower limit of
any cell that is too high can push the largest lower limit above M: there every cell counts (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from estimators.arrays import Floats
from estimators.errors import require_count, require_open_unit
from estimators.python.dataclass import dataclass
from estimators.statement import Estimate, Guarantee, Interval
from estimators.theory import subsets
from estimators.theory.pmp.exponential import Summed, require_pairs
from estimators.theory.pmp.laws import InOut

Progress = Callable[[float], None]  # called with the share of the work that is done

CELLS = 1 << 21
REPORTS, FEWEST = 50, 256  # how often progress is told, unless blocks would be smaller than this

PILOT = 512
STEPS = 64

OF_DRAWS = Guarantee(
    covers="the practical epsilon of the exponential mechanism on these 2n records",
    assumes="no assumption: this computation draws the training sets independently, and losses are bounded",
    finite_sample=True,
)


@dataclass(frozen=True, slots=True)
class SampledEpsilon:
    """An estimate of the two laws, and limits of each record's practical epsilon that hold all together.

    The interval of ``estimate`` is about the largest of them, whose upper end asks for less (see above): a statement of
    its own, each of the two with ``confidence``.
    """

    laws: InOut
    lowers: Floats
    uppers: Floats
    draws: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Frame:
    """Outcome by outcome: p = e^top (centre + reach u) with u from -below to above on every training set."""

    top: Floats
    centre: Floats
    reach: Floats
    below: Floats
    above: Floats


@dataclass(frozen=True, slots=True)
class Means:
    """Means over draws of b u, (1-b) u and of their squares."""

    inside: Floats
    outside: Floats
    inside_squares: Floats
    outside_squares: Floats

    @property
    def flipped(self) -> Means:
        """The same with in and out exchanged."""
        return Means(self.outside, self.inside, self.outside_squares, self.inside_squares)


def sample_epsilon(
    mechanism: Summed,
    epsilon: float,
    draws: int,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> SampledEpsilon:
    """Practical epsilon with an interval that holds at every number of draws; the bound by exchanges caps it.

    Each end misses with at most half of alpha; so do all uppers together, and all lowers.
    """
    draws = require_count("draws", draws, 2)
    alpha = 1.0 - require_open_unit("confidence", confidence)
    scores = mechanism.scores(epsilon)
    first, second = np.random.SeedSequence(seed).generate_state(2)
    frame = _frame(scores, int(first))
    means = _means(scores, frame, draws, int(second), progress)

    # limits of ln r, each an inequality that fails with half of alpha over how many of a kind may not fail
    kinds = len(scores), 1, 2 * scores.size
    evidence = np.array([weight(alpha / (2.0 * inequalities)) for inequalities in kinds])[:, None, None]
    ends = _least_ratio(means, frame, draws, evidence), -_least_ratio(means.flipped, frame, draws, evidence)
    of_record, of_worst, of_all = zip(*ends, strict=True)

    ceilings = mechanism.exchanges(epsilon)
    uppers = np.minimum(_farthest(*of_record), ceilings)
    upper = float(np.minimum(_farthest(*of_worst), ceilings).max())
    lowers = np.minimum(_nearest(*of_all), uppers)
    laws = InOut(*(_log_law(mean, frame) for mean in (means.inside, means.outside)))
    point = np.minimum(laws.epsilons, ceilings).max()
    interval = Interval(min(float(lowers.max()), upper), upper, confidence, OF_DRAWS)
    value = float(np.clip(point, interval.lower, interval.upper))
    return SampledEpsilon(laws, lowers, uppers, draws, Estimate(value, interval))


def weight(chance: float) -> float:
    """What Maurer and Pontil's radius takes for a mean to lie beyond it with at most this ``chance``, on one side."""
    return log(2.0 / chance)


def log_range(scores: Floats) -> tuple[Floats, Floats]:
    """Limits of every outcome's log probability over all training sets.

    ln(p_v/p_w) is a sum over n records: no less than that of the n least, no more than that of the n largest;
    the odds of all outcomes v against w add up to 1/p_w.
    """
    n = len(scores) // 2
    require_pairs(scores.shape[1], scores.size)
    lowest, highest = np.empty(scores.shape[1]), np.empty(scores.shape[1])
    for w in range(scores.shape[1]):
        odds = np.sort(scores - scores[:, [w]], axis=0)
        lowest[w], highest[w] = -logsumexp(odds[n:].sum(axis=0)), -logsumexp(odds[:n].sum(axis=0))
    return lowest, highest


def _farthest(lowest: Floats, highest: Floats) -> Floats:
    """How far from 0 an outcome's ln r may be, at most, record by record."""
    return np.asarray(np.maximum(np.maximum(-lowest, highest), 0.0).max(axis=1))


def _nearest(lowest: Floats, highest: Floats) -> Floats:
    """How far from 0 some outcome's ln r is, at least, record by record."""
    return np.asarray(np.maximum(np.maximum(lowest, -highest), 0.0).max(axis=1))


def _frame(scores: Floats, seed: int) -> Frame:
    """Centre at the mean of a few draws of its own: it must not depend on those it is subtracted from."""
    low, top = log_range(scores)
    few = next(subsets.random_subsets(len(scores), len(scores) // 2, PILOT, seed))
    centre = np.clip(np.exp(log_softmax(few @ scores, axis=1) - top).mean(axis=0), np.exp(low - top), 1.0)
    above, below = 1.0 - centre, centre - np.exp(low - top)
    reach = np.maximum(np.maximum(above, below), 1e-9 * centre)  # far above the rounding of p
    return Frame(top, centre, reach, below / reach + 1e-6, above / reach + 1e-6)


def _means(scores: Floats, frame: Frame, draws: int, seed: int, progress: Progress | None) -> Means:
    """Go through the draws block by block."""
    so_far = 0
    inside, outside, inside_squares, outside_squares = (np.zeros(scores.shape) for _ in range(4))
    block = max(1, min(CELLS // max(scores.shape), max(draws // REPORTS, FEWEST)))
    for subset in subsets.random_subsets(len(scores), len(scores) // 2, draws, seed, block):
        rows = subset.astype(np.float64)
        u = (np.exp(log_softmax(rows @ scores, axis=1) - frame.top) - frame.centre) / frame.reach
        squares = u**2
        inside += rows.T @ u
        inside_squares += rows.T @ squares
        rows = 1.0 - rows
        outside += rows.T @ u
        outside_squares += rows.T @ squares
        so_far += len(subset)
        if progress is not None:
            progress(so_far / draws)
    return Means(inside / draws, outside / draws, inside_squares / draws, outside_squares / draws)


def _log_law(mean: Floats, frame: Frame) -> Floats:
    """Estimated log probabilities: 2 E[b p], from E[b u]."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(frame.centre + 2.0 * frame.reach * mean, 0.0)) + frame.top)


def _least_ratio(means: Means, frame: Frame, draws: int, weights: Floats) -> Floats:
    """Log of the least r = P_in/P_out that the draws do not contradict, by bisection in ln r, for each weight.

    The terms are u where b = 1 and -r u elsewhere, which bounds their range. Mean less radius is concave in r,
    so if it is positive at the start it crosses zero once; -inf where r = 0 is not contradicted.
    """
    shift = frame.centre / (2.0 * frame.reach)

    def contradicted(log_r: Floats) -> NDArray[np.bool_]:
        r = np.exp(log_r)
        mean = means.inside - r * means.outside
        variance = (means.inside_squares + r**2 * means.outside_squares - mean**2) * (draws / (draws - 1))
        radius = np.sqrt(2.0 * np.maximum(variance, 0.0) * weights / draws)
        span = np.maximum(frame.above, r * frame.below) + np.maximum(frame.below, r * frame.above)
        radius += 7.0 * span * weights / (3.0 * (draws - 1))
        return np.asarray(mean + (1.0 - r) * shift > radius)

    shape = np.broadcast_shapes(means.inside.shape, weights.shape)
    low, high = np.full(shape, -300.0), np.full(shape, 300.0)
    sure = contradicted(low)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        holds = contradicted(middle)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return np.where(sure, low, -np.inf)
