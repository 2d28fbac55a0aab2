"""What a promise allows, in one statement: all bounds, the ROC envelope, and the promise that keeps an advantage."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from estimators import errors
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, at_least, at_most, baseline, exactly, figures_down, figures_up
from estimators.theory.bounds import Bound, advantage_of
from estimators.theory.dp.ceilings import bounds
from estimators.theory.dp.promise import (
    LARGEST,
    Adjacency,
    ApproximateDp,
    DpCurve,
    GaussianDp,
    Inclusion,
    Promise,
    grant_of,
)
from estimators.theory.shifts import last

RANDOM = Caution(
    "random_membership",
    "the bounds hold when the members are drawn at random; for a training set that is fixed and known the "
    "advantage can be 1 even at epsilon 0",
)
REPLACEMENT = Caution(
    "adjacency_assumed",
    "the promise is read as being about replacing one record by another. Most accountants add or remove a "
    "record, which promises less: give adjacency add_remove for those",
)
RATES = tuple(i / 100.0 for i in range(101))
"""False positive rates of the envelope, beside those of the question."""

Promises = Promise | Mapping[Adjacency, Promise]
"""A promise, or what an accountant promises for each adjacency."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """The largest epsilon at ``delta``, and the largest mu, that keep the advantage at most so; None if none does.

    Attributes:
        advantage: The advantage to keep.
        prior: Probability that a record is a member.
        delta: The delta that goes with ``epsilon``.
        epsilon: The largest epsilon that keeps the advantage.
        mu: The largest mu of Gaussian differential privacy that keeps it.
    """

    advantage: float
    prior: float
    delta: float
    epsilon: float | None
    mu: float | None

    @property
    def baseline(self) -> float:
        """The advantage of guessing."""
        return baseline(self.prior)


def keeping(
    advantage: float,
    delta: float = 0.0,
    prior: float = 0.5,
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
) -> Keeping:
    """By bisection: what a promise allows rises with it.

    The advantage is kept to the rounding of a float, 1e-16: within 1e-12 of 1 that is much in epsilon, either way.
    """
    most, p = errors.require_number("advantage", advantage), errors.require_open_unit("prior", prior)
    if not 0.0 <= most < 1.0:
        message = f"got {most!r}, need a number from 0 up to but not including 1"
        raise errors.OutOfRange.about("advantage", message)
    errors.require_from_zero_to_one("delta", delta)

    def largest(promise: Callable[[float], Promise]) -> float | None:
        def holds(value: float) -> bool:
            envelope = grant_of(promise(value), adjacency, inclusion).envelope
            return advantage_of(envelope.gain(p, 1.0 - p), p) <= most

        return last(holds, 0.0, LARGEST) if holds(0.0) else None

    return Keeping(most, p, delta, largest(lambda value: ApproximateDp(value, delta)), largest(GaussianDp))


@dataclass(frozen=True, slots=True)
class Reading:
    """The promise as one (epsilon, delta) and for whom that holds; no ``epsilon`` where it has none at that delta."""

    epsilon: float | None
    delta: float
    says: str


@dataclass(frozen=True, slots=True)
class RocEnvelope:
    """The largest TPR at each FPR."""

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DpStatement:
    """What a promise allows at a prior; ``dp.assess`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        baseline: The advantage of an attacker who always guesses the likelier side.
        readings: The promise as (epsilon, delta), and for which adjacency that holds.
        bounds: Every bound of every quantity: its value, its source, what it assumes, and whether it is ``proven`` and
            the ``tightest``.
        roc: The largest TPR at each FPR; None without a promise.
        curve: All (epsilon, delta) of a promise that has many, otherwise None.
        keeping: The promise that keeps an advantage, if one was to be kept.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    baseline: float
    readings: tuple[Reading, ...]
    bounds: tuple[Bound, ...]
    roc: RocEnvelope | None
    curve: DpCurve | None
    keeping: Keeping | None


def assess(
    promises: Promises | None = None,
    *,
    prior: float = 0.5,
    member_weight: float = 1.0,
    false_positive_rates: Sequence[float] = (),
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
    delta: float | None = None,
    advantage: float | None = None,
    cautions: Sequence[Caution] = (),
) -> DpStatement:
    """Every bound of a promise, the envelope they are read off, and the promise that would keep an ``advantage``.

    Args:
        promises: ``ApproximateDp``, ``GaussianDp`` or ``DpCurve`` (see ``renyi_curve``); or, as ``NoisySteps.promises``
            gives them, one for each adjacency. None: only ``advantage`` is answered.
        prior: Probability that a record is a member, strictly between 0 and 1.
        member_weight: What a true positive weighs against a true negative (lambda of membership inference security),
            above 0.
        false_positive_rates: Rates, each strictly between 0 and 1, at which to bound the true positive rate.
        adjacency: Which training sets the promise compares: ``replace`` (one record is replaced by another) or
            ``add_remove`` (with and without one record, as in most accountants). None: the one that ``inclusion``
            needs.
        inclusion: How records became members: ``fixed_number`` (a fixed number is drawn at random) or ``independent``
            (each record independently of the others).
        delta: Where a promise that has many (epsilon, delta) is read as one of them, and the delta of ``advantage``.
        advantage: Largest acceptable advantage, from 0 up to but not including 1: ``keeping`` has the epsilon and the
            mu that keep it.
        cautions: What the accountant takes for granted: ``NoisySteps.cautions``.

    Raises:
        MaceError: neither a promise nor an advantage, a number out of its range, or an adjacency that does not go with
            the inclusion.

    Example:
        >>> from estimators.theory import dp
        >>> result = dp.assess(dp.ApproximateDp(1.0, delta=1e-5), prior=0.5, adjacency="replace")
        >>> print(result.sentence)
        The promise, epsilon 1 at delta 1e-05, allows an advantage of at most 0.463 at prior 0.5, where the baseline
        is 0.000: MIP's eta is at most 0.232, MIS's security at least 0.537, and a guess is right at most 73.2% of
        the time.
        >>> [bound.name for bound in result.bounds if bound.quantity == "advantage" and bound.tightest]
        ['envelope']
    """
    if promises is None and advantage is None:
        raise errors.OptionError.about("promises", "need a promise, or an advantage to keep")
    coins = Inclusion(inclusion) is Inclusion.INDEPENDENT
    about = _adjacency(None if isinstance(promises, Mapping) else adjacency, coins)
    extra = (REPLACEMENT,) if adjacency is None and not coins and not isinstance(promises, Mapping) else ()
    readings: tuple[Reading, ...] = ()
    table: tuple[Bound, ...] = ()
    roc = curve = None
    if promises is not None:
        promise = promises[about] if isinstance(promises, Mapping) else promises
        table = bounds(promise, prior, member_weight, false_positive_rates, about, inclusion, delta)
        readings = tuple(_readings(promises, about, delta))
        roc = _envelope(promise, about, inclusion, false_positive_rates)
        curve = promise.curve() if isinstance(promise, GaussianDp) else promise
    largest = None if advantage is None else keeping(advantage, delta or 0.0, prior, adjacency, inclusion)
    sentences = [*_allows(prior, readings, table)]
    if largest is not None:
        sentences.append(_keeps(largest, _adjacency(adjacency, coins)))
    return DpStatement(
        " ".join(sentences),
        (RANDOM, *extra, *cautions),
        baseline(prior),
        readings,
        table,
        roc,
        curve if isinstance(curve, DpCurve) else None,
        largest,
    )


def _adjacency(adjacency: Adjacency | str | None, coins: bool) -> Adjacency:
    """The one named, or the one that the way records became members needs."""
    if adjacency is not None:
        return Adjacency(adjacency)
    return Adjacency.ADD_REMOVE if coins else Adjacency.REPLACE


def _readings(promises: Promises, about: Adjacency, delta: float | None) -> Iterator[Reading]:
    if isinstance(promises, Mapping):
        each = [(f"as the accountant has it for adjacency {key.value}", promises[key]) for key in Adjacency]
    else:
        each = [(f"as promised, for adjacency {about.value}", promises)]
    for says, promise in each:
        pair = promise.pair(delta)
        if pair is not None:
            yield Reading(*pair, says)
        elif delta is not None:
            yield Reading(None, delta, says)


def _envelope(promise: Promise, about: Adjacency, inclusion: Inclusion | str, rates: Sequence[float]) -> RocEnvelope:
    fpr = tuple(sorted({*RATES, *rates}))
    heights = grant_of(promise, about, inclusion).envelope.tpr(fpr)
    return RocEnvelope(fpr, tuple(min(1.0, float(height)) for height in heights))


def _allows(prior: float, readings: Sequence[Reading], table: Sequence[Bound]) -> Iterator[str]:
    if not table:
        return
    least = {each.quantity: each.value for each in table if each.tightest}
    pairs = [(each.epsilon, each.delta) for each in readings if each.epsilon is not None]
    claim = "".join(f", epsilon {figures_up(epsilon)} at delta {exactly(delta)}," for epsilon, delta in pairs[:1])
    yield (
        f"The promise{claim} allows an advantage of at most {at_most(least['advantage'])} at prior {exactly(prior)}, "
        f"where the baseline is {baseline(prior):.3f}: MIP's eta is at most {at_most(least['mip_eta'])}, "
        f"MIS's security at least {at_least(max(0.0, 1.0 - least['mis_delta']))}, and a guess is right at most "
        f"{at_most(100.0 * least['success'], 1)}% of the time."
    )


def _keeps(result: Keeping, about: Adjacency) -> str:
    aim = f"an advantage of at most {exactly(result.advantage)} at prior {exactly(result.prior)}"
    guessing = f"the baseline is {result.baseline:.3f}"
    if result.epsilon is None:
        return f"No epsilon at delta {exactly(result.delta)} keeps {aim}; {guessing}."
    wide = "" if result.mu is None else f", and by mu up to {figures_down(result.mu)}"
    what = "replacing one record" if about is Adjacency.REPLACE else "adding or removing one record"
    upto = f"epsilon up to {figures_down(result.epsilon)} at delta {exactly(result.delta)}{wide}"
    return f"A{aim[1:]} is kept by {upto}, promised about {what}; {guessing}."
