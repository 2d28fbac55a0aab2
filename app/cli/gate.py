"""`mace gate`: limits that a model must keep, with the files that a pipeline reads."""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.commands import GATE, describe, fill
from app.cli.parsing import Parser, status_of
from macekit.operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.cli.outputs import Target
    from app.cli.parsing import Parser

# --- sequential ---------------------------------------------------------------------------------------------
# `mace gate --sequential --state FILE`: a gate that is asked again and again as records come, and may stop early.

MOST = 2**26
"""Bytes that a state may have."""


def add_options(parser: Parser) -> None:
    """Where a run is kept."""
    group = parser.add_argument_group("a gate that is asked again as records come")
    group.add_argument(
        "--state",
        metavar="FILE",
        help="keep the run in this file (.json), which says --sequential: give new records only, look as often as you "
        "like, stop once it says pass or fail",
    )


def _declared(question: Operation, arguments: argparse.Namespace) -> dict[str, Any]:
    """What a question says of the declaration that it was made under."""
    from app.cli.declare import take
    from app.cli.inputs import Misuse
    from app.cli.options import options_of

    if arguments.state is not None or getattr(arguments, "option:anytime"):
        raise Misuse("--declared: does not go with a run of batches, whose limits stand in its first batch")
    return take(arguments.declared, options_of(question.name), arguments)


def target_of_state(name: str) -> Target:
    """The file of a run."""
    from app.cli.outputs import target_of

    return target_of(name, (".json",), overwrite=True)


def read_state(target: Target) -> dict[str, Any]:
    """What a question of the run says beside its records."""
    from app.cli.inputs import Misuse

    if not target.path.exists():
        return {"anytime": True}
    try:
        if target.path.stat().st_size > MOST:
            raise ValueError
        state = json.loads(target.path.read_bytes())
    except (OSError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise Misuse(f"{target.name}: is no state of mace gate; name a new file to begin a run")
    return {"anytime": True, "state": state}


def write_state(target: Target, answer: dict[str, Any]) -> None:
    """Keep the run for the next batch."""
    target.write(json.dumps(answer["state"], separators=(",", ":")).encode())


# --- gate ---------------------------------------------------------------------------------------------------


def add(commands: Any) -> None:
    """Describe the command; its options are added when it is named."""
    describe(commands, GATE, run, _fill)


def run(question: Operation, arguments: argparse.Namespace) -> int:
    """Ask, print, write what a pipeline reads, and end with the decision."""
    from app.cli.inputs import run_command

    return run_command(question.command, partial(_decide, question, arguments))


def _fill(question: Operation, parser: Parser) -> None:
    from app.cli.gate import add_options

    fill(question, parser)
    add_options(parser)
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
    group = parser.add_argument_group("files for a pipeline; an existing file is replaced")
    group.add_argument(
        "--junit", metavar="FILE", help="JUnit XML (.xml): a test case for each limit, or file"
    )
    group.add_argument(
        "--sarif",
        metavar="FILE",
        help="SARIF 2.1.0 (.sarif): a result for each limit that is not kept, where code scanning reads it",
    )
    group.add_argument(
        "--metrics", metavar="FILE", help="OpenMetrics text (.txt), as GitLab's metrics report"
    )
    group.add_argument(
        "--summary",
        metavar="FILE",
        help="Markdown (.md), appended to the file, and to the one that $GITHUB_STEP_SUMMARY names",
    )


def _decide(question: Operation, arguments: argparse.Namespace) -> int:
    from app.cli.ask import answer_question
    from app.cli.gate import read_state, target_of_state, write_state
    from app.cli.inputs import Misuse

    writers = _writers(arguments)
    _require_one_question(arguments)
    if arguments.state is not None and getattr(arguments, "option:anytime") is False:
        raise Misuse("--no-sequential: does not go with --state")
    state_file = None if arguments.state is None else target_of_state(arguments.state)
    if state_file is not None and os.path.realpath(arguments.output or "") == os.path.realpath(
        state_file.path
    ):
        raise Misuse("--state, -o: are the same file; name another one for the answer")
    run = {} if state_file is None else read_state(state_file)
    if arguments.declared is not None:
        run = _declared(question, arguments)

    def write_files(answer: dict[str, Any]) -> None:
        if state_file is not None:
            write_state(state_file, answer)
        for write in writers:
            write(answer)

    answer = answer_question(question, arguments, run, write_files).content
    _annotate(answer)
    return status_of(answer)


def _require_one_question(arguments: argparse.Namespace) -> None:
    """Refuse several files where the question is about one table."""
    from app.cli.inputs import Misuse

    options = {
        "--state": arguments.state,
        "--sequential": getattr(arguments, "option:anytime"),
        "--declared": arguments.declared,
    }
    name = next((name for name, value in options.items() if value), None)
    if name is not None and len(arguments.files) > 1 and not arguments.one_table:
        raise Misuse(
            f"{name}: is about one table; with several files give --one-table, or ask about each alone"
        )


def _writers(arguments: argparse.Namespace) -> list[Callable[[dict[str, Any]], None]]:
    """The files to write, checked before any work is done."""
    from app.cli.outputs import target_of

    writers: list[Callable[[dict[str, Any]], None]] = []
    if arguments.junit is not None or arguments.metrics is not None:
        from macekit.reports.pipeline import junit, openmetrics

        named = ((arguments.junit, ".xml", junit), (arguments.metrics, ".txt", openmetrics))
        writers += [
            partial(_replace, target_of(name, (suffix,), overwrite=True), convert)
            for name, suffix, convert in named
            if name is not None
        ]
    if arguments.sarif is not None:
        from macekit.reports.sarif import sarif

        target = target_of(arguments.sarif, (".sarif",), overwrite=True)
        writers.append(partial(_replace, target, partial(sarif, places=_places(arguments))))
    summaries = (
        [] if arguments.summary is None else [target_of(arguments.summary, (".md",), overwrite=True).path]
    )
    step = os.environ.get("GITHUB_STEP_SUMMARY")
    if step and Path(os.path.realpath(step)) not in summaries:
        summaries.append(Path(step))
    return [*writers, *(partial(_append, place) for place in summaries)]


def _places(arguments: argparse.Namespace) -> list[str]:
    """The files that are read, as URIs: relative to this folder where they lie in it, as a checkout is shown."""
    from urllib.parse import quote

    from app.cli.inputs import Misuse
    from macekit.sources.shards import ADDRESS, safe_name

    files = [each for each in (arguments.members, arguments.nonmembers) if each] or arguments.files
    if not files or "-" in files:
        raise Misuse("--sarif: a result has to name a file, and standard input is none")
    places = []
    for name in files:
        path = Path(os.path.abspath(name))
        inside = path.is_relative_to(Path.cwd())
        own = quote(path.relative_to(Path.cwd()).as_posix()) if inside else path.as_uri()
        places.append(safe_name(name) if ADDRESS.fullmatch(name) else own)
    return places


def _replace(target: Target, convert: Callable[[dict[str, Any]], bytes], answer: dict[str, Any]) -> None:
    target.write(convert(answer))


def _append(place: Path, answer: dict[str, Any]) -> None:
    from app.cli.inputs import Misuse
    from macekit.reports.pipeline import summary
    from macekit.text import printable

    try:
        with place.open("ab") as file:
            file.write(summary(answer))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise Misuse(f"{printable(str(place))}: cannot be written: {why}") from None


def _annotate(answer: dict[str, Any]) -> None:
    """A line that GitHub Actions shows beside the job: on standard error, so that --json stays JSON."""
    from macekit.reports.pipeline import annotation

    if os.environ.get("GITHUB_ACTIONS") == "true":
        print(annotation(answer), file=sys.stderr)
