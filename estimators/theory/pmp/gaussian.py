"""Practical membership privacy of the Gaussian mechanism (PMP, Lemma 10 and Proposition 12).

Proposition 12: the two laws of the output, record in and record out, are mixtures over training sets
paired by exchanges of that record, and the hockey stick is jointly convex, so delta is at most the
mean over exchanges of the hockey stick of two normals. It falls with epsilon and with sigma, which is
why the smallest of either can be searched for. Exchanges that move nothing contribute nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, require_nonnegative, require_positive, require_up_to_one
from estimators.theory import shifts
from estimators.theory.pmp.distances import Distances

Floats = NDArray[np.float64]
Stick = Callable[[Floats, float], Floats]
"""Delta of exchanges at their distances, which falls with the number searched for."""

PATIENCE = 1 << 20
"""Distances that are gone through one by one, 64 records' at least; the rest keep their bins' upper ends."""

BLOCK = 1024

LEAST = 1e-300
"""Of sigma: distances far below it, which then hardly count, are still floats."""

FARTHEST = 1e100
"""Standard deviations of noise: beyond, the epsilon that goes with them is soon no float."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """N(0, sigma^2) in each coordinate, added to a query whose value exchanges move by ``distances``."""

    distances: Distances
    sigma: float

    def __post_init__(self) -> None:
        require_positive("sigma", self.sigma)
        if self.sigma < LEAST or self.distances.largest / self.sigma > FARTHEST:
            raise OutOfRange(
                f"sigma: need at least {LEAST:g}, and records no more than {FARTHEST:g} of it apart",
                field="sigma",
            )

    def delta(self, epsilon: float) -> float:
        """Upper bound (Proposition 12) on the least delta that makes it (epsilon, delta)-PMP on these records."""
        epsilon = require_nonnegative("epsilon", epsilon)
        return _largest(self.distances, lambda d: shifts.gaussian_delta(d / self.sigma, epsilon))

    def deltas(self, epsilons: Floats) -> Floats:
        """The same at many epsilons at once, from the bins alone: never below, and hardly above."""
        curves = [shifts.gaussian_delta(self.distances.uppers / self.sigma, float(e)) for e in epsilons]
        return np.asarray(_uppers(self.distances, np.stack(curves, axis=1)).max(axis=0))

    def epsilon(self, delta: float) -> float:
        """Least epsilon at which Proposition 12 gives at most ``delta``, for every record."""
        delta = require_up_to_one("delta", delta)

        def stick(distances: Floats, epsilon: float) -> Floats:
            return shifts.gaussian_delta(distances / self.sigma, epsilon)

        enough = self.on_records(delta)
        return least(self.distances, stick, delta, 0.0, enough)

    def record_epsilon(self, record: int, delta: float) -> float:
        """The same for one record."""
        apart = self.distances.row(record) / self.sigma
        return _solved(
            lambda e: float(shifts.gaussian_delta(apart, e).mean()), delta, 0.0, self.on_records(delta)
        )

    def on_records(self, delta: float) -> float:
        """DP's epsilon at ``delta`` with both training sets among these records: the paper's epsilon(X)."""
        return shifts.gaussian_epsilon(self.distances.largest / self.sigma, delta)

    def total_variation(self) -> float:
        """Bound on the total variation between in and out: half of it is a bound on MIP's eta."""
        return self.delta(0.0)


def dp_epsilon(sensitivity: float, sigma: float, delta: float) -> float:
    """What DP promises at ``delta``, whatever the data: Lemma 10 at the sensitivity."""
    if not sensitivity <= FARTHEST * sigma:
        raise OutOfRange(
            f"sensitivity (2 clip, over n for a mean): more than {FARTHEST:g} of sigma, need more noise or a "
            "smaller clip",
            field="sensitivity",
        )
    return shifts.gaussian_epsilon(sensitivity / sigma, delta)


def least(distances: Distances, stick: Stick, delta: float, low: float, high: float) -> float:
    """Least number in [low, high] at which the mean stick of every record is at most ``delta``; it is so at high.

    The record whose bins say it is furthest above delta is solved exactly; that raises what is needed, and
    drops every record whose bins are below delta there. What patience leaves keeps its bins' word.
    """
    least_epsilon = low
    alive = np.arange(distances.records)
    for _ in range(_patience(distances)):
        above = _uppers(distances, stick(distances.uppers, least_epsilon)[:, None], alive)[:, 0]
        alive, above = alive[above > delta], above[above > delta]
        if not len(alive):
            return least_epsilon
        hardest = int(alive[above.argmax()])
        apart = distances.row(hardest)
        least_epsilon = _solved(partial(_mean, stick, apart), delta, least_epsilon, high)
        alive = alive[alive != hardest]

    def of_bins(at: float) -> float:
        return float(_uppers(distances, stick(distances.uppers, at)[:, None], alive).max(initial=0.0))

    return _solved(of_bins, delta, least_epsilon, high)


def _solved(mean: Callable[[float], float], delta: float, low: float, high: float) -> float:
    """Least number in [low, high] with ``mean`` at most delta, from above, to 1e-12; high, if none is known below."""
    if mean(low) <= delta:
        return low
    for _ in range(200):
        if high - low <= 1e-12 * high:
            break
        middle = (low + high) / 2.0
        if mean(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _largest(distances: Distances, stick: Callable[[Floats], Floats]) -> float:
    """Largest mean stick of any record: exact for those that could have it, bins for what patience leaves."""
    above = _uppers(distances, stick(distances.uppers)[:, None])[:, 0]
    order, patience = np.argsort(-above), _patience(distances)
    result = 0.0
    for x in order[:patience]:
        if above[x] <= result:
            return result
        result = max(result, float(stick(distances.row(int(x))).mean()))
    return max(result, float(above[order[patience:]].max(initial=0.0)))


def _mean(stick: Stick, apart: Floats, at: float) -> float:
    return float(stick(apart, at).mean())


def _patience(distances: Distances) -> int:
    return max(64, PATIENCE // distances.exchanges)


def _uppers(distances: Distances, curves: Floats, some: NDArray[np.intp] | None = None) -> Floats:
    """Mean over every record's bins (or only some records') of curves at the bins' upper ends."""
    records = np.arange(distances.records) if some is None else some
    result = np.zeros((len(records), curves.shape[1]))
    for start in range(0, len(records), BLOCK):
        several = distances.counts[records[start : start + BLOCK]]
        result[start : start + BLOCK] = several.astype(np.float64) @ curves
    return result / distances.exchanges
