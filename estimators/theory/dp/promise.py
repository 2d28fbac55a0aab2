"""What was promised, how records became members, and which envelope follows.

The laws of what an adversary sees, given that a record is a member and that it is not, are mixtures over training sets.
With a fixed number of members drawn at random, a set with the record goes to one without it by one replacement, and
uniformly so: take the record out, put in one drawn from the rest. Both laws are then the same mixture of pairs of
neighbours, and joint convexity hands them the promise for every share of members (MIP's Theorem 4 has it for one half
by a matching). A promise about *adding or removing* a record says this of two steps only: R(R(x)). Under
(epsilon, delta) that is within (2 epsilon, (1 + e^epsilon) delta), which is looser. Where each record is included by a
coin of its own, a record's two laws are one addition apart; a promise about replacing one says nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, inf, isfinite
from typing import Protocol

import numpy as np

from estimators.errors import OptionError, OutOfRange, require_nonnegative, require_share
from estimators.theory.dp.envelope import Corners, Envelope, GaussianEnvelope
from estimators.theory.shifts import gaussian_delta, gaussian_epsilon

Pair = tuple[float, float]

POINTS, NEXT_TO_NOTHING = 101, 1e-12
"""How a Gaussian promise is written down as (epsilon, delta): so many pairs, down to this delta."""


class Adjacency(Enum):
    """Which training sets a promise compares."""

    REPLACE = "replace"
    ADD_REMOVE = "add_remove"


class Inclusion(Enum):
    """How records became members."""

    FIXED_NUMBER = "fixed_number"
    INDEPENDENT = "independent"


class Promise(Protocol):
    """A promise about any two neighbours."""

    def envelope(self) -> Envelope:
        """What it allows between two neighbours."""
        ...

    def pair(self, delta: float | None) -> Pair | None:
        """It as one (epsilon, delta), if it has one."""
        ...


@dataclass(frozen=True, slots=True)
class ApproximateDp:
    """(epsilon, delta)-DP; pure at delta 0."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_nonnegative("epsilon", self.epsilon)
        require_share("delta", self.delta)

    def envelope(self) -> Corners:
        """Three corners."""
        return Corners.of([self.epsilon], [self.delta])

    def pair(self, delta: float | None = None) -> Pair:
        """Itself, whatever delta is asked for."""
        return self.epsilon, self.delta


@dataclass(frozen=True, slots=True)
class GaussianDp:
    """mu-GDP: no easier to tell apart than N(0, 1) and N(mu, 1)."""

    mu: float

    def __post_init__(self) -> None:
        require_nonnegative("mu", self.mu)

    def envelope(self) -> GaussianEnvelope:
        """The Gaussian curve."""
        return GaussianEnvelope(self.mu)

    def pair(self, delta: float | None) -> Pair | None:
        """The least epsilon at ``delta``, exactly (Balle and Wang 2018)."""
        if delta is None:
            return None
        epsilon = gaussian_epsilon(self.mu, delta)
        return (epsilon, delta) if isfinite(epsilon) else None

    def curve(self) -> DpCurve:
        """Its (epsilon, delta), from epsilon 0 to where delta is next to nothing."""
        epsilons = np.linspace(0.0, gaussian_epsilon(self.mu, NEXT_TO_NOTHING), POINTS).tolist()
        return DpCurve(tuple(epsilons), tuple(gaussian_delta(self.mu, e) for e in epsilons))


@dataclass(frozen=True, slots=True)
class DpCurve:
    """Many (epsilon, delta) of one mechanism, all of which hold."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.epsilons or len(self.epsilons) != len(self.deltas):
            raise OutOfRange("curve: need as many deltas as epsilons, and at least one", field="curve")
        for epsilon, delta in zip(self.epsilons, self.deltas, strict=True):
            require_nonnegative("epsilon", epsilon)
            require_nonnegative("delta", delta)

    def envelope(self) -> Corners:
        """Below every one of its pairs; a delta of 1 or more says nothing."""
        return Corners.of(self.epsilons, [min(delta, 1.0) for delta in self.deltas])

    def pair(self, delta: float | None) -> Pair | None:
        """The smallest of its epsilons at which delta is no larger."""
        if delta is None:
            return None
        enough = [e for e, d in zip(self.epsilons, self.deltas, strict=True) if d <= delta]
        return (min(enough), delta) if enough else None


@dataclass(frozen=True, slots=True)
class Grant:
    """What a promise comes to between a record's two laws.

    ``pair`` is the promise as one (epsilon, delta), for the formulas that need one; ``pure`` its epsilon if delta is 0.
    ``plain`` where that pair says all there is, ``fixed`` where members are a fixed number. ``source`` says whose
    envelope it is, ``assumes`` what it takes for granted.
    """

    envelope: Envelope
    pair: Pair | None
    source: str
    assumes: str
    plain: bool
    fixed: bool

    @property
    def pure(self) -> float | None:
        """Its epsilon at delta 0, if it has one."""
        return self.pair[0] if self.pair is not None and self.pair[1] == 0.0 else None


REPLACED = "members are drawn at random in a fixed number; the promise is about replacing one record"
ADDED = "each record is a member by a coin of its own; the promise is about adding or removing one record"
TWO_STEPS = (
    "members are drawn at random in a fixed number; the promise is about adding or removing one record, twice"
)


def granted(
    promise: Promise,
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
    delta: float | None = None,
) -> Grant:
    """The envelope of a record's two laws; no ``adjacency`` stands for the one that ``inclusion`` needs.

    ``delta`` is where a promise that is a curve is read as one (epsilon, delta).
    """
    how = Inclusion(inclusion)
    fixed = how is Inclusion.FIXED_NUMBER
    about = (
        Adjacency(adjacency)
        if adjacency is not None
        else Adjacency.REPLACE
        if fixed
        else Adjacency.ADD_REMOVE
    )
    envelope = promise.envelope()
    source = (
        "Dong, Roth and Su 2022"
        if isinstance(envelope, GaussianEnvelope)
        else "Kairouz, Oh and Viswanath 2015"
    )
    if about is Adjacency.REPLACE and not fixed:
        raise OptionError(
            "adjacency: a promise about replacing a record compares training sets of one size and says nothing where "
            "each record is included by a coin of its own; need add_remove",
            field="adjacency",
        )
    if about is Adjacency.REPLACE or not fixed:
        plain, assumes = isinstance(promise, ApproximateDp), REPLACED if fixed else ADDED
        return Grant(envelope, promise.pair(delta), source, assumes, plain, fixed)
    pair = _two_steps(promise, delta)
    return Grant(envelope.twice(), pair, f"{source}, twice", TWO_STEPS, plain=False, fixed=fixed)


def _two_steps(promise: Promise, delta: float | None) -> Pair | None:
    """(2 epsilon, (1 + e^epsilon) delta): P <= e^eps M + delta and M <= e^eps Q + delta. Exact for mu-GDP."""
    if isinstance(promise, GaussianDp):
        return GaussianDp(2.0 * promise.mu).pair(delta)
    once = promise.pair(delta)
    if once is None:
        return None
    both = (1.0 + exp(min(once[0], 700.0))) * once[1] if once[1] else 0.0
    return (2.0 * once[0], both) if both < 1.0 and once[0] < inf else None
