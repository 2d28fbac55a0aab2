"""``/v1/theory/one-run``: a promise tested in one training run, and the epsilon that the run shows."""

from estimators.sample.scores import Scores
from estimators.theory.one_run import GaussianInOneRun, PromiseInOneRun, one_run
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_direction_acts
from macekit.operations.encode import finite
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import sample_of, with_counts
from macekit.questions.theory.dp.work import noise_of, promise_of, require_one
from macekit.questions.theory.onerun import (
    GaussianInOneRunAnswer,
    OnerunAnswer,
    OnerunQuestion,
    PromiseInOneRunAnswer,
)


def answer_onerun(call: Call, body: DecodedBody) -> Reply:
    """What was promised against the guesses, the bound on epsilon, and the stops behind both."""
    q = parse_question(OnerunQuestion, body)
    require_one(q)
    noise = noise_of(q)
    data = sample_of(body, q)
    require_direction_acts(q.direction, data)
    result = one_run(
        data if isinstance(data, Scores) else with_counts(data),
        q.draw,
        promise_of(q) if noise is None else noise.promises(q.delta),
        q.delta or 0.0,
        q.confidence,
        q.adjacency,
        q.gaussian,
        q.direction,
        q.seed,
    )
    bound = result.epsilon
    document: OnerunAnswer = {
        "sentence": result.sentence,
        "decision": result.decision,
        "draw": result.draw.value,
        "coins": result.coins,
        "confidence": result.confidence,
        "epsilon": {
            "lower_bound": bound.value,
            "delta": bound.delta,
            "right": bound.right,
            "guesses": bound.guesses,
        },
        "promise": None if result.promise is None else _promise(result.promise),
        "gaussian": None if result.gaussian is None else _gaussian(result.gaussian),
        "stops": {
            "guesses": [guesses for guesses, _ in bound.stops],
            "right": [right / guesses for guesses, right in bound.stops],
        },
        "guarantee": encode.guarantee(result.guarantee),
        "warnings": encode.warnings((*body.cautions, *result.cautions)),
        "provenance": encode.provenance(
            data, call.operation, q.seed, provenance_options(q, call), encode.columns_of(body)
        ),
    }
    return reply_of(call, document, data)


def _promise(test: PromiseInOneRun) -> PromiseInOneRunAnswer:
    epsilon, delta = test.pair or (None, None)
    return {"p_value": test.p_value, "epsilon": None if epsilon is None else finite(epsilon), "delta": delta}


def _gaussian(bound: GaussianInOneRun) -> GaussianInOneRunAnswer:
    return {"mu": bound.mu, "epsilon": finite(bound.epsilon)}
