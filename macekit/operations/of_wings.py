"""What a wing answers in place of the core: a question of the core that asks for more than the core has."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import msgspec

from estimators import MaceError
from macekit.call import FORM_DATA, JSON, NPZ, Body, Call, Reply
from macekit.catalogue import BY_NAME, WINGS, command
from macekit.decoding.body import DecodedBody
from macekit.decoding.compression import expanded
from macekit.decoding.multipart import files_in
from macekit.problems import Problem
from macekit.reports.saved import MARKS, recognise
from macekit.schemas.records import Question

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
