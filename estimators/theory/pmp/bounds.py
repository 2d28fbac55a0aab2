"""How often an attacker is right at a practical epsilon, and every bound on it and on MIP's eta side by side."""

from collections.abc import Callable
from math import isfinite

import numpy as np

from estimators.arrays import Floats
from estimators.errors import OutOfRange, require_nonnegative, require_open_unit, require_positive
from estimators.statement import exactly, percent
from estimators.theory import shifts
from estimators.theory.bounds import Bound, side_by_side
from estimators.theory.dp import advantage_ceiling
from estimators.theory.pmp.exponential import Summed, Tabled
from estimators.theory.pmp.gaussian import Distances, Gaussian, least
from estimators.theory.pmp.laws import InOut
from estimators.theory.pmp.sampled import SampledEpsilon


def success(epsilon: float, delta: float = 0.0) -> float:
    """No attacker is right more often: 1/(1+e^-eps) at delta 0 (Lemma 6), delta + (1-delta)/(1+e^-eps) beyond.

    In and out are as likely, and their laws are (epsilon, delta)-close both ways: the corners of the DP ROC curve.
    """
    return (1.0 + advantage_ceiling(epsilon, delta)) / 2.0


def mip_eta(epsilon: float, delta: float = 0.0) -> float:
    """MIP's eta of what is (epsilon, delta)-PMP: success less a coin's half, tanh(eps/2)/2 at delta 0."""
    return advantage_ceiling(epsilon, delta) / 2.0


def mip_eta_as_printed(epsilon: float) -> float:
    """Lemma 13's (1 - e^-eps)/2: true, but twice too large for small epsilon."""
    return float(-np.expm1(-require_nonnegative("epsilon", epsilon)) / 2.0)


PRACTICAL, ETA = "practical_epsilon", "mip_eta"
NINE, OURS = "PMP, Proposition 9", "this project"


def of_laws(laws: InOut) -> tuple[Bound, ...]:
    """What the two laws of every record are, exactly, and Proposition 9's one direction of it."""
    return (
        Bound(PRACTICAL, "exact", "largest |ln ratio|", laws.epsilon, f"{NINE}, both ways (Definition 2)"),
        Bound(PRACTICAL, "one_way", "largest ln ratio of in over out", laws.one_way, NINE, proven=False),
        Bound(ETA, "exact", "half of the total variation", laws.mip_eta, "MIP, Proposition 2"),
    )


def of_finite(laws: InOut, delta: float) -> tuple[Bound, ...]:
    """Everything about a finite law at a delta; Proposition 9's one direction and Lemma 13 are of delta 0."""
    practical = laws.epsilon_at(delta)
    if not delta:
        rows = of_laws(laws)
    else:
        says = f"least epsilon at delta {exactly(delta)}, over all events"
        rows = (
            Bound(PRACTICAL, "exact", says, practical, "PMP, Definition 2"),
            Bound(ETA, "exact", "half of the total variation", laws.mip_eta, "MIP, Proposition 2"),
        )
    if isfinite(practical):
        says = "from practical epsilon and delta" if delta else "tanh(practical epsilon / 2) / 2"
        rows += (Bound(ETA, "practical", says, mip_eta(practical, delta), OURS),)
    if isfinite(practical) and not delta:
        paper = mip_eta_as_printed(practical)
        rows += (Bound(ETA, "as_printed", "(1 - e^-practical epsilon) / 2", paper, "PMP, Lemma 13"),)
    return side_by_side(rows)


def of_draws(sample: SampledEpsilon) -> tuple[Bound, ...]:
    """What training sets at random leave open."""
    assumes = f"{percent(sample.estimate.interval.confidence)} confidence over the draws"
    return (Bound(PRACTICAL, "sampled", "upper end of the interval", sample.estimate.upper, OURS, assumes),)


def of_exponential(mechanism: Summed | Tabled, epsilon: float, laws: InOut | SampledEpsilon) -> tuple[Bound, ...]:
    """Everything about an exponential mechanism."""
    bounds = of_laws(laws) if isinstance(laws, InOut) else of_draws(laws)
    practical, assumes = bounds[0].value, bounds[0].assumes
    if isinstance(mechanism, Summed):
        most = float(mechanism.exchanges(epsilon).max())
        bounds += (Bound(PRACTICAL, "exchanges", "mean over exchanges of a record", most, OURS),)
    return side_by_side(
        (
            *bounds,
            Bound(PRACTICAL, "dp", "DP's epsilon, never exceeded", epsilon, "PMP, Proposition 5"),
            Bound(ETA, "practical", "tanh(practical epsilon / 2) / 2", mip_eta(practical), OURS, assumes),
            Bound(
                ETA,
                "as_printed",
                "(1 - e^-practical epsilon) / 2",
                mip_eta_as_printed(practical),
                "PMP, Lemma 13",
                assumes,
            ),
            Bound(ETA, "dp", "tanh(epsilon / 2) / 2", mip_eta(epsilon), "MIP, Theorem 4"),
        )
    )


def of_gaussian(mechanism: Gaussian, epsilon: float, practical: float, delta: float) -> tuple[Bound, ...]:
    """Everything about a Gaussian mechanism, of which DP's ``epsilon`` and the ``practical`` one are known already."""
    on_records = mechanism.on_records(delta)
    variation = mechanism.total_variation()
    return side_by_side(
        (
            Bound(PRACTICAL, "exchanges", "mean over exchanges of a record", practical, "PMP, Proposition 12"),
            Bound(PRACTICAL, "on_records", "worst exchange of two of them", on_records, "PMP, epsilon(X)"),
            Bound(PRACTICAL, "dp", "worst exchange of any two records", epsilon, "PMP, Lemma 10"),
            Bound(ETA, "total_variation", "half of Proposition 12 at epsilon 0", variation / 2.0, OURS),
            Bound(ETA, "practical", "from practical epsilon and delta", mip_eta(practical, delta), OURS),
            Bound(ETA, "dp", "from DP's epsilon and delta", mip_eta(epsilon, delta), "MIP, Theorem 4"),
        )
    )


# The noise for a wanted practical epsilon: DP's epsilon of an exponential mechanism, sigma of a Gaussian one.


GROWTH = 1.1  # steps by which epsilon is raised until the practical epsilon is too large
FARTHEST = 1000.0  # an epsilon beyond is no choice of noise any more
STEPS, HALVINGS = 40, 24  # halvings of the last step; fewer where each compares all pairs of records
LEAST = 1e-9  # a wanted practical epsilon below is refused: rounding alone would decide whether it is kept


def epsilon(mechanism: Summed | Tabled, target: float, farthest: float = FARTHEST) -> float:
    """DP's epsilon at which the exact practical epsilon is ``target``, found from below.

    The practical epsilon is **not** monotone in epsilon: an outcome that gives a record away may become
    rare. So epsilon is raised in steps from ``target``, which is always enough since PMP never exceeds DP
    (Proposition 5), and the first step that is too far is halved. At what is returned the practical
    epsilon was computed and is at most ``target``; so it was at every smaller step.
    """
    return _first(lambda e: mechanism.exact(e).epsilon, _require_target(target), farthest)


def epsilon_by_exchanges(mechanism: Summed, target: float, farthest: float = FARTHEST) -> float:
    """The same from the bound by exchanges, which needs no enumeration; it rises with epsilon, so all below keep it."""
    low = high = _require_target(target)
    while high < farthest:
        high = min(2.0 * high, farthest)
        if mechanism.exchanges(high).max() > target:
            return _halve(lambda e: float(mechanism.exchanges(e).max()), target, low, high, HALVINGS)
        low = high
    return low


def epsilon_on_records(mechanism: Summed | Tabled, target: float, farthest: float = 1e6) -> float:
    """DP's epsilon whose epsilon(X), with both training sets among these records, is ``target``: as the paper plots.

    epsilon(X) need not rise with epsilon either; ``target`` is a start because it never exceeds epsilon.
    """
    return _first(mechanism.on_records, _require_target(target), farthest)


def sigma(distances: Distances, target: float, delta: float) -> float:
    """Least noise at which Proposition 12 gives at most ``delta`` at the ``target`` practical epsilon.

    The hockey stick falls as sigma grows, so everything above keeps it as well: it is rounded up a little.
    """
    target, delta = require_nonnegative("wanted", target), require_open_unit("delta", delta)
    if distances.largest == 0.0:
        return 0.0
    enough = shifts.gaussian_sigma(distances.largest, target, delta) * (1.0 + 1e-12)

    def stick(apart: Floats, noise: float) -> Floats:
        return shifts.gaussian_delta(apart / noise, target)

    return least(distances, stick, delta, enough * 1e-9, enough) * (1.0 + 1e-10)


def _require_target(target: float) -> float:
    if require_positive("wanted", target) < LEAST:
        raise OutOfRange.about("wanted", f"got {target!r}, need at least {LEAST:g}")
    return float(target)


def _first(practical: Callable[[float], float], target: float, farthest: float) -> float:
    low, high = target, target * GROWTH
    while practical(high) <= target:
        if high >= farthest:
            return farthest if practical(farthest) <= target else low
        low, high = high, min(high * GROWTH, farthest)
    return _halve(practical, target, low, high, STEPS)


def _halve(practical: Callable[[float], float], target: float, low: float, high: float, steps: int) -> float:
    for _ in range(steps):
        middle = (low + high) / 2.0
        low, high = (middle, high) if practical(middle) <= target else (low, middle)
    return low
