"""What a mechanism gives away of these 2n records, in one statement; for the noise given, or for the epsilon wanted."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import OptionError, TooManySubsets
from estimators.statement import Caution, Estimate, at_most, exactly, percent
from estimators.theory import shifts, subsets
from estimators.theory.bounds import Bound
from estimators.theory.pmp import choose, distances
from estimators.theory.pmp.bounds import mip_eta, of_exponential, of_gaussian, success
from estimators.theory.pmp.exponential import MOST_PAIRED, Summed, Tabled
from estimators.theory.pmp.gaussian import Gaussian, dp_epsilon
from estimators.theory.pmp.laws import Worst
from estimators.theory.pmp.sampled import sample_epsilon

Floats = NDArray[np.float64]

COIN = 0.5
"""How often guessing is right: half of the records were used."""

POINTS = 41
"""Epsilons of the curve."""

THESE_RECORDS = Caution(
    "these_records",
    "this holds for these 2n records and a random half of them. For other records, or for an attacker who "
    "already knows part of the half, only the DP epsilon holds",
)
ONE_RELEASE = Caution(
    "one_release",
    "this is about a single release; practical epsilons of several releases of the same half do not simply "
    "add up",
)
NOT_NEEDED = Caution("draws_not_needed", "all training sets were enumerated, so draws were not needed")
BY_EXCHANGES = Caution(
    "chosen_by_exchanges",
    "there are too many training sets to search for epsilon exactly, so it was chosen by the bound by "
    "exchanges; a larger epsilon may be possible",
)
FAR_ENOUGH = Caution(
    "search_stopped",
    f"the wanted practical epsilon was not reached: the search stopped at epsilon {choose.FARTHEST:g}, and "
    "a larger epsilon may reach it",
)
NOT_MONOTONE = Caution(
    "not_monotone",
    "a smaller epsilon does not always have a smaller practical epsilon; it was computed at the stated "
    "epsilon and at the steps towards it",
)


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialStatement:
    """What an exponential mechanism gives away, exactly or from ``training_sets`` at random with an ``interval``.

    ``epsilons`` and ``successes`` are of every record; ``epsilon_on_records`` is None where it takes too long.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    epsilon: float
    training_sets: int
    practical_epsilon: float
    interval: Estimate | None
    epsilon_on_records: float | None
    success: float
    worst: Worst
    epsilons: Floats
    successes: Floats
    bounds: tuple[Bound, ...]

    @property
    def ratio(self) -> float:
        """The practical epsilon as a share of DP's."""
        return self.practical_epsilon / self.epsilon

    @property
    def mip_eta(self) -> float:
        """How much better than a coin an attacker guesses."""
        return self.success - COIN


def assess_exponential(
    mechanism: Summed | Tabled,
    epsilon: float | None = None,
    practical_epsilon: float | None = None,
    *,
    draws: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> ExponentialStatement:
    """Exactly where training sets can be gone through, from ``draws`` of them with an interval where not.

    ``epsilon`` is DP's, or is chosen to keep the ``practical_epsilon`` wanted.
    """
    epsilon, cautions = _epsilon(mechanism, epsilon, practical_epsilon)
    sample = None
    try:
        laws = mechanism.exact(epsilon)
        cautions += (NOT_NEEDED,) if draws is not None else ()
    except TooManySubsets:
        if draws is None or not isinstance(mechanism, Summed):
            raise
        sample = sample_epsilon(mechanism, epsilon, draws, confidence, seed)
        laws = sample.laws
    total = subsets.how_many(2 * mechanism.n, mechanism.n)
    if sample is None:
        epsilons, successes, practical = laws.epsilons, laws.successes, laws.epsilon
        most, source, how = float(successes.max()), laws.epsilon, ""
    else:
        epsilons, practical = sample.uppers, float(sample.estimate.value or 0.0)
        successes = np.array([success(float(each)) for each in epsilons])
        most, source = success(sample.estimate.upper), sample.estimate.upper
        how = f" ({percent(confidence)} confidence, from {sample.draws} training sets at random)"
    sentence = (
        f"An exponential mechanism that is {exactly(epsilon)}-DP has a practical epsilon of at most "
        f"{_at_most(source, practical_epsilon)} on these {2 * mechanism.n} records{how}: {_attacker(mechanism.n, most)}"
    )
    return ExponentialStatement(
        sentence,
        (THESE_RECORDS, ONE_RELEASE, *cautions),
        epsilon,
        total if sample is None else sample.draws,
        practical,
        None if sample is None else sample.estimate,
        mechanism.on_records(epsilon) if total <= MOST_PAIRED else None,
        most,
        laws.worst,
        epsilons,
        successes,
        of_exponential(mechanism, epsilon, sample or laws),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GaussianStatement:
    """What Gaussian noise around a sum or a mean gives away (Proposition 12), beside what DP promises.

    The three curves are the delta at each of ``grid``: practical, with both training sets among these records, DP's.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    sigma: float
    sensitivity: float
    delta: float
    epsilon: float
    epsilon_on_records: float
    practical_epsilon: float
    mip_eta: float
    grid: Floats
    practical_deltas: Floats
    record_deltas: Floats
    dp_deltas: Floats
    bounds: tuple[Bound, ...]

    @property
    def ratio(self) -> float | None:
        """The practical epsilon as a share of DP's."""
        return self.practical_epsilon / self.epsilon if self.epsilon else None

    @property
    def ratio_on_records(self) -> float | None:
        """As a share of the epsilon with both training sets among these records."""
        return self.practical_epsilon / self.epsilon_on_records if self.epsilon_on_records else None

    @property
    def success(self) -> float:
        """How often an attacker is right at most."""
        return COIN + self.mip_eta


def assess_gaussian(
    points: ArrayLike,
    clip: float,
    sigma: float | None = None,
    epsilon: float | None = None,
    practical_epsilon: float | None = None,
    *,
    delta: float,
    query: Literal["mean", "sum"] = "mean",
) -> GaussianStatement:
    """Gaussian noise of ``sigma``, or of DP's ``epsilon``, or for the ``practical_epsilon`` wanted; at ``delta``.

    ``points`` are shortened to norm ``clip``; the noise is around their mean, or sum, over the half that was used.
    """
    _require_one("sigma", sigma=sigma, epsilon=epsilon, practical_epsilon=practical_epsilon)
    rows = distances.clip_rows(np.asarray(points, dtype=np.float64), clip)
    half = len(rows) // 2
    shares = half if query == "mean" else 1
    sensitivity = 2.0 * (clip / shares)
    moved = distances.of_sum(rows / shares)
    mechanism = Gaussian(moved, _sigma(moved, sensitivity, sigma, epsilon, practical_epsilon, delta))
    # sigma was solved for an epsilon that was given: solving back would be off by a rounding
    dp = epsilon or dp_epsilon(sensitivity, mechanism.sigma, delta)
    on_records = mechanism.on_records(delta)
    practical = min(mechanism.epsilon(delta), practical_epsilon or inf)
    eta = min(mechanism.total_variation() / 2.0, mip_eta(practical, delta))
    grid = np.linspace(0.0, max(dp, practical, 1.0), POINTS)
    sentence = (
        f"Gaussian noise of standard deviation {exactly(mechanism.sigma)} is "
        f"({exactly(epsilon) if epsilon else at_most(dp)}, {exactly(delta)})-DP; on these {len(rows)} records its "
        f"practical epsilon is at most {_at_most(practical, practical_epsilon)} at the same delta, and "
        f"{_attacker(half, COIN + eta)}"
    )
    return GaussianStatement(
        sentence,
        (THESE_RECORDS, ONE_RELEASE),
        mechanism.sigma,
        sensitivity,
        delta,
        dp,
        on_records,
        practical,
        eta,
        grid,
        mechanism.deltas(grid),
        np.array([shifts.gaussian_delta(moved.largest / mechanism.sigma, each) for each in grid]),
        np.array([shifts.gaussian_delta(sensitivity / mechanism.sigma, each) for each in grid]),
        of_gaussian(mechanism, dp, practical, delta),
    )


def _attacker(n: int, right: float) -> str:
    return (
        f"an attacker who knows them, but not which {n} were used, is right about any of them with "
        f"probability at most {at_most(right)}; a coin is right with probability {COIN}."
    )


def _epsilon(
    mechanism: Summed | Tabled, epsilon: float | None, practical_epsilon: float | None
) -> tuple[float, tuple[Caution, ...]]:
    """Epsilon as it was given, or the one that keeps the practical epsilon wanted."""
    _require_one("epsilon", epsilon=epsilon, practical_epsilon=practical_epsilon)
    if epsilon is not None or practical_epsilon is None:
        return epsilon or 0.0, ()
    if subsets.how_many(2 * mechanism.n, mechanism.n) <= subsets.MOST or not isinstance(mechanism, Summed):
        result, caution = choose.epsilon(mechanism, practical_epsilon), NOT_MONOTONE
    else:
        result, caution = choose.epsilon_by_exchanges(mechanism, practical_epsilon), BY_EXCHANGES
    return result, (caution, FAR_ENOUGH) if result >= choose.FARTHEST else (caution,)


def _sigma(
    moved: distances.Distances,
    sensitivity: float,
    sigma: float | None,
    epsilon: float | None,
    practical_epsilon: float | None,
    delta: float,
) -> float:
    if practical_epsilon is not None:
        least = choose.sigma(moved, practical_epsilon, delta)
        if least == 0.0:
            raise OptionError("points: all are equal, so no noise is needed here", field="points")
        return least
    if epsilon is not None:
        return shifts.gaussian_sigma(sensitivity, epsilon, delta)
    return sigma or 0.0


def _require_one(field: str, **options: float | None) -> None:
    if sum(value is not None for value in options.values()) != 1:
        raise OptionError(f"{field}: give one of {', '.join(options)}", field=field)


def _at_most(practical: float, target: float | None) -> str:
    """A practical epsilon rounded up, but not beyond the one wanted, which it keeps."""
    return at_most(practical, within=inf if target is None else max(practical, target))
