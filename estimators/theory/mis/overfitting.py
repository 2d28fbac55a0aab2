"""Theorem 11: how far training losses lie below held-out losses says how secure a learner is at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import NotFinite, TooFewRecords, UnknownName, require_open_unit, require_positive
from estimators.limits.binomial import upper_limit
from estimators.statement import Estimate, Guarantee, Interval

Floats = NDArray[np.float64]
LossesOf = Literal["one_model", "independent_trainings"]

HOLDS: dict[str, Guarantee] = {
    "one_model": Guarantee(
        "the security of this one model against attacks that cut the loss; MIS averages over training "
        "sets, and one model's number is not that average",
        "training losses belong to records drawn at random from the training set, held-out losses to "
        "independent records from the same distribution",
        True,
    ),
    "independent_trainings": Guarantee(
        "the security of the learning procedure (Theorem 11)",
        "each loss comes from a separate training on separate data",
        True,
    ),
}
"""What the upper end covers, by where the losses come from."""


@dataclass(frozen=True, slots=True)
class Overfitting:
    """At every cut, how many losses lie where, and the least upper bound on security.

    ``alpha`` is the share of training losses above the cut, ``heldout`` that of held-out losses not above it, their
    upper ends are certified for all cuts together; ``security`` has its estimate at the best cut, not corrected.
    """

    threshold: Floats
    alpha: Floats
    alpha_upper: Floats
    heldout: Floats
    heldout_upper: Floats
    at_most: Floats
    security: Estimate

    @property
    def best(self) -> int:
        """The cut that gives the bound."""
        return int(np.argmin(self.at_most))


def overfitting(
    train_losses: ArrayLike,
    heldout_losses: ArrayLike,
    gamma: float = 1.0,
    confidence: float = 0.95,
    thresholds: Sequence[float] | None = None,
    losses_of: LossesOf = "one_model",
) -> Overfitting:
    """An upper bound on security from losses: max(1, 1/gamma) (alpha + gamma P(held-out loss <= cut)), least over cuts.

    Cuts are thresholds chosen beforehand, or lie just below held-out losses of fixed ranks: what of their distribution
    lies there is at most a beta variable, whatever the distribution, and given them the training losses are binomial.
    Exact limits share the error over the cuts and the two sides (Bonferroni), so the least of the bounds may be taken.
    """
    train, heldout = _losses(train_losses, "train_losses"), _losses(heldout_losses, "heldout_losses")
    gamma = require_positive("gamma", gamma)
    if losses_of not in HOLDS:
        raise UnknownName.among("losses_of", losses_of, HOLDS)
    if thresholds is None:
        ranks = _ranks(heldout.size)
        cuts, hits = np.nextafter(heldout[ranks - 1], -np.inf), ranks - 1
    else:
        cuts = np.unique(_losses(thresholds, "thresholds"))
        hits = np.searchsorted(heldout, cuts, side="right")
    alpha = (1.0 - require_open_unit("confidence", confidence)) / (2 * cuts.size)
    above = train.size - np.searchsorted(train, cuts, side="right")
    below = np.searchsorted(heldout, cuts, side="right")
    above_upper = upper_limit(above, float(train.size), alpha)
    below_upper = upper_limit(hits, float(heldout.size), alpha)
    scale = max(1.0, 1.0 / gamma)
    at_most = np.minimum(scale * (above_upper + gamma * below_upper), 1.0)
    plain = np.minimum(scale * (above / train.size + gamma * below / heldout.size), 1.0)
    result = Interval(0.0, float(at_most.min()), confidence, HOLDS[losses_of])
    return Overfitting(
        cuts,
        above / train.size,
        above_upper,
        below / heldout.size,
        below_upper,
        at_most,
        Estimate(float(plain[int(np.argmin(at_most))]), result),
    )


def overfits(loss: float, alpha: float) -> float:
    """The epsilon at which a mean training loss means (epsilon, 1 - alpha)-overfitting: loss/alpha (Proposition 10)."""
    return loss / require_open_unit("alpha", alpha)


def _ranks(n: int) -> NDArray[np.int64]:
    """1, 2, 3, 4, 6, 8, 11, 16, ...: about two in every doubling."""
    powers = 2.0 ** (np.arange(2 * np.log2(n) + 1) / 2.0)
    return np.unique(np.minimum(np.round(powers).astype(np.int64), n))


def _losses(values: ArrayLike, field: str) -> Floats:
    """Losses in ascending order."""
    result = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if not result.size:
        raise TooFewRecords(f"{field}: got none, need at least one", field=field)
    if not np.isfinite(result).all():
        raise NotFinite(f"{field}: a loss is NaN or infinite", field=field)
    return result
