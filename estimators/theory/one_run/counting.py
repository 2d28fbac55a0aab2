"""A curve by counting: a number of guesses that is fixed beforehand is right so often only if the curve allows it."""

from bisect import bisect_left
from collections.abc import Callable

from scipy.special import ndtr, ndtri

from estimators.theory.dp.promise import Corners, Envelope, GaussianEnvelope
from estimators.theory.one_run.betting import LARGEST, last_refuted
from estimators.theory.one_run.guesses import Guesses


def _least_fpr(envelope: Envelope) -> Callable[[float], float]:
    """The least FPR at which a TPR is allowed."""
    if isinstance(envelope, GaussianEnvelope):
        mu = envelope.mu
        return lambda tpr: float(ndtr(ndtri(tpr) - mu)) if tpr < 1.0 else 1.0
    assert isinstance(envelope, Corners)
    across, up = envelope.fpr.tolist(), envelope.height.tolist()

    def least(tpr: float) -> float:
        at = bisect_left(up, tpr)
        if at == 0:
            return 0.0
        if at == len(up):
            return 1.0
        part = (tpr - up[at - 1]) / (up[at] - up[at - 1])
        return float(across[at - 1] + part * (across[at] - across[at - 1]))

    return least


def _possible(
    coins: int, guesses: int, right: int, alike: int, least_fpr: Callable[[float], float], chance: float
) -> bool:
    """Whether so many of the guesses may be right with this probability, or more do."""
    both = 2.0 if alike else 1.0
    hits, misses = chance * right / coins, chance * (guesses - right) / coins
    most = guesses / coins * (1.0 + 1e-12)
    for fewer in range(right - 1, -1, -1):
        if both * hits > 1.0:
            return False
        need = least_fpr(both * hits) / both
        if need <= misses:
            return True
        hits, misses = hits + fewer / (guesses - fewer) * (need - misses), need
        if hits + misses > most:
            return False
    return True


def count_refutes(guesses: Guesses, envelope: Envelope, level: float) -> bool:
    """Whether a curve is refuted at a level by any way to guess, each at its share."""
    least_fpr = _least_fpr(envelope)
    ways = zip(guesses.ways.tolist(), guesses.shares.tolist(), strict=True)
    return any(
        right and not _possible(guesses.coins, number, right, alike, least_fpr, level * share)
        for (number, right, alike), share in ways
    )


def mu_refuted(guesses: Guesses, level: float) -> float:
    """The largest mu whose Gaussian curve is refuted."""

    def refuted(mu: float) -> bool:
        return count_refutes(guesses, GaussianEnvelope(mu), level)

    high = 0.5
    if not refuted(0.0):
        return 0.0
    while high < LARGEST and refuted(high):
        high *= 2.0
    return last_refuted(refuted, 0.0 if high == 0.5 else high / 2.0, high)
