"""What the answers of theory have alike: bounds side by side, what to know first, and where they come from."""

from collections.abc import Iterable

from estimators.theory.bounds import Bound
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import origin, reply_of
from macekit.schemas.records import Question
from macekit.schemas.statements import BoundAnswer


def reply(
    call: Call, question: Question, body: DecodedBody, kind: type[object], result: object, **others: object
) -> Reply:
    """A statement of theory as an answer of a kind; ``others`` are the fields that it has by another name."""
    shared = {
        "bounds": bounds(getattr(result, "bounds", ())),
        "warnings": encode.warnings(getattr(result, "cautions", ())),
        "provenance": origin(call, question, body),
    }
    return reply_of(call, as_answer(kind, result, **shared, **others))


def bounds(table: Iterable[Bound]) -> list[BoundAnswer]:
    """Bounds side by side."""
    return [as_answer(BoundAnswer, each, value=finite(each.value)) for each in table]
