"""What is asked of the core and answered here: a gate's batch after batch, and a plan of models.

``/v1/gate`` with ``anytime`` is one batch more of a run; its state comes and goes, and nothing of it is kept here.
What a service that signs does about states, `app/runs.py` does once the answer is there: here they are taken apart, and
said to be what they are.
"""

from collections.abc import Mapping
from dataclasses import replace

from estimators import Counts, Scores
from estimators.clusters.dependent_rows import DEPENDENT
from estimators.decisions.exposed_members import doubts_of
from estimators.decisions.verdict import Decision, beneath_baseline, unanswerable
from estimators.runs.procedure import plan_models
from estimators.runs.sequential import SequentialRun, sequential_run
from estimators.runs.sequential.run import PLANNED
from estimators.sample.doubts import CONSTANT
from estimators.sample.scores import Query
from estimators.statement import Caution, baseline
from macekit.call import Call, Keeping, Reply, Step
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_left_out
from macekit.operations.options import provenance, reply_of
from macekit.operations.samples import require_cells, sample_of
from macekit.problems import Problem, fault
from macekit.questions.gate import SEAL, GateAnswer, GateQuestion
from macekit.questions.plan import PlanAnswer, PlanQuestion
from macekit.schemas.answers import LimitAnswer

FIXED = ("max_advantage", "prior", "confidence", "planned", "seed")
"""What a run asks; it is fixed with the first batch."""

NOT_CHECKED = "; the state that came is one that was given out before, unchanged (its origin was not checked)"
NOT_REMEMBERED = (
    "; the run was not taken back to an earlier state across a restart of the service (which keeps no file of runs, so "
    "this was not excluded)"
)

OTHERS = (
    "declaration",
    "max_tpr",
    "at_fpr",
    "max_epsilon",
    "delta",
    "metric",
    "max",
    "max_group_risk",
    "max_group_advantage",
    "estimator",
    "changes",
)
"""What belongs to other limits, or to one look."""


def answer_gate(call: Call, body: DecodedBody, q: GateQuestion) -> Reply:
    """Where the run stands after this batch, and its state, which nobody keeps here."""
    require_left_out(q, OTHERS, "with anytime, max_advantage is judged alone, by rules of the run's own")
    if body.groups is not None:
        raise fault("bad-option", "groups", "with anytime, max_advantage is judged alone; remove them")
    if body.clusters:
        detail = "does not go with anytime; unit (a column) or units (labels) keep one record of each"
        raise fault("bad-option", "cluster", detail)
    before = _run_of(q, None if call.keeping is None else call.keeping.run_id)
    data = sample_of(body, q.model_copy(update={"query": _query_of(q, before, body)}))
    _require_answerable(data, body.cautions)
    run = replace(before.after(data), accept_exposure=q.accept_exposure)
    question = q.model_copy(update={name: getattr(run, name) for name in FIXED})
    last = run.looks[-1]
    step = Step(
        run.run_id, len(run.looks), None if q.state is None else before.digest(), run.digest(), _seal_of(q.state or {})
    )
    source = provenance(call, question, body, data, "sequential")
    source["run"] = {"run_id": step.run_id, "look": step.look, "state_before": step.before, "state_after": step.after}
    content: GateAnswer = {
        "sentence": run.sentence,
        "decision": run.decision.value,
        "covers": list(run.covers),
        "undecided_because": run.undecided_because,
        "records_needed": None,
        "baseline": baseline(run.prior),
        "limits": [_limit(run, _unchecked(step, call.keeping))],
        "groups": [],
        "exposure": None,
        "clusters": None,
        "anytime": {
            "looks": len(run.looks),
            "n_members": last.n_members,
            "n_nonmembers": last.n_nonmembers,
            "planned": run.planned,
        },
        "state": run.to_dict(),
        "warnings": encode.warnings(
            (
                *body.cautions,
                *run.cautions,
                *(each for each in run.withheld.cautions(run.of_ends) if each not in run.cautions),
                *beneath_baseline(question.max_advantage or 0.0, baseline(run.prior)),
            )
        ),
        "provenance": source,
    }
    return replace(reply_of(call, content, data), step=step)


def _require_answerable(batch: Scores | Counts, cautions: tuple[Caution, ...]) -> None:
    """Refuse a batch that cannot answer: once counted, it could not be told from the others of its run."""
    # each label may have one record in a batch, and each record one score; and a grid is refused by the run
    unasked = batch.query is Query.DISCRETE if isinstance(batch, Scores) else batch.cells.kind == "grid"
    doubts = () if unasked else doubts_of({"": batch}, clustered=False)
    odd = unanswerable(Decision.PASS, (*cautions, *(each for each in doubts if each.code != CONSTANT)))
    if odd is None:
        return
    words = odd.message
    if odd.code == DEPENDENT:  # a problem repeats no name of a column
        words = "rows of one label of a column have scores that are alike: name it as unit"
    why = "this batch was not added to the run"
    raise Problem("bad-records", f"{why}: {words}", local=f"{why}: {odd.message}")


def _seal_of(state: Mapping[str, object]) -> str | None:
    """The seal of a state that a service gave out; no part of the run."""
    seal = state.get(SEAL)
    return seal if isinstance(seal, str) else None


def _unchecked(step: Step, keeping: Keeping | None) -> str:
    """What an answer has to say of the state that came."""
    if step.before is None:
        return ""
    if keeping is None:
        return NOT_CHECKED
    return "" if keeping.durable else NOT_REMEMBERED


def _run_of(q: GateQuestion, run_id: str | None) -> SequentialRun:
    """The run as its state says, or a new one; what it asks must not change on the way."""
    if q.state is None:
        if q.max_advantage is None:
            raise fault("missing-field", "max_advantage", "is required with the first batch of anytime")
        return sequential_run(q.max_advantage, q.prior, q.confidence, q.planned or PLANNED, q.seed, run_id)
    for part in ("counts", "pilot"):
        value = q.state.get(part)
        if isinstance(value, dict) and "cells" in value:
            require_cells(value["cells"], f"state.{part}: ")
    run = SequentialRun.from_dict({name: value for name, value in q.state.items() if name != SEAL})
    for name in FIXED:
        value = getattr(q, name)
        if name in q.model_fields_set and value is not None and value != getattr(run, name):
            words = (
                f"the run of this state was begun with {getattr(run, name)}, which cannot change on the way; "
                "leave it out, or begin a new run"
            )
            raise fault("bad-option", name, words)
    if run.max_advantage is None:
        detail = "its max_advantage is null, so there is nothing to decide; begin a new run with a limit"
        raise fault("bad-option", "state", detail)
    return run


def _query_of(q: GateQuestion, run: SequentialRun, body: DecodedBody) -> str:
    """How scores are read: as in the batches before; counts were read already."""
    if run.counts is None or any(each.counts is not None for each in body.samples.values()):
        return q.query
    as_labels = run.counts.cells.kind != "intervals"
    if q.query == ("continuous" if as_labels else "discrete"):
        came = "labels" if as_labels else "numbers along a line"
        detail = (
            f"the batches before were read as {came}, which cannot change on the way; leave it out, or begin a new run"
        )
        raise fault("bad-option", "query", detail)
    return "discrete" if as_labels else q.query


def _limit(run: SequentialRun, unchecked: str) -> LimitAnswer:
    """The one limit, with ends that hold at all looks together."""
    stands = run.interval.guarantee
    nothing = dict.fromkeys(("estimate", "records_needed", "learned_score_accepted", "ranges", "threshold"))
    return encode.as_answer(
        LimitAnswer,
        run,
        **nothing,
        name="advantage",
        about="the optimal advantage, at all looks together",
        maximum=run.max_advantage or 0.0,
        guarantee=encode.guarantee(replace(stands, assumes=stands.assumes + unchecked)),
        decision=run.decision.value,
    )


OF_CLUSTERS = ("design_effect", "cluster_size", "correlation")


def answer_plan(call: Call, body: DecodedBody, q: PlanQuestion) -> Reply:
    """Models for a decision about a procedure."""
    for name in ("spread", "records_per_model", "max_advantage"):
        if getattr(q, name) is None:
            detail = "a plan of models needs spread, records_per_model and max_advantage"
            raise fault("bad-option", name, detail)
    for name in OF_CLUSTERS:
        if getattr(q, name) is not None:
            detail = "a plan of models is one of independent records in each; remove it"
            raise fault("bad-option", name, detail)
    result = plan_models(
        q.expected,
        q.max_advantage or 0.0,
        q.spread or 0.0,
        q.records_per_model or 0,
        q.prior,
        q.member_share,
        q.confidence,
    )
    records = None if result.models is None else result.models * result.records
    members = None if result.models is None else result.models * round(q.member_share * result.records)
    content: PlanAnswer = {
        "records": records,
        "members": members,
        "nonmembers": None if records is None or members is None else records - members,
        "models": result.models,
        "sentence": result.sentence,
        "warnings": encode.warnings(body.cautions),
    }
    return reply_of(call, content)
