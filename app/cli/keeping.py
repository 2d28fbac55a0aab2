"""A kept answer instead of scores: what `mace report answer.json` shows again."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from app.cli.forms import is_shown
from app.cli.sources import Misuse, Source
from app.cli.wording import in_shell
from macekit.call import JSON, Call, Reply
from macekit.decoding.compression import expanded
from macekit.problems import Problem
from macekit.report.saved import MARKS, BrokenAnswerError, checked, recognise


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, the operation that gave it, and the name of the file it was kept in, if it was."""

    operation: str
    reply: Reply
    kept: str | None = None


_Marks = msgspec.defstruct("_Marks", [(name, Any, None) for name in MARKS])
"""What tells an answer from a request, read past everything else."""


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


@contextmanager
def showing(found: Found) -> Iterator[None]:
    """While an answer is shown: what is wrong with a kept one and was not seen before is the file's fault."""
    try:
        yield
    except Misuse:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        if found.kept is None:
            raise
        raise Misuse(f"{found.kept}: not a whole answer of mace: it cannot be shown") from None


def _read(source: Source, data: memoryview, call: Call) -> Found | None:
    if bytes(data[: len(codecs.BOM_UTF8)]) == codecs.BOM_UTF8:
        data = data[len(codecs.BOM_UTF8) :]
    try:
        marks = msgspec.json.decode(data, type=_Marks)
        if all(getattr(marks, name) is None for name in MARKS):
            return None
        answer = msgspec.json.decode(data)
        operation = recognise(answer)
        if operation is None:
            return None
        if not is_shown(operation):
            raise Misuse(f"{source.name}: holds {operation}, which are asked about, not shown")
        if call.query:
            raise Misuse(f"{source.name}: is an answer already; to ask otherwise, give the scores")
        return Found(
            operation, Reply(200, JSON, msgspec.json.encode(checked(operation, answer))), source.name
        )
    except msgspec.DecodeError:
        if _unbounded(data):
            raise Misuse(
                f"{source.name}: no answer of mace's: it holds NaN, or a number beyond any float"
            ) from None
        return None  # said by who reads requests
    except RecursionError:
        raise Misuse(f"{source.name}: nested too deeply") from None
    except BrokenAnswerError as wrong:
        raise Misuse(f"{source.name}: not a whole answer of mace: {wrong}") from None


def _unbounded(data: memoryview) -> bool:
    """Whether this would be an answer if numbers that JSON has not were numbers."""
    try:
        held = json.loads(bytes(data))
    except ValueError:
        return False
    return recognise(held) is not None
