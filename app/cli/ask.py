"""A kept answer instead of scores: what `mace report answer.json` shows again."""

from __future__ import annotations

import argparse
import codecs
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from app.cli.inputs import Misuse, Source, open_source
from app.cli.options import Option, options_of, query_of
from app.cli.outputs import Form, Rendered, Target, form_of, is_shown, notes_of, suffixes_of, target_of
from app.cli.parsing import MISUSE
from app.cli.run import Sides, answer, require_question
from app.cli.showing import said, text
from app.cli.terminal import Progress, detail_of, in_shell, put
from macekit.call import JSON, Call, Reply
from macekit.catalogue import Operation
from macekit.decoding.compression import expanded
from macekit.formats import FORMATS
from macekit.problems import Problem
from macekit.report.model import TOP_RECORDS, Context
from macekit.report.saved import MARKS, BrokenAnswerError, recognise, validate_answer
from macekit.schemas.query import takes_arrays
from macekit.text import nearest, plain_json, shown


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
        raise Misuse(f"{found.kept}: not a complete answer of mace, so it cannot be shown") from None


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
            raise Misuse(f"{source.name}: holds {operation}, which mace report cannot show")
        if call.query:
            raise Misuse(f"{source.name}: is an answer already; options need the scores")
        return Found(
            operation, Reply(200, JSON, msgspec.json.encode(validate_answer(operation, answer))), source.name
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
        raise Misuse(f"{source.name}: not a complete answer of mace: {wrong}") from None


def _unbounded(data: memoryview) -> bool:
    """Whether this would be an answer if numbers that JSON has not were numbers."""
    try:
        held = json.loads(bytes(data))
    except ValueError:
        return False
    return recognise(held) is not None


# --- asking -------------------------------------------------------------------------------------------------
# From what was typed to an answer that is printed or written: the part that all questions share.

SHOWN_RECORDS = 10
"""Records `mace risk` prints unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file that was asked for, and the form it takes."""

    target: Target
    form: Form


def attempted(name: str, work: Callable[[], int]) -> int:
    """The status that the work of a command ends with; 2 if what was typed or read cannot be used."""
    try:
        return work()
    except Misuse as wrong:
        print(f"mace {name}: {wrong}", file=sys.stderr)
    except MemoryError:
        print(f"mace {name}: not enough memory", file=sys.stderr)
    return MISUSE


def asked(question: Operation, given: argparse.Namespace) -> Reply:
    """The answer to the question about the files, once it is printed or written."""
    options = options_of(question.name)
    query = query_of(options, given)
    output = _output(question, given)
    if question.command == "risk" and "top" not in dict(query):
        query += _listed(given, output)
    call = Call(question.name, query=query, accept=JSON if output is None else output.form.accept)
    _check(call, options, question.most_files == 0)
    paths = _paths(question, given)
    with Progress(given.quiet) as progress, ExitStack() as opened:
        sources = [opened.enter_context(open_source(path, given.format)) for path in paths]
        inputs = Sides(*sources) if getattr(given, "members", None) else sources
        found, context = kept_in(sources, call) if question.name == "report" else None, Context()
        if found is None:
            found = Found(question.name, _answer(call, inputs, progress))
            context = _context(paths)
        if output is not None:
            progress.now("writing")
            with showing(found):
                output.target.write(output.form.file(found.operation, found.reply.body, context))
    with showing(found):
        _print(given, found, output)
    return found.reply


def _listed(given: argparse.Namespace, output: Output | None) -> tuple[tuple[str, str], ...]:
    """How many records to print, if no option says so and the answer is not written as data."""
    if output is None:
        return () if given.json else (("top", str(SHOWN_RECORDS)),)
    return (("top", str(TOP_RECORDS)),) if isinstance(output.form, Rendered) else ()


def _output(question: Operation, given: argparse.Namespace) -> Output | None:
    """The file to write, before any work is done."""
    card, chart = getattr(given, "card", False), getattr(given, "chart", None)
    if given.output is None and (card or chart):
        form_of(question.name, "", card, chart)
    if given.output is None:
        return None
    target = target_of(given.output, suffixes_of(question.name), given.force)
    return Output(target, form_of(question.name, target.suffix, card, chart))


def _context(paths: list[str]) -> Context:
    """The files by their names alone, for a report travels further than their folder; and the time."""
    if not paths or "-" in paths:
        return Context.now()
    first, *others = (PurePath(path).name.encode("utf-8", "backslashreplace").decode() for path in paths)
    return Context.now(first, tuple(others))


def _check(call: Call, options: list[Option], complete: bool) -> None:
    """What is wrong with the options is said before a file is opened; unless ``complete``, a file may hold the rest."""
    try:
        require_question(call)
    except Problem as problem:
        if problem.kind.slug == "missing-field" and not complete:
            return
        flag = next((each.flag for each in options if each.name == problem.field), None)
        detail = problem.detail.removeprefix(f"{problem.field}: ")
        raise Misuse(f"{flag}: {detail}" if flag else in_shell(problem.detail)) from None


def _paths(question: Operation, given: argparse.Namespace) -> list[str]:
    """The files to read; standard input, if there is none and it is not a terminal."""
    if question.most_files == 0:
        return []
    if given.format is not None and given.format not in FORMATS:
        near = nearest(given.format, FORMATS)
        raise Misuse(f"--format: {shown(given.format)} is none of {', '.join(FORMATS)}{near}")
    files: list[str] = given.files
    sides = [side for side in (getattr(given, "members", None), getattr(given, "nonmembers", None)) if side]
    if sides and (len(sides) == 1 or files):
        raise Misuse("--members and --nonmembers go together, and without another file")
    if sides:
        return sides
    if question.most_files == 1 and len(files) > 1:
        several = "" if takes_arrays(question.name) else "; mace compare takes several"
        raise Misuse(f"takes one file, got {len(files)}{several}")
    if not files and sys.stdin is not None and sys.stdin.isatty():
        raise Misuse(
            f"no file\nName a file ({question.examples[0]}), or pipe one in."
            if takes_arrays(question.name)
            else f"no file\nName a file of scores ({question.examples[0]}), give --members and --nonmembers, "
            "or pipe scores in.\n`mace demo` shows a first answer without any."
        )
    return files or ["-"]


def _answer(call: Call, inputs: list[Source] | Sides, progress: Progress) -> Reply:
    reply = answer(call, inputs, progress)
    if reply.problem is not None:
        named = f"{inputs[0].name}: " if isinstance(inputs, list) and len(inputs) == 1 else ""
        raise Misuse(named + detail_of(reply))
    return reply


def _print(given: argparse.Namespace, found: Found, output: Output | None) -> None:
    """The answer on standard output; its sentence on standard error if the numbers went to a file."""
    body = found.reply.body
    if given.json:
        put(plain_json(bytes(body).decode()))
    elif output is None:
        put(text(found.operation, msgspec.json.decode(body)))
    elif not given.quiet:
        print(
            said(msgspec.json.decode(body) if found.reply.media_type == JSON else notes_of(body)),
            file=sys.stderr,
        )
