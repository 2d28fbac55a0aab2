"""``/v1/gate`` with ``anytime``: one batch more of a run; its state comes and goes, and nothing of it is kept here."""

from __future__ import annotations

from estimators.plan import beneath_baseline
from estimators.sequential import SequentialRun, sequential_run
from estimators.sequential.run import PLANNED
from estimators.statement import baseline
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_left_out
from macekit.operations.options import provenance_options, reply_of
from macekit.operations.samples import require_cells, sample_of
from macekit.problems import Problem
from macekit.schemas.answers import GateAnswer, LimitAnswer
from macekit.schemas.questions import GateQuestion

FIXED = ("max_advantage", "prior", "confidence", "planned", "seed")
"""What a run asks; it is fixed with the first batch."""

OTHERS = ("max_tpr", "at_fpr", "max_epsilon", "delta", "metric", "max", "max_group_risk", "estimator")
"""What belongs to other limits, or to one look."""


def answer(call: Call, body: DecodedBody, q: GateQuestion) -> Reply:
    """Where the run stands after this batch, and its state, which nobody keeps here."""
    require_left_out(q, OTHERS, "with anytime, max_advantage is judged alone, by rules of the run's own")
    if body.groups is not None:
        raise Problem(
            "bad-option", "groups: with anytime, max_advantage is judged alone; remove them", field="groups"
        )
    if body.clusters:
        raise Problem(
            "bad-option",
            "cluster: does not go with anytime; unit (a column) or units (labels) keep one record of each",
            field="cluster",
        )
    before = _run_of(q)
    data = sample_of(body, q.model_copy(update={"query": _query_of(q, before, body)}))
    run = before.after(data)
    question = q.model_copy(update={name: getattr(run, name) for name in FIXED})
    last = run.looks[-1]
    content: GateAnswer = {
        "sentence": run.sentence,
        "decision": run.decision.value,
        "records_needed": None,
        "baseline": baseline(run.prior),
        "limits": [_limit(run)],
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
            (*body.cautions, *beneath_baseline(question.max_advantage or 0.0, baseline(run.prior)))
        ),
        "provenance": encode.provenance(
            data, "sequential", run.seed, provenance_options(question, call), encode.columns_of(body)
        ),
    }
    return reply_of(call, content, data)


def _run_of(q: GateQuestion) -> SequentialRun:
    """The run as its state says, or a new one; what it asks must not change on the way."""
    if q.state is None:
        if q.max_advantage is None:
            raise Problem(
                "missing-field",
                "max_advantage: is required with the first batch of anytime",
                field="max_advantage",
            )
        return sequential_run(q.max_advantage, q.prior, q.confidence, q.planned or PLANNED, q.seed)
    for part in ("counts", "pilot"):
        value = q.state.get(part)
        if isinstance(value, dict) and "cells" in value:
            require_cells(value["cells"], f"state.{part}: ")
    run = SequentialRun.from_dict(q.state)
    for name in FIXED:
        value = getattr(q, name)
        if name in q.model_fields_set and value is not None and value != getattr(run, name):
            raise Problem(
                "bad-option",
                f"{name}: the run of this state was begun with {getattr(run, name)}, which cannot change on the way; "
                "leave it out, or begin a new run",
                field=name,
            )
    if run.max_advantage is None:
        raise Problem(
            "bad-option",
            "state: its max_advantage is null, so there is nothing to decide; begin a new run with a limit",
            field="state",
        )
    return run


def _query_of(q: GateQuestion, run: SequentialRun, body: DecodedBody) -> str:
    """How scores are read: as in the batches before; counts were read already."""
    if run.counts is None or any(each.counts is not None for each in body.samples.values()):
        return q.query
    as_labels = run.counts.cells.kind != "intervals"
    if q.query == ("continuous" if as_labels else "discrete"):
        came = "labels" if as_labels else "numbers along a line"
        raise Problem(
            "bad-option",
            f"query: the batches before were read as {came}, which cannot change on the way; leave it out, or begin a "
            "new run",
            field="query",
        )
    return "discrete" if as_labels else q.query


def _limit(run: SequentialRun) -> LimitAnswer:
    """The one limit, with ends that hold at all looks together."""
    return {
        "name": "advantage",
        "about": "the optimal advantage, at all looks together",
        "maximum": run.max_advantage or 0.0,
        "estimate": None,
        "lower": run.lower,
        "upper": run.upper,
        "confidence": run.confidence,
        "guarantee": encode.guarantee(run.interval.guarantee),
        "decision": run.decision.value,
        "reason": run.reason,
        "records_needed": None,
        "learned_score_accepted": None,
    }
