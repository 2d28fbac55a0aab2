"""The scale of noise for a wanted eta, and back, from a central moment of the parameters: the paper's, and ours.

Moments over random halves are plug-in values, which no sample makes upper bounds. Nothing bounded is known of a fit in
general, and so no number of draws can bound its moments: a half with
probability 1/B^2 may send it anywhere, and move the moment by as much as it likes. What draws can certify is total
variation, which is bounded (``certificate``).

``sigma`` bounds (E size(theta - E theta)^M)^(1/M), in the norm that belongs to the noise. The laws of the parameters
with a record and without it are mixtures, total variation is convex, and a size of a - b is at most those of a - c and
b - c: so eta <= E TV(size(a - b)/s)/2 <= TV(2 sigma/s)/2, as TV is concave. On the line it is attained by +-sigma.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from estimators.arrays import Floats
from estimators.errors import (
    DimensionMismatch,
    OutOfRange,
    TooFewRecords,
    require_number,
    require_open_unit,
    require_positive,
)
from estimators.python.dataclass import dataclass
from estimators.theory.bounds import Bound, rows_of, side_by_side
from estimators.theory.mip.noises import Gaussian, KNorm, Noise


def spread_of_draws(draws: Floats, order: float = 2.0) -> Floats:
    """(mean |theta_i - mean|^M)^(1/M) of every coordinate, as in Algorithm 1, which forgets the bars around it."""
    order = require_order(order)
    if len(draws) < 2:
        raise TooFewRecords.about("draws", f"got {len(draws)}, need at least 2")
    centred = np.abs(draws - draws.mean(axis=0))
    top = centred.max(axis=0)
    unit = np.where(top > 0.0, top, 1.0)
    result = unit * ((centred / unit) ** order).mean(axis=0) ** (1.0 / order)
    if not result.any():
        raise OutOfRange.about("draws", "all are equal, so there is no spread to scale the noise by")
    return np.asarray(result)


def moment_of(draws: Floats, noise: Noise, order: float = 2.0) -> float:
    """(mean size(theta - mean)^M)^(1/M) in the norm of a noise: an estimate of sigma."""
    sizes = noise.size(draws - draws.mean(axis=0))
    top = float(sizes.max())
    known = 0.0 < top < inf
    return top * float(((sizes / top) ** require_order(order)).mean()) ** (1.0 / order) if known else top


def require_order(order: float) -> float:
    """Return ``order`` if it is at least 1 and finite."""
    number = require_number("moment", order)
    if not 1.0 <= number < float("inf"):
        raise OutOfRange.about("moment", f"got {number!r}, need a finite number of at least 1")
    return number


THEOREM_9 = 7.5
COROLLARY_10 = 6.16


@dataclass(frozen=True, slots=True)
class Formula:
    """One calibration: from eta to the scale of a noise, and back."""

    name: str
    says: str
    source: str
    scale: Callable[[float], float]
    eta: Callable[[float], float]


def require_eta(eta: float) -> float:
    """Return ``eta`` if it lies strictly between 0 and 1/2: at 1/2 nothing is asked, at 0 no noise is enough."""
    number = require_number("eta", eta)
    if not 0.0 < number < 0.5:
        raise OutOfRange.about("eta", f"got {number!r}, need a number strictly between 0 and 1/2")
    return number


def moment_scale(eta: float, noise: Noise, sigma: float) -> float:
    """Least scale our bound allows: 2 sigma over the shift whose total variation is 2 eta."""
    return 2.0 * require_positive("sigma", sigma) / noise.shift(2.0 * require_eta(eta))


def moment_eta(scale: float, noise: Noise, sigma: float) -> float:
    """What our bound says of a scale."""
    ratio = np.array([2.0 * require_positive("sigma", sigma) / require_positive("scale", scale)])
    return float(noise.total_variation(ratio)[0]) / 2.0


def linear_scale(eta: float, sigma: float) -> float:
    """sigma/(2 eta): any norm, any moment, any dimension (the study before this project)."""
    return require_positive("sigma", sigma) / (2.0 * require_eta(eta))


def tanh_scale(eta: float, sigma: float) -> float:
    """sigma/artanh(2 eta): log densities differ by at most ||v||/s either way. Valid; ours is less."""
    return require_positive("sigma", sigma) / float(np.arctanh(2.0 * require_eta(eta)))


def gaussian_linear_scale(eta: float, dimension: int) -> float:
    """sqrt(d)/(eta sqrt(2 pi)), in units of each coordinate's sigma."""
    return sqrt(dimension) / (require_eta(eta) * sqrt(2.0 * pi))


def theorem_9_scale(eta: float, sigma: float, moment: float) -> float:
    """The paper's (7.5/eta)^(1+2/M) sigma."""
    return _paper_scale(THEOREM_9, eta, sigma, moment)


def corollary_10_scale(eta: float, sigma: float, moment: float) -> float:
    """The paper's (6.16/eta)^(1+2/M) sigma, for M >= 2."""
    if moment < 2.0:
        raise OutOfRange.about("moment", "the paper's Corollary 10 needs at least 2; use Theorem 9")
    return _paper_scale(COROLLARY_10, eta, sigma, moment)


def gaussian_sigma(dimension: int, moment: float) -> float:
    """E size(theta - E theta) if the spread holds the coordinates' M-th moments: sqrt(d), or d^(1/M) for M < 2."""
    return float(dimension ** max(0.5, 1.0 / moment))


def formulas(noise: Noise, sigma: float, moment: float = 2.0) -> tuple[Formula, ...]:
    """Every calibration from one moment that applies to a noise, ours first."""
    ours = Formula(
        "moment",
        "eta <= TV(2 sigma/s)/2, solved for s",
        "this project",
        lambda eta: moment_scale(eta, noise, sigma),
        lambda scale: moment_eta(scale, noise, sigma),
    )
    if isinstance(noise, Gaussian):
        slope = 2.0 / sqrt(2.0 * pi)  # 2 Phi(v/2) - 1 <= v/sqrt(2 pi)
        return (ours, _linear(sigma * slope, "eta <= sigma/(s sqrt(2 pi))"))
    tanh = Formula(
        "moment_tanh",
        "eta <= tanh(sigma/s)/2",
        "this project",
        lambda eta: tanh_scale(eta, sigma),
        lambda scale: float(np.tanh(sigma / require_positive("scale", scale))) / 2.0,
    )
    result = [ours, tanh, _linear(sigma, "eta <= sigma/(2 s)")]
    if isinstance(noise, KNorm):
        result.append(_paper("theorem_9", THEOREM_9, sigma, moment, "MIP, Theorem 9"))
        if moment >= 2.0:
            result.append(_paper("corollary_10", COROLLARY_10, sigma, moment, "MIP, Corollary 10"))
    return tuple(result)


def scale_bounds(eta: float, noise: Noise, sigma: float, moment: float = 2.0) -> tuple[Bound, ...]:
    """The scale each says is enough, side by side."""
    assumes = "sigma is at least the moment of the parameters over random halves"
    return side_by_side(
        Bound("scale of the noise", each.name, each.says, each.scale(eta), each.source, assumes)
        for each in formulas(noise, sigma, moment)
    )


def _linear(sigma: float, says: str) -> Formula:
    return Formula(
        "moment_linear",
        says,
        "this project",
        lambda eta: linear_scale(eta, sigma),
        lambda scale: min(0.5, sigma / (2.0 * require_positive("scale", scale))),
    )


def _paper(name: str, constant: float, sigma: float, moment: float, source: str) -> Formula:
    """Its proof stops at one dimension (erratum); what it says holds, since ours needs far less noise."""
    return Formula(
        name,
        f"eta = {constant} (sigma/s)^(M/(M+2))",
        source,
        lambda eta: _paper_scale(constant, eta, sigma, moment),
        lambda scale: min(0.5, constant * (sigma / require_positive("scale", scale)) ** (moment / (moment + 2.0))),
    )


def _paper_scale(constant: float, eta: float, sigma: float, moment: float) -> float:
    return float((constant / require_eta(eta)) ** (1.0 + 2.0 / moment)) * require_positive("sigma", sigma)


# What eta a noise has, certified from a sample of fits, by a limit for means that holds at every sample size.
#
# A limit for the mean of independent numbers between 0 and 1, at every sample size, by betting.
#
# If the mean of x is at least m, a gambler who stakes a share c of all he has on 1 - x being above 1 - m multiplies
# his wealth by 1 - c + c (1-x)/(1-m), at most 1 on average. Wealth above 1/alpha has probability at most alpha
# (Markov), so an m at which it is reached lies above the mean, at level 1 - alpha. Several gamblers who began with
# shares of 1 own, together, no more. Shares adapt to the spread of x, which Hoeffding's and the Chernoff bound do not
# see (Waudby-Smith and Ramdas 2024). The wealth falls in every x and rises with m: what is calibrated by it needs no
# second sample.
#
# By swaps. Law in and law out are averages over D, and over D with x swapped for a random record from outside: total
# variation is convex, so eta(x) <= E TV(A(D) + noise, A(D') + noise)/2. Every term lies in [0, 1] and is known.
#
# By draws. Two independent draws of A disagree about x half of the time, so E TV over them is at least half of E TV
# over an in-and-out pair, and eta <= E TV(theta + noise, theta' + noise): for every record at once, and nobody needs
# to know who was in. At theta = +-sigma by membership it is an equality.
#
# The scale may be chosen on the same sample. Let s* be the scale at which the true mean of the worst record is what
# is wanted. A scale below s* is chosen only if every record looks good enough there, that one too, and then, since
# every TV falls with the scale, it looks good enough at s*: an event of probability alpha at one fixed scale, of one
# fixed record. So the limit holds for all records at once with no correction for their number, as it is of the worst
# alone.

Ints = NDArray[np.int64]

STAKES = np.array([1.0, 0.97, 0.85, 0.65, 0.4, 0.2, 0.08, 0.03])
"""From all, best where the spread is small against the distance to m, to little, best where m is close."""

SHARES = np.array([0.4, 0.1, 0.1, 0.1, 0.1, 0.08, 0.07, 0.05])
"""Most to the bold one, whose day has come when noise is calibrated: every x is about as large as any other."""

ROUNDS = 60  # halvings of an interval of length 1: more than a float has bits


def log_wealth(x: Floats, mean: float, group: Ints, groups: int) -> Floats:
    """Logarithm of the wealth of each group against its mean being at least ``mean``."""
    with np.errstate(divide="ignore"):
        each = np.log(1.0 - STAKES + STAKES * ((1.0 - x) / (1.0 - mean))[:, None])
        total = np.stack([np.bincount(group, column, groups) for column in each.T], axis=1)
        result = logsumexp(total + np.log(SHARES), axis=1)
    return np.asarray(result)


def all_below(x: Floats, mean: float, group: Ints, groups: int, alpha: float) -> bool:
    """Whether the mean of every group is shown to be below ``mean``; wrong with probability at most ``alpha``.

    Every group is tested at ``alpha`` itself, however many there are: if the answer is wrong, the group of the largest
    mean has passed wrongly, too. Which one that is was settled before the sample, and it passes with probability at
    most ``alpha``, whatever the others do (intersection and union; Berger 1982). Only the largest mean is claimed.
    """
    return bool((log_wealth(x, mean, group, groups) >= -np.log(alpha)).all())


def upper_mean(x: Floats, alpha: float, group: Ints | None = None, groups: int = 1) -> float:
    """Limit of level 1 - alpha for the largest mean of all groups; 1 if the sample is too small for any other.

    It is the largest of the groups' limits, no less than that of the group of the largest mean: so no correction.
    """
    where = np.zeros(len(x), dtype=np.int64) if group is None else group
    low, high = 0.0, 1.0
    for _ in range(ROUNDS):
        middle = (low + high) / 2.0
        is_above = middle < 1.0 and all_below(x, middle, where, groups, alpha)
        low, high = (low, middle) if is_above else (middle, high)
    return high


def rows_needed(mean: float, alpha: float) -> int:
    """Numbers a group must have at least for its mean to be shown below ``mean``, were they all 0."""
    return int(np.ceil((-np.log(alpha) - np.log(SHARES[0])) / -np.log1p(-mean)))


PRECISION = 1e-5  # a scale is found to within this share of itself, and rounded up
SMALLEST = 1e-15  # share of the largest difference below which no smaller scale is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Lengths of independent differences, by record; ``factor`` times their mean total variation bounds eta."""

    noise: Noise
    sizes: Floats
    group: Ints
    groups: int
    factor: float

    @classmethod
    def of_swaps(cls, noise: Noise, before: ArrayLike, after: ArrayLike, record: ArrayLike) -> Sizes:
        """From pairs that differ by one record; ``record`` says which."""
        first, second = parameters("before", before, noise), parameters("after", after, noise)
        labels = np.asarray(record)
        if not len(first) == len(second) == len(labels):
            raise DimensionMismatch("before, after and record: need as many rows of each", field="after")
        names, group = np.unique(labels, return_inverse=True)
        return cls(noise, noise.size(first - second), group.astype(np.int64), len(names), 0.5)

    @classmethod
    def of_draws(cls, noise: Noise, draws: ArrayLike) -> Sizes:
        """From independent fits, paired as they come; an odd one is left over."""
        theta = parameters("draws", draws, noise)
        if len(theta) < 2:
            raise TooFewRecords.about("draws", f"got {len(theta)}, need at least 2")
        even = len(theta) // 2 * 2
        sizes = noise.size(theta[:even:2] - theta[1:even:2])
        return cls(noise, sizes, np.zeros(len(sizes), dtype=np.int64), 1, 1.0)

    def eta(self, scale: float, confidence: float = 0.95) -> float:
        """Certified eta of a scale fixed beforehand; 1/2 if so few fits certify nothing."""
        alpha = 1.0 - require_open_unit("confidence", confidence)
        spread = self._terms(require_positive("scale", scale))
        return min(0.5, self.factor * upper_mean(spread, alpha, self.group, self.groups))

    def scale(self, eta: float, confidence: float = 0.95) -> float:
        """Least scale whose certified eta is at most ``eta``; infinite if so few fits certify none."""
        mean = require_eta(eta) / self.factor
        alpha = 1.0 - require_open_unit("confidence", confidence)

        def holds(scale: float) -> bool:
            return all_below(self._terms(scale), mean, self.group, self.groups, alpha)

        finite = np.isfinite(self.sizes)
        if not all_below((~finite).astype(np.float64), mean, self.group, self.groups, alpha):
            return inf  # as they are at infinite scale
        top = float(self.sizes[finite].max(initial=0.0))
        if top == 0.0:  # nothing ever moved in any coordinate that has noise
            return 0.0
        high = top / self.noise.shift(mean)
        while not holds(high):
            high *= 2.0
        low = high / 2.0
        while holds(low) and low > top * SMALLEST:
            low, high = low / 2.0, low
        while high / low > 1.0 + PRECISION:
            middle = sqrt(low * high)
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high

    def least_pairs(self, eta: float, confidence: float = 0.95) -> int:
        """Pairs every record must have at least, or nothing is certified at any scale."""
        return rows_needed(require_eta(eta) / self.factor, 1.0 - confidence)

    @property
    def fewest(self) -> int:
        """Pairs of the record that has fewest."""
        return int(np.bincount(self.group, minlength=self.groups).min())

    def _terms(self, scale: float) -> Floats:
        return self.noise.total_variation(self.sizes / scale)


def parameters(name: str, values: ArrayLike, noise: Noise) -> Floats:
    """Rows of parameters, checked against the noise."""
    rows = rows_of(name, values)
    if rows.shape[1] != noise.dimension:
        message = f"rows have {rows.shape[1]} numbers, the noise has {noise.dimension}"
        raise DimensionMismatch.about(name, message)
    return rows
