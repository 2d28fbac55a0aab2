"""``/v1/gate``: a decision over several limits."""

from typing import cast

from numpy.typing import ArrayLike

from estimators import CellsTarget, Counts, Estimate, LearnedTarget, Scores
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.gate_sample import JudgedGroup, JudgedLimit, Limit
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.decisions.tpr_limit import MaxTpr
from estimators.decisions.verdict import overall
from estimators.risk.groups import GroupTable
from estimators.risk.within_groups import GroupAdvantage
from estimators.sample.learned import LearnedCounts
from macekit.call import JSON, Call, Reply
from macekit.declaration import require_declared
from macekit.decoding.body import DecodedBody, table_options
from macekit.operations import answer_of_wing, effects, encode, samples
from macekit.operations.encode import warnings
from macekit.operations.options import metric, parse_question, provenance_options, reply_of, target
from macekit.problems import Problem, fault
from macekit.questions.gate import GateAnswer, GateQuestion
from macekit.schemas.answers import DecisionAnswer, EndsAnswer, GroupOfGateAnswer, LimitAnswer
from macekit.schemas.query_string import of_table
from macekit.schemas.questions import LinearMetric
from macekit.schemas.statements import ProvenanceAnswer

UNCHECKED = "; of which columns the records came is not checked"
"""What is said of a declaration beside records that came without a table."""

GROUP_LIMITS = ("max_group_advantage", "max_group_risk")  # limits that need groups


def decision(result: Judgement) -> DecisionAnswer:
    """The decision over all limits, and each of them."""
    return {
        "sentence": result.sentence,
        "decision": result.decision.value,
        "covers": list(result.covers),
        "undecided_because": result.undecided_because,
        "records_needed": result.records_needed,
        "limits": [_limit(each) for each in result.limits],
        "groups": _groups(result),
    }


def judgement(result: Judgement, source: ProvenanceAnswer) -> GateAnswer:
    """The same with what stands beside it."""
    return {
        **decision(result),
        "baseline": result.baseline,
        "exposure": encode.exposure(result.exposure),
        "clusters": encode.clusters(result.clusters),
        "anytime": None,
        "state": None,
        "warnings": warnings(result.cautions),
        "provenance": source,
    }


def _limit(limit: JudgedLimit) -> LimitAnswer:
    verdict, ends = limit.verdict, encode.interval(limit.estimate)
    return encode.as_answer(
        LimitAnswer,
        verdict,
        **{**ends, "upper": encode.finite(limit.estimate.upper)},
        name=limit.name,
        about=limit.about,
        maximum=verdict.threshold,
        decision=verdict.decision.value,
        ranges=limit.ranges,
        threshold=None if limit.threshold is None else encode.interval(limit.threshold),
    )


def _groups(result: Judgement) -> list[GroupOfGateAnswer]:
    """Each group with what is limited of it, and what it gives away by itself."""
    of = {each.name: {group.label: group for group in each.groups} for each in result.limits if each.groups}
    risks, own = of.get("group_risk", {}), of.get("group_advantage", {})
    beside = {each.label: each for each in result.by_group}
    return [_group(label, risks.get(label), own.get(label), beside.get(label)) for label in own or risks]


def _group(
    label: object, risk: JudgedGroup | None, own: JudgedGroup | None, beside: GroupAdvantage | None
) -> GroupOfGateAnswer:
    both = [each for each in (own, risk) if each is not None]
    outcome = overall(each.decision for each in both)
    advantage = own.estimate if own is not None else None
    if beside is not None and beside.advantage is not None:
        advantage = beside.advantage.estimate
    sizes = own or beside
    return {
        "label": cast("str | float | bool", label),
        "records": both[0].records,
        "n_members": None if sizes is None else sizes.n_members,
        "n_nonmembers": None if sizes is None else sizes.n_nonmembers,
        "decision": outcome.value,
        "reason": next(each.reason for each in both if each.decision is outcome),
        "records_needed": None if own is None else own.records_needed,
        "advantage": None if advantage is None else _ends(advantage),
        "risk": None if risk is None or risk.estimate is None else _ends(risk.estimate),
    }


def _ends(estimate: Estimate) -> EndsAnswer:
    return encode.as_answer(EndsAnswer, estimate, estimate=estimate.value)


def answer(call: Call, body: DecodedBody) -> Reply:
    """Pass, fail or undecided, and what each limit has to do with it."""
    q = parse_question(GateQuestion, body)
    if (reply := answer_of_wing(call, body, q)) is not None:
        return reply
    effects.require_left_out(q, ("planned", "state"), "it goes with anytime")
    data = samples.sample_of(body, q)
    grouped = q.max_group_risk is not None or q.max_group_advantage is not None
    table = samples.groups_of_counts(body, data) if isinstance(data, Counts) and grouped else None
    require_limits(q, grouped=(table or body.groups) is not None)
    adversaries = target(q.estimator, q.changes)
    require_gate_acts(q, data)
    learned = adversaries if isinstance(adversaries, LearnedTarget) else None
    limits, cluster = _limits(q, body, data, table), samples.clusters_of(body)
    result = judge(data, limits, q.prior, q.confidence, q.seed, learned, cluster, q.accept_exposure, body.cautions)
    options = provenance_options(q, call)
    source = encode.provenance(data, result.provenance.method, q.seed, options, encode.columns_of(body))
    without = of_table("gate") if call.media_type in ("", JSON) and not table_options(call) else ()
    source["declaration"] = under = (
        None
        if q.declaration is None
        else require_declared(q.declaration, options, data.n_members, data.n_nonmembers, without)
    )
    content = judgement(result, source)
    if under is not None and content["covers"]:
        content["covers"].append(
            f"Its limits and options are those that were declared at {under['at']} in the declaration with SHA-256 "
            f"{under['sha256']}{UNCHECKED if without else ''}."
        )
    return reply_of(call, content, data)


def require_gate_acts(question: GateQuestion, data: Scores | Counts) -> None:
    """Refuse what no limit of a gate would use."""
    estimator = question.estimator
    effects.require_estimator_acts(estimator, data, paper=False)
    effects.require_acceptance_acts(question)
    if question.max_advantage is not None or question.max_group_advantage is not None:
        if question.changes is not None:
            effects.require_changes_act("changes", estimator, data)
        return
    if question.changes is not None:
        message = "only max_advantage and max_group_advantage ask for a class of attacks"
        raise effects.useless("changes", message)
    of_cells = question.max is not None or question.max_epsilon is not None
    cuts = (of_cells and effects.is_ranked(data)) or (question.max_group_risk is not None and effects.is_line(data))
    if estimator.bins is not None and not cuts:
        raise effects.useless("estimator.bins", "no limit here is judged on cells that are cut for it")
    vector = isinstance(data, LearnedCounts) or (isinstance(data, Scores) and data.dimension > 1)
    acting = estimator.kind == "auto" or estimator.bins is not None or (vector and estimator.kind == "learned")
    for name, acts in (("kind", acting), ("changes", False), ("universe", False)):
        if getattr(estimator, name) is not None and not acts:
            message = "only max_advantage and max_group_advantage ask for a class of attacks"
            raise effects.useless(f"estimator.{name}", message)


def require_limits(q: GateQuestion, *, grouped: bool) -> None:
    """Refuse a gate without limits, and what belongs to a limit that is not there."""
    of_groups = q.max_group_risk, q.max_group_advantage
    limits = q.max_advantage, q.max_tpr, q.at_fpr, q.max_epsilon, q.max, q.metric, *of_groups
    if all(each is None for each in limits):
        raise Problem(
            "missing-field",
            "gate: give at least one of max_advantage, max_tpr with at_fpr, max_epsilon, max with metric, "
            "max_group_advantage, and max_group_risk",
            field="max_advantage",
        )
    if q.metric is None and q.max is not None:
        raise fault("missing-field", "metric", "say which metric the limit max is for")
    if q.metric is not None and q.max is None:
        raise fault("missing-field", "max", "give the largest acceptable value of the metric")
    if q.max is not None and q.max > 1.0 and not isinstance(q.metric, LinearMetric):
        raise fault(
            "out-of-range",
            "max",
            "needs to be less than or equal to 1, which no metric with a name exceeds; a percentage is written as "
            "a share, 95% as 0.95",
        )
    if q.max_tpr is not None and q.at_fpr is None:
        raise fault("missing-field", "at_fpr", "say at which false positive rate max_tpr limits")
    if q.max_tpr is None and q.at_fpr is not None:
        detail = "give the largest acceptable true positive rate at the false positive rate at_fpr"
        raise fault("missing-field", "max_tpr", detail)
    if q.max_epsilon is None and q.delta > 0.0:
        words = "delta applies only with max_epsilon; remove it, or add max_epsilon"
        raise Problem("bad-option", words, field="delta")
    limit = next((name for name in GROUP_LIMITS if getattr(q, name) is not None), None)
    if limit is not None and not grouped:
        detail = f"{limit} needs a label for each record, or counts with those of each group"
        raise fault("missing-field", "groups", detail)
    if limit is None and grouped:
        raise Problem(
            "bad-option",
            "groups apply only with max_group_advantage or max_group_risk; remove them, or add one of these",
            field="groups",
        )


def _limits(q: GateQuestion, body: DecodedBody, data: Scores | Counts, table: GroupTable | None) -> list[Limit]:
    """The limits that were given, in the order of the question's fields."""
    estimator_target = target(q.estimator, q.changes)
    bins = estimator_target.bins if isinstance(estimator_target, CellsTarget | LearnedTarget) else None
    limits: list[Limit] = []
    if q.max_advantage is not None:
        limits.append(MaxAdvantage(q.max_advantage, estimator_target))
    if q.max_tpr is not None and q.at_fpr is not None:
        limits.append(MaxTpr(q.max_tpr, q.at_fpr))
    if q.max_epsilon is not None:
        limits.append(MaxEpsilon(q.max_epsilon, q.delta, bins))
    if q.metric is not None and q.max is not None:
        limits.append(MaxMetric(q.max, metric(q.metric, q.prior), bins))
    if q.max_group_advantage is not None:
        labels = samples.groups_of_kept(body, q) if isinstance(data, Scores) else cast("ArrayLike", None)
        limits.append(MaxGroupAdvantage(q.max_group_advantage, table or labels, estimator_target))
    if q.max_group_risk is not None:
        whole = None if body.units is None or isinstance(data, Counts) else samples.submitted_scores(body, data)
        limits.append(
            MaxGroupRisk(
                q.max_group_risk, table or cast("ArrayLike", body.groups), whole, bins, samples.stand_for(body, data, q)
            )
        )
    return limits
