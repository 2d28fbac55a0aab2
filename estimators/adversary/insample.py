"""The upper end: the best rule of a declared class looks at least as good on its own records as it is.

For the unknown best rule of a class fixed in advance, the in-sample optimum of that class is at
least that rule's in-sample advantage. So any upper limit that is valid for one fixed rule, taken at
the in-sample optimum, is valid for the class, with no correction for the search (study 2.2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.families import Cellwise, Threshold, TwoSided, in_sample
from estimators.errors import OutOfRange
from estimators.limits.binomial import normal_quantile, pools, upper_limit, weighted_accuracy_upper
from estimators.sample.counts import Counts
from estimators.statement import baseline

Floats = NDArray[np.float64]

MANY_CELLS = 64
"""Past this many cells the noise of W_K outweighs a split of the error over second-moment bounds."""

HULL_POINTS = 256
HULL_ROUNDS = 8
HULL_SLACK = 1e-3
THRESHOLD_BLOCKS = 512


def threshold_upper(counts: Counts, prior: float, alpha: float) -> float:
    """Upper limit for the best single cut; equals the optimal advantage under a monotone likelihood ratio."""
    if pools(counts.n_members, counts.n_nonmembers, prior):
        return _exact(in_sample(Threshold(), counts, prior), counts, alpha)
    n1, n0 = counts.n_members, counts.n_nonmembers
    above = n1 - np.concatenate([[0], np.cumsum(counts.members)])
    below = np.concatenate([[0], np.cumsum(counts.nonmembers)])
    upward = _best_pointwise(above, below, n1, n0, prior, alpha)
    downward = _best_pointwise((n1 - above)[::-1], (n0 - below)[::-1], n1, n0, prior, alpha)
    return _clip(2.0 * max(upward, downward) - 1.0, prior)


def two_sided_upper(counts: Counts, prior: float, alpha: float) -> float:
    """Upper limit for the best interval or its complement."""
    value = in_sample(TwoSided(), counts, prior)
    if pools(counts.n_members, counts.n_nonmembers, prior):
        return _exact(value, counts, alpha)
    return _worst_variance(value, counts, prior, alpha)


def cells_upper(counts: Counts, prior: float, alpha: float, universe: int | None = None) -> float:
    """Upper limit for every adversary that sees only the cell.

    With many cells the error is shared with second-moment bounds, which grow as K^(1/4) where W_K
    grows as K^(1/2). ``universe``, the number of possible categories if known in advance, allows the
    sharpest of them.
    """
    if universe is not None and universe < counts.size:
        raise OutOfRange(
            f"universe: got {universe} possible categories, but the records have {counts.size}",
            field="universe",
        )
    if counts.size <= MANY_CELLS:
        return _all_subsets(counts, prior, alpha)
    share = alpha / (2.0 if universe is None else 3.0)
    bounds = [_all_subsets(counts, prior, share), _chi_square(counts, prior, share)]
    if universe is not None:
        bounds.append(_uniform_weights(counts, prior, share, universe))
    return _clip(min(bounds), prior)


def _exact(value: float, counts: Counts, alpha: float) -> float:
    """2 CP_U(N (1+W)/2, N) - 1: exact when n1 = pN (Hoeffding 1956: pooling unequal rates only helps)."""
    n = counts.n_records
    return min(1.0, 2.0 * upper_limit(min(n * (1.0 + value) / 2.0, float(n)), n, alpha) - 1.0)


def _clip(value: float, prior: float) -> float:
    return float(min(1.0, max(value, baseline(prior))))


def _all_subsets(counts: Counts, prior: float, alpha: float) -> float:
    if pools(counts.n_members, counts.n_nonmembers, prior):
        return _clip(_exact(in_sample(Cellwise("cells"), counts, prior), counts, alpha), prior)
    return _clip(2.0 * _best_on_hull(counts, prior, alpha) - 1.0, prior)


def likelihood_order(counts: Counts) -> NDArray[np.int64]:
    """Cells from the most to the least member-like; their running totals trace the upper hull of every rule."""
    x, y = counts.members.astype(np.float64), counts.nonmembers.astype(np.float64)
    order = np.argsort(-x / np.maximum(x + y, 1.0), kind="stable")
    return order[(x + y)[order] > 0]


def _best_on_hull(counts: Counts, prior: float, alpha: float) -> float:
    """Largest upper limit of p TPR + (1-p) TNR over all sets of cells, from above."""
    n1, n0 = counts.n_members, counts.n_nonmembers

    def limit(tp: Floats, fp: Floats) -> Floats:
        return weighted_accuracy_upper(np.minimum(tp, n1), n1, np.maximum(n0 - fp, 0.0), n0, prior, alpha)

    return largest_on_hull(counts, limit, max(prior, 1.0 - prior), HULL_SLACK)


def largest_on_hull(
    counts: Counts,
    limit: Callable[[Floats, Floats], Floats],
    least: float,
    slack: float,
    enough: float = 1.0,
) -> float:
    """Largest value over all sets of cells, from above, of a limit that rises with TP and falls with FP.

    No set of cells has more true positives and fewer false ones at once than a point of the hull, and
    along a step of the hull the corner at its upper left dominates. Steps whose corner exceeds what a
    point of the hull reaches are cut finer until that no longer matters: a share ``slack`` of what is left to 1,
    or a point that reaches more than ``enough``.
    """
    order = likelihood_order(counts)
    hits = np.concatenate([[0.0], np.cumsum(counts.members[order])])
    alarms = np.concatenate([[0.0], np.cumsum(counts.nonmembers[order])])
    pieces = max(2, HULL_POINTS // len(order))
    upper = lower = max(float(limit(hits, alarms).max()), least)
    left = np.arange(len(order), dtype=np.float64)
    width = 1.0
    for _ in range(HULL_ROUNDS):
        width /= pieces
        left = (left[:, None] + width * np.arange(pieces)).ravel()
        at = [
            np.interp(left + shift, np.arange(len(hits)), side)
            for side, shift in ((hits, width), (alarms, 0.0))
        ]
        corner = limit(at[0], at[1])
        lower = max(lower, float(limit(np.interp(left, np.arange(len(hits)), hits), at[1]).max()))
        above = corner > lower
        upper = max(lower, float(corner.max()))
        near = upper - lower < slack * (1.0 - lower) or lower > enough
        if near or not 0 < above.sum() <= 4 * HULL_POINTS:
            break
        left, pieces = left[above], 4
    return upper


def _best_pointwise(
    tp: NDArray[np.int64], tn: NDArray[np.int64], n1: int, n0: int, prior: float, alpha: float
) -> float:
    """Largest upper limit of p TPR + (1-p) TNR over cuts along which TP falls and TN rises.

    The limit grows with both, so a block of cuts is bounded by its corner; only blocks whose corner
    beats the best cut seen are looked into. Where too many do, their corners serve: still valid.
    """

    def limit(a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        return weighted_accuracy_upper(a.astype(np.float64), n1, b.astype(np.float64), n0, prior, alpha)

    if len(tp) <= 2 * THRESHOLD_BLOCKS:
        return float(limit(tp, tn).max())
    ends = np.unique(np.linspace(0, len(tp) - 1, THRESHOLD_BLOCKS).astype(np.int64))
    best = float(limit(tp[ends], tn[ends]).max())
    corners = limit(tp[ends[:-1]], tn[ends[1:]])
    open_blocks = np.flatnonzero(corners > best)
    size = int(np.sum(ends[open_blocks + 1] - ends[open_blocks]))
    if size > 16 * THRESHOLD_BLOCKS:
        return float(corners.max())
    for block in open_blocks[np.argsort(-corners[open_blocks])]:
        if corners[block] > best:
            cuts = slice(ends[block], ends[block + 1] + 1)
            best = max(best, float(limit(tp[cuts], tn[cuts]).max()))
    return best


def _worst_variance(value: float, counts: Counts, prior: float, alpha: float) -> float:
    """Solve U - W - min(p/n1, (1-p)/n0) = z sqrt(vmax(U)), vmax the largest variance a rule of advantage U has.

    Plugging in the selected rule's own variance misses up to 46%: near the baseline the selected rule
    is a constant and has none (study T-B6).
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    z, correction = normal_quantile(alpha), min(prior / n1, (1.0 - prior) / n0)

    def short(u: float) -> bool:
        return bool(u - value - correction < z * np.sqrt(_largest_variance(u, prior, n1, n0)))

    low, high = max(value, baseline(prior)), 1.0
    if short(high):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if short(middle) else (low, middle)
    return _clip(high, prior)


def _largest_variance(advantage: float, prior: float, n1: int, n0: int) -> float:
    """max 4 [p^2 a(1-a)/n1 + (1-p)^2 b(1-b)/n0] over rates with p a + (1-p) b = (1 + advantage)/2."""
    right = (1.0 + advantage) / 2.0
    a = np.linspace(max(0.0, (right - (1.0 - prior)) / prior), min(1.0, right / prior), 513)
    b = np.clip((right - prior * a) / (1.0 - prior), 0.0, 1.0)
    return float((4.0 * (prior**2 * a * (1.0 - a) / n1 + (1.0 - prior) ** 2 * b * (1.0 - b) / n0)).max())


def second_moment(counts: Counts, prior: float) -> float:
    """sqrt of the unbiased estimate of E g^2: what W_K would be without the noise of its many cells."""
    return float(np.sqrt(_chi_square_terms(counts, prior)[0]))


def _chi_square(counts: Counts, prior: float, alpha: float) -> float:
    """Adv = E|g| <= sqrt(E g^2), whose square has an unbiased estimate cell by cell (Cover and Hart 1967)."""
    square, spread, slope, several, alone = _chi_square_terms(counts, prior)
    return float(
        several * np.sqrt(_second_moment_limit(square, spread, slope, alpha)) + (1.0 - several) * alone
    )


def _chi_square_terms(counts: Counts, prior: float) -> tuple[float, float, float, float, float]:
    """Estimate of E g^2, its variance at 0 and per unit, share of records not alone, most a lone one can give."""
    share = counts.member_share
    up, down = prior / share, -(1.0 - prior) / (1.0 - share)
    m = counts.pooled.astype(np.float64)
    s = up * counts.members + down * counts.nonmembers
    t = up**2 * counts.members + down**2 * counts.nonmembers
    several = m >= 2
    m2, s2, t2 = m[several], s[several], t[several]
    n2 = m2.sum()
    alone = min(1.0, max(up, -down))
    if n2 == 0:
        return 1.0, 0.0, 0.0, 0.0, 1.0
    square = (s2**2 - t2) / (m2 * (m2 - 1.0))
    spread = float(((m2 / n2) ** 2 * 2.0 * (t2 / m2) ** 2 / (m2 * (m2 - 1.0))).sum())
    slope = 4.0 * float((t2 / m2).mean()) / n2
    return max(0.0, float((m2 * square).sum() / n2)), spread, slope, float(n2 / counts.n_records), alone


def _uniform_weights(counts: Counts, prior: float, alpha: float, universe: int) -> float:
    """Adv <= sqrt(k sum d_j^2) for k categories known in advance; the sum has an unbiased estimate."""
    x, y = counts.members.astype(np.float64), counts.nonmembers.astype(np.float64)
    n1, n0 = counts.n_members, counts.n_nonmembers
    a, b = prior / n1, (1.0 - prior) / n0
    pairs = (n1 / max(n1 - 1.0, 1.0), n0 / max(n0 - 1.0, 1.0))
    same = a * a * x * (x - 1.0) * pairs[0], b * b * y * (y - 1.0) * pairs[1]
    square = universe * float((same[0] + same[1] - 2.0 * a * b * x * y).sum())
    # variance of p r_j - (1-p) q_j is a^2 E x + b^2 E y for rare categories; its square, unbiased:
    fourth = a**4 * x * (x - 1.0) + 2.0 * a**2 * b**2 * x * y + b**4 * y * (y - 1.0)
    spread = universe**2 * 2.0 * float(fourth.sum())
    slope = 4.0 * float((a * a * x + b * b * y).sum())
    return float(np.sqrt(_second_moment_limit(max(0.0, square), spread, slope, alpha)))


def _second_moment_limit(square: float, spread: float, slope: float, alpha: float) -> float:
    """Largest rho with square >= rho - z sqrt(spread + slope rho)."""
    z = normal_quantile(alpha)
    return square + z * z * slope / 2.0 + z * float(np.sqrt(spread + slope * square + z * z * slope**2 / 4.0))
