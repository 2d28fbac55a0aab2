"""The advantage that (epsilon, delta)-differential privacy allows at any prior, and the epsilon that one asks for.

Closed forms; ``estimators.theory.dp`` has those of other promises, and what four papers make of them.
"""

from __future__ import annotations

import numpy as np

from estimators.errors import require_from_zero_to_one, require_nonnegative, require_open_unit


def advantage_ceiling(epsilon: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Largest advantage over the population that (epsilon, delta)-DP allows: max(|2p-1|, tanh(epsilon/2)) at delta 0.

    The ROC curve of any such mechanism lies below the corners (0, delta), (a, 1-a), (1-delta, 1) with
    a = (1-delta)/(1+e^epsilon), and accuracy is linear, so a corner is best (erratum E3).
    Membership and training must both be random: on a fixed S a 0-DP model may have advantage 1 (E1).
    """
    epsilon = require_nonnegative("epsilon", epsilon)
    delta = require_from_zero_to_one("delta", delta)
    p = require_open_unit("prior", prior)
    inner = delta + (1.0 - delta) * float(np.tanh(epsilon / 2.0))  # 1 - 2a, to the last bit near 0
    return max(inner, 1.0 - 2.0 * min(p, 1.0 - p) * (1.0 - delta))


def epsilon_from_advantage(advantage: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Smallest epsilon whose ceiling reaches ``advantage``: 2 atanh(advantage) at delta 0, prior 1/2.

    Put in a lower bound on the advantage and it is one on epsilon (study 2.6); infinite at 1.
    """
    advantage = require_from_zero_to_one("advantage", advantage)
    if advantage <= advantage_ceiling(0.0, delta, prior):
        return 0.0
    if advantage == 1.0:
        return float("inf")
    return float(np.log1p(2.0 * (advantage - delta) / (1.0 - advantage)))
