"""What mace does: from a decoded body to an encoded answer, by the ``work`` of an operation's room.

``perform`` is the whole of it: bytes in, bytes out, the same in a worker, in the server and in the shell.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType

from estimators import MaceError
from macekit import catalogue
from macekit.call import Body, Call, Reply
from macekit.decoding import decode
from macekit.decoding.body import DecodedBody
from macekit.operations.of_wings import as_result
from macekit.operations.options import field_path
from macekit.problems import Problem, fault
from macekit.schemas.by_operation import QUESTIONS

OF_NAMES = frozenset({"unknown-field", "missing-field", "unknown-name", "bad-option", "wrong-type", "out-of-range"})
"""What is wrong with a body whose names are another tool's, or an answer's."""


@cache
def work_of(operation: str) -> ModuleType:
    """The work of an operation, imported when it is first asked for."""
    return import_module(f"macekit.questions.{catalogue.BY_NAME[operation].room}.work")


def perform(call: Call, body: Body, options: Mapping[str, object] | None = None) -> Reply:
    """Answer one call; what is wrong with it is an answer, too. Only an error of ours raises.

    ``options`` are plain values, which win over those in the body; the call's query then only names columns.
    """
    if options is not None and options.get("query") == "discrete":
        call = replace(call, names=True)
    read = getattr(work_of(call.operation), "answer_body", None)
    try:
        reply: Reply | None = read(call, body, options) if read else None
        return _answer(call, decode(call, body).with_options(options)) if reply is None else reply
    except (Problem, MaceError) as error:
        problem = _problem(call, error)
        if problem.kind.slug in OF_NAMES:
            problem = as_result(call, body) or problem
        return problem.reply(call.request_id)


def answer(call: Call, body: DecodedBody) -> Reply:
    """The same for a body that is decoded already."""
    try:
        return _answer(call, body)
    except (Problem, MaceError) as error:
        return _problem(call, error).reply(call.request_id)


def _answer(call: Call, body: DecodedBody) -> Reply:
    """What the operation answers; models and clusters are refused where it does not allow for them."""
    body = body.under_current_names(call.operation)
    call = replace(call, query=(*call.query, *body.columns_named))
    if body.models is not None and "model" not in QUESTIONS[call.operation].model_fields:
        detail = (
            f"{call.operation} takes all records for one model's; /v1/procedure and /v1/theory/one-run tell "
            "several apart"
        )
        raise fault("bad-option", "model", detail)
    if body.clusters and call.operation not in catalogue.BY_CLUSTERS:
        able = ", ".join(f"/v1/{name}" for name in sorted(catalogue.BY_CLUSTERS))
        detail = (
            f"{call.operation} does not allow for clusters; {able} do. Or keep one record of each, with unit "
            "(a column of a table) or units (labels)"
        )
        raise fault("bad-option", "cluster", detail)
    return function(call.operation)(call, body)


def _problem(call: Call, error: Problem | MaceError) -> Problem:
    """What is wrong, said of the field that can be changed, which the library knows by the name of its argument."""
    problem = Problem.of(error)
    return problem if isinstance(error, Problem) else problem.of_field(field_path(call.operation, error.field))


def function(operation: str) -> Callable[[Call, DecodedBody], Reply]:
    """What answers an operation: ``answer`` of its module, or ``answer_KEY`` of one that several share."""
    row = catalogue.BY_NAME[operation]
    work: Callable[[Call, DecodedBody], Reply] = getattr(
        work_of(operation), f"answer_{row.key}" if row.paper else "answer"
    )
    return work
