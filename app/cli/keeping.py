"""A kept answer instead of scores: what `mace report answer.json` shows again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from app.call import JSON, Call, Reply
from app.cli.forms import is_shown
from app.cli.sources import Misuse, Source
from app.cli.wording import in_shell
from app.decoding.compression import expanded
from app.problems import Problem
from app.report.kept import BrokenAnswerError, checked, recognise


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, and the operation that gave it."""

    operation: str
    reply: Reply


class _Marks(msgspec.Struct):
    """What tells an answer from a request, read past everything else."""

    sentence: Any = None
    provenance: Any = None


def kept_in(sources: Sequence[Source], call: Call) -> Found | None:
    """The answer that the one input holds; None if it holds scores, or something to be asked about."""
    if len(sources) != 1 or sources[0].media_type != JSON or sources[0].size is None:
        return None
    (source,) = sources
    try:
        with source.body() as body:
            return _read(source, expanded(Call(call.operation, JSON, source.encoding), body), call)
    except Problem as problem:
        raise Misuse(f"{source.name}: {in_shell(problem.detail)}") from None


def _read(source: Source, data: memoryview, call: Call) -> Found | None:
    try:
        marks = msgspec.json.decode(data, type=_Marks)
        if marks.sentence is None and marks.provenance is None:
            return None
        answer = msgspec.json.decode(data)
        operation = recognise(answer)
        if operation is None:
            return None
        if not is_shown(operation):
            raise Misuse(f"{source.name}: holds {operation}, which are asked about, not shown")
        if call.query:
            raise Misuse(f"{source.name}: is an answer already; to ask otherwise, give the scores")
        return Found(operation, Reply(200, JSON, msgspec.json.encode(checked(operation, answer))))
    except msgspec.DecodeError:  # said by who reads requests
        return None
    except RecursionError:
        raise Misuse(f"{source.name}: nested too deeply") from None
    except BrokenAnswerError as wrong:
        raise Misuse(f"{source.name}: not a whole answer of mace: {wrong}") from None
