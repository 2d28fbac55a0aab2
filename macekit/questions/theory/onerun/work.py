"""``/v1/theory/one-run``: a promise tested in one training run, and the epsilon that the run shows."""

import numpy as np

from estimators.errors import InputError, OutOfRange, TooFewRecords
from estimators.sample.counts import Counts
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.theory.one_run import PromiseInOneRun, one_run, several_runs
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_direction_acts
from macekit.operations.encode import finite
from macekit.operations.options import parse_question, provenance, reply_of
from macekit.operations.samples import require_labels, sample_of
from macekit.problems import fault
from macekit.questions.theory import onerun
from macekit.questions.theory.dp.work import noise_of, promise_of, require_one
from macekit.text import in_order, label_name

MOST_RUNS = 100  # runs that are taken together at most: the bound after each is looked for anew


def answer_onerun(call: Call, body: DecodedBody) -> Reply:
    """What was promised against the guesses, the bound on epsilon, and the stops behind both."""
    q = parse_question(onerun.OnerunQuestion, body)
    require_one(q)
    noise = noise_of(q)
    data = sample_of(body, q)
    require_direction_acts(q.direction, data)
    promise = promise_of(q) if noise is None else noise.promises(q.delta)
    delta, about = q.delta or 0.0, q.adjacency
    runs = None if body.models is None else _runs_of(body, data, q)
    result = (
        one_run(data, q.draw, promise, delta, q.confidence, about, q.gaussian, q.direction, q.seed)
        if runs is None
        else several_runs([*runs.values()], q.draw, promise, delta, q.confidence, about, q.direction, q.seed)
    )
    bound = result.epsilon
    document: onerun.OnerunAnswer = {
        "sentence": result.sentence,
        "decision": result.decision,
        "draw": result.draw.value,
        "coins": result.coins,
        "confidence": result.confidence,
        "epsilon": encode.as_answer(onerun.EpsilonInOneRunAnswer, bound, lower_bound=bound.value),
        "promise": None if result.promise is None else _promise(result.promise),
        "gaussian": None
        if result.gaussian is None
        else {"mu": result.gaussian.mu, "epsilon": finite(result.gaussian.epsilon)},
        "stops": {
            "guesses": [guesses for guesses, _ in bound.stops],
            "right": [right / guesses for guesses, right in bound.stops],
        },
        "guarantee": encode.guarantee(result.guarantee),
        "warnings": encode.warnings((*body.cautions, *result.cautions)),
        "provenance": provenance(call, q, body, data, call.operation),
    }
    if runs is not None:
        each = zip(runs, result.coins_of_runs, result.bounds, strict=True)
        document["runs"] = [{"name": name, "coins": coins, "lower_bound": bound} for name, coins, bound in each]
    return reply_of(call, document, data)


def _runs_of(body: DecodedBody, data: Scores | Counts, q: onerun.OnerunQuestion) -> dict[str, Scores]:
    """The scores of each of several runs, by their names, in the order of these."""
    if body.units is not None:
        raise fault("bad-option", "units", "does not go with model, of which all records are used")
    if isinstance(data, Counts):
        raise fault("bad-option", "counts", "do not say which model scored a record; send scores")
    if q.gaussian:
        raise fault("bad-option", "gaussian", "mu is bounded in one run; remove it, or model")
    labels, n = labels_of(body.models, "model"), data.n_members
    require_labels("model", len(labels), n + data.n_nonmembers)
    names, which = np.unique(labels, return_inverse=True)
    which = which.reshape(-1)
    if not 2 <= len(names) <= MOST_RUNS:
        detail = f"got {len(names)} runs, need at least 2 and at most {MOST_RUNS}; ask about one by itself"
        raise fault(OutOfRange, "model", detail)
    runs: dict[str, Scores] = {}
    for place, at in enumerate(sorted(range(len(names)), key=lambda at: in_order(names[at].item())), 1):
        sides = data.members[which[:n] == at], data.nonmembers[which[n:] == at]
        if names[at] == "":
            raise fault(InputError, "model", "a record has no label; need whose run each is of")
        if min(map(len, sides)) < MIN_RECORDS:
            words = (
                f"run {place} has {len(sides[0])} member and {len(sides[1])} nonmember records, need at least "
                f"{MIN_RECORDS} of each; leave the run out"
            )
            raise fault(TooFewRecords, "model", words)
        runs[label_name(names[at].item())] = Scores(*sides, data.query, data.reason)
    return runs


def _promise(test: PromiseInOneRun) -> onerun.PromiseInOneRunAnswer:
    epsilon, delta = test.pair or (None, None)
    return {"p_value": test.p_value, "epsilon": finite(epsilon), "delta": delta}
