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
from macekit.operations.options import parse_question
from macekit.questions.theory import pmp as room
from macekit.questions.theory.reply import reply


def answer_pmp_exponential(call: Call, body: DecodedBody) -> Reply:
    """The exponential mechanism: exactly where training sets can be gone through, with an interval where not."""
    q = parse_question(room.PmpExponentialQuestion, body)
    result = pmp.assess_exponential(
        _mechanism(q, body), q.epsilon, q.practical_epsilon, draws=q.draws, confidence=q.confidence, seed=q.seed
    )
    if result.interval is None:
        require_left_out(q, ("confidence",), "the answer is exact, so there is no interval")
    worst = result.worst
    fields = {
        "sensitivity": q.sensitivity,
        "method": "exact" if result.interval is None else "sampled",
        "interval": None if result.interval is None else encode.interval(result.interval),
        "baseline": COIN,
        "worst": None if worst is None else {"record": worst.record, "outcome": worst.outcome, "says": worst.says},
        "records": {
            "record": list(range(len(result.epsilons))),
            "practical_epsilon": result.epsilons,
            "success": result.successes,
        },
    }
    return reply(call, q, body, room.PmpExponentialAnswer, result, **fields)


def answer_pmp_finite(call: Call, body: DecodedBody) -> Reply:
    """Any algorithm with finitely many outputs: its practical epsilon at a delta, exactly."""
    q = parse_question(room.PmpFiniteQuestion, body)
    result = pmp.assess_finite(cast("ArrayLike", body.arrays["laws"]), q.delta)
    event = result.event
    fields = {
        "practical_epsilon": finite(result.practical_epsilon),
        "baseline": COIN,
        "worst": None if event is None else {"record": event.record, "outcomes": event.outcomes, "says": event.says},
        "records": {
            "record": list(range(len(result.epsilons))),
            "practical_epsilon": [finite(float(each)) for each in result.epsilons],
            "success": result.successes,
        },
        "curve": {"epsilon": result.grid, "delta": result.deltas},
    }
    return reply(call, q, body, room.PmpFiniteAnswer, result, **fields)


def answer_pmp_gaussian(call: Call, body: DecodedBody) -> Reply:
    """The Gaussian mechanism of a sum or a mean: Proposition 12, beside what DP promises."""
    q = parse_question(room.PmpGaussianQuestion, body)
    points = np.asarray(body.arrays["points"], dtype=np.float64)
    result = pmp.assess_gaussian(points, q.clip, q.sigma, q.epsilon, q.practical_epsilon, delta=q.delta, query=q.query)
    curve = {
        "epsilon": result.grid,
        "practical_delta": result.practical_deltas,
        "records_delta": result.record_deltas,
        "dp_delta": result.dp_deltas,
    }
    return reply(call, q, body, room.PmpGaussianAnswer, result, baseline=COIN, curve=curve)


def _mechanism(q: room.PmpExponentialQuestion, body: DecodedBody) -> pmp.Summed | pmp.Tabled:
    losses = np.asarray(body.arrays["losses"], dtype=np.float64)
    if q.rows == "training_sets":
        require_left_out(q, ("loss",), "rows of training sets have their loss already")
        return pmp.Tabled(losses, q.sensitivity)
    return pmp.Summed(losses, q.sensitivity) if q.loss == "sum" else pmp.Summed.mean(losses, q.sensitivity)
