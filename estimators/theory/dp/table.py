"""One table: every bound on every quantity side by side, the tightest that is proven marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from estimators.errors import require_open_unit, require_positive
from estimators.theory.bounds import Bound, advantage_of, normalised, side_by_side
from estimators.theory.dp.ceilings import (
    equation_9,
    iid_gain,
    individual_risk_ceiling,
    lemma_6,
    lemma_13_printed,
    mip_eta,
    theorem_8,
    theorem_8_printed,
    total_variation_printed,
)
from estimators.theory.dp.promise import Adjacency, Corners, Envelope, Grant, Inclusion, Promise, grant_of

OURS = "this project"
IID_DRAWS = (
    "all records are i.i.d. draws, including the nonmember that the attack is about, and risk is averaged "
    "over records"
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
            "epsilon_delta",
            Corners.of([epsilon], [delta]),
            how,
            "Kairouz, Oh and Viswanath 2015",
            grant.assumes,
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
