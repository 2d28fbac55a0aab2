"""``/v1/gate``: a decision over several limits."""

from __future__ import annotations

from math import isfinite
from typing import cast

from numpy.typing import ArrayLike

from estimators import CellsTarget, Counts, Scores
from estimators.gate import Judgement, judge
from estimators.maxima import JudgedLimit, Limit, MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.encode import guarantee, warnings
from macekit.operations.options import metric, question_of, reply_of, stated, target
from macekit.operations.samples import posted, sample_of
from macekit.problems import Problem
from macekit.schemas.answers import GateAnswer, LimitAnswer
from macekit.schemas.questions import GateQuestion
from macekit.schemas.statements import ProvenanceAnswer

# --- judgement ----------------------------------------------------------------------------------------------
# A gate's decision as its answer.


def judgement(found: Judgement, source: ProvenanceAnswer) -> GateAnswer:
    """The decision over all limits, and each of them."""
    return {
        "sentence": found.sentence,
        "decision": found.decision.value,
        "records_needed": found.records_needed,
        "baseline": found.baseline,
        "limits": [_limit(each) for each in found.limits],
        "warnings": warnings(found.cautions),
        "provenance": source,
    }


def _limit(judged: JudgedLimit) -> LimitAnswer:
    found, verdict = judged.estimate, judged.verdict
    return {
        "name": judged.name,
        "about": judged.about,
        "maximum": verdict.threshold,
        "estimate": found.value,
        "lower": found.lower,
        "upper": found.upper if isfinite(found.upper) else None,
        "confidence": found.interval.confidence,
        "guarantee": guarantee(found.interval.guarantee),
        "decision": verdict.decision.value,
        "reason": verdict.reason,
        "records_needed": verdict.records_needed,
    }


# --- gate ---------------------------------------------------------------------------------------------------


def answer(call: Call, material: DecodedBody) -> Reply:
    """Pass, fail or inconclusive, and what each limit has to do with it."""
    q = question_of(GateQuestion, material)
    require_limits(q, grouped=material.groups is not None)
    data = sample_of(material, q)
    found = judge(data, _limits(q, material, data), q.prior, q.confidence, q.seed)
    source = encode.provenance(data, found.provenance.method, q.seed, stated(q, call))
    return reply_of(call, judgement(found, source), data)


def require_limits(q: GateQuestion, *, grouped: bool) -> None:
    """Refuse a gate without limits, and what belongs to a limit that is not there."""
    if all(each is None for each in (q.max_advantage, q.max_epsilon, q.max, q.metric, q.max_group_risk)):
        raise Problem(
            "missing-field",
            "gate: give at least one of max_advantage, max_epsilon, max with metric, and max_group_risk",
            field="max_advantage",
        )
    if q.metric is None and q.max is not None:
        raise Problem("missing-field", "metric: say which metric the limit max is for", field="metric")
    if q.metric is not None and q.max is None:
        raise Problem("missing-field", "max: give the largest acceptable value of the metric", field="max")
    if q.max_epsilon is None and q.delta > 0.0:
        raise Problem(
            "bad-option", "delta applies only with max_epsilon; remove it, or add max_epsilon", field="delta"
        )
    if q.max_group_risk is not None and not grouped:
        raise Problem("missing-field", "groups: max_group_risk needs a label for each record", field="groups")
    if q.max_group_risk is None and grouped:
        raise Problem(
            "bad-option",
            "groups apply only with max_group_risk; remove them, or add max_group_risk",
            field="groups",
        )


def _limits(q: GateQuestion, material: DecodedBody, data: Scores | Counts) -> list[Limit]:
    """The limits that were given, in the order of the question's fields."""
    chosen = target(q.estimator)
    bins = chosen.bins if isinstance(chosen, CellsTarget) else None
    found: list[Limit] = []
    if q.max_advantage is not None:
        found.append(MaxAdvantage(q.max_advantage, chosen))
    if q.max_epsilon is not None:
        found.append(MaxEpsilon(q.max_epsilon, q.delta, bins))
    if q.metric is not None and q.max is not None:
        found.append(MaxMetric(q.max, metric(q.metric, q.prior), bins))
    if q.max_group_risk is not None:
        whole = None if material.units is None or isinstance(data, Counts) else posted(material)
        found.append(MaxGroupRisk(q.max_group_risk, cast("ArrayLike", material.groups), whole, bins))
    return found
