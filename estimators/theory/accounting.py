"""From how a model was trained to the epsilon it has, by a well-kept accountant (``dp_accounting``, optional).

A Renyi curve, or noisy steps on records sampled at random, become a ``DpCurve``: the (epsilon, delta) that hold, all at
once. Its height at epsilon 0 is the total variation, so it says more of an advantage than any single pair.
"""

from collections.abc import Sequence
from importlib import import_module
from math import expm1, isfinite, sqrt
from typing import Any

import numpy as np

from estimators import errors
from estimators.python.dataclass import dataclass
from estimators.statement import Caution
from estimators.theory.dp.promise import Adjacency, DpCurve, GaussianDp, Promise

__all__ = ["NoisySteps", "curve_of", "renyi_curve"]

POISSON = Caution(
    "poisson_sampling",
    "steps are taken on records sampled independently at the sampling rate; shuffled batches of a fixed size "
    "are not covered",
)
EPSILONS = (0.0, *np.geomspace(1e-3, 100.0, 160).tolist())
"""Where a curve is read; between them it is bounded by straight lines in e^epsilon, as a hockey stick is convex."""

CELLS = 2e6
"""About how many cells the law of the whole privacy loss may have: seconds, and some hundred MiB."""

FINE, COARSE = 1e-6, 1e-3  # cells of the privacy loss are no finer and, where there is room, no coarser

WITHIN_A_STEP = 0.08
"""A cell as a share of what the loss of one step varies by: what rounding adds to the variance is then below 0.2%."""

LEAST_DELTA = 1e-12
"""Of noisy steps no delta is said to be less: what Fourier transforms leave of one differs between processors."""

LEAST_RENYI = 2.0**-50
"""Renyi epsilons below it, but for 0, are rounded up to it: exp(-epsilon) is 1 for those that are much smaller."""

LEAST_RATE = 1e-100  # sampling rates below it are rounded up to it: a loss divided by them is infinite


@dataclass(frozen=True, slots=True)
class NoisySteps:
    """Gaussian noise of ``multiplier`` times the clipping norm, ``steps`` times, each on records sampled at random.

    Poisson sampling: each record is in each step with probability ``sampling_rate``, independently of all else.
    Shuffled batches of a fixed size are something else, and no accountant of this kind covers them. A sampling rate
    below 1 needs the package ``dp-accounting``.

    Args:
        multiplier: Standard deviation of the noise over the norm that one record is clipped to, above 0.
        steps: Number of noisy steps, at least 1.
        sampling_rate: Probability that a record is in a step, above 0 and at most 1.

    Raises:
        MaceError: a number out of its range, or ``dp-accounting`` is needed and not installed.

    Example:
        >>> from estimators.theory import dp
        >>> from estimators.theory.accounting import NoisySteps
        >>> steps = NoisySteps(multiplier=10.0, steps=25)
        >>> steps.promise(dp.Adjacency.REPLACE), steps.promise(dp.Adjacency.ADD_REMOVE)
        (GaussianDp(mu=1.0), GaussianDp(mu=0.5))
        >>> result = dp.assess(steps.promises(), delta=1e-5, cautions=steps.cautions)
        >>> [round(reading.epsilon, 2) for reading in result.readings]
        [4.38, 1.99]
    """

    multiplier: float
    steps: int
    sampling_rate: float = 1.0

    def __post_init__(self) -> None:
        errors.require_positive("noise_multiplier", self.multiplier)
        errors.require_count("steps", self.steps)
        rate = errors.require_number("sampling_rate", self.sampling_rate)
        if not 0.0 < rate <= 1.0:
            raise errors.OutOfRange.about("sampling_rate", f"got {rate!r}, need a number above 0 and up to 1")

    def promise(self, adjacency: Adjacency, delta: float | None = None) -> Promise:
        """What it comes to: exactly mu-GDP where every record is in every step, else what the accountant finds.

        Replacing a record moves a sum by two clipping norms, adding or removing one by one.

        Args:
            adjacency: Which training sets the promise compares: ``Adjacency.REPLACE`` or ``Adjacency.ADD_REMOVE``.
            delta: Where an epsilon is wanted exactly, if anywhere.
        """
        if self.sampling_rate == 1.0:
            norms = 2.0 if adjacency is Adjacency.REPLACE else 1.0
            return GaussianDp(norms * sqrt(self.steps) / self.multiplier)
        return _of_losses(self, adjacency, delta)

    def promises(self, delta: float | None = None) -> dict[Adjacency, Promise]:
        """What it comes to for each adjacency.

        Args:
            delta: Where an epsilon is wanted exactly, if anywhere.
        """
        return {adjacency: self.promise(adjacency, delta) for adjacency in Adjacency}

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What its accountant takes for granted."""
        return (POISSON,) if self.sampling_rate < 1.0 else ()


def renyi_curve(points: Sequence[tuple[float, float]], delta: float | None = None) -> DpCurve:
    """All (epsilon, delta) that Renyi epsilons give, by order (Canonne, Kamath and Steinke 2020, Proposition 12).

    Needs the package ``dp-accounting``.

    Args:
        points: Pairs (order, epsilon) of Renyi differential privacy; orders of at least 1, epsilons of at least 0.
        delta: Where an epsilon is wanted exactly, if anywhere.

    Raises:
        OutOfRange: no pair, or a number out of its range.
        NotInstalled: ``dp-accounting`` is not installed.

    Example:
        >>> from estimators.theory.accounting import renyi_curve
        >>> curve = renyi_curve([(2, 0.05), (4, 0.1), (8, 0.2), (32, 0.8)], delta=1e-5)
        >>> round(curve.pair(1e-5)[0], 3)
        1.028
    """
    rdp = _accountant("rdp.rdp_privacy_accountant", "rdp")
    orders, epsilons = _check(points)
    epsilons = [max(each, LEAST_RENYI) if each else each for each in epsilons]  # a larger one promises less
    deltas = [float(rdp.compute_delta(orders, epsilons, e)[0]) for e in EPSILONS]
    at = () if delta is None else _pair(float(rdp.compute_epsilon(orders, epsilons, delta)[0]), delta)
    return _curve([*zip(EPSILONS, deltas, strict=True), *at])


def curve_of(accountant: Any, delta: float | None = None) -> DpCurve:
    """All (epsilon, delta) that an accountant of ``dp_accounting``, or a law of its privacy loss, says hold.

    Args:
        accountant: An accountant that has composed what was run, or a ``PrivacyLossDistribution``.
        delta: Where an epsilon is wanted exactly, if anywhere.

    Raises:
        OptionError: what came has neither ``get_delta`` nor ``get_delta_for_epsilon``.

    Example:
        >>> from dp_accounting import GaussianDpEvent
        >>> from dp_accounting.pld import PLDAccountant
        >>> from estimators.theory.accounting import curve_of
        >>> curve = curve_of(PLDAccountant().compose(GaussianDpEvent(1.0)), delta=1e-5)
        >>> round(curve.pair(1e-5)[0], 2)
        4.38
    """
    for deltas_at, epsilon_at in (("get_delta_for_epsilon", "get_epsilon_for_delta"), ("get_delta", "get_epsilon")):
        if hasattr(accountant, deltas_at):
            deltas = [float(getattr(accountant, deltas_at)(epsilon)) for epsilon in EPSILONS]
            at = () if delta is None else _pair(float(getattr(accountant, epsilon_at)(delta)), delta)
            return _curve([*zip(EPSILONS, deltas, strict=True), *at])
    message = f"{type(accountant).__name__} says no delta; need an accountant of dp_accounting, or pairs"
    raise errors.OptionError.about("curve", message)


def _check(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    if not points:
        raise errors.OutOfRange.about("rdp", "got no orders, need at least one")
    for at, (order, epsilon) in enumerate(points):
        if not 1.0 <= errors.require_number("rdp", order) < float("inf"):
            raise errors.OutOfRange.about("rdp", "need every order to be a finite number of at least 1", at)
        if not 0.0 <= errors.require_number("rdp", epsilon) < float("inf"):
            raise errors.OutOfRange.about("rdp", "need every epsilon to be a finite number of at least 0", at)
    return [float(order) for order, _ in points], [float(epsilon) for _, epsilon in points]


def _of_losses(noise: NoisySteps, adjacency: Adjacency, delta: float | None) -> DpCurve:
    """By the law of the privacy loss, rounded so that every delta is from above, and composed."""
    losses, relations = (
        _accountant(name, "noise_multiplier") for name in ("pld.privacy_loss_distribution", "privacy_accountant")
    )
    relation = relations.NeighboringRelation
    law = losses.from_gaussian_mechanism(
        standard_deviation=noise.multiplier,
        pessimistic_estimate=True,
        value_discretization_interval=_cell(noise, adjacency),
        sampling_prob=max(noise.sampling_rate, LEAST_RATE),
        use_connect_dots=True,
        neighboring_relation=relation.REPLACE_ONE if adjacency is Adjacency.REPLACE else relation.ADD_OR_REMOVE_ONE,
    ).self_compose(noise.steps)
    deltas = np.maximum(law.get_delta_for_epsilon(list(EPSILONS)), LEAST_DELTA)
    at = () if delta is None else _pair(float(law.get_epsilon_for_delta(delta)), delta)
    return _curve([*zip(EPSILONS, deltas.tolist(), strict=True), *at])


def _cell(noise: NoisySteps, adjacency: Adjacency) -> float:
    """Width of a cell of the privacy loss: fine beside what a step varies by, not too many for what all may reach."""
    norms = 2.0 if adjacency is Adjacency.REPLACE else 1.0
    shift = norms / noise.multiplier
    variance = shift**2
    if shift < 5.0:
        variance = min(variance, noise.sampling_rate**2 * expm1(shift**2))
    one = shift**2 / 2.0 + 12.0 * shift
    whole = one + noise.steps * variance / 2.0 + 12.0 * sqrt(noise.steps * variance)
    return max(FINE, min(COARSE, WITHIN_A_STEP * sqrt(variance)), one / (CELLS / 4.0), whole / CELLS)


def _curve(pairs: Sequence[tuple[float, float]]) -> DpCurve:
    """Pairs in order, each delta between 0 and 1: convolution by Fourier transform may leave them by its rounding."""
    ordered = sorted(pairs)
    return DpCurve(tuple(e for e, _ in ordered), tuple(min(1.0, max(0.0, d)) for _, d in ordered))


def _pair(epsilon: float, delta: float) -> tuple[tuple[float, float], ...]:
    return ((epsilon, delta),) if isfinite(epsilon) else ()


def _accountant(name: str, field: str) -> Any:
    try:
        return import_module(f"dp_accounting.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "dp_accounting":
            raise
        message = "accounting: needs the package dp-accounting; pip install 'macekit[accounting]'"
        raise errors.NotInstalled(message, field=field) from None
