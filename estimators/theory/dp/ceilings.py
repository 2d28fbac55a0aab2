"""Ceilings in closed form and back, and what four papers make of (epsilon, delta), mended where that is wrong."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from estimators.errors import (
    OutOfRange,
    require_from_zero_to_one,
    require_nonnegative,
    require_number,
    require_open_unit,
    require_positive,
)
from estimators.limits.root import brentq
from estimators.privacy.epsilon import advantage_ceiling, epsilon_from_advantage
from estimators.python.dataclass import dataclass
from estimators.statement import baseline
from estimators.theory.bounds import Bound, advantage_of, gamma_of, normalised, side_by_side
from estimators.theory.dp.promise import Adjacency, Corners, Envelope, Grant, Inclusion, Promise, grant_of


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
    return require_from_zero_to_one("advantage", advantage)


def mip_eta(epsilon: float, delta: float = 0.0) -> float:
    """Accuracy above one half that (epsilon, delta)-DP allows: delta + (1-delta)/(1+e^-epsilon) - 1/2 (MIP, Theorem 4).

    Attained: n = 2, k = 1 and the randomised response that tells the truth outright with probability delta.
    """
    return advantage_ceiling(epsilon, delta) / 2.0


def epsilon_from_mip_eta(eta: float, delta: float = 0.0) -> float:
    """Theorem 4 the other way: ln((1 + 2 eta - 2 delta)/(1 - 2 eta)), 0 if delta alone allows it, infinite at 1/2."""
    if not 0.0 <= require_number("eta", eta) <= 0.5:
        raise OutOfRange.about("eta", f"got {eta!r}, need a number from 0 to 0.5")
    return epsilon_from_advantage(2.0 * eta, delta)


def theorem_8_printed(eta: float, fpr: float) -> float:
    """TPR <= FPR + eta (MIP, Theorem 8), which randomised response refutes: its TPR - FPR is 2 eta."""
    return min(1.0, fpr + eta)


def theorem_8(eta: float, fpr: float) -> float:
    """TPR <= FPR + 2 eta: (TPR + 1 - FPR)/2 <= 1/2 + eta, and the proof loses P(member) = 1/2."""
    return min(1.0, fpr + 2.0 * eta)


def gdp_from_epsilon(epsilon: float) -> float:
    """Smallest mu whose ROC curve holds all that epsilon-DP allows: 2 Phi^-1(1/(1+e^-epsilon)).

    Both curves pass (a, 1-a), a = 1/(1+e^epsilon). The Gaussian one is concave, so it lies above the straight lines
    from there to (0, 0) and (1, 1), which are all of epsilon-DP. With a delta no mu is enough: a TPR above 0 at FPR 0.
    """
    return float(-2.0 * ndtri(expit(-require_nonnegative("epsilon", epsilon))))


def tpr_ceiling(advantage: float, fpr: float, prior: float = 0.5) -> float:
    """Largest TPR at an FPR if no attack exceeds ``advantage``: ``theorem_8`` at any prior.

    An attack is wrong with probability p (1 - TPR) + (1 - p) FPR, which is (1 - advantage)/2 at least.
    """
    wrong, p = (1.0 - _require_advantage(advantage)) / 2.0, require_open_unit("prior", prior)
    return min(1.0, 1.0 - (wrong - (1.0 - p) * fpr) / p)


def tpr_floor(advantage: float, fpr: float, prior: float = 0.5) -> float:
    """Least that the TPR of the best attack at an FPR can be if some attack has ``advantage``.

    The best ROC curve is concave, and passes on or above some point of the line of that advantage. Lowest at the FPR is
    the curve through one of the line's ends: (0, 1 - wrong/p) or (wrong/(1-p), 1).
    """
    wrong, p = (1.0 - _require_advantage(advantage)) / 2.0, require_open_unit("prior", prior)
    ahead = wrong / (1.0 - p)
    return min(1.0 if fpr >= ahead else fpr / ahead, 1.0 - (1.0 - fpr) * wrong / p)


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
        bracket = gain - max(0.0, 1.0 - 1.0 / g) + require_from_zero_to_one("delta", delta)
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


# One table: every bound on every quantity side by side, the tightest that is proven marked.

OURS = "this project"
IID_DRAWS = (
    "all records are i.i.d. draws, including the nonmember that the attack is about, and risk is averaged over records"
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One envelope that a promise is read as."""

    name: str
    envelope: Envelope
    how: str
    source: str
    assumes: str


@dataclass(frozen=True, slots=True)
class _Weights:
    """How a member and a nonmember weigh: at the prior, and with MIS's lambda, nu being the share of nonmembers."""

    prior: float
    member_weight: float

    @property
    def even(self) -> tuple[float, float]:
        """Of the accuracy at the prior."""
        return self.prior, 1.0 - self.prior

    @property
    def mis(self) -> tuple[float, float]:
        """Of MIS's accuracy: lambda (1-nu) and nu."""
        return self.member_weight * self.prior, 1.0 - self.prior


def bounds(
    promise: Promise,
    prior: float = 0.5,
    member_weight: float = 1.0,
    false_positive_rates: Sequence[float] = (),
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
    delta: float | None = None,
) -> tuple[Bound, ...]:
    """Everything that a promise bounds; ``delta`` is where one that is a curve is also read as (epsilon, delta).

    Quantities: ``advantage`` at the prior, ``individual_risk``, ``mip_eta``, ``mis_delta`` at nu = 1 - prior and
    lambda = ``member_weight``, ``success``, and ``tpr_at_fpr_x`` for each rate x, all of any one record; and
    ``advantage_iid``, ``mis_delta_iid`` on average over records that are i.i.d. draws.
    """
    weights = _Weights(require_open_unit("prior", prior), require_positive("member_weight", member_weight))
    rates = [require_open_unit("false_positive_rates", rate) for rate in false_positive_rates]
    grant = grant_of(promise, adjacency, inclusion, delta)
    readings = tuple(_readings(grant))
    table = [
        *_advantage(grant, readings, weights),
        *_iid(grant, weights),
        *_individual(grant, weights),
        *_mip(grant, readings, weights),
        *_mis(grant, readings, weights),
        *_success(grant, readings, weights),
    ]
    for rate in rates:
        table.extend(_tpr(grant, readings, rate))
    return side_by_side(table)


def _readings(grant: Grant) -> Iterator[_Reading]:
    yield _Reading("envelope", grant.envelope, "the ROC envelope of the promise", grant.source, grant.assumes)
    if grant.pair is not None and not grant.plain:
        epsilon, delta = grant.pair
        how = "the promise read as one (epsilon, delta)"
        yield _Reading(
            "epsilon_delta", Corners.of([epsilon], [delta]), how, "Kairouz, Oh and Viswanath 2015", grant.assumes
        )


def _advantage(grant: Grant, readings: Sequence[_Reading], weights: _Weights) -> Iterator[Bound]:
    for each in readings:
        value = advantage_of(each.envelope.gain(*weights.even), weights.prior)
        yield Bound("advantage", each.name, f"by {each.how}, at the prior", value, each.source, each.assumes)
    if grant.pure is not None:
        value = individual_risk_ceiling(grant.pure, weights.prior)
        says = "a bound on the risk of one record also bounds the mean risk; tight only at prior 1/2"
        yield Bound("advantage", "mace_theorem_1_4", says, value, "MACE, Theorem 1.4", grant.assumes)


def _iid(grant: Grant, weights: _Weights) -> Iterator[Bound]:
    if grant.pure is None or not grant.fixed:
        return
    assumes = f"{grant.assumes}; {IID_DRAWS}"
    value = advantage_of(iid_gain(grant.pure, *weights.even), weights.prior)
    says = "for i.i.d. records, a nonmember's output averages over its replacements; tanh(epsilon/4) at prior 1/2"
    yield Bound("advantage_iid", "iid", says, value, OURS, assumes)
    value = normalised(iid_gain(grant.pure, *weights.mis), *weights.mis)
    says = "the same, with nu and lambda: MIS's own setting"
    yield Bound("mis_delta_iid", "iid", says, value, OURS, assumes)


def _individual(grant: Grant, weights: _Weights) -> Iterator[Bound]:
    if grant.pure is None:
        says = "with delta above 0 a score can reveal its record for certain, so there is no ceiling below 1"
        yield Bound("individual_risk", "none", says, 1.0, OURS, grant.assumes)
        return
    value = individual_risk_ceiling(grant.pure, weights.prior)
    says = "the largest risk of one record, whichever it is"
    yield Bound("individual_risk", "mace_theorem_1_4", says, value, "MACE, Theorem 1.4", grant.assumes)


def _mip(grant: Grant, readings: Sequence[_Reading], weights: _Weights) -> Iterator[Bound]:
    for each in readings:
        value = each.envelope.gain(*weights.even)
        says = f"by {each.how}, for a share of members equal to the prior"
        yield Bound("mip_eta", each.name, says, value, each.source, each.assumes)
    if grant.pair is not None:
        value = mip_eta(*grant.pair)
        says = "delta + (1-delta)/(1+e^-epsilon) - 1/2: tight where half the records are members"
        yield Bound("mip_eta", "mip_theorem_4", says, value, "MIP, Theorem 4", grant.assumes)
    if grant.pure is not None:
        value = lemma_13_printed(grant.pure)
        says = "(1-e^-epsilon)/2: true, but twice too large for small epsilon"
        yield Bound("mip_eta", "pmp_lemma_13", says, value, "PMP, Lemma 13", grant.assumes)


def _mis(grant: Grant, readings: Sequence[_Reading], weights: _Weights) -> Iterator[Bound]:
    nu, lam = 1.0 - weights.prior, weights.member_weight
    for each in readings:
        value = normalised(each.envelope.gain(*weights.mis), *weights.mis)
        says = f"by {each.how}, with nu and lambda; security is 1 less this"
        yield Bound("mis_delta", each.name, says, value, each.source, each.assumes)
    distance = 2.0 * grant.envelope.gain(0.5, 0.5)
    says = "the total variation bounds Delta at every nu and lambda"
    yield Bound("mis_delta", "total_variation", says, distance, OURS, grant.assumes)
    value = total_variation_printed(distance, nu, lam)
    says = "max(1, gamma) times the total variation: true, but loose if gamma is above 1"
    yield Bound("mis_delta", "mis_appendix_h", says, value, "MIS, Appendix H.2", grant.assumes)
    if grant.pair is not None:
        value = equation_9(*grant.pair, nu, lam)
        says = "Eq. 9: true, loose, and often above 1"
        yield Bound("mis_delta", "mis_equation_9", says, value, "MIS, Eq. 9", grant.assumes)


def _success(grant: Grant, readings: Sequence[_Reading], weights: _Weights) -> Iterator[Bound]:
    for each in readings:
        value = max(weights.even) + each.envelope.gain(*weights.even)
        says = f"share of right guesses, by {each.how}, at the prior"
        yield Bound("success", each.name, says, value, each.source, each.assumes)
    if grant.pure is not None and weights.prior == 0.5:
        says = "1/(1+e^-epsilon)"
        yield Bound("success", "pmp_lemma_6", says, lemma_6(grant.pure), "PMP, Lemma 6", grant.assumes)


def _tpr(grant: Grant, readings: Sequence[_Reading], rate: float) -> Iterator[Bound]:
    quantity = f"tpr_at_fpr_{rate:g}"
    for each in readings:
        value = min(1.0, float(each.envelope.tpr(rate)))
        yield Bound(quantity, each.name, f"the height of {each.how}", value, each.source, each.assumes)
    eta = grant.envelope.gain(0.5, 0.5)
    says = "FPR + eta: refuted by randomised response, whose TPR - FPR is 2 eta"
    value = theorem_8_printed(eta, rate)
    yield Bound(quantity, "mip_theorem_8", says, value, "MIP, Theorem 8", grant.assumes, proven=False)
    value = theorem_8(eta, rate)
    yield Bound(quantity, "mip_theorem_8_mended", "FPR + 2 eta", value, OURS, grant.assumes)
