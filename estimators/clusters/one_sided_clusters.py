"""Limits of an error whose two rates rest on clusters of their own: what both sides' fortunes do not refuse."""

from math import log

import numpy as np

from estimators.arrays import Floats, lengths

UP = (0.3, 0.6, 0.9)  # shares of the fortune that are staked on a rate being larger than claimed
DOWN = (0.3, 0.8)  # and on its being smaller; they have a quarter of the fortune

PART_UP = 0.75

CLAIMS = (24, 96)
"""Claims of a rate that are looked at, evenly from 0 to 1: for every rule, then for those that may be the best."""

NEAR = 0.8  # rules are looked at more closely if they came as near to the best as so many of these steps

MOST_SHARES = 40
"""Shares of a side, of which each is a mean over clusters where there are more; no fortune then leaves the floats."""

LEAST = 1e-6  # the least claim, in place of 0


def least_error(members: Floats, nonmembers: Floats, prior: float, alpha: float) -> float:
    """The least p a + (1-p) b of any rule whose rates of wrong guesses a and b are not refused.

    Shares of wrong guesses are (rules, clusters of the side). A rule is fixed, so that fortunes made against a and
    against b are independent and multiply.
    """
    one, other = _few(members), _few(nonmembers)
    least = np.empty(0)
    for claims in CLAIMS:
        least = _least(one, other, prior, alpha, claims)
        near = least <= least.min() + NEAR / claims
        one, other = one[near], other[near]
    return float(least.min())


def _few(shares: Floats) -> Floats:
    """Means over groups of clusters, if there are many."""
    number = shares.shape[1]
    if number <= MOST_SHARES:
        return shares
    starts = np.arange(MOST_SHARES) * number // MOST_SHARES
    return np.asarray(np.add.reduceat(shares, starts, axis=1) / lengths(starts, number))


def _least(members: Floats, nonmembers: Floats, prior: float, alpha: float, claims: int) -> Floats:
    """For each rule the least sum over claims of the first rate; the second is taken at the claim below."""
    grid = np.linspace(0.0, 1.0, claims + 1)
    first, second = (_log_fortune(side, grid) for side in (members, nonmembers))
    # the least claim of the second rate at which its fortune leaves both together below 1/alpha
    left = -log(alpha) - first
    best = np.ones(len(members))
    for i, claim in enumerate(grid):
        first_refused = np.argmax(second < left[:, i : i + 1], axis=1)
        open_ = second.min(axis=1) < left[:, i]
        value = prior * claim + (1.0 - prior) * grid[np.maximum(first_refused - 1, 0)]
        best = np.where(open_, np.minimum(best, value), best)
    return best


def _log_fortune(shares: Floats, claims: Floats) -> Floats:
    """Log of the fortune made against each claim of a rule's rate, (rules, claims)."""
    claims = np.clip(claims, LEAST, 1.0 - LEAST)
    total = np.zeros((len(shares), len(claims)))
    for stakes, part, up in ((UP, PART_UP, True), (DOWN, 1.0 - PART_UP, False)):
        odds = (1.0 / claims) if up else 1.0 / (1.0 - claims)
        for stake in stakes:
            fortune = np.ones_like(total)
            for share in shares.T if up else 1.0 - shares.T:
                fortune *= (1.0 - stake) + (stake * share)[:, None] * odds
            total += part / len(stakes) * fortune
    return np.asarray(np.log(total))
