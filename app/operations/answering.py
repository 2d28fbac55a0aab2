"""What all operations share: the question out of the material, and the answer as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from app.call import JSON, Call, Reply
from app.decoding.material import Material
from app.encoding.wire import json_bytes
from app.operations.asking import ask, spoken
from app.problems import Problem
from app.schemas.columns import Asked
from estimators import Counts, Scores

Q = TypeVar("Q", bound=Asked)


def question_of(kind: type[Q], material: Material) -> Q:
    """The checked question; options that came as text are read first."""
    options = spoken(material.options) if material.textual else material.options
    return ask(kind, cast("Mapping[str, object]", options))


def json_reply(call: Call, answer: object, *samples: Scores | Counts) -> Reply:
    """An answer as JSON, the only form most operations have."""
    if call.accept != JSON:
        raise Problem("not-acceptable", f"{call.operation} answers as {JSON} only", field="Accept")
    return Reply(200, JSON, json_bytes(answer), sum(s.n_members + s.n_nonmembers for s in samples))
