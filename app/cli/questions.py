"""`mace estimate`, `risk`, `compare` and the rest: the service's questions, asked of files, without a server."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from app.cli.catalogue import QUESTIONS, Question
from app.cli.parsing import Parser
from app.cli.printing import put
from app.cli.words import nearest, plain_json, shown

if TYPE_CHECKING:
    from app.call import Call, Reply
    from app.cli.options import Option
    from app.cli.sources import Source
    from app.cli.work import Sides
    from app.cli.writing import Target

SHOWN_RECORDS = 10
"""Records `mace risk` prints unless told otherwise."""

ENDINGS = """exit status:
  0    answered, whatever the answer
  2    misuse, or input that cannot be used; why is on standard error
  70   a mistake of mace itself
  130  interrupted
  141  whoever read the answer stopped reading"""


def add(commands: Any) -> None:
    """Describe the commands; their options are added when one is named."""
    for question in QUESTIONS:
        examples = "".join(f"\n  {line}" for line in question.examples)
        files = {None: " [FILE ...]", 0: "", 1: " [FILE]"}[question.most_files]
        command = commands.add_parser(
            question.name,
            help=question.summary,
            usage=f"mace {question.name} [OPTIONS]{files}",
            description=f"{question.summary[0].upper()}{question.summary[1:]}.\n\nexamples:{examples}",
            epilog=ENDINGS,
            fill=partial(_fill, question),
        )
        command.set_defaults(run=partial(run, question))


def run(question: Question, given: argparse.Namespace) -> int:
    """Ask the question of the files, and print or write the answer."""
    from app.cli.sources import Misuse

    try:
        return _run(question, given)
    except Misuse as wrong:
        print(f"mace {question.name}: {wrong}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"mace {question.name}: not enough memory", file=sys.stderr)
        return 2


def _fill(question: Question, parser: Parser) -> None:
    from app.cli.options import add_to
    from app.cli.sources import FORMATS

    add_to(parser, _options(question))
    if question.most_files != 0:
        source = parser.add_argument_group("where the scores are")
        names = (
            "CSV, TSV, NPY, Parquet, Arrow, or a JSON request as posted to the service; each also .gz or .zst"
        )
        source.add_argument(
            "files", nargs="*", metavar="FILE", default=[], help=f"{names}; - is standard input"
        )
        source.add_argument(
            "--format", metavar="NAME", help=f"format, whatever the suffix says: {', '.join(FORMATS)}"
        )
        if question.most_files == 1:
            source.add_argument(
                "--members", metavar="FILE", help="scores of members alone, with --nonmembers"
            )
            source.add_argument("--nonmembers", metavar="FILE", help="scores of nonmembers alone")
    out = parser.add_argument_group("where the answer goes").add_mutually_exclusive_group()
    suffixes = ".json, .csv, .arrow or .parquet" if question.name == "risk" else ".json"
    out.add_argument("--json", action="store_true", help="print the answer as the service's JSON")
    out.add_argument("-o", "--output", metavar="FILE", help=f"write it to a file, by its suffix: {suffixes}")
    more = parser.add_argument_group("and else")
    more.add_argument("--force", action="store_true", help="replace the file of -o if it is there already")
    more.add_argument("-q", "--quiet", action="store_true", help="nothing on standard error but errors")


def _options(question: Question) -> list[Option]:
    from app.cli.options import options_of
    from app.schemas.questions import QUESTIONS as SCHEMAS

    return options_of(SCHEMAS[question.operation])


def _run(question: Question, given: argparse.Namespace) -> int:
    from app.call import JSON, Call
    from app.cli.options import query_of
    from app.cli.progress import Progress
    from app.cli.sources import open_source
    from app.cli.work import Sides, answer
    from app.cli.writing import target_of

    options = _options(question)
    query = query_of(options, given)
    target = None
    if given.output is not None:
        target = target_of(given.output, question.name == "risk", given.force)
    elif question.name == "risk" and not given.json and "top" not in dict(query):
        query += (("top", str(SHOWN_RECORDS)),)
    call = Call(question.operation, query=query, accept=JSON if target is None else target.accept)
    _check(call, options)
    paths = _paths(question, given)
    with Progress(given.quiet) as progress, ExitStack() as opened:
        sources = [opened.enter_context(open_source(path, given.format)) for path in paths]
        inputs = Sides(*sources) if getattr(given, "members", None) else sources
        reply = answer(call, inputs, progress)
        _require_answer(reply, inputs)
        if target is not None:
            progress.now("writing")
            target.write(reply.body)
    _print(question, given, reply, target)
    return 0


def _check(call: Call, options: list[Option]) -> None:
    """What is wrong with the options is said before a file is opened."""
    from app.cli.sources import Misuse
    from app.cli.work import require_question
    from app.problems import Problem

    try:
        require_question(call)
    except Problem as problem:
        flag = next((each.flag for each in options if each.name == problem.field), None)
        detail = problem.detail.removeprefix(f"{problem.field}: ")
        raise Misuse(f"{flag}: {detail}" if flag else problem.detail) from None


def _paths(question: Question, given: argparse.Namespace) -> list[str]:
    """The files to read; standard input, if there is none and nobody sits at it."""
    from app.cli.sources import FORMATS, Misuse

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
        raise Misuse(f"takes one file, got {len(files)}; mace compare takes several")
    if not files and sys.stdin is not None and sys.stdin.isatty():
        raise Misuse(
            f"no file\nName a file of scores ({question.examples[0]}), give --members and --nonmembers, "
            "or pipe scores in.\n`mace demo` shows a first answer without any."
        )
    return files or ["-"]


def _require_answer(reply: Reply, inputs: list[Source] | Sides) -> None:
    from app.cli.sources import Misuse
    from app.cli.wording import detail_of

    if reply.problem is not None:
        named = f"{inputs[0].name}: " if isinstance(inputs, list) and len(inputs) == 1 else ""
        raise Misuse(named + detail_of(reply))


def _print(question: Question, given: argparse.Namespace, reply: Reply, target: Target | None) -> None:
    """The answer on standard output; its sentence on standard error if the numbers went to a file."""
    import msgspec

    from app.call import JSON
    from app.cli.showing import said, text
    from app.cli.writing import notes_of

    if given.json:
        put(plain_json(bytes(reply.body).decode()))
    elif target is None:
        put(text(question.operation, msgspec.json.decode(reply.body)))
    elif not given.quiet:
        answer = msgspec.json.decode(reply.body) if reply.media_type == JSON else notes_of(reply.body)
        print(said(answer), file=sys.stderr)
