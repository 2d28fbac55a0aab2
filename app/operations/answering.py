"""What all operations share: the question out of the material, and the answer in the form asked for."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from app.encoding.wire import json_bytes
from app.operations.asking import ask, heard
from app.operations.forms import FORMS, rendered
from estimators import Counts, Scores
from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.problems import Problem
from macekit.report.model import Context
from macekit.report.rendering import render
from macekit.schemas.records import Asked

Q = TypeVar("Q", bound=Asked)


def question_of(kind: type[Q], material: Material) -> Q:
    """The checked question; options that came as text are read first."""
    return ask(kind, heard(kind, material.options) if material.textual else material.options)


def require_form(call: Call) -> None:
    """Refuse a form in which the operation has no answer."""
    forms = FORMS[call.operation]
    if call.accept not in forms:
        raise Problem("not-acceptable", f"{call.operation} answers as {', '.join(forms)}", field="Accept")


def reply_of(call: Call, answer: object, *samples: Scores | Counts) -> Reply:
    """An answer as JSON, or as a report made of that JSON and of nothing else."""
    require_form(call)
    data = json_bytes(answer)
    if rendered(call):
        data = render(call.operation, msgspec.json.decode(data), call.accept, Context.now())
    return Reply(200, call.accept, data, sum(s.n_members + s.n_nonmembers for s in samples))
