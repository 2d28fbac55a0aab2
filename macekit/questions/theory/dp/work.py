"""``/v1/theory/dp``: what a promise of differential privacy allows, every bound side by side."""

from estimators.theory import dp
from estimators.theory.accounting import NoisySteps, renyi_curve
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations.effects import require_left_out
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import parse_question
from macekit.problems import Problem, fault
from macekit.questions.theory import dp as room
from macekit.questions.theory.reply import reply

AS_THEY_ARE = {"prior", "member_weight", "false_positive_rates", "adjacency", "inclusion", "delta", "advantage"}
"""Options that the library takes by the same names."""


def answer_dp(call: Call, body: DecodedBody) -> Reply:
    """Every bound, the envelope they are read off, and the promise that would keep an advantage."""
    q = parse_question(room.DpQuestion, body)
    form = require_one(q)
    if form is None:
        if q.advantage is None:
            words = f"promise: give one of {', '.join(room.PROMISES)}, or advantage"
            raise Problem("missing-field", words, field="epsilon")
        names = "member_weight", "false_positive_rates"
        require_left_out(q, names, "the promise that keeps an advantage does not depend on it")
    noise = noise_of(q)
    result = dp.assess(
        promise_of(q) if noise is None else noise.promises(q.delta),
        **q.model_dump(include=AS_THEY_ARE),
        cautions=() if noise is None else noise.cautions,
    )
    roc, curve, keeping = result.roc, result.curve, result.keeping
    fields = {
        "stated": [as_answer(room.StatedAnswer, each) for each in result.readings],
        "roc": None if roc is None else as_answer(room.EnvelopeAnswer, roc),
        "curve": None if curve is None else {"epsilon": curve.epsilons, "delta": curve.deltas},
        "keeping": None if keeping is None else as_answer(room.KeepingAnswer, keeping, epsilon=finite(keeping.epsilon)),
    }
    return reply(call, q, body, room.DpAnswer, result, **fields)


def require_one(q: room.PromiseGiven) -> str | None:
    """The form of the promise, if there is one: no second one, and with it what belongs to it and nothing else."""
    names = [name for name in room.PROMISES if getattr(q, name) is not None]
    if len(names) > 1:
        detail = f"was given together with {names[0]}; give the promise in one form only"
        raise fault("bad-option", names[1], detail)
    for name in room.PROMISES[names[0]][1:] if names else ():
        if getattr(q, name) is None:
            raise fault("missing-field", name, f"is required with {names[0]}")
    for name in ("steps", "sampling_rate") if q.noise_multiplier is None else ("adjacency",):
        if getattr(q, name) is not None:
            where = "belongs to" if q.noise_multiplier is None else "is not used with"
            raise fault("bad-option", name, f"{where} noise_multiplier; remove it")
    return names[0] if names else None


def noise_of(q: room.PromiseGiven) -> NoisySteps | None:
    """How noise was added, if that is the promise."""
    if q.noise_multiplier is None:
        return None
    return NoisySteps(q.noise_multiplier, q.steps or 1, 1.0 if q.sampling_rate is None else q.sampling_rate)


def promise_of(q: room.PromiseGiven) -> dp.Promise | None:
    """Any other promise."""
    if q.epsilon is not None:
        return dp.ApproximateDp(q.epsilon, q.delta or 0.0)
    if q.mu is not None:
        return dp.GaussianDp(q.mu)
    if q.rdp is not None:
        return renyi_curve([(order, epsilon) for order, epsilon in q.rdp], q.delta)
    if q.curve is not None:
        epsilons, deltas = zip(*q.curve, strict=True)
        return dp.DpCurve(epsilons, deltas)
    return None
