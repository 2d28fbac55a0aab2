"""Practical membership privacy: what a mechanism gives away to who knows the 2n records, but not which n were used."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from estimators.errors import TooManySubsets
from estimators.statement import Caution, at_most, exactly, percent
from estimators.theory import shifts, subsets
from estimators.theory.pmp import choose, distances, promised
from estimators.theory.pmp.exponential import MOST_PAIRED, Summed, Tabled
from estimators.theory.pmp.gaussian import Gaussian, dp_epsilon
from estimators.theory.pmp.laws import InOut
from estimators.theory.pmp.sampled import Sampled, sampled
from estimators.theory.pmp.success import mip_eta, success
from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.operations import encode
from macekit.operations.encode import bounds
from macekit.operations.options import origin, question_of, reply_of
from macekit.problems import Problem
from macekit.schemas.theory.pmp import (
    PmpExponentialAnswer,
    PmpExponentialQuestion,
    PmpGaussianAnswer,
    PmpGaussianQuestion,
)

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
FAR_ENOUGH = Caution(
    "search_stopped",
    f"the practical epsilon wanted was not reached: the search stopped at epsilon {choose.FARTHEST:g}, and more may do",
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
    most = float(right.max()) if drawn is None else success(drawn.estimate.upper)
    worst = laws.worst
    answered: PmpExponentialAnswer = {
        "sentence": _said(q, mechanism, epsilon, drawn or laws, most),
        "epsilon": epsilon,
        "sensitivity": q.sensitivity,
        "method": "exact" if drawn is None else "sampled",
        "training_sets": total if drawn is None else drawn.draws,
        "practical_epsilon": practical,
        "interval": None if drawn is None else encode.interval(drawn.estimate),
        "epsilon_on_records": mechanism.on_records(epsilon) if total <= MOST_PAIRED else None,
        "ratio": practical / epsilon,
        "success": most,
        "baseline": COIN,
        "mip_eta": most - COIN,
        "worst": {"record": worst.record, "outcome": worst.outcome, "says": worst.says},
        "records": {
            "record": list(range(len(each))),
            "practical_epsilon": each.tolist(),
            "success": right.tolist(),
        },
        "bounds": bounds(promised.of_exponential(mechanism, epsilon, drawn or laws)),
        "warnings": encode.warnings((THESE_RECORDS, ONE_RELEASE, *cautions)),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


def gaussian(call: Call, material: Material) -> Reply:
    """The Gaussian mechanism of a sum or a mean: Proposition 12, beside what DP promises."""
    q = question_of(PmpGaussianQuestion, material)
    _one_of("sigma", sigma=q.sigma, epsilon=q.epsilon, practical_epsilon=q.practical_epsilon)
    points = distances.clipped(np.asarray(material.arrays["points"], dtype=np.float64), q.clip)
    shares = len(points) // 2 if q.query == "mean" else 1
    sensitivity = 2.0 * (q.clip / shares)
    moved = distances.of_sum(points / shares)
    mechanism = Gaussian(moved, _sigma(q, moved, sensitivity))
    # sigma was solved for an epsilon that was given: solving back would be off by a rounding
    epsilon = q.epsilon or dp_epsilon(sensitivity, mechanism.sigma, q.delta)
    on_records = mechanism.on_records(q.delta)
    practical = min(mechanism.epsilon(q.delta), q.practical_epsilon or inf)
    eta = min(mechanism.total_variation() / 2.0, mip_eta(practical, q.delta))
    grid = np.linspace(0.0, max(epsilon, practical, 1.0), POINTS)
    answered: PmpGaussianAnswer = {
        "sentence": f"Gaussian noise of standard deviation {exactly(mechanism.sigma)} is "
        f"({exactly(q.epsilon) if q.epsilon else at_most(epsilon)}, {exactly(q.delta)})-DP; on these {len(points)} "
        f"records its practical epsilon is at most {_kept(practical, q.practical_epsilon)} at the "
        f"same delta, and an attacker who knows them, but not which {len(points) // 2} were used, is right about any "
        f"of them with probability at most {at_most(COIN + eta)}, where a coin has {COIN}.",
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
        "bounds": bounds(promised.of_gaussian(mechanism, epsilon, practical, q.delta)),
        "warnings": encode.warnings((THESE_RECORDS, ONE_RELEASE)),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


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
        found, said = choose.epsilon(mechanism, q.practical_epsilon), NOT_MONOTONE
    else:
        found, said = choose.epsilon_by_exchanges(mechanism, q.practical_epsilon), BY_EXCHANGES
    return found, (said, FAR_ENOUGH) if found >= choose.FARTHEST else (said,)


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


def _kept(practical: float, wanted: float | None) -> str:
    """A practical epsilon rounded up, but not beyond the one wanted, which it keeps."""
    return at_most(practical, within=inf if wanted is None else max(practical, wanted))


def _said(
    q: PmpExponentialQuestion, mechanism: Mechanism, epsilon: float, found: InOut | Sampled, right: float
) -> str:
    """Epsilon with all its digits: who copies it has the mechanism whose practical epsilon this is."""
    practical, how = found.epsilon if isinstance(found, InOut) else found.estimate.upper, ""
    if isinstance(found, Sampled):
        how = f" ({percent(q.confidence)} confidence, from {found.draws} training sets at random)"
    return (
        f"An exponential mechanism that is {exactly(epsilon)}-DP has a practical epsilon of at most "
        f"{_kept(practical, q.practical_epsilon)} on these {2 * mechanism.n} records{how}: an "
        f"attacker who knows them, but not which {mechanism.n} were used, is right about any of them with "
        f"probability at most {at_most(right)}, where a coin has {COIN}."
    )


OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {
    "theory/pmp-exponential": exponential,
    "theory/pmp-gaussian": gaussian,
}
