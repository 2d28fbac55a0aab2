"""What mace does: one module for each operation, from a decoded body to an encoded answer.

``perform`` is the whole of it: bytes in, bytes out, the same in a worker, in the server and in the shell.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from estimators import MaceError
from macekit import catalogue
from macekit.call import Body, Call, Reply
from macekit.decoding import decode
from macekit.decoding.body import DecodedBody
from macekit.problems import Problem

MODULES = {each.name: import_module(f"macekit.operations.{each.module}") for each in catalogue.OPERATIONS}


def perform(call: Call, body: Body) -> Reply:
    """Answer one call; what is wrong with it is an answer, too. Only an error of ours raises."""
    read = getattr(MODULES[call.operation], "answer_body", None)
    try:
        reply: Reply | None = read(call, body) if read else None
        return function(call.operation)(call, decode(call, body)) if reply is None else reply
    except (Problem, MaceError) as error:
        return Problem.of(error).reply(call.request_id)


def answer(call: Call, material: DecodedBody) -> Reply:
    """The same for a body that is decoded already."""
    try:
        return function(call.operation)(call, material)
    except (Problem, MaceError) as error:
        return Problem.of(error).reply(call.request_id)


def function(operation: str) -> Callable[[Call, Material], Reply]:
    """What answers an operation: ``answer`` of its module, or ``answer_KEY`` of one that several share."""
    row = catalogue.BY_NAME[operation]
    work: Callable[[Call, Material], Reply] = getattr(
        MODULES[operation], f"answer_{row.key}" if row.paper else "answer"
    )
    return work
