"""One answer to what is asked of discrete data, whether its distribution is known or was sampled."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.python.dataclass import dataclass
from estimators.statement import Estimate, Guarantee, Interval, percent
from estimators.theory.bounds import Bound, distribution, side_by_side
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.certified import NUMERICS, diversity, records_from, worst_delta_from
from estimators.theory.mis.security import (
    LEAST_SHARE,
    MERGES,
    MOST_SHARE,
    Merge,
    cell_shares,
    gini_simpson,
    given_largest,
    intact,
    least_given_largest,
    least_records,
    most_diverse,
    sandwiched,
    shannon,
    simple_delta,
    simple_records,
    total_c_k,
    total_delta,
)

AS_STATED = "the probabilities given are those of the data"
EXACT = Guarantee("the quantity itself", AS_STATED, True)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A known distribution: its distinct probabilities above 0, ascending, and how many ``times`` each comes."""

    shares: Floats
    times: Floats

    @classmethod
    def of(cls, probabilities: ArrayLike) -> Distribution:
        """A known distribution: checked, and scaled to sum to one.

        Args:
            probabilities: The probability of each category; their sum may differ from 1 by rounding.

        Raises:
            MaceError: no probability, one that is negative, or a sum that is not 1.

        Example:
            >>> from estimators.theory import mis
            >>> mis.Distribution.of([0.5, 0.3, 0.2, 0.0]).categories
            3
        """
        p = distribution(probabilities)
        distinct, times = np.unique(p[p > 0.0], return_counts=True)
        return cls(distinct, times.astype(np.float64))

    @property
    def categories(self) -> int:
        """Categories with a probability above 0."""
        return int(self.times.sum())


Source = Distribution | Tally


def every_share(source: Source) -> Floats:
    """One probability a category, as known or as observed."""
    return np.repeat(source.shares, np.asarray(source.times, dtype=np.int64))


def diversity_of(source: Source, confidence: float = 0.95) -> Estimate:
    """C_K with its interval, which is a point where the distribution is known."""
    if isinstance(source, Tally):
        return diversity(source, confidence)
    return _exact(total_c_k(source.shares, source.times))


def delta_of(source: Source, n: int, gamma: float = 1.0, confidence: float = 0.95) -> Estimate:
    """Delta of the worst algorithm on ``n`` records (Theorem 14) with its interval."""
    if isinstance(source, Tally):
        return worst_delta_from(source, n, gamma, confidence)
    return _exact(total_delta(source.shares, source.times, n, gamma))


def least_simple(source: Source, n: int, gamma: float = 1.0) -> float | None:
    """Corollary 15 from below: Delta is at least C_K / sqrt(8 n), at the worst share of nonmembers, if n > 1/p_k.

    None at another share, where that fails, and for a sample, which does not say how rare the rarest category is.
    """
    if isinstance(source, Tally) or gamma != 1.0 or not sandwiched(float(source.shares[0]), n):
        return None
    return LEAST_SHARE * total_c_k(source.shares, source.times) / sqrt(n)


@dataclass(frozen=True, slots=True)
class Records:
    """Training records that keep a Delta: by Theorem 14, certified, and by C_K; inf where none is enough."""

    delta: float
    exact: float
    certified: float
    simple: float


def records_of(source: Source, delta: float, gamma: float = 1.0, confidence: float = 0.95) -> Records:
    """How many training records keep Delta at most ``delta``, whatever the algorithm."""
    times = np.asarray(source.times, dtype=np.float64)
    exact = least_records(source.shares, times, delta, gamma)
    certified = exact
    if isinstance(source, Tally):
        certified = records_from(source, delta, gamma, confidence)
    most = diversity_of(source, confidence).upper
    return Records(delta, exact, certified, inf if most == inf else simple_records(most, delta))


def bounds_of(source: Source, n: int, gamma: float = 1.0, confidence: float = 0.95) -> tuple[Bound, ...]:
    """What bounds Delta at ``n``, side by side: Theorem 14, and what follows from it by C_K and the entropies.

    Limits from a sample hold with their confidence each on its own: none is marked as the tightest, for the smallest of
    several, picked once they are seen, is wrong more often than each.
    """
    at = f"{NUMERICS}; {percent(confidence)} confidence, each on its own" if isinstance(source, Tally) else AS_STATED
    here = delta_of(source, n, gamma, confidence).upper
    rows = [_bound("theorem_14", "at this share of nonmembers", here, "Theorem 14", at)]
    if gamma != 1.0:
        worst = delta_of(source, n, 1.0, confidence).upper
        says = "at the worst share of nonmembers"
        rows.append(_bound("worst_share", says, worst, "Theorem 14 at gamma = 1", at))
    most = diversity_of(source, confidence).upper
    if most < inf:
        rows.append(_bound("simple", "C_K / (2 sqrt n)", simple_delta(most, n), "Corollary 15", at))
    if isinstance(source, Distribution):
        return side_by_side([*rows, *_of_distribution(source, n)])
    return (*rows, *([] if source.universe is None else [_uniform(source.universe, n, "the universe stated")]))


def _of_distribution(source: Distribution, n: int) -> Iterable[Bound]:
    """What a paper that has only C_K, or only an entropy, would say."""
    p, k = every_share(source), source.categories
    if sandwiched(float(source.shares[0]), n):
        most = MOST_SHARE * total_c_k(p) / sqrt(n)
        assumes = f"{AS_STATED}; n > 1/p_k for every k"
        yield _bound("corollary_15", "0.44 C_K / sqrt n", most, "Corollary 15", assumes)
    most = simple_delta(sqrt(k * gini_simpson(p)), n)
    yield _bound("gini_simpson", "sqrt(K G) / (2 sqrt n)", most, "Eq. 24", AS_STATED)
    most = simple_delta(sqrt(max(k * (1.0 - exp(-shannon(p))), 0.0)), n)
    yield _bound("shannon", "sqrt(K (1 - exp(-H))) / (2 sqrt n)", most, "after Eq. 25", AS_STATED)
    yield _uniform(k, n, AS_STATED)


def _uniform(categories: int, n: int, assumes: str) -> Bound:
    """What the number of categories alone says."""
    most = simple_delta(most_diverse(categories), n)
    return _bound("uniform", "sqrt(K - 1) / (2 sqrt n)", most, "Lemma 23", assumes)


@dataclass(frozen=True, slots=True)
class Coarsening:
    """One merge: what is left of diversity and of Delta, and what it costs.

    ``c_k``, ``delta``, ``intact`` and ``records`` are of the distribution, or estimates from the sample.
    """

    cells: int
    merge: Merge
    c_k: float
    delta: float
    delta_upper: float
    cells_upper: float
    intact: float
    records: float | None


def coarsen(
    source: Source,
    cells: Iterable[int],
    n: int,
    gamma: float = 1.0,
    confidence: float = 0.95,
    delta: float | None = None,
) -> tuple[Coarsening, ...]:
    """What merging into so many ``cells`` buys at ``n`` training records, in each of the ways there are.

    Merging never raises Delta (data processing), so the limit of the fine categories holds for every merge, also for
    one that the training set chose. Lemma 23's ``cells_upper`` needs a merge that the training set did not choose, and
    that every category, seen or not, falls into one of its cells.
    """
    p, fine = every_share(source), delta_of(source, n, gamma, confidence).upper
    rows = []
    for k in cells:
        for name, merge in MERGES.items():
            into = merge(p, k)
            coarse = Distribution.of(cell_shares(p, into))
            now = total_delta(coarse.shares, coarse.times, n, gamma)
            most = now if isinstance(source, Distribution) else fine
            enough = None if delta is None else least_records(coarse.shares, coarse.times, delta, gamma)
            c_k = total_c_k(coarse.shares, coarse.times)
            cells_upper = min(simple_delta(most_diverse(k), n), 1.0)
            rows.append(Coarsening(k, name, c_k, now, most, cells_upper, intact(p, into), enough))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Spread:
    """Where C_K lies among all distributions, and the entropies beside it.

    ``most`` and ``most_given_largest`` need the number of categories, which a sample does not say.
    """

    largest: float
    most: float | None
    least_given_largest: float
    most_given_largest: float | None
    gini_simpson: float
    shannon: float


def spread_of(source: Source) -> Spread:
    """Of the distribution, or of the sample."""
    p = every_share(source)
    largest = float(source.shares[-1])
    total = source.universe if isinstance(source, Tally) else source.categories
    return Spread(
        largest,
        None if total is None else most_diverse(total),
        least_given_largest(largest),
        None if total is None else given_largest(largest, total)[1],
        gini_simpson(p),
        shannon(p),
    )


def _exact(value: float) -> Estimate:
    return Estimate(value, Interval(value, value, 1.0, EXACT))


def _bound(name: str, says: str, value: float, source: str, assumes: str) -> Bound:
    return Bound("mis_delta", name, f"Delta of any algorithm: {says}", value, f"MIS, {source}", assumes)
