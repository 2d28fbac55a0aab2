"""The other way round: the largest promise that keeps an advantage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from estimators.errors import OutOfRange, require_number, require_open_unit, require_share
from estimators.theory.dp.envelope import LARGEST
from estimators.theory.dp.promise import Adjacency, ApproximateDp, GaussianDp, Inclusion, Promise, granted
from estimators.theory.shifts import last
from estimators.theory.weights import advantage_of


@dataclass(frozen=True, slots=True)
class Keeping:
    """The largest epsilon at ``delta``, and the largest mu, that keep the advantage at most so; None if none does."""

    advantage: float
    prior: float
    delta: float
    epsilon: float | None
    mu: float | None


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
    most, p = require_number("advantage", advantage), require_open_unit("prior", prior)
    if not 0.0 <= most < 1.0:
        raise OutOfRange(
            f"advantage: got {most!r}, need a number from 0 up to but not including 1", field="advantage"
        )
    require_share("delta", delta)

    def largest(promised: Callable[[float], Promise]) -> float | None:
        def holds(value: float) -> bool:
            envelope = granted(promised(value), adjacency, inclusion).envelope
            return advantage_of(envelope.gain(p, 1.0 - p), p) <= most

        return last(holds, 0.0, LARGEST) if holds(0.0) else None

    return Keeping(most, p, delta, largest(lambda value: ApproximateDp(value, delta)), largest(GaussianDp))
