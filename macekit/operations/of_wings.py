"""What a wing answers in place of the core: a question of the core that asks for more than the core has."""

from importlib import import_module
from types import ModuleType

from macekit.call import Call, Reply
from macekit.catalogue import WINGS
from macekit.decoding.body import DecodedBody
from macekit.schemas.records import Question


def answer_of_wing(call: Call, body: DecodedBody, question: Question) -> Reply | None:
    """The answer of the wing whose options were given; None if the question is the core's own."""
    for wing in WINGS:
        for name, options in getattr(wing, "ANSWERS_FOR", {}).get(call.operation, {}).items():
            if any(getattr(question, option) not in (None, False) for option in options):
                reply: Reply = import_module(f"{wing.__name__}.{name}").answer(call, body, question)
                return reply
    return None


def modules_of(wing: ModuleType) -> list[ModuleType]:
    """Every module that answers for the core."""
    answers = getattr(wing, "ANSWERS_FOR", {}).values()
    return [import_module(f"{wing.__name__}.{name}") for modules in answers for name in modules]
