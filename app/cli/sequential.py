"""`mace gate --state FILE`: a gate that is asked again and again as records come, and may stop at any time."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.cli.inputs import Source
    from app.cli.outputs import Target
    from app.cli.parsing import Parser
    from estimators import Counts, Scores
    from estimators.sequential import SequentialRun
    from macekit.call import Call
    from macekit.catalogue import Operation

MOST = 2**26
"""Bytes that a state may have."""

QUESTION = ("max_advantage", "prior", "confidence", "seed")
"""Options of a gate that say what a run asks; they are fixed when it begins."""


def add_options(parser: Parser) -> None:
    """What a sequential gate needs beside the options of a gate."""
    group = parser.add_argument_group("a gate that is asked again as records come")
    group.add_argument(
        "--state",
        metavar="FILE",
        help="keep the run in this file (.json): give new records only, look as often as you like, stop once it says "
        "pass or fail",
    )
    group.add_argument(
        "--planned",
        metavar="N",
        help="about how many records of both sides will come; for the first look only",
    )


def look(question: Operation, arguments: argparse.Namespace) -> str:
    """Judge the records of one batch more, keep the run, print where it stands, and return the decision."""
    from app.cli.ask import paths_of
    from app.cli.inputs import Misuse, in_shell, open_source
    from app.cli.options import columns_of, options_of, values_of
    from app.cli.outputs import target_of
    from app.cli.terminal import Progress, write_line
    from estimators import MaceError
    from macekit.call import Call
    from macekit.problems import Problem

    options = options_of(question.name)
    values = values_of(options, arguments)
    _require_alone(arguments, values)
    target = target_of(arguments.state, (".json",), force=True)
    call = Call(question.name, query=columns_of(options, arguments))
    with Progress(arguments.quiet) as progress, ExitStack() as stack:
        sources = [
            stack.enter_context(open_source(path, arguments.format)) for path in paths_of(question, arguments)
        ]
        try:
            before = _run_of(target, values, arguments.planned)
            progress.now("reading")
            batch = _batch(call, sources, values)
            progress.now("computing")
            run = before.after(batch)
        except Problem as problem:
            raise Misuse(in_shell(problem.detail)) from None
        except MaceError as error:
            raise Misuse(in_shell(error.message)) from None
        target.write(json.dumps(run.to_dict(), separators=(",", ":")).encode())
    if arguments.json:
        write_line(json.dumps(answer_of(run), indent=1))
    elif not arguments.quiet:
        write_line(run.sentence)
    return run.decision.value


def answer_of(run: SequentialRun) -> dict[str, Any]:
    """Where a run stands, as plain values."""
    last = run.looks[-1]
    return {
        "sentence": run.sentence,
        "decision": run.decision.value,
        "lower": run.lower,
        "upper": run.upper,
        "max_advantage": run.max_advantage,
        "confidence": run.confidence,
        "prior": run.prior,
        "looks": len(run.looks),
        "n_members": last.n_members,
        "n_nonmembers": last.n_nonmembers,
        "guarantee": {
            "covers": run.interval.guarantee.covers,
            "assumes": run.interval.guarantee.assumes,
            "finite_sample": run.interval.guarantee.finite_sample,
        },
    }


def _require_alone(arguments: argparse.Namespace, values: dict[str, object]) -> None:
    """Refuse what a sequential run does not answer, by its name."""
    from app.cli.inputs import Misuse

    odd = next((name for name in values if name not in (*QUESTION, "query")), None)
    if odd is not None:
        raise Misuse(
            f"--{odd.replace('_', '-')}: does not go with --state, which judges --max-advantage alone"
        )
    for name in ("output", "junit", "metrics", "summary"):
        if getattr(arguments, name, None) is not None:
            raise Misuse(f"--{name}: does not go with --state; --json prints the numbers")


def _run_of(target: Target, values: dict[str, object], planned: str | None) -> SequentialRun:
    """The run as it was kept, or a new one; what is asked must not change on the way."""
    from app.cli.inputs import Misuse
    from estimators.sequential import SequentialRun, sequential_run
    from estimators.sequential.run import PLANNED

    name, path = target.name, target.path
    try:
        count = PLANNED if planned is None else int(planned)
    except ValueError:
        raise Misuse("--planned: need a whole number") from None
    if not path.exists():
        if values.get("max_advantage") is None:
            raise Misuse("--max-advantage: is required with the first look of --state")
        asked_options: Any = {option: values[option] for option in QUESTION if option in values}
        return sequential_run(**asked_options, planned=count)
    try:
        if path.stat().st_size > MOST:
            raise Misuse(f"{name}: is no state of mace gate")
        run = SequentialRun.from_dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        raise Misuse(f"{name}: is no state of mace gate; name a new file to begin a run") from None
    for option in QUESTION:
        if option in values and values[option] != getattr(run, option):
            raise Misuse(
                f"--{option.replace('_', '-')}: the run in {name} was begun with {getattr(run, option)}, which cannot "
                "change on the way"
            )
    if planned is not None and count != run.planned:
        raise Misuse(
            f"--planned: the run in {name} was begun with {run.planned}, which cannot change on the way"
        )
    return run


def _batch(call: Call, sources: list[Source], values: dict[str, object]) -> Scores | Counts:
    """The records of one file, or of one file for each side."""
    from app.cli.inputs import Misuse
    from app.cli.run import Sides, decode_inputs
    from macekit.operations.options import validate
    from macekit.operations.samples import sample_of
    from macekit.schemas.records import SampleQuestion

    inputs = Sides(*sources) if len(sources) == 2 else sources
    question = validate(SampleQuestion, {name: values[name] for name in ("query", "seed") if name in values})
    body = decode_inputs(call, values, inputs)
    if body.options:
        raise Misuse(f"{sources[0].name}: holds options; with --state they stand in the command")
    if body.clusters:
        raise Misuse("--cluster: does not go with --state; --unit keeps one record of each")
    return sample_of(body, question)
