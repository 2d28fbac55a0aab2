"""`mace gate`: limits that a model must keep, asked once, batch after batch, or of several files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from app.cli.commands import GATE, describe, fill
from app.cli.parsing import Misuse, Parser, run_command, status_of
from app.cli.pipeline import add_files, annotate, writer_of
from macekit.operation import Operation

if TYPE_CHECKING:
    from app.cli.outputs import Target

MOST = 2**26  # bytes that a state may have


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
        if target.path.stat().st_size > MOST:
            raise ValueError
        state = json.loads(target.path.read_bytes())
    except (OSError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise Misuse(f"{target.name}: is no state of mace gate; name a new file to begin a run")
    return {"anytime": True, "state": state}


def add(commands: Any) -> None:
    """Describe the command; its options are added when it is named."""
    describe(commands, GATE, run, _fill)


def run(question: Operation, arguments: argparse.Namespace) -> int:
    """Ask, print, write what a pipeline reads, and end with the decision."""
    return run_command(question.command, partial(_decide, question, arguments))


def _fill(question: Operation, parser: Parser) -> None:
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
