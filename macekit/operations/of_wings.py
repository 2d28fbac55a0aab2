"""What a wing answers in place of the core: a question of the core that asks for more than the core has."""

from importlib import import_module

from macekit.call import Call, Reply
from macekit.catalogue import WINGS
from macekit.decoding.body import DecodedBody
from macekit.schemas.records import Question


def answer_of_wing(call: Call, body: DecodedBody, question: Question) -> Reply | None:
    """The first answer that a wing has; None if the question is the core's own."""
    for wing in WINGS:
        for module in getattr(wing, "ANSWERS_FOR", {}).get(call.operation, ()):
            reply: Reply | None = import_module(f"{wing.__name__}.{module}").answer(call, body, question)
            if reply is not None:
                return reply
    return None
