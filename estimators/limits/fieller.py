"""Limits for a ratio that is linear, above and below, in two independent proportions.

Individual risk, precision, F1, balanced accuracy: each is (e0 + ea a + ec c) / (h0 + ha a + hc c) for
the rates a and c of two binomial samples. A value l is refused as too small as long as the lower limit
of the linear form L(l) = numerator - l denominator is above 0 (Fieller's idea), that limit being MOVER
with Clopper-Pearson ends (Zou and Donner 2008; study 2.4). Equivalently: the limits are the least
and the greatest ratio over an egg around the two observed rates whose four half-axes are the distances
to their exact limits. Hence monotonicity, and one quadratic for each end instead of a search.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import MetricError
from estimators.limits.binomial import clopper_pearson

Linear = tuple[float, float, float]


def ratio_limits(
    hits_a: ArrayLike,
    n_a: ArrayLike,
    hits_c: ArrayLike,
    n_c: ArrayLike,
    numerator: Linear,
    denominator: Linear,
    alpha: float,
    range_: tuple[float, float] | None = None,
) -> tuple[Floats, Floats]:
    """Limits, each of level 1 - alpha, of (e0 + ea a + ec c) / (h0 + ha a + hc c), elementwise.

    The denominator may vanish but not change sign on the unit square. Where the observed ratio is 0/0
    nothing is known: the answer is ``range_``, by default all values the ratio takes on the square.
    """
    (e0, ea, ec), (h0, ha, hc) = numerator, denominator
    lowest, highest = ratio_range(numerator, denominator) if range_ is None else range_
    # not positive: negative
    if min(h0 + ha * i + hc * j for i in (0, 1) for j in (0, 1)) < -_slack(denominator):
        e0, ea, ec, h0, ha, hc = -e0, -ea, -ec, -h0, -ha, -hc
    xa, na, xc, nc = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (hits_a, n_a, hits_c, n_c)))
    a, c = xa / na, xc / nc
    a_low, a_high = clopper_pearson(xa, na if np.ndim(n_a) else float(np.asarray(n_a)), alpha)
    c_low, c_high = clopper_pearson(xc, nc if np.ndim(n_c) else float(np.asarray(n_c)), alpha)
    axes_a, axes_c = (a - a_low, a_high - a), (c - c_low, c_high - c)

    below = _below((e0, ea, ec), (h0, ha, hc), a, c, axes_a, axes_c)
    above = -_below((-e0, -ea, -ec), (h0, ha, hc), a, c, axes_a, axes_c)
    return np.clip(below, lowest, highest), np.clip(above, lowest, highest)


def signed_risk_limits(
    x: ArrayLike, n_members: float, y: ArrayLike, n_nonmembers: float, prior: float, alpha: float
) -> tuple[Floats, Floats]:
    """Limits, each of level 1 - alpha, of f = (p r - (1-p) q) / (p r + (1-p) q) in each cell (MACE, Lemma 1).

    ``x`` of ``n_members`` and ``y`` of ``n_nonmembers`` fell into the cell; an empty cell gives [-1, 1].
    Cells share few distinct pairs of counts, and only those are worked out (study 2.5).
    """
    members, nonmembers = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    pairs, back = _distinct_pairs(members.ravel(), nonmembers.ravel())
    low, high = ratio_limits(
        pairs[0],
        n_members,
        pairs[1],
        n_nonmembers,
        (0.0, prior, -(1.0 - prior)),
        (0.0, prior, 1.0 - prior),
        alpha,
        (-1.0, 1.0),
    )
    return low[back].reshape(members.shape), high[back].reshape(members.shape)


def ratio_range(numerator: Linear, denominator: Linear) -> tuple[float, float]:
    """Least and greatest value of the ratio on the unit square, leaving out where it is 0/0.

    Along each axis the ratio is monotone, so both lie at corners; towards a corner where it is 0/0 the
    ratio takes the values of the neighbouring corners and what lies between them.
    """
    (e0, ea, ec), (h0, ha, hc) = numerator, denominator
    slack = _slack(denominator)
    values: list[float] = []
    signs: set[float] = set()
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        top, bottom = e0 + ea * i + ec * j, h0 + ha * i + hc * j
        if abs(bottom) > slack:
            signs.add(np.sign(bottom))
            values.append(top / bottom)
        elif abs(top) > _slack(numerator):
            raise MetricError(f"metric: the denominator vanishes at TPR = {i}, FPR = {j}, where the numerator does not")
    if len(signs) != 1:
        raise MetricError("metric: the denominator " + ("changes sign" if signs else "is 0") + " on the unit square")
    return min(values), max(values)


def _below(
    numerator: Linear,
    denominator: Linear,
    a: Floats,
    c: Floats,
    axes_a: tuple[Floats, Floats],
    axes_c: tuple[Floats, Floats],
) -> Floats:
    """Lower limit: value - x with the least x >= 0 at which the lower limit of L(value - x) reaches 0."""
    (e0, ea, ec), (h0, ha, hc) = numerator, denominator
    top, bottom = e0 + ea * a + ec * c, h0 + ha * a + hc * c
    slack = _slack(denominator)
    positive = bottom > slack
    value = top / np.where(positive, bottom, 1.0)

    def axis_a_at(slope: Floats) -> Floats:
        return np.where(slope > 0.0, *axes_a)

    def axis_c_at(slope: Floats) -> Floats:
        return np.where(slope > 0.0, *axes_c)

    # Which half-axis counts depends on the sign of each slope of L at the limit itself. A slope changes sign
    # once, at l = ea/ha or ec/hc; the lower limit of L falls with l, so its sign there tells our side of it.
    slope_a, slope_c = np.full_like(a, ea), np.full_like(c, ec)
    if abs(ha) > slack:
        turn = ea / ha
        other = ec - turn * hc
        beyond = e0 - turn * h0 + other * c - abs(other) * axis_c_at(np.full_like(c, other)) > 0.0
        slope_a = np.where(beyond, -ha, ha)
    if abs(hc) > slack:
        turn = ec / hc
        other = ea - turn * ha
        beyond = e0 - turn * h0 + other * a - abs(other) * axis_a_at(np.full_like(a, other)) > 0.0
        slope_c = np.where(beyond, -hc, hc)
    va, vc = axis_a_at(slope_a) ** 2, axis_c_at(slope_c) ** 2

    # (x bottom)^2 = va (ea - (value - x) ha)^2 + vc (ec - (value - x) hc)^2, that is
    # square x^2 - 2 linear x - constant = 0
    at_a, at_c = ea - value * ha, ec - value * hc
    square = bottom**2 - ha**2 * va - hc**2 * vc
    linear = at_a * ha * va + at_c * hc * vc
    constant = at_a**2 * va + at_c**2 * vc
    discriminant = linear**2 + square * constant
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(discriminant, 0.0))
        step = np.where(linear > 0.0, (linear + root) / square, constant / (root - linear))
    step = np.where(constant <= 0.0, 0.0, step)
    unbounded = (discriminant < 0.0) | ((linear > 0.0) & (square <= 0.0)) | np.isnan(step)
    return np.where(positive & ~unbounded, value - step, -np.inf)


def _slack(linear: Linear) -> float:
    """What counts as 0 for a value of this form: the rounding of its terms."""
    return 1e-14 * (abs(linear[0]) + abs(linear[1]) + abs(linear[2]))


def _distinct_pairs(x: NDArray[np.generic], y: NDArray[np.generic]) -> tuple[tuple[Floats, Floats], NDArray[np.intp]]:
    """Every pair of counts once, and where each came from: one sort of one integer key."""
    first, second = x.astype(np.int64), y.astype(np.int64)
    base = int(second.max(initial=0)) + 1
    keys, back = np.unique(first * base + second, return_inverse=True)
    return ((keys // base).astype(np.float64), (keys % base).astype(np.float64)), back
