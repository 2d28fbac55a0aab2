"""What a mechanism gives away of these 2n records, in one statement; for the noise given, or for the epsilon wanted."""

from math import inf, isfinite
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.errors import OptionError, OutOfRange, TooManySubsets, require_up_to_one
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, Estimate, at_most, exactly, percent
from estimators.theory import shifts, subsets
from estimators.theory.bounds import Bound
from estimators.theory.pmp import bounds, gaussian
from estimators.theory.pmp.bounds import mip_eta, of_exponential, of_finite, of_gaussian, success
from estimators.theory.pmp.exponential import MOST_PAIRED, Summed, Tabled
from estimators.theory.pmp.gaussian import Gaussian, dp_epsilon
from estimators.theory.pmp.laws import Event, Worst, finite, half_of
from estimators.theory.pmp.sampled import sample_epsilon

COIN = 0.5  # how often guessing is right: half of the records were used
POINTS = 41  # epsilons of the curve
NOTHING = 1e-12  # a practical epsilon of laws below it is what rounding leaves of 0
MOST_NAMED = 8  # outcomes that a sentence names
SMALLEST_SPAN = 1e-3  # how far the curve of a finite law goes at least, if nothing is given away

THESE_RECORDS = Caution(
    "these_records",
    "this holds for these 2n records and a random half of them. For other records, or for an attacker who "
    "already knows part of the half, only the DP epsilon holds",
)
ONE_RELEASE = Caution(
    "one_release",
    "this is about a single release; practical epsilons of several releases of the same half do not simply add up",
)
NOT_NEEDED = Caution("draws_not_needed", "all training sets were enumerated, so draws were not needed")
BY_EXCHANGES = Caution(
    "chosen_by_exchanges",
    "there are too many training sets to search for epsilon exactly, so it was chosen by the bound by "
    "exchanges; a larger epsilon may be possible",
)
FAR_ENOUGH = Caution(
    "search_stopped",
    f"the wanted practical epsilon was not reached: the search stopped at epsilon {bounds.FARTHEST:g}, and "
    "a larger epsilon may reach it",
)
NOT_MONOTONE = Caution(
    "not_monotone",
    "a smaller epsilon does not always have a smaller practical epsilon; it was computed at the stated "
    "epsilon and at the steps towards it",
)


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialStatement:
    """What an exponential mechanism gives away; ``pmp.assess_exponential`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        epsilon: Epsilon of the mechanism's differential privacy.
        training_sets: Number of training sets that were enumerated, or drawn at random.
        practical_epsilon: The practical epsilon on these records.
        interval: The same with its interval if training sets were drawn; None if it is exact.
        epsilon_on_records: DP's epsilon with both training sets among these records; None where it takes too long.
        success: How often an attacker is right at most.
        worst: The record and the outcome that give the practical epsilon; None if it is 0.
        epsilons: The practical epsilon of each record, at most.
        successes: How often an attacker is right about each record, at most.
        bounds: Every bound side by side.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    epsilon: float
    training_sets: int
    practical_epsilon: float
    interval: Estimate | None
    epsilon_on_records: float | None
    success: float
    worst: Worst | None
    epsilons: Floats
    successes: Floats
    bounds: tuple[Bound, ...]

    @property
    def ratio(self) -> float | None:
        """The practical epsilon as a share of DP's; None if that is 0."""
        return self.practical_epsilon / self.epsilon if self.epsilon else None

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
    """What an exponential mechanism gives away of these 2n records, exactly or with an interval.

    Exact if all training sets can be enumerated; otherwise from ``draws`` of them. Give one of ``epsilon`` and
    ``practical_epsilon``.

    Args:
        mechanism: ``Summed`` or ``Summed.mean``, with losses of records; or ``Tabled``, with losses of training sets.
        epsilon: Epsilon of the mechanism's differential privacy: 0, where nothing is given away, or at least 1e-9.
        practical_epsilon: In place of ``epsilon``: find the epsilon that keeps this practical epsilon.
        draws: Number of training sets to draw at random, at least 2, if there are too many to enumerate.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Raises:
        MaceError: a number out of its range, or too many training sets and no ``draws``.

    Example:
        >>> from estimators.theory import pmp
        >>> mechanism = pmp.Summed([[0, 1], [0, 1], [1, 0], [1, 0]], sensitivity=1.0)  # four records, two outcomes
        >>> print(pmp.assess_exponential(mechanism, epsilon=1.0).sentence)
        An exponential mechanism that is 1-DP has a practical epsilon of at most 0.311 on these 4 records: an
        attacker who knows them, but not which 2 were used, is right about any of them with probability at most
        0.578; a coin is right with probability 0.5.
    """
    for name, value in (("epsilon", epsilon), ("practical_epsilon", practical_epsilon)):
        if value is not None and 0.0 < value < bounds.LEAST:
            raise OutOfRange.about(
                name, f"got {value!r}, need 0 or at least {bounds.LEAST:g}: between them rounding would decide"
            )
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
        epsilons = np.minimum(laws.epsilons, epsilon)  # which rounding alone exceeds (Proposition 5)
        successes, practical = laws.successes, float(epsilons.max())
        most, source, how = float(successes.max()) if epsilon else COIN, practical, ""
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
        laws.worst if epsilon else None,
        epsilons,
        successes,
        of_exponential(mechanism, epsilon, sample or laws),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PmpFiniteStatement:
    """What any algorithm with finitely many outcomes gives away, exactly; ``pmp.assess_finite`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        delta: The delta that goes with the practical epsilon.
        practical_epsilon: The least practical epsilon at ``delta``; infinite if there is none.
        training_sets: Number of training sets.
        outcomes: Number of outcomes.
        event: The record and the outcomes that give the practical epsilon, and what they say; None if it is 0.
        epsilons: The practical epsilon of each record at ``delta``.
        successes: How often the best attacker is right about each record.
        grid: Epsilons of the curve.
        deltas: The least delta at each of ``grid``.
        bounds: Every bound side by side.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    delta: float
    practical_epsilon: float
    training_sets: int
    outcomes: int
    event: Event | None
    epsilons: Floats
    successes: Floats
    grid: Floats
    deltas: Floats
    bounds: tuple[Bound, ...]

    @property
    def success(self) -> float:
        """How often the best attacker is right about the record that is easiest to tell."""
        return float(self.successes.max())

    @property
    def mip_eta(self) -> float:
        """How much better than a coin that is."""
        return self.success - COIN


def assess_finite(laws: ArrayLike, delta: float = 0.0) -> PmpFiniteStatement:
    """What any algorithm with finitely many outcomes gives away of 2n records, of which a random half was used.

    Args:
        laws: Probabilities of the outcomes, a row for each half of the records, in lexicographic order: 2, 6, 20, 70,
            ... rows for 2, 4, 6, 8, ... records; up to some 20 records can be enumerated.
        delta: The delta that goes with the practical epsilon, from 0 to 1.

    Raises:
        MaceError: rows that are no probabilities, or not as many as there are halves.

    Example:
        >>> from estimators.theory import pmp
        >>> print(pmp.assess_finite([[0.9, 0.1], [0.1, 0.9]], delta=0.1).sentence)
        At delta 0.1 the practical epsilon on these 2 records is 2.080: an attacker who knows them, but not which one
        was used, is right about any of them with probability at most 0.900; a coin is right with probability 0.5.
        Output 0 gives the most away: record 0 was used.
    """
    table = np.asarray(laws, dtype=np.float64)
    half = half_of(len(table) if table.ndim == 2 else 0)
    exact = finite(table, half)
    practical = exact.epsilon_at(delta)
    event = exact.event_at(delta) if practical > NOTHING else None
    largest = exact.epsilon if isfinite(exact.epsilon) else practical
    grid = np.linspace(0.0, max(largest, SMALLEST_SPAN) if isfinite(largest) else 1.0, POINTS)
    right = float(exact.successes.max())
    attacker = _attacker(half, right if right - COIN > NOTHING else COIN)
    if event is not None and not isfinite(practical):
        sentence = (
            f"At delta {exactly(delta)} no practical epsilon is large enough: outcomes that occur with a probability "
            f"above delta give record {event.record} away. On these {2 * half} records {attacker}"
        )
    else:
        value = "0, up to rounding" if event is None else at_most(practical)
        sentence = f"At delta {exactly(delta)} the practical epsilon on these {2 * half} records is {value}: {attacker}"
    return PmpFiniteStatement(
        sentence if event is None else f"{sentence} {_told_by(event)}",
        (THESE_RECORDS, ONE_RELEASE),
        delta,
        practical,
        len(table),
        table.shape[1],
        event,
        exact.epsilons_at(delta),
        exact.successes,
        grid,
        np.array([float(exact.deltas(each).max()) for each in grid]),
        of_finite(exact, delta),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GaussianStatement:
    """What Gaussian noise around a sum or a mean gives away (Proposition 12); ``pmp.assess_gaussian`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        sigma: Standard deviation of the noise in each coordinate.
        sensitivity: How far the sum or mean moves at most when one record is exchanged.
        delta: The delta that goes with every epsilon here.
        epsilon: DP's epsilon.
        epsilon_on_records: Epsilon with both training sets among these records.
        practical_epsilon: The practical epsilon on these records.
        mip_eta: How much more often than a coin an attacker is right, at most.
        grid: Epsilons of the three curves.
        practical_deltas: The practical delta at each of ``grid``.
        record_deltas: The delta with both training sets among these records.
        dp_deltas: DP's delta.
        bounds: Every bound side by side.
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
    """What a sum or a mean with Gaussian noise gives away of these 2n records, beside what DP promises.

    Give one of ``sigma``, ``epsilon`` and ``practical_epsilon``.

    Args:
        points: The 2n records, one row each; half of them are used.
        clip: Euclidean norm to which each row is shortened, above 0.
        sigma: Standard deviation of the noise in each coordinate.
        epsilon: In place of ``sigma``: the least noise that is (epsilon, delta)-DP.
        practical_epsilon: In place of ``sigma``: the least noise that keeps this practical epsilon.
        delta: The delta that goes with every epsilon here, above 0; at 1, where every epsilon is 0, give ``sigma``.
        query: What noise is added to: the ``mean`` or the ``sum``.

    Raises:
        MaceError: a number out of its range, or points that are all equal.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import pmp
        >>> points = np.random.default_rng(0).normal(size=(20, 2))
        >>> print(pmp.assess_gaussian(points, clip=1.0, sigma=0.5, delta=1e-5).sentence)
        Gaussian noise of standard deviation 0.5 is (1.555, 1e-05)-DP; on these 20 records its practical epsilon is
        at most 1.395 at the same delta, and an attacker who knows them, but not which 10 were used, is right about
        any of them with probability at most 0.553; a coin is right with probability 0.5.
    """
    _require_one("sigma", sigma=sigma, epsilon=epsilon, practical_epsilon=practical_epsilon)
    if require_up_to_one("delta", delta) == 1.0 and sigma is None:
        raise OutOfRange.about("delta", "at 1 no noise is needed; give sigma, or a smaller delta")
    rows = gaussian.clip_rows(np.asarray(points, dtype=np.float64), clip)
    half = len(rows) // 2
    shares = half if query == "mean" else 1
    sensitivity = 2.0 * (clip / shares)
    moved = gaussian.of_sum(rows / shares)
    mechanism = Gaussian(moved, _sigma(moved, sensitivity, sigma, epsilon, practical_epsilon, delta))
    # sigma was solved for an epsilon that was given: solving back would be off by a rounding
    dp = dp_epsilon(sensitivity, mechanism.sigma, delta) if epsilon is None else epsilon
    on_records = mechanism.on_records(delta)
    practical = min(mechanism.epsilon(delta), inf if practical_epsilon is None else practical_epsilon)
    eta = min(mechanism.total_variation() / 2.0, mip_eta(practical, delta))
    grid = np.linspace(0.0, max(dp, practical, 1.0), POINTS)
    sentence = (
        f"Gaussian noise of standard deviation {exactly(mechanism.sigma)} is "
        f"({at_most(dp) if epsilon is None else exactly(epsilon)}, {exactly(delta)})-DP; on these {len(rows)} records "
        f"its practical epsilon is at most {_at_most(practical, practical_epsilon)} at the same delta, and "
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
    which = "one was" if n == 1 else f"{n} were"
    return (
        f"an attacker who knows them, but not which {which} used, is right about any of them with probability at "
        f"most {at_most(right)}; a coin is right with probability {COIN}."
    )


def _told_by(event: Event) -> str:
    """The outcomes that give the most away, and what they say."""
    first = ", ".join(map(str, event.outcomes[:MOST_NAMED]))
    more = len(event.outcomes) - MOST_NAMED
    names = f"{first} and {more} more" if more > 0 else first
    what = "was used" if event.says == "member" else "was not used"
    one = len(event.outcomes) == 1
    return f"Output{'' if one else 's'} {names} give{'s' if one else ''} the most away: record {event.record} {what}."


def _epsilon(
    mechanism: Summed | Tabled, epsilon: float | None, practical_epsilon: float | None
) -> tuple[float, tuple[Caution, ...]]:
    """Epsilon as it was given, or the one that keeps the practical epsilon wanted."""
    _require_one("epsilon", epsilon=epsilon, practical_epsilon=practical_epsilon)
    if epsilon is not None or not practical_epsilon:
        return epsilon or 0.0, ()
    if subsets.how_many(2 * mechanism.n, mechanism.n) <= subsets.MOST or not isinstance(mechanism, Summed):
        result, caution = bounds.epsilon(mechanism, practical_epsilon), NOT_MONOTONE
    else:
        result, caution = bounds.epsilon_by_exchanges(mechanism, practical_epsilon), BY_EXCHANGES
    return result, (caution, FAR_ENOUGH) if result >= bounds.FARTHEST else (caution,)


def _sigma(
    moved: gaussian.Distances,
    sensitivity: float,
    sigma: float | None,
    epsilon: float | None,
    practical_epsilon: float | None,
    delta: float,
) -> float:
    if practical_epsilon is not None:
        least = bounds.sigma(moved, practical_epsilon, delta)
        if least == 0.0:
            raise OptionError.about("points", "all are equal, so no noise is needed here")
        return least
    if epsilon is not None:
        return shifts.gaussian_sigma(sensitivity, epsilon, delta)
    return sigma or 0.0


def _require_one(field: str, **options: float | None) -> None:
    if sum(value is not None for value in options.values()) != 1:
        raise OptionError.about(field, f"give one of {', '.join(options)}")


def _at_most(practical: float, target: float | None) -> str:
    """A practical epsilon rounded up, but not beyond the one wanted, which it keeps."""
    return at_most(practical, within=inf if target is None else max(practical, target))
