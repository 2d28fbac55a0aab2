"""`mace import`: results of other tools as scores; and `--from`, by which every question reads them at once."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from app.cli.parsing import PASS, Misuse, Parser, add_overwrite, run_command
from app.cli.terminal import Progress, write_line
from macekit.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.cli.inputs import Source
    from macekit.imports.peers import Peer
    from macekit.imports.reading import ImportedScores

EPILOG = """examples:
  mace import data_objects/attack.json -o scores.csv
  mace import attack_result_0.npz --from privacy-meter -o scores.parquet
  mace import canaries.npz | mace gate --max-advantage 0.1
  mace gate canaries.npz --from jax-privacy --max-advantage 0.1"""

IS_THERE = find_spec("macekit.imports") is not None
"""Whether the wing that reads other tools' files is installed."""


def add(commands: Any) -> None:
    """Describe the command; its options are added when it is named."""
    if IS_THERE:
        commands.add_parser(
            "import",
            help="scores out of another tool's result: LeakPro, ML Privacy Meter, SACRO-ML, ART and others",
            usage="mace import FILE [OPTIONS]",
            epilog=EPILOG,
            fill=_fill,
        )


def _fill(parser: Parser) -> None:
    from app.cli.outputs import WRITERS

    parser.description = "Read another tool's result as scores: a row for each record, higher for members."
    parser.add_argument("file", metavar="FILE", help="JSON or NPZ as the tool wrote it; - is standard input")
    add_tool(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"file to write ({', '.join(WRITERS)}); without it CSV is printed"
    )
    add_overwrite(parser, "the file of -o if it exists")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only errors on standard error")
    parser.set_defaults(run=run)


def add_tool(parser: Any) -> None:
    """The option that names the tool which wrote a file."""
    from macekit.imports.peers import BY_NAME

    parser.add_argument(
        "--from",
        dest="tool",
        metavar="NAME",
        choices=[*BY_NAME],
        help=f"the tool that wrote the file: {', '.join(BY_NAME)}",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the scores; 2 if the file has none."""
    return run_command("import", partial(_import, arguments))


def _import(arguments: argparse.Namespace) -> int:
    from app.cli.inputs import open_source
    from app.cli.outputs import WRITERS, target_of

    target = None if arguments.output is None else target_of(arguments.output, tuple(WRITERS), arguments.overwrite)
    with Progress(arguments.quiet) as progress:
        _refuse_pickle(arguments.file, arguments.tool)
        with open_source(arguments.file) as source:
            scores = _scores_in(source, arguments.file, arguments.tool, progress.say)
    data = WRITERS[".csv" if target is None else target.suffix](scores.table())
    if target is None:
        write_line(bytes(data).decode().removesuffix("\n"))
    else:
        target.write(data)
    return PASS


def open_result(path: str, tool: str, say: Callable[[str], None]) -> Source:
    """Another tool's file as one of scores, which every question reads."""
    from app.cli.inputs import open_source
    from app.cli.outputs import WRITERS

    _refuse_pickle(path, tool)
    with open_source(path) as source:
        data = bytes(WRITERS[".npz"](_scores_in(source, path, tool, say).table()))
        return replace(source, format="npz", encoding="identity", size=len(data), head=data, fd=-1, path="")


def tool_of(source: Source) -> Peer | None:
    """The tool whose result a file is; None if it is no tool's, or too large to be looked at again."""
    from macekit import operations
    from macekit.call import Call

    if source.size is None:
        return None
    with source.body() as body:
        name = operations.tool_of(Call("columns", source.media_type, source.encoding), body)
    if name is None:
        return None
    from macekit.imports.peers import BY_NAME

    return BY_NAME[name]


def _scores_in(source: Source, path: str, tool: str | None, say: Callable[[str], None]) -> ImportedScores:
    """The scores of a file, and a line on what it was read as."""
    from estimators import MaceError
    from macekit.call import Call
    from macekit.imports.reading import read
    from macekit.problems import Problem

    try:
        with source.body() as body:
            scores = read(Call("columns", source.media_type, source.encoding), body, path, tool)
    except (Problem, MaceError) as error:
        raise Misuse(_worded(source.name, Problem.of(error))) from None
    say(f"{source.name}: {scores.sentence}")
    if scores.doubt:
        say(f"{source.name}: {scores.doubt}")
    return scores


def _refuse_pickle(path: str, tool: str | None) -> None:
    from macekit.imports.reading import refuse_pickle
    from macekit.problems import Problem

    try:
        refuse_pickle(path, tool)
    except Problem as problem:
        raise Misuse(_worded(printable(path), problem)) from None


def _worded(name: str, problem: Any) -> str:
    """A problem in the shell's words, about its option or its file."""
    from app.cli.inputs import in_shell

    text = in_shell(problem.local)
    return f"--from: {text.removeprefix('tool: ')}" if problem.field == "tool" else f"{name}: {text}"
