"""Two laws of one output, for a member and for a nonmember; and those of the mean of Gaussian records, exactly.

The mean is the one case of Theorem 13 that can be evaluated. It bounds Delta of a function of empirical means by (c +
sqrt(d)/(2 sqrt n))/sqrt n. Its c holds the constant of a central limit theorem in total variation (Bally and
Caramellino 2016), which is not explicit. For Gaussian records that theorem is not needed: a record and the mean of n,
both in units of their spread, are d pairs of normal numbers whose correlation is 1/sqrt(n) for a member and 0 for a
nonmember, whatever the mean and the covariance of the records.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, lgamma, log, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammainc, gammainccinv, gammaincinv, gammaln

from estimators.arrays import Floats
from estimators.errors import (
    DimensionMismatch,
    NotDistribution,
    OutOfRange,
    require_count,
    require_positive,
    require_up_to_one,
)
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, at_least, at_most, exactly
from estimators.theory.bounds import Bound, accuracy, distribution, gamma_of, guess_accuracy, rows_of, side_by_side
from estimators.theory.dp.ceilings import total_variation_printed
from estimators.theory.mis.security import MOST_RECORDS, divergence
from estimators.theory.mis.statement import WORST, weight_in_words

MOST_DIMENSIONS = 1_000_000
"""Coordinates of a record; beyond, the beta function is not known to enough digits."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
HALVINGS, PANELS, TAIL = 40, 24, 1e-18
"""How the law of the squared length is cut up: towards where a rule begins to depend on it, and evenly in its bulk."""

STEPS = 13  # sizes of a curve when none were given: three to every tenfold
USUAL = 0.05  # the Delta a curve is drawn around

GAUSSIAN = Caution(
    "gaussian_records",
    "this is exact for records that are Gaussian, with any mean and covariance, and a release of their mean alone. "
    "For other records Theorem 13 has a constant that is not explicit, so nothing is stated here",
)


def mean_delta(n: int, dimension: int = 1, gamma: float = 1.0) -> float:
    """Delta of releasing the mean of ``n`` Gaussian records of so many coordinates, to some 1e-12.

    With u, w the sum and the difference of a pair over sqrt 2, |u|^2 and |w|^2 are chi-squared, times 1 + r and 1 - r
    for a member. The likelihood ratio weighs them, so at every length of both it cuts their ratio, a beta variable.
    """
    size, d = require_count("n", n), require_count("dimension", dimension)
    cut = log(require_positive("gamma", gamma))
    if d > MOST_DIMENSIONS:
        raise OutOfRange.about("dimension", f"got {d:,}, need at most {MOST_DIMENSIONS:,}")
    if size == 1:
        return 1.0
    r = 1.0 / sqrt(size)
    c = 2.0 * cut + d * log1p(-1.0 / size)
    nonmember = _above(d, r / (1.0 + r), r / (1.0 - r), c)
    member = _above(d, r, r, c)
    gain = member - gamma * nonmember if gamma >= 1.0 else (1.0 - nonmember) - (1.0 - member) / gamma
    return float(min(max(gain, 0.0), 1.0))


def _above(d: int, a: float, b: float, c: float) -> float:
    """P(a U - b W > c) of independent chi-squared U, W: given S = U + W, it is B > (b + c/S)/(a + b), B = U/S."""
    top = 2.0 * float(gammainccinv(d, TAIL))
    # below this S the rule says always, or never, whatever B is
    start = min(max(-c / b if c < 0.0 else c / a, 0.0), top)
    bulk = np.linspace(2.0 * float(gammaincinv(d, TAIL)), top, PANELS + 1)
    edges = np.unique(
        np.concatenate([start + (top - start) * 2.0 ** -np.arange(HALVINGS + 1), bulk[bulk > start], [start]])
    )
    middle, half = (edges[1:] + edges[:-1]) / 2.0, np.diff(edges) / 2.0
    s = middle[:, None] + half[:, None] * NODES
    share = np.clip((b + c / s) / (a + b), 0.0, 1.0)
    density = np.exp((d - 1.0) * np.log(s) - s / 2.0 - d * log(2.0) - gammaln(d))
    inside = float(np.sum(half[:, None] * WEIGHTS * density * betainc(d / 2.0, d / 2.0, 1.0 - share)))
    return inside + (float(gammainc(d, start / 2.0)) if c < 0.0 else 0.0)


def mean_norm(dimension: int) -> float:
    """E of the length of a standard normal vector: sqrt 2 Gamma((d+1)/2)/Gamma(d/2)."""
    d = require_count("dimension", dimension)
    return sqrt(2.0) * exp(lgamma((d + 1.0) / 2.0) - lgamma(d / 2.0))


def proposition_25(n: int, dimension: int = 1) -> float:
    """At least Delta at every gamma: sqrt(d)/(2n) + E|v|/(2 sqrt n), which is Theorem 13 for Gaussian records."""
    size = require_count("n", n)
    if size == 1:
        return 1.0
    return sqrt(dimension) / (2.0 * size) + mean_norm(dimension) / (2.0 * sqrt(size))


def mean_records(delta: float, dimension: int = 1, gamma: float = 1.0) -> int | None:
    """Least n from which the mean gives away ``delta`` at most; None beyond counting.

    Delta falls as n grows: a smaller correlation is a larger one with noise added.
    """
    target = require_up_to_one("delta", delta)
    low, high = 0, 1
    while mean_delta(high, dimension, gamma) > target:
        if high >= MOST_RECORDS:
            return None
        low, high = high, min(4 * high, MOST_RECORDS)
    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=lambda n: mean_delta(n, dimension, gamma) <= target)


@dataclass(frozen=True, slots=True)
class MeanStatement:
    """What the mean of ``n`` Gaussian records gives away; ``mis.assess_mean`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        dimension: Coordinates of a record.
        gamma: How a false alarm weighs against a missed member.
        baseline: Accuracy of guessing.
        accuracy: Accuracy of the best attack at ``n``.
        n: Records in the mean.
        delta: Delta at ``n``.
        sizes: Sizes of the curve.
        deltas: Delta at each size.
        simple: Proposition 25's bound at each size.
        target: The Delta that was to be kept, if one was.
        records: Least number of records that keeps it; None if none was to be kept, or no number is enough.
        bounds: The truth at ``n`` and the bounds on it.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    dimension: int
    gamma: float
    baseline: float
    accuracy: float
    n: int
    delta: float
    sizes: tuple[int, ...]
    deltas: tuple[float, ...]
    simple: tuple[float, ...]
    target: float | None
    records: int | None
    bounds: tuple[Bound, ...]


def assess_mean(
    dimension: int = 1,
    *,
    sizes: Sequence[int] | None = None,
    nonmember_share: float | None = None,
    member_weight: float = 1.0,
    delta: float | None = None,
) -> MeanStatement:
    """What the mean of Gaussian records gives away, exactly, beside Proposition 25's bound.

    Args:
        dimension: Coordinates of a record.
        sizes: Numbers of records, the one that matters most first. None: a curve.
        nonmember_share: Share of nonmembers among the records that are attacked (nu), strictly between 0 and 1. None:
            the worst share.
        member_weight: What a true positive weighs against a true negative (lambda), above 0.
        delta: Largest acceptable Delta = 1 - security: ``records`` has the least number of records that keeps it.

    Raises:
        MaceError: a number out of its range.

    Example:
        >>> from estimators.theory import mis
        >>> print(mis.assess_mean(dimension=1, sizes=[1000], nonmember_share=0.5).sentence)
        The mean of 1000 Gaussian records of 1 coordinate has a security of at least 0.989, at this share of
        nonmembers: no attack has an accuracy above 0.506, against a baseline of 0.500 for guessing.
    """
    share = member_weight / (1.0 + member_weight) if nonmember_share is None else nonmember_share
    gamma = 1.0 if nonmember_share is None else gamma_of(share, member_weight)
    every = tuple(sizes or _usual(dimension))
    for size in every:
        if size > MOST_RECORDS:
            raise OutOfRange.about("sizes", f"got {size:.3g}, need at most {MOST_RECORDS:.0e}")
    n = every[0] if sizes else every[len(every) // 2]
    deltas = tuple(mean_delta(size, dimension, gamma) for size in every)
    at = deltas[every.index(n)]
    guessing = guess_accuracy(share, member_weight)
    right = accuracy(at, share, member_weight)
    which = f"{n} Gaussian records" if n > 1 else "one Gaussian record"
    coordinates = "1 coordinate" if dimension == 1 else f"{dimension} coordinates"
    secure = f"The mean of {which} of {coordinates} has a security of at least {at_least(1.0 - at)}"
    against = f"against a baseline of {at_most(guessing)} for guessing{weight_in_words(member_weight)}"
    attack = f"no attack has an accuracy above {at_most(right)}, {against}."
    if nonmember_share is None:
        sentence = f"{secure}, whatever the share of nonmembers. With a share of {share:g}, {attack}"
    else:
        sentence = f"{secure}, at this share of nonmembers: {attack}"
    enough = None if delta is None else mean_records(delta, dimension, gamma)
    if delta is not None:
        kept = "No number of records keeps" if enough is None else f"{enough} records or more keep"
        sentence = f"{sentence} {kept} Delta at most {exactly(delta)}."
    return MeanStatement(
        sentence,
        (GAUSSIAN, *((WORST,) if nonmember_share is None else ())),
        dimension,
        gamma,
        guessing,
        right,
        n,
        at,
        every,
        deltas,
        tuple(proposition_25(size, dimension) for size in every),
        delta,
        enough,
        tuple(_bounds(n, dimension, gamma, at)),
    )


def _bounds(n: int, dimension: int, gamma: float, exact: float) -> tuple[Bound, ...]:
    at = "Gaussian records"
    rows = [Bound("mis_delta", "exact", "Delta of the mean", exact, "this project", at)]
    if gamma != 1.0:
        worst = mean_delta(n, dimension)
        rows.append(Bound("mis_delta", "worst_share", "at the worst share of nonmembers", worst, "this project", at))
    says = "sqrt(d)/(2n) + E|v|/(2 sqrt n)"
    rows.append(Bound("mis_delta", "proposition_25", says, proposition_25(n, dimension), "MIS, Proposition 25", at))
    return side_by_side(rows)


def _usual(dimension: int) -> list[int]:
    """Sizes around the one at which Proposition 25 is near a usual value."""
    middle = (mean_norm(dimension) / (2.0 * USUAL)) ** 2
    sizes = np.unique(np.clip(np.round(max(middle, 1.0) * np.logspace(-2.0, 2.0, STEPS)), 1, MOST_RECORDS))
    return [int(size) for size in sizes]


SHARES = tuple(i / 50.0 for i in range(1, 50))  # shares of nonmembers of the curve

NOTHING = 1e-12
"""A Delta below is what rounding leaves of 0; so is a difference of two probabilities, as a share of their sum."""

MOST_NAMED = 8  # outputs that a sentence names

AS_STATED = Caution(
    "laws_as_stated",
    "the two laws are taken as they are. Laws counted from a sample lie further apart than the true ones: ask mace "
    "estimate about the scores instead",
)


@dataclass(frozen=True, slots=True, eq=False)
class DivergenceStatement:
    """How far two laws of an output are apart, and the best attack; ``mis.assess_divergence`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        gamma: How a false alarm weighs against a missed member.
        delta: D_gamma of the two laws: 0 if they are equal, 1 if they have nothing in common.
        total_variation: D_gamma at gamma = 1, the worst.
        baseline: Accuracy of guessing.
        accuracy: Accuracy of the best attack.
        says_member: The best attack: true where an output makes it say "member".
        true_positive_rate: Probability that it says so of a member.
        false_positive_rate: Probability that it says so of a nonmember.
        shares: Shares of nonmembers of the curve.
        deltas: D_gamma at each of them.
        bounds: The truth, and the bounds on it.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    gamma: float
    delta: float
    total_variation: float
    baseline: float
    accuracy: float
    says_member: NDArray[np.bool_]
    true_positive_rate: float
    false_positive_rate: float
    shares: tuple[float, ...]
    deltas: tuple[float, ...]
    bounds: tuple[Bound, ...]


def assess_divergence(
    outputs: ArrayLike, *, nonmember_share: float | None = None, member_weight: float = 1.0
) -> DivergenceStatement:
    """How far the laws of an output are apart for a member and for a nonmember (MIS, Eqs. 3 to 5), and the best attack.

    Args:
        outputs: A row for each output: its probability for a member, then for a nonmember.
        nonmember_share, member_weight: As for ``assess_mean``.

    Raises:
        MaceError: columns that are no probabilities, or not two of them.

    Example:
        >>> from estimators.theory import mis
        >>> print(mis.assess_divergence([[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]], nonmember_share=0.5).sentence)
        At this share of nonmembers Delta is 0.5 and security 0.5: the best attack says member at output 0 and has an
        accuracy of 0.75, against a baseline of 0.5 for guessing.
    """
    table = rows_of("outputs", outputs)
    if table.shape[1] != 2:
        raise DimensionMismatch.about(
            "outputs", f"got {table.shape[1]} numbers a row, need 2: the probability for a member, then for a nonmember"
        )
    member, nonmember = _law(table[:, 0], "a member"), _law(table[:, 1], "a nonmember")
    share = member_weight / (1.0 + member_weight) if nonmember_share is None else nonmember_share
    gamma = 1.0 if nonmember_share is None else gamma_of(share, member_weight)
    delta, apart = divergence(nonmember, member, gamma), divergence(nonmember, member)
    says_member = member - gamma * nonmember > NOTHING * (member + gamma * nonmember)
    right, guessing = accuracy(delta, share, member_weight), guess_accuracy(share, member_weight)
    where = "At the worst share" if nonmember_share is None else "At this share"
    sentence = f"{where} of nonmembers no attack beats guessing (accuracy {guessing:.6g}): Delta is 0, up to rounding."
    if delta >= NOTHING:
        attack = f"says member at output{_outputs_in_words(says_member)} and has an accuracy of {right:.6g}"
        sentence = (
            f"{where} of nonmembers Delta is {delta:.6g} and security {1.0 - delta:.6g}: the best attack {attack}, "
            f"against a baseline of {guessing:.6g} for guessing{weight_in_words(member_weight)}."
        )
    printed = total_variation_printed(apart, share, member_weight)
    return DivergenceStatement(
        sentence,
        (AS_STATED, *((WORST,) if nonmember_share is None else ())),
        gamma,
        delta,
        apart,
        guessing,
        right,
        says_member,
        min(1.0, float(member[says_member].sum())),
        min(1.0, float(nonmember[says_member].sum())),
        SHARES,
        tuple(divergence(nonmember, member, gamma_of(each, member_weight)) for each in SHARES),
        side_by_side(
            (
                Bound("mis_delta", "exact", "D_gamma of the two laws", delta, "MIS, Eqs. 3 to 5"),
                Bound("mis_delta", "total_variation", "at every share of nonmembers", apart, "this project"),
                Bound("mis_delta", "as_printed", "max(1, gamma) times the same", printed, "MIS, Remark 7"),
            )
        ),
    )


def _law(column: Floats, whose: str) -> Floats:
    try:
        return distribution(column, "outputs")
    except NotDistribution as error:
        raise NotDistribution(f"{error}, for {whose}", field="outputs", index=error.index) from None


def _outputs_in_words(says_member: NDArray[np.bool_]) -> str:
    """The outputs at which an attack says member, after "output"."""
    outputs = [int(each) for each in np.flatnonzero(says_member)]
    names, more = ", ".join(map(str, outputs[:MOST_NAMED])), len(outputs) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{'' if len(outputs) == 1 else 's'} {names}{rest}"
