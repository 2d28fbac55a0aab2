"""``/v1/release-size``: how many rows of a released table may go out."""

from collections.abc import Sequence

from estimators.audits.release_size import release_size
from estimators.decisions.riskiest import RiskiestLimit
from estimators.runs.series import Step
from estimators.statement import baseline
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, reply_of
from macekit.questions.audits import table_answers
from macekit.questions.audits.release_size import ReleaseSizeAnswer, ReleaseSizeQuestion, ReleaseStepAnswer
from macekit.questions.audits.table_answers import ControlColumn
from macekit.questions.runs.series import work as series


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every size with its interval, and which rows keep the limit."""
    question = parse_question(ReleaseSizeQuestion, body)
    table_answers.require_columns(call, question, body.tables)
    table_answers.require_precision(question.max_exposed, question.at_precision)
    require_acceptance_acts(question)
    result = release_size(
        body.tables["train"],
        body.tables["holdout"],
        body.tables["synthetic"],
        body.tables.get("reference"),
        **question.model_dump(exclude_unset=True, exclude=set(body.tables), exclude_none=True),
    )
    tables = result.tables
    content: ReleaseSizeAnswer = {
        "sentence": result.sentence,
        "decision": series.decision_of(result.series),
        "covers": list(result.series.covers),
        "undecided_because": series.because_of(result.series),
        "largest": result.largest,
        "max_advantage": question.max_advantage,
        "baseline": baseline(question.prior),
        "steps": [
            _step(step, limits, copies.members, near_copies.members)
            for step, limits, copies, near_copies in zip(
                result.series.steps, result.limits, result.copies, result.near_copies, strict=True
            )
        ],
        "rows": result.rows.tolist(),
        "copies_judged": result.copies_judged,
        "n_synthetic": len(tables.synthetic),
        "n_reference": 0 if tables.reference is None else len(tables.reference),
        "warnings": encode.warnings(result.cautions),
        "provenance": table_answers.provenance_of_tables(call, question, tables, ControlColumn()),
    }
    return reply_of(call, content)


def _step(step: Step, limits: Sequence[RiskiestLimit], copies: int, near_copies: int) -> ReleaseStepAnswer:
    return {
        **series.step_answer(step),
        "size": int(step.label),
        "limits": encode.limits_over_queries(limits),
        "copies": copies,
        "near_copies": near_copies,
    }
