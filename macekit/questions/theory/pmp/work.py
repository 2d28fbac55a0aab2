"""Practical membership privacy: what a mechanism gives away to who knows the 2n records, but not which n were used."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators.theory import pmp
from estimators.theory.pmp.statement import COIN
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_left_out
from macekit.operations.encode import finite
from macekit.operations.options import origin, parse_question, reply_of
from macekit.questions.theory.bounds import bounds
from macekit.questions.theory.pmp import (
    PmpExponentialAnswer,
    PmpExponentialQuestion,
    PmpFiniteAnswer,
    PmpFiniteQuestion,
    PmpGaussianAnswer,
    PmpGaussianQuestion,
)


def answer_pmp_exponential(call: Call, body: DecodedBody) -> Reply:
    """The exponential mechanism: exactly where training sets can be gone through, with an interval where not."""
    q = parse_question(PmpExponentialQuestion, body)
    result = pmp.assess_exponential(
        _mechanism(q, body),
        q.epsilon,
        q.practical_epsilon,
        draws=q.draws,
        confidence=q.confidence,
        seed=q.seed,
    )
    if result.interval is None:
        require_left_out(q, ("confidence",), "the answer is exact, so there is no interval")
    worst = result.worst
    response: PmpExponentialAnswer = {
        "sentence": result.sentence,
        "epsilon": result.epsilon,
        "sensitivity": q.sensitivity,
        "method": "exact" if result.interval is None else "sampled",
        "training_sets": result.training_sets,
        "practical_epsilon": result.practical_epsilon,
        "interval": None if result.interval is None else encode.interval(result.interval),
        "epsilon_on_records": result.epsilon_on_records,
        "ratio": result.ratio,
        "success": result.success,
        "baseline": COIN,
        "mip_eta": result.mip_eta,
        "worst": None
        if worst is None
        else {"record": worst.record, "outcome": worst.outcome, "says": worst.says},
        "records": {
            "record": list(range(len(result.epsilons))),
            "practical_epsilon": result.epsilons.tolist(),
            "success": result.successes.tolist(),
        },
        "bounds": bounds(result.bounds),
        "warnings": encode.warnings(result.cautions),
        "provenance": origin(call, q, body),
    }
    return reply_of(call, response)


def answer_pmp_finite(call: Call, body: DecodedBody) -> Reply:
    """Any algorithm with finitely many outputs: its practical epsilon at a delta, exactly."""
    q = parse_question(PmpFiniteQuestion, body)
    result = pmp.assess_finite(cast("ArrayLike", body.arrays["laws"]), q.delta)
    event = result.event
    response: PmpFiniteAnswer = {
        "sentence": result.sentence,
        "delta": result.delta,
        "practical_epsilon": finite(result.practical_epsilon),
        "training_sets": result.training_sets,
        "outcomes": result.outcomes,
        "success": result.success,
        "baseline": COIN,
        "mip_eta": result.mip_eta,
        "worst": None
        if event is None
        else {"record": event.record, "outcomes": list(event.outcomes), "says": event.says},
        "records": {
            "record": list(range(len(result.epsilons))),
            "practical_epsilon": [finite(float(each)) for each in result.epsilons],
            "success": result.successes.tolist(),
        },
        "curve": {"epsilon": result.grid.tolist(), "delta": result.deltas.tolist()},
        "bounds": bounds(result.bounds),
        "warnings": encode.warnings(result.cautions),
        "provenance": origin(call, q, body),
    }
    return reply_of(call, response)


def answer_pmp_gaussian(call: Call, body: DecodedBody) -> Reply:
    """The Gaussian mechanism of a sum or a mean: Proposition 12, beside what DP promises."""
    q = parse_question(PmpGaussianQuestion, body)
    points = np.asarray(body.arrays["points"], dtype=np.float64)
    result = pmp.assess_gaussian(
        points, q.clip, q.sigma, q.epsilon, q.practical_epsilon, delta=q.delta, query=q.query
    )
    response: PmpGaussianAnswer = {
        "sentence": result.sentence,
        "sigma": result.sigma,
        "sensitivity": result.sensitivity,
        "delta": result.delta,
        "epsilon": result.epsilon,
        "epsilon_on_records": result.epsilon_on_records,
        "practical_epsilon": result.practical_epsilon,
        "ratio": result.ratio,
        "ratio_on_records": result.ratio_on_records,
        "success": result.success,
        "baseline": COIN,
        "mip_eta": result.mip_eta,
        "curve": {
            "epsilon": result.grid.tolist(),
            "practical_delta": result.practical_deltas.tolist(),
            "records_delta": result.record_deltas.tolist(),
            "dp_delta": result.dp_deltas.tolist(),
        },
        "bounds": bounds(result.bounds),
        "warnings": encode.warnings(result.cautions),
        "provenance": origin(call, q, body),
    }
    return reply_of(call, response)


def _mechanism(q: PmpExponentialQuestion, body: DecodedBody) -> pmp.Summed | pmp.Tabled:
    losses = np.asarray(body.arrays["losses"], dtype=np.float64)
    if q.rows == "training_sets":
        require_left_out(q, ("loss",), "rows of training sets have their loss already")
        return pmp.Tabled(losses, q.sensitivity)
    return pmp.Summed(losses, q.sensitivity) if q.loss == "sum" else pmp.Summed.mean(losses, q.sensitivity)
