"""`mace estimate`, `risk`, `gate` and the rest: the service's questions, asked of files, without a server."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from app.cli.parsing import ENDINGS, PASS, Misuse, Parser, add_overwrite, parser_of, run_command, status_of
from app.cli.pipeline import JUDGES, add_files, annotate, writer_of
from macekit.catalogue import BY_NAME, OPERATIONS
from macekit.operation import Operation

if TYPE_CHECKING:
    from app.cli.outputs import Target


GATE = BY_NAME["gate"]  # what may be asked batch after batch, and of several files

QUESTIONS = tuple(each for each in OPERATIONS if each.command and not each.paper and each is not GATE)
"""Operations that one function asks, whatever they are."""

THEORY = tuple(each for each in OPERATIONS if each.paper)
"""What the papers promise, asked as `mace theory NAME`."""


def add(commands: Any) -> None:
    """Describe the commands; their options are added when one is named."""
    for question in QUESTIONS:
        describe(commands, question, run, fill)


def describe(
    commands: Any,
    question: Operation,
    run: Callable[[Operation, argparse.Namespace], int],
    fill: Callable[[Operation, Parser], None],
) -> None:
    """One command that asks a question, and what runs it and adds its options."""
    name = re.match(r"\w+[A-Z]", question.summary) is not None
    summary = question.summary if name else f"{question.summary[0].lower()}{question.summary[1:]}"
    shards = question.most_files == 1 and not (question.paper or question.arrays or question.texts)
    files = {None: " [FILE ...]", 0: "", 1: " [FILE ...]" if shards else " [FILE]"}[question.most_files]
    files += " [OUTPUT]" * question.texts

    def complete(parser: Parser) -> None:
        examples = "".join(f"\n  {line}" for line in question.examples)
        end = "" if question.summary.endswith("?") else "."
        parser.description = f"{question.summary}{end}\n\nexamples:{examples}"
        parser.set_defaults(run=partial(run, question))
        fill(question, parser)

    commands.add_parser(
        question.command.rpartition(" ")[2],
        help=summary,
        usage=f"mace {question.command} [OPTIONS]{files}",
        epilog=ENDINGS,
        fill=complete,
    )


def run(question: Operation, given: argparse.Namespace) -> int:
    """Ask the question of the files, print or write the answer, and end with what was decided.

    An answer that was kept is only shown: nothing is decided anew.
    """
    from app.cli.ask import answer_question

    def work() -> int:
        if question.texts and len(given.files) == 2 and given.output is None:  # mace text FILE OUTPUT
            given.output = given.files.pop()
        if question not in JUDGES:
            answer = answer_question(question, given)
        else:
            answer = answer_question(question, given, write_files=writer_of(question, given))
            annotate(question, answer.content)
        return status_of(answer.content) if answer.file is None else PASS

    return run_command(question.command, work)


def fill(question: Operation, parser: Parser) -> None:
    """Add the options of a question."""
    from app.cli.importing import IS_THERE, add_tool
    from app.cli.limits_file import COMMANDS
    from app.cli.options import add_to, options_of
    from app.cli.outputs import is_shown, suffixes_of
    from macekit.call import CSV
    from macekit.formats import FILE_FORMATS, FORMATS
    from macekit.schemas.query_string import takes_arrays

    options = options_of(question.name)
    add_to(parser, options)
    if "unit" in {each.name for each in options} and not question.by_clusters:
        able = [f"mace {each.command}" for each in OPERATIONS if each.by_clusters]
        parser.elsewhere["--cluster"] = f" here: {', '.join(able)} take it; --unit keeps one record of each"
    if question.tables:
        _add_tables(question, parser)
    elif question.most_files != 0:
        arrays = takes_arrays(question.name)
        shards = question.most_files == 1 and not (question.paper or arrays or question.texts)
        together = APART if question is GATE else TOGETHER
        elsewhere = "" if arrays or question.texts else ELSEWHERE
        source = parser.add_argument_group(f"where the {'numbers' if arrays or question.texts else 'scores'} are")
        titles = [each.title for each in FILE_FORMATS if each.media_type in question.bodies]
        forms = "CSV, TSV, JSON lines, NPY, NPZ, Parquet, Arrow" if CSV in question.bodies else ", ".join(titles[:-1])
        names = f"{forms}, or a JSON request as sent to the service; each may be compressed (.gz, .zst)"
        source.add_argument(
            "files",
            nargs="*",
            metavar="FILE",
            default=[],
            help=f"{names}; - is standard input{elsewhere}{together if shards else ''}",
        )
        source.add_argument(
            "--format", metavar="NAME", help=f"format of the file, in place of its suffix: {', '.join(FORMATS)}"
        )
        if CSV in question.bodies and IS_THERE and not (arrays or question.texts or question.paper):
            add_tool(source)
        if question.most_files == 1 and not arrays:
            what = "what was said of" if question.texts else "scores of"
            source.add_argument("--members", metavar="FILE", help=f"{what} members alone, with --nonmembers")
            source.add_argument("--nonmembers", metavar="FILE", help=f"{what} nonmembers alone")
    out = parser.add_argument_group("where the answer goes").add_mutually_exclusive_group()
    suffixes = ", ".join(suffixes_of(question.name))
    out.add_argument("--json", action="store_true", help="print the answer as the service's JSON")
    if is_shown(question.name):
        out.add_argument("--brief", action="store_true", help="print what a pipeline reads of it, as JSON")
    out.add_argument(
        "-o", "--output", metavar="FILE", help=f"write the answer to a file; its suffix chooses the form: {suffixes}"
    )
    more = parser.add_argument_group("and else")
    if is_shown(question.name):
        more.add_argument("--card", action="store_true", help="with -o FILE.md: write the section for a model card")
        more.add_argument("--chart", metavar="NAME", help="with -o FILE.svg or .png: write only this chart")
        more.add_argument("--dated", action="store_true", help="with -o: have the report say when it was made")
    if question.name in COMMANDS:
        more.add_argument(
            "--limits",
            metavar="FILE",
            help="take what is not typed from this file, in place of mace.toml or pyproject.toml ([tool.mace]) of this "
            "folder; none: from no file",
        )
    if question.name == "report":
        more.add_argument(
            "--public-key",
            metavar="FILE",
            help="of a kept answer: refuse it unless it is, byte for byte, what the service with this key (PEM) signed",
        )
    if question in JUDGES and question is not GATE:
        add_files(parser)
    add_overwrite(more, "the file of -o if it exists")
    more.add_argument("-q", "--quiet", action="store_true", help="print only errors on standard error")


def _add_tables(question: Operation, parser: Parser) -> None:
    """A file for each table."""
    from macekit.formats import FORMATS

    source = parser.add_argument_group(
        "where the tables are: CSV, TSV, JSON lines, Parquet or Arrow, compressed or not"
    )
    for name in question.tables:
        source.add_argument(f"--{name}", metavar="FILE", help=TABLES[name])
    source.add_argument(
        "--format", metavar="NAME", help=f"format of the files, in place of their suffixes: {', '.join(FORMATS)}"
    )


ELSEWHERE = "; a folder, a pattern in quotes or an address (s3:// gs:// abfs:// hdfs://) stands for the files there"
TOGETHER = ", and several files are one table"
APART = ", and several files are judged each by itself, at one level for all"
TABLES = {
    "train": "training rows: what the model was fitted to, or the release made from",
    "holdout": "rows like these that were held out",
    "synthetic": "the released rows",
    "reference": "further rows, of neither side; queries that need them are asked only with it",
    "planted": "what twins of the model predict for records that were planted in their training",
    "spared": "the same for records that were drawn with these and left out",
    "members": "scores of records known to be trained on",
    "nonmembers": "scores of records of the same kind and date, known not to be",
    "candidates": "scores of the records in question",
    "forgotten": "records that the model was to forget",
    "unseen": "records of the same kind that it has never seen",
    "retained": "records of that kind that it was trained on and kept; for the share that remains",
}
"""What each table is."""


SUMMARY = "what theory guarantees: differential privacy and the results of three papers"
EXAMPLES = ("mace theory dp --epsilon 1", "mace theory mip draws.npy --eta 0.1", "mace theory NAME --help")


def add_theory(commands: Any) -> None:
    """Describe `mace theory NAME`: what the papers promise, a question each."""
    examples = "".join(f"\n  {line}" for line in EXAMPLES)
    command = commands.add_parser(
        "theory",
        help=SUMMARY,
        usage="mace theory NAME [OPTIONS] [FILE]",
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}.\n\nexamples:{examples}",
        epilog=ENDINGS,
    )
    questions = command.add_subparsers(
        title="questions", metavar="NAME", prog="mace theory", required=True, parser_class=parser_of
    )
    for question in THEORY:
        describe(questions, question, run, fill)


LARGEST_STATE = 2**26  # bytes


def _declared(question: Operation, arguments: argparse.Namespace) -> dict[str, Any]:
    """What a question says of the declaration that it was made under."""
    from app.cli.declare import take
    from app.cli.options import options_of

    if arguments.state is not None or getattr(arguments, "option:anytime"):
        raise Misuse("--declared: does not go with a run of batches, whose limits stand in its first batch")
    return take(arguments.declared, options_of(question.name), arguments)


def read_state(target: Target) -> dict[str, Any]:
    """What a question of the run says beside its records."""
    if not target.path.exists():
        return {"anytime": True}
    try:
        if target.path.stat().st_size > LARGEST_STATE:
            raise ValueError
        state = json.loads(target.path.read_bytes())
    except (OSError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise Misuse(f"{target.name}: is no state of mace gate; name a new file to begin a run")
    return {"anytime": True, "state": state}


def add_gate(commands: Any) -> None:
    """Describe `mace gate`: limits that a model must keep, asked once, batch after batch, or of several files."""
    describe(commands, GATE, run_gate, _fill_gate)


def run_gate(question: Operation, arguments: argparse.Namespace) -> int:
    """Ask, print, write what a pipeline reads, and end with the decision."""
    return run_command(question.command, partial(_decide, question, arguments))


def _fill_gate(question: Operation, parser: Parser) -> None:
    fill(question, parser)
    parser.add_argument_group("a gate that is asked again as records come").add_argument(
        "--state",
        metavar="FILE",
        help="keep the run in this file (.json), which says --sequential: give new records only, look as often as you "
        "like, stop once it says pass or fail",
    )
    parser.add_argument_group("several files").add_argument(
        "--one-table",
        action="store_true",
        help="read several files as one table; without it each is judged by itself, and the confidence is that of all "
        "decisions together",
    )
    parser.add_argument_group("a gate that was declared before").add_argument(
        "--declared",
        metavar="FILE",
        help="take limits and options from what mace declare wrote, and refuse any other; the answer names its SHA-256",
    )
    add_files(parser)


def _decide(question: Operation, arguments: argparse.Namespace) -> int:
    from app.cli.ask import answer_question
    from app.cli.outputs import target_of

    write_for_pipeline = writer_of(question, arguments)
    _require_one_question(arguments)
    if arguments.state is not None and getattr(arguments, "option:anytime") is False:
        raise Misuse("--no-sequential: does not go with --state")
    state_file = None if arguments.state is None else target_of(arguments.state, (".json",), overwrite=True)
    if state_file is not None and os.path.realpath(arguments.output or "") == os.path.realpath(state_file.path):
        raise Misuse("--state, -o: are the same file; name another one for the answer")
    run = {} if state_file is None else read_state(state_file)
    if arguments.declared is not None:
        run = _declared(question, arguments)

    def write_files(answer: dict[str, Any]) -> None:
        if state_file is not None:
            state_file.write(json.dumps(answer["state"], separators=(",", ":")).encode())
        write_for_pipeline(answer)

    answer = answer_question(question, arguments, run, write_files).content
    kept = state_file is not None or arguments.json or (arguments.output or "").endswith(".json")
    if getattr(arguments, "option:anytime") and not (kept or arguments.quiet):
        print("note: the next look knows nothing of this one: --state FILE keeps the run", file=sys.stderr)
    annotate(question, answer)
    return status_of(answer)


def _require_one_question(arguments: argparse.Namespace) -> None:
    """Refuse several files where the question is about one table."""
    options = {
        "--state": arguments.state,
        "--sequential": getattr(arguments, "option:anytime"),
        "--declared": arguments.declared,
    }
    name = next((name for name, value in options.items() if value), None)
    if name is not None and len(arguments.files) > 1 and not arguments.one_table:
        message = f"{name}: is about one table; with several files give --one-table, or ask about each alone"
        raise Misuse(message)
