"""Ceilings on advantage and risk in closed form, and back to the promise that gives them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit, ndtr, ndtri

from estimators.errors import (
    OutOfRange,
    require_nonnegative,
    require_number,
    require_open_unit,
    require_share,
)
from estimators.statement import baseline


def advantage_ceiling(epsilon: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Largest advantage over the population that (epsilon, delta)-DP allows: max(|2p-1|, tanh(epsilon/2)) at delta 0.

    The ROC curve of any such mechanism lies below the corners (0, delta), (a, 1-a), (1-delta, 1) with
    a = (1-delta)/(1+e^epsilon), and accuracy is linear, so a corner is best (erratum E3).
    Membership and training must both be random: on a fixed S a 0-DP model may have advantage 1 (E1).
    """
    epsilon = require_nonnegative("epsilon", epsilon)
    delta = require_share("delta", delta)
    p = require_open_unit("prior", prior)
    inner = delta + (1.0 - delta) * float(np.tanh(epsilon / 2.0))  # 1 - 2a, to the last bit near 0
    return max(inner, 1.0 - 2.0 * min(p, 1.0 - p) * (1.0 - delta))


def individual_risk_ceiling(epsilon: float, prior: float = 0.5) -> float:
    """Largest individual risk that epsilon-DP allows: tanh((epsilon + |lambda|)/2) (MACE, Theorem 1.4).

    lambda = logit(prior) is the log odds before, epsilon the most they move. With delta > 0 a single
    score may give its record away, and there is no ceiling below 1.
    """
    require_nonnegative("epsilon", epsilon)
    return float(np.tanh((epsilon + abs(logit(require_open_unit("prior", prior)))) / 2.0))


def gdp_ceiling(mu: float, prior: float = 0.5) -> float:
    """Largest advantage over the population that mu-GDP allows: 2 Phi(mu/2) - 1 at prior 1/2.

    The worst case is N(0, 1) against N(mu, 1), where the best cut is at mu/2 - lambda/mu (Dong, Roth, Su 2022).
    """
    require_nonnegative("mu", mu)
    p = require_open_unit("prior", prior)
    if mu == 0.0:
        return baseline(p)
    tilt = float(logit(p)) / mu
    return float(2.0 * (p * ndtr(mu / 2.0 + tilt) + (1.0 - p) * ndtr(mu / 2.0 - tilt)) - 1.0)


def epsilon_from_advantage(advantage: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Smallest epsilon whose ceiling reaches ``advantage``: 2 atanh(advantage) at delta 0, prior 1/2.

    Put in a lower bound on the advantage and it is one on epsilon (study 2.6); infinite at 1.
    """
    advantage = _require_advantage(advantage)
    if advantage <= advantage_ceiling(0.0, delta, prior):
        return 0.0
    if advantage == 1.0:
        return float("inf")
    return float(np.log1p(2.0 * (advantage - delta) / (1.0 - advantage)))


def gdp_from_advantage(advantage: float, prior: float = 0.5) -> float:
    """Smallest mu whose ceiling reaches ``advantage``: 2 Phi^-1((1 + advantage)/2) at prior 1/2."""
    advantage = _require_advantage(advantage)
    if advantage <= gdp_ceiling(0.0, prior):
        return 0.0
    if advantage == 1.0:
        return float("inf")
    # the better side alone has at most the whole advantage, so twice the quantile and the lean bracket the root
    top = 2.0 * float(ndtri((1.0 + advantage) / 2.0)) + 2.0 * abs(float(logit(prior))) + 1.0
    return float(brentq(lambda mu: gdp_ceiling(mu, prior) - advantage, 0.0, top, xtol=1e-13))


def _require_advantage(advantage: float) -> float:
    number = require_number("advantage", advantage)
    if not 0.0 <= number <= 1.0:
        raise OutOfRange(f"advantage: got {number!r}, need a number from 0 to 1", field="advantage")
    return number
