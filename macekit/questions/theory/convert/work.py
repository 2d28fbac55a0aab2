"""``/v1/theory/convert``: one number about membership in the units of the others."""

from estimators.theory import dp
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import parse_question
from macekit.problems import fault
from macekit.questions.theory.convert import NUMBERS, ConvertAnswer, ConvertedAnswer, ConvertQuestion
from macekit.questions.theory.reply import reply


def answer_convert(call: Call, body: DecodedBody) -> Reply:
    """What the number says of every other, as a lower end and as an upper limit."""
    q = parse_question(ConvertQuestion, body)
    _require_one(q)
    result = dp.convert(**q.model_dump())
    return reply(call, q, body, ConvertAnswer, result, rows=[_row(row) for row in result.rows])


def _require_one(q: ConvertQuestion) -> None:
    names = [name for name in NUMBERS if getattr(q, name) is not None]
    if len(names) != 1:
        kind, field = ("bad-option", names[1]) if names else ("missing-field", NUMBERS[0])
        raise fault(kind, field, f"give one of {', '.join(NUMBERS)}, and only one")


def _row(row: dp.Converted) -> ConvertedAnswer:
    return as_answer(ConvertedAnswer, row, at_least=finite(row.at_least), at_most=finite(row.at_most))
