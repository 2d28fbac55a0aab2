"""What four papers make of (epsilon, delta): as printed, and mended where that is wrong or too loose."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from estimators.errors import OutOfRange, require_nonnegative, require_number, require_share
from estimators.theory.dp.ceilings import advantage_ceiling, epsilon_from_advantage
from estimators.theory.weights import gamma_of


def mip_eta(epsilon: float, delta: float = 0.0) -> float:
    """Accuracy above one half that (epsilon, delta)-DP allows: delta + (1-delta)/(1+e^-epsilon) - 1/2 (MIP, Theorem 4).

    Attained: n = 2, k = 1 and the randomised response that tells the truth outright with probability delta.
    """
    return advantage_ceiling(epsilon, delta) / 2.0


def epsilon_from_mip_eta(eta: float, delta: float = 0.0) -> float:
    """Theorem 4 the other way: ln((1 + 2 eta - 2 delta)/(1 - 2 eta)), 0 if delta alone allows it, infinite at 1/2."""
    if not 0.0 <= require_number("eta", eta) <= 0.5:
        raise OutOfRange(f"eta: got {eta!r}, need a number from 0 to 0.5", field="eta")
    return epsilon_from_advantage(2.0 * eta, delta)


def theorem_8_printed(eta: float, fpr: float) -> float:
    """TPR <= FPR + eta (MIP, Theorem 8), which randomised response refutes: its TPR - FPR is 2 eta."""
    return min(1.0, fpr + eta)


def theorem_8(eta: float, fpr: float) -> float:
    """TPR <= FPR + 2 eta: (TPR + 1 - FPR)/2 <= 1/2 + eta, and the proof loses P(member) = 1/2."""
    return min(1.0, fpr + 2.0 * eta)


def lemma_6(epsilon: float) -> float:
    """Success of any attack at prior 1/2 under epsilon-PMP, which epsilon-DP implies: 1/(1+e^-epsilon)."""
    return float(expit(require_nonnegative("epsilon", epsilon)))


def lemma_13_printed(epsilon: float) -> float:
    """MIP's eta under epsilon-PMP: (1-e^-epsilon)/2, true, but twice too large for small epsilon (PMP, Lemma 13)."""
    return float(-np.expm1(-require_nonnegative("epsilon", epsilon)) / 2.0)


def equation_9(epsilon: float, delta: float, nonmember_share: float, member_weight: float = 1.0) -> float:
    """MIS's Delta = 1 - Sec: max(1,g) [(e^eps - 1/g)_+ - (1 - 1/g)_+ + delta] (Eq. 9); it may exceed 1.

    Its proof (Eq. 53) puts gamma on the wrong law. As DP holds both ways round, the bound stands.
    """
    g = gamma_of(nonmember_share, member_weight)
    with np.errstate(over="ignore"):
        gain = np.maximum(np.exp(require_nonnegative("epsilon", epsilon)) - 1.0 / g, 0.0)
        bracket = gain - max(0.0, 1.0 - 1.0 / g) + require_share("delta", delta)
        return float(max(1.0, g) * bracket)


def total_variation_printed(distance: float, nonmember_share: float, member_weight: float = 1.0) -> float:
    """MIS's Delta <= max(1, gamma) TV (Appendix H.2)."""
    return max(1.0, gamma_of(nonmember_share, member_weight)) * distance


def iid_gain(epsilon: float, members: float, nonmembers: float) -> float:
    """What members TPR + nonmembers (1 - FPR) gains over epsilon-DP where all records are i.i.d., the target too.

    A nonmember's law is then M = E_z A(z), the mean over what may stand in its place, and the laws A(z) differ by a
    factor k = e^epsilon at most, pairwise. At each outcome E max(members A, nonmembers M) is convex in A, so A takes
    the two values m and k m; with A = k m for a share x of records, the best x gives
    (k (members + nonmembers) - 2 sqrt(k members nonmembers))/(k - 1), and tanh(epsilon/4) for the advantage at 1/2.
    Subset selection attains it as the alphabet grows (Ye and Barg 2018). What is gained is the smaller weight less the
    errors, which are never negative.
    """
    epsilon = require_nonnegative("epsilon", epsilon)
    if abs(np.log(members / nonmembers)) >= epsilon:
        return 0.0
    # top and bottom divided by k, so that nothing overflows
    mixed = 2.0 * float(np.sqrt(members * nonmembers)) * float(np.exp(-epsilon / 2.0))
    errors = (mixed - (members + nonmembers) * float(np.exp(-epsilon))) / -float(np.expm1(-epsilon))
    return max(0.0, min(members, nonmembers) - max(0.0, errors))
