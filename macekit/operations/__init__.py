"""What the service does: one module for each operation, from a decoded body to an encoded answer.

``perform`` is the whole of it: bytes in, bytes out, the same in a worker, in the server and in the shell.
"""

from __future__ import annotations

from collections.abc import Callable

from estimators import MaceError
from macekit.call import Body, Call, Reply
from macekit.decoding import decode
from macekit.decoding.body import Material
from macekit.operations import (
    advantage,
    audit,
    columns,
    compare,
    counts,
    gate,
    metrics,
    plan,
    report,
    risk,
    theory,
)
from macekit.problems import Problem

OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {
    "advantage": advantage.answer,
    "individual-risk": risk.answer,
    "metrics": metrics.answer,
    "compare": compare.answer,
    "audit": audit.answer,
    "report": report.answer,
    "gate": gate.answer,
    "plan": plan.answer,
    "counts": counts.answer,
    **theory.OPERATIONS,
}
"""Every operation that works on decoded material; the head of a table (``columns``) is none."""


def perform(call: Call, body: Body) -> Reply:
    """Answer one call; what is wrong with it is an answer, too. Only a mistake of ours raises."""
    return _settled(call, lambda: _read_and_answered(call, body))


def answer(call: Call, material: Material) -> Reply:
    """The same for a body that is decoded already."""
    return _settled(call, lambda: OPERATIONS[call.operation](call, material))


def _read_and_answered(call: Call, body: Body) -> Reply:
    if call.operation == "columns":
        return columns.answer(call, body)
    if call.operation == "counts" and counts.streams(call):
        return counts.answer_stream(call, body)
    return OPERATIONS[call.operation](call, decode(call, body))


def _settled(call: Call, work: Callable[[], Reply]) -> Reply:
    try:
        return work()
    except Problem as problem:
        return problem.reply(call.request_id)
    except MaceError as error:
        return Problem.of(error).reply(call.request_id)
