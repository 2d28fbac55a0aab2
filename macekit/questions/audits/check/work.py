"""``/v1/check``: whether training and hold-out rows differ without any model."""

from typing import NamedTuple

from estimators.audits.queries import encode_sides
from estimators.audits.queries.rows import require_two_sides
from estimators.audits.sides import match_sides, part
from estimators.audits.split import check_rows
from estimators.sample.scores import MIN_RECORDS
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import parse_question, reply_of
from macekit.questions.audits import table_answers
from macekit.questions.audits.check import CheckAnswer, CheckQuestion, MatchAnswer
from macekit.questions.audits.table_answers import Columns


def answer(call: Call, body: DecodedBody) -> Reply:
    """The columns that tell the sides apart, and by how much."""
    question = parse_question(CheckQuestion, body)
    table_answers.require_columns(call, question, body.tables)
    train, holdout = body.tables["train"], body.tables["holdout"]
    control = table_answers.control_column(question.control, train, holdout)
    reading = _Reading(question.categories, [*question.leave_out, *control.names], question.use)
    sides = encode_sides(train, holdout, **reading._asdict())
    require_two_sides(sides.members, sides.nonmembers)
    check = check_rows(sides, confidence=question.confidence, seed=question.seed)
    content: CheckAnswer = {
        **table_answers.split(check),
        "control": table_answers.control(control.judged(question.confidence, question.seed)),
        "match": _match(question, reading, train, holdout) if question.match else None,
        "warnings": encode.warnings(check.cautions),
        "provenance": table_answers.provenance(
            call,
            question,
            (len(sides.members), len(sides.nonmembers)),
            table_answers.fingerprint({"train": sides.members, "holdout": sides.nonmembers}, *control.scores),
            "columns of both sides in one encoding",
            [*table_answers.columns(sides.columns), *control.read()],
            method="split",
        ),
    }
    return reply_of(call, content)


class _Reading(NamedTuple):
    """Which columns are read, and how."""

    categories: list[str]
    leave_out: list[str]
    use: list[str]


def _match(question: CheckQuestion, reading: _Reading, train: Columns, holdout: Columns) -> MatchAnswer:
    """Rows that are alike, and whether anything still tells them apart."""
    match = match_sides(train, holdout, seed=question.seed, **reading._asdict())
    check = None
    if len(match.members) >= MIN_RECORDS:
        kept = part(train, match.members), part(holdout, match.nonmembers)
        check = check_rows(encode_sides(*kept, **reading._asdict()), confidence=question.confidence, seed=question.seed)
    return {
        "sentence": match.sentence,
        "train": match.members.tolist(),
        "holdout": match.nonmembers.tolist(),
        "split": None if check is None else table_answers.split(check),
    }
