"""Practical membership privacy: what a mechanism gives away to who knows the 2n records, but not which n were used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.call import Call, Reply
from app.decoding.material import Material
from app.encoding import statements
from app.encoding.theory import bounds
from app.operations.answering import question_of
from app.operations.theory.answering import reply
from app.problems import Problem
from app.schemas.theory.pmp import PmpExponentialQuestion, PmpGaussianQuestion
from estimators.errors import TooManySubsets
from estimators.statement import Caution, at_most, percent
from estimators.theory import shifts, subsets
from estimators.theory.pmp import choose, distances, promised
from estimators.theory.pmp.exponential import MOST_PAIRED, Summed, Tabled
from estimators.theory.pmp.gaussian import Gaussian
from estimators.theory.pmp.laws import InOut
from estimators.theory.pmp.sampled import Sampled, sampled
from estimators.theory.pmp.success import mip_eta, success

Mechanism = Summed | Tabled

COIN = 0.5
POINTS = 41
"""Epsilons of the curve."""

THESE_RECORDS = Caution(
    "these_records",
    "this holds for the 2n records posted and a half of them drawn at random; another set of records, or an attacker "
    "who knows some of the half, is another question: only the DP epsilon holds for every one of them",
)
ONE_RELEASE = Caution(
    "one_release",
    "this is about one release: practical epsilons of several releases of the same half do not simply add up",
)
NOT_NEEDED = Caution("draws_not_needed", "all training sets were gone through; draws were not needed")
BY_EXCHANGES = Caution(
    "chosen_by_exchanges",
    "there are too many training sets to search for epsilon exactly: it was chosen by the bound by exchanges, "
    "and a larger one may do",
)
NOT_MONOTONE = Caution(
    "not_monotone",
    "the practical epsilon need not fall with epsilon: it was computed at the epsilon stated, and on the way there",
)


def exponential(call: Call, material: Material) -> Reply:
    """The exponential mechanism: exactly where training sets can be gone through, with an interval where not."""
    q = question_of(PmpExponentialQuestion, material)
    mechanism = _mechanism(q, material)
    epsilon, cautions = _epsilon(q, mechanism)
    try:
        laws, drawn = mechanism.exact(epsilon), None
        cautions += (NOT_NEEDED,) if q.draws is not None else ()
    except TooManySubsets:
        if q.draws is None or not isinstance(mechanism, Summed):
            raise
        drawn = sampled(mechanism, epsilon, q.draws, q.confidence, q.seed)
        laws = drawn.laws
    total = subsets.how_many(2 * mechanism.n, mechanism.n)
    each = laws.epsilons if drawn is None else drawn.uppers
    right = laws.successes if drawn is None else np.array([success(float(e)) for e in each])
    practical = laws.epsilon if drawn is None else float(drawn.estimate.value or 0.0)
    answered = {
        "sentence": _said(mechanism, epsilon, laws, drawn),
        "epsilon": epsilon,
        "sensitivity": q.sensitivity,
        "method": "exact" if drawn is None else "sampled",
        "training_sets": total if drawn is None else drawn.draws,
        "practical_epsilon": practical,
        "interval": None if drawn is None else statements.interval(drawn.estimate),
        "epsilon_on_records": mechanism.on_records(epsilon) if total <= MOST_PAIRED else None,
        "ratio": practical / epsilon,
        "success": float(right.max()),
        "baseline": COIN,
        "mip_eta": float(right.max()) - COIN,
        "worst": laws.worst._asdict(),
        "records": {
            "record": list(range(len(each))),
            "practical_epsilon": each.tolist(),
            "success": right.tolist(),
        },
        "bounds": bounds(promised.of_exponential(mechanism, epsilon, drawn or laws)),
        "warnings": statements.warnings((THESE_RECORDS, ONE_RELEASE, *cautions)),
    }
    return reply(call, q, material, answered)


def gaussian(call: Call, material: Material) -> Reply:
    """The Gaussian mechanism of a sum or a mean: Proposition 12, beside what DP promises."""
    q = question_of(PmpGaussianQuestion, material)
    _one_of("sigma", sigma=q.sigma, epsilon=q.epsilon, practical_epsilon=q.practical_epsilon)
    points = distances.clipped(np.asarray(material.arrays["points"], dtype=np.float64), q.clip)
    shares = len(points) // 2 if q.query == "mean" else 1
    sensitivity = 2.0 * q.clip / shares
    moved = distances.of_sum(points / shares)
    mechanism = Gaussian(moved, _sigma(q, moved, sensitivity))
    epsilon = shifts.gaussian_epsilon(sensitivity / mechanism.sigma, q.delta)
    on_records, practical = mechanism.on_records(q.delta), mechanism.epsilon(q.delta)
    eta = min(mechanism.total_variation() / 2.0, mip_eta(practical, q.delta))
    grid = np.linspace(0.0, max(epsilon, practical, 1.0), POINTS)
    answered = {
        "sentence": f"Gaussian noise of standard deviation {at_most(mechanism.sigma, 6)} is ({at_most(epsilon)}, "
        f"{q.delta:g})-DP; on these {len(points)} records its practical epsilon is at most {at_most(practical)} at "
        f"the same delta, and an attacker who knows them, but not which {len(points) // 2} were used, is right about "
        f"any of them with probability at most {at_most(COIN + eta)}, where a coin has {COIN}.",
        "sigma": mechanism.sigma,
        "sensitivity": sensitivity,
        "delta": q.delta,
        "epsilon": epsilon,
        "epsilon_on_records": on_records,
        "practical_epsilon": practical,
        "ratio": practical / epsilon if epsilon else None,
        "ratio_on_records": practical / on_records if on_records else None,
        "success": COIN + eta,
        "baseline": COIN,
        "mip_eta": eta,
        "curve": {
            "epsilon": grid.tolist(),
            "practical_delta": mechanism.deltas(grid).tolist(),
            "records_delta": [shifts.gaussian_delta(moved.largest / mechanism.sigma, e) for e in grid],
            "dp_delta": [shifts.gaussian_delta(sensitivity / mechanism.sigma, e) for e in grid],
        },
        "bounds": bounds(promised.of_gaussian(mechanism, sensitivity, q.delta, practical)),
        "warnings": statements.warnings((THESE_RECORDS, ONE_RELEASE)),
    }
    return reply(call, q, material, answered)


def _mechanism(q: PmpExponentialQuestion, material: Material) -> Mechanism:
    losses = np.asarray(material.arrays["losses"], dtype=np.float64)
    if q.rows == "training_sets":
        return Tabled(losses, q.sensitivity)
    return Summed(losses, q.sensitivity) if q.loss == "sum" else Summed.mean(losses, q.sensitivity)


def _epsilon(q: PmpExponentialQuestion, mechanism: Mechanism) -> tuple[float, tuple[Caution, ...]]:
    """Epsilon as it was given, or the one that keeps the practical epsilon wanted."""
    _one_of("epsilon", epsilon=q.epsilon, practical_epsilon=q.practical_epsilon)
    if q.epsilon is not None or q.practical_epsilon is None:
        return q.epsilon or 0.0, ()
    if subsets.how_many(2 * mechanism.n, mechanism.n) <= subsets.MOST or not isinstance(mechanism, Summed):
        return choose.epsilon(mechanism, q.practical_epsilon), (NOT_MONOTONE,)
    return choose.epsilon_by_exchanges(mechanism, q.practical_epsilon), (BY_EXCHANGES,)


def _sigma(q: PmpGaussianQuestion, moved: distances.Distances, sensitivity: float) -> float:
    if q.practical_epsilon is not None:
        chosen = choose.sigma(moved, q.practical_epsilon, q.delta)
        if chosen == 0.0:
            raise Problem("bad-option", "points: all are equal, so no noise is needed here", field="points")
        return chosen
    if q.epsilon is not None:
        return shifts.gaussian_sigma(sensitivity, q.epsilon, q.delta)
    return q.sigma or 0.0


def _one_of(field: str, **given: float | None) -> None:
    if sum(value is not None for value in given.values()) != 1:
        raise Problem("bad-option", f"{field}: give one of {', '.join(given)}", field=field)


def _said(mechanism: Mechanism, epsilon: float, laws: InOut, drawn: Sampled | None) -> str:
    whom = f"on these {2 * mechanism.n} records"
    start = f"An exponential mechanism that is {at_most(epsilon)}-DP has a practical epsilon of"
    knows = (
        f"an attacker who knows them, but not which {mechanism.n} were used, is right about any of them with"
    )
    if drawn is None:
        right = at_most(float(laws.successes.max()))
        return f"{start} {at_most(laws.epsilon)} {whom}: {knows} probability at most {right}, where a coin has {COIN}."
    upper = drawn.estimate.upper
    return (
        f"{start} at most {at_most(upper)} {whom} ({percent(drawn.estimate.interval.confidence)} confidence, from "
        f"{drawn.draws} training sets at random): {knows} probability at most {at_most(success(upper))}, "
        f"where a coin has {COIN}."
    )


OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {
    "theory/pmp-exponential": exponential,
    "theory/pmp-gaussian": gaussian,
}
