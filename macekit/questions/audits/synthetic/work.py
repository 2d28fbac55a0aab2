"""``/v1/synthetic``: what a released table gives away about the rows it was made from."""

from estimators.audits.queries import SYNTHETIC
from estimators.audits.sides import one_row_each
from estimators.audits.synthetic import Copies, SyntheticAudit, audit_synthetic
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, reply_of
from macekit.questions.audits import table_answers
from macekit.questions.audits.synthetic import CountedCopiesAnswer, SyntheticAnswer, SyntheticQuestion
from macekit.questions.audits.table_answers import Columns, ControlColumn
from macekit.questions.risk.work import group_rows
from macekit.schemas.statements import ProvenanceAnswer


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every query, copies, what tells the sides apart anyway, and the verdict."""
    question = parse_question(SyntheticQuestion, body)
    table_answers.require_columns(call, question, body.tables)
    table_answers.require_pairs(question)
    require_acceptance_acts(question)
    train, holdout = body.tables["train"], body.tables["holdout"]
    control = _control_column(question, train, holdout)
    options = question.model_dump(
        exclude_unset=True, exclude={*body.tables, "group", "control", "leave_out"}, exclude_none=True
    )
    audit = audit_synthetic(
        train,
        holdout,
        body.tables["synthetic"],
        body.tables.get("reference"),
        groups=question.group,
        control=control.judged(question.confidence, question.seed),
        leave_out=[*question.leave_out, *control.names],
        **options,
    )
    source = table_answers.provenance_of_tables(call, question, audit.tables, control)
    return reply_of(call, of_audit(audit, source))


def of_audit(audit: SyntheticAudit, source: ProvenanceAnswer) -> SyntheticAnswer:
    """An audit as its answer."""
    return {
        **table_answers.over_queries(
            audit.sentence, audit.verdict, audit.limits, audit.comparison, audit.exposures, SYNTHETIC
        ),
        "copies": {
            **_copies(audit.copies),
            "judged": audit.copies_judged,
            "columns": [{"name": each.name, "precision": each.precision or None} for each in audit.tables.columns],
        },
        "near_copies": _copies(audit.near_copies),
        "split": None if audit.split is None else table_answers.split(audit.split),
        "control": table_answers.control(audit.control),
        "groups": group_rows(audit.groups, {each.label: each for each in audit.by_group}),
        "n_synthetic": len(audit.tables.synthetic),
        "n_reference": 0 if audit.tables.reference is None else len(audit.tables.reference),
        "warnings": encode.warnings(audit.cautions),
        "provenance": source,
    }


def _control_column(question: SyntheticQuestion, train: Columns, holdout: Columns) -> ControlColumn:
    """The control score of the rows that are asked about: of those of one person one."""
    if question.control is not None:
        train, holdout, *_ = one_row_each(question.unit, train, holdout, question.seed)
    return table_answers.control_column(question.control, train, holdout)


def _copies(copies: Copies) -> CountedCopiesAnswer:
    beyond_chance = encode.interval(copies.beyond_chance)
    return encode.as_answer(CountedCopiesAnswer, copies, beyond_chance=beyond_chance)
