"""Theorem 11: how far training losses lie below held-out losses says how secure a learner is at most."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import Floats
from estimators.limits.binomial import upper_limit
from estimators.python.dataclass import dataclass
from estimators.statement import Estimate, Guarantee, Interval

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
    gamma = errors.require_positive("gamma", gamma)
    if losses_of not in HOLDS:
        raise errors.UnknownName.among("losses_of", losses_of, HOLDS)
    if thresholds is None:
        ranks = _ranks(heldout.size)
        cuts, hits = np.nextafter(heldout[ranks - 1], -np.inf), ranks - 1
    else:
        cuts = np.unique(_losses(thresholds, "thresholds"))
        hits = np.searchsorted(heldout, cuts, side="right")
    alpha = (1.0 - errors.require_open_unit("confidence", confidence)) / (2 * cuts.size)
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
    if loss > errors.require_open_unit("alpha", alpha) * np.finfo(np.float64).max:
        raise errors.OutOfRange.about("alpha", "is so small that the mean loss divided by it is no number")
    return loss / alpha


@dataclass(frozen=True, slots=True)
class Overfits:
    """What the mean of the training losses alone says (Proposition 10), and Theorem 11 at the cut that it gives.

    Attributes:
        alpha: Share of training losses that may lie above the cut.
        mean_loss: Mean of the training losses.
        epsilon: The cut: the mean is at most alpha times it, so no larger share of the losses lies above (Markov).
        above: Share of training losses that do lie above.
        heldout: Share of held-out losses at the cut or below.
        heldout_upper: Its upper end.
        security_upper: Theorem 11 there; None unless the losses are of one model, for then their mean is no estimate.
    """

    alpha: float
    mean_loss: float
    epsilon: float
    above: float
    heldout: float
    heldout_upper: float
    security_upper: float | None


def by_mean(
    train_losses: ArrayLike,
    heldout_losses: ArrayLike,
    alpha: float,
    gamma: float = 1.0,
    confidence: float = 0.95,
    losses_of: LossesOf = "one_model",
) -> Overfits:
    """Proposition 10 at ``alpha``, of losses that are at least 0.

    The cut comes from the training losses alone, so how many held-out losses lie below is binomial. With the losses of
    all training records of one model, a share alpha at most lies above, and Theorem 11 follows with that confidence.
    """
    train, heldout = _losses(train_losses, "train_losses"), _losses(heldout_losses, "heldout_losses")
    if train[0] < 0.0:
        raise errors.OutOfRange.about("train_losses", "need losses of at least 0 with alpha (Proposition 10)")
    mean = float(train.mean())
    epsilon = overfits(mean, alpha)
    hits = int(np.searchsorted(heldout, epsilon, side="right"))
    error = 1.0 - errors.require_open_unit("confidence", confidence)
    upper = float(upper_limit(hits, float(heldout.size), error))
    most = max(1.0, 1.0 / gamma) * (alpha + errors.require_positive("gamma", gamma) * upper)
    return Overfits(
        alpha,
        mean,
        epsilon,
        float(np.mean(train > epsilon)),
        hits / heldout.size,
        upper,
        min(1.0, most) if losses_of == "one_model" else None,
    )


def _ranks(n: int) -> NDArray[np.int64]:
    """1, 2, 3, 4, 6, 8, 11, 16, ...: about two in every doubling."""
    powers = 2.0 ** (np.arange(2 * np.log2(n) + 1) / 2.0)
    return np.unique(np.minimum(np.round(powers).astype(np.int64), n))


def _losses(values: ArrayLike, field: str) -> Floats:
    result = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if not result.size:
        raise errors.TooFewRecords.about(field, "got none, need at least one")
    if not np.isfinite(result).all():
        raise errors.NotFinite.about(field, "a loss is NaN or infinite")
    if result[0] == -np.finfo(np.float64).max:
        raise errors.OutOfRange.about(field, f"a loss is {result[0]:.3g}, below which no cut can lie")
    return result
