"""What mace does: from a decoded body to an encoded answer, by the ``work`` of an operation's room, or of a wing's.

``perform`` is the whole of it: bytes in, bytes out, the same in a worker, in the server and in the shell. A wing
answers in place of the core where a question of the core asks for more than the core has.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import msgspec

from estimators import MaceError
from macekit.call import FORM_DATA, JSON, NPZ, Body, Call, Reply
from macekit.catalogue import BY_CLUSTERS, BY_NAME, WINGS, command
from macekit.decoding import decode
from macekit.decoding.body import DecodedBody
from macekit.decoding.compression import expanded
from macekit.decoding.multipart import files_in
from macekit.operations.options import field_path
from macekit.problems import Problem, fault
from macekit.reports.saved import MARKS, recognise
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.records import Question

OF_NAMES = frozenset({"unknown-field", "missing-field", "unknown-name", "bad-option", "wrong-type", "out-of-range"})
"""What is wrong with a body whose names are another tool's, or an answer's."""


@cache
def work_of(operation: str) -> ModuleType:
    """The work of an operation, imported when it is first asked for."""
    return import_module(f"macekit.questions.{BY_NAME[operation].room}.work")


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
    if body.clusters and call.operation not in BY_CLUSTERS:
        able = ", ".join(f"/v1/{name}" for name in sorted(BY_CLUSTERS))
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
    row = BY_NAME[operation]
    work: Callable[[Call, DecodedBody], Reply] = getattr(
        work_of(operation), f"answer_{row.key}" if row.paper else "answer"
    )
    return work


IMPORTS = "macekit.imports"
LARGEST_RESULT = 2**26  # bytes of a body that is looked at again

_Marks = msgspec.defstruct("_Marks", [(name, Any, None) for name in (*MARKS, "counts")])


def answer_of_wing(call: Call, body: DecodedBody, question: Question) -> Reply | None:
    """The answer of the wing whose options were given; None if the question is the core's own."""
    for wing in WINGS:
        options = getattr(wing, "ANSWERS_FOR", {}).get(call.operation, ())
        if any(getattr(question, option) not in (None, False) for option in options):
            reply: Reply = getattr(for_core(wing), f"answer_{call.operation}")(call, body, question)
            return reply
    return None


def for_core(wing: ModuleType) -> ModuleType | None:
    """The module of a wing that answers for the core, if it has one."""
    return import_module(f"{wing.__name__}.for_core") if hasattr(wing, "ANSWERS_FOR") else None


def tool_of(call: Call, body: Body) -> str | None:
    """What the tool is called whose result a body is; None if it is no tool's, or too large to be looked at again."""
    if call.media_type not in (JSON, NPZ) or not body.seekable or find_spec(IMPORTS) is None:
        return None
    if len(body.view()) >= LARGEST_RESULT:
        return None
    try:
        return str(import_module(f"{IMPORTS}.reading").read(call, body, "").tool.name)
    except (Problem, MaceError):
        return None


def as_result(call: Call, body: Body) -> Problem | None:
    """That what cannot be read, the body or a part of it, is an answer, or another tool's result, and what to do."""
    row = BY_NAME[call.operation]
    if body.seekable and (answered := _answered(call, body)) is not None:
        shown = (
            f"is an answer of `{command(answered)}` and no request; `mace report FILE`, or "
            f"macekit.Result({answered!r}, answer) in Python, shows it again; a question is asked of the scores"
        )
        return Problem("bad-records", f"the body: {shown}", local=shown)
    if not row.takes_files or row.tables or row.texts or not body.seekable:
        return None
    files = [("the body", call, body)]
    if call.media_type == FORM_DATA:
        try:
            files = list(files_in(call, expanded(call, body)))
        except (Problem, MaceError):  # no form, which was said already
            return None
    for where, about, data in files:
        name = tool_of(about, data)
        if name is not None:
            title = import_module(f"{IMPORTS}.peers").BY_NAME[name].title
            return Problem(
                "bad-records",
                f"{where}: is a result of {title}'s; `mace import FILE -o scores.csv`, or macekit.import_scores in "
                "Python, makes the table of it that this takes",
                local=f"is a result of {title}'s: macekit.import_scores(path) makes the table of it that this takes",
            )
    return None


def _answered(call: Call, body: Body) -> str | None:
    """The operation whose kept answer a body is, but for counts, of which questions are asked; None if it is none."""
    if call.media_type != JSON or len(body.view()) >= LARGEST_RESULT:
        return None
    try:
        data = expanded(call, body)
        marks = msgspec.structs.asdict(msgspec.json.decode(data, type=_Marks))
        none = marks.pop("counts") is not None or not any(marks.values())
        return None if none else recognise(msgspec.json.decode(data))
    except (Problem, MaceError, msgspec.DecodeError, RecursionError):
        return None
