"""Epsilon by betting: whoever stakes on right guesses wins, where epsilon is larger than was claimed."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import exp, inf, log, pi

import numpy as np
from scipy.special import expit, ndtr, ndtri

from estimators.arrays import Booleans, Floats
from estimators.theory.dp.promise import Corners, Envelope, GaussianEnvelope
from estimators.theory.one_run.guesses import Guesses

STAKES: Floats = np.array([0.05, 0.1, 0.2, 0.4, 0.7, 0.9, 0.98])[:, None]
"""Shares of what is had that are staked on each guess; the bet has an equal part on each."""

ON_DELTA = 0.2  # share of the level that is spent on delta letting more guesses be right than are forgiven
LARGEST = 60.0  # epsilons are looked for up to here
MOST_FORGIVEN = 2**62 - 1  # more than any run has guesses: there all are counted as wrong
CLOSE = 1e-6  # how closely a bound is found, from below


def log_wealth(guesses: Guesses, epsilon: float, forgiven: int) -> Floats:
    """Logarithm of what a bet against ``epsilon`` has at each stop, forgiven guesses counted as wrong."""
    win, lose = np.log1p(STAKES * exp(-epsilon)), np.log1p(-STAKES)  # (1 - q) / q is e^-epsilon
    each = (guesses.right - forgiven) * win + (guesses.wrong + forgiven) * lose
    return np.asarray(np.logaddexp.reduce(each, axis=0) - log(len(STAKES)))


def forgiven_guesses(coins: int, epsilon: float, delta: float, level: float) -> int:
    """One less than a power of two: more guesses than that are let be right with probability ON_DELTA level at most."""
    forgiven, mean = 0, coins * delta * float(expit(-epsilon))
    while mean > ON_DELTA * level * (forgiven + 1):
        forgiven = 2 * forgiven + 1
    return forgiven


def bet_wins(guesses: Guesses, epsilon: float, delta: float, level: float) -> bool:
    """Whether (epsilon, delta) is refuted at a level."""
    forgiven = forgiven_guesses(guesses.coins, epsilon, delta, level)
    need = -log(level * (1.0 - ON_DELTA) if delta else level)
    return bool(log_wealth(guesses, epsilon, forgiven).max(initial=-inf) >= need)


def all_refuted(guesses: Guesses, epsilon: float, delta: float, level: float) -> bool:
    """Whether each epsilon up to one is refuted, as the bound asks, too: else the two would not hold together."""
    below = [max(0.0, edge - 1e-9) for edge in _edges(guesses.coins, delta, level) if edge < epsilon]
    return all(bet_wins(guesses, each, delta, level) for each in (epsilon, *below, 0.0))


def epsilon_refuted(guesses: Guesses, delta: float, level: float) -> float:
    """The largest epsilon up to which all are refuted."""
    return _all_up_to(lambda epsilon: bet_wins(guesses, epsilon, delta, level), _edges(guesses.coins, delta, level))


def _edges(coins: int, delta: float, level: float) -> Iterator[float]:
    """Epsilons at which fewer guesses are forgiven than just below."""
    share = ON_DELTA * level / max(coins * delta, 1e-300)
    while share < 0.5:
        yield log(1.0 / share - 1.0)
        share *= 2.0


def _all_up_to(refuted: Callable[[float], bool], edges: Iterable[float]) -> float:
    """The largest epsilon up to which all are refuted: a larger one is harder to, as long as as many are forgiven."""
    low = 0.0
    if not refuted(low):
        return low
    for edge in sorted((*(edge for edge in edges if edge < LARGEST), LARGEST)):
        high = max(low, edge - 1e-9)
        if not refuted(high):
            return last_refuted(refuted, low, high)
        low = high
    return low


def last_refuted(refuted: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number that is refuted, to within CLOSE from below, where ``low`` is and ``high`` is not."""
    while high - low > CLOSE * max(1.0, low):
        middle = (low + high) / 2.0
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def p_value(refuted: Callable[[float], bool]) -> float:
    """The smallest level at which a test refutes, from above; 1 if none does."""
    low, high = -700.0, 0.0
    if not refuted(1.0):
        return 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if refuted(exp(middle)) else (middle, high)
    return exp(high)


def epsilon_refuted_over(runs: Sequence[Guesses], delta: float, level: float) -> float:
    """The largest epsilon up to which all are refuted by what the bet has after the last of these runs."""
    need, edges, gain = _bets_of_runs(runs, delta, level)
    return _all_up_to(lambda epsilon: bool(gain(epsilon).sum() >= need), edges)


def refuted_after(runs: Sequence[Guesses], epsilon: float, delta: float, level: float) -> Booleans:
    """After each of these runs whether each epsilon up to one is refuted, as the bound asks, too."""
    need, edges, gain = _bets_of_runs(runs, delta, level)
    below = {max(0.0, edge - 1e-9) for edge in edges if edge < epsilon}
    wins: Booleans = np.ones(len(runs), dtype=np.bool_)
    for each in (epsilon, 0.0, *sorted(below)):
        if wins.any():  # mostly soon told
            wins = wins & (np.cumsum(gain(each)) >= need)
    return wins


def _bets_of_runs(
    runs: Sequence[Guesses], delta: float, level: float
) -> tuple[float, list[float], Callable[[float], Floats]]:
    """What refutes, epsilons at which less is forgiven than just below, and what the bet gains in each run."""
    # parts of the level, however many runs follow
    parts = [level * 6.0 / (pi * at) ** 2 for at in range(1, len(runs) + 1)]
    need = -log(level * (1.0 - ON_DELTA) if delta else level)

    # of each run a row, beside it a place for stakes, then its looks
    wrong, right = np.stack([run.looks for run in runs], axis=1)[:, :, None]

    def gain(epsilon: float) -> Floats:
        win, lose = np.log1p(STAKES * exp(-epsilon)), np.log1p(-STAKES)
        forgiven = np.array(
            [
                min(MOST_FORGIVEN, forgiven_guesses(run.coins, epsilon, delta, part))
                for run, part in zip(runs, parts, strict=True)
            ]
        )[:, None, None]
        bets = (right - forgiven) * win + (wrong + forgiven) * lose
        return np.asarray(np.logaddexp.reduce(bets, axis=(1, 2)) - log(bets[0].size))

    edges = [edge for run, part in zip(runs, parts, strict=True) for edge in _edges(run.coins, delta, part)]
    return need, edges, gain


def _least_fpr(envelope: Envelope) -> Callable[[float], float]:
    """The least FPR at which a TPR is allowed."""
    if isinstance(envelope, GaussianEnvelope):
        mu = envelope.mu
        return lambda tpr: float(ndtr(ndtri(tpr) - mu)) if tpr < 1.0 else 1.0
    assert isinstance(envelope, Corners)
    across, up = envelope.fpr.tolist(), np.where(envelope.height > 1.0 - 1e-12, 1.0, envelope.height).tolist()

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
