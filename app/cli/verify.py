"""`mace verify`: whether kept answers are what was signed, and whether an audit file is whole. Needs no network."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from app.cli.parsing import MISUSE

DESCRIPTION = """Whether kept answers are, byte for byte, what a service signed, and whether an audit file is whole.

Of answers about the batches of one run (mace gate --sequential) it also says whether each follows the one before.

examples:
  mace verify answer.json report.html --public-key mace.pub
  mace verify risk.csv --public-key mace.pub --signature '{"algorithm":"Ed25519",...}'
  mace verify --audit audit.jsonl"""

ENDINGS = """exit status:
  0    all of it holds
  1    something was changed, or was never signed, or a batch of a run is missing or was judged twice; standard output
       says what
  2    misuse, or a file that cannot be read"""

BROKEN = 1


def add(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "verify",
        help="whether kept answers are what a service signed, and an audit file is whole",
        usage="mace verify [FILE ...] [OPTIONS]",
        description=DESCRIPTION,
        epilog=ENDINGS,
    )
    command.add_argument("files", nargs="*", metavar="FILE", default=[], help="answers, as they came")
    command.add_argument("--public-key", metavar="FILE", help="the service's public key, in PEM")
    command.add_argument(
        "--signature", metavar="TEXT", help="the header Mace-Signature of the one file, if it is not in it"
    )
    command.add_argument("--audit", metavar="FILE", help="audit file whose chain is followed")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each file; 0 if all of them hold."""
    from app import audit_file as audit
    from app import signing

    if not options.files and options.audit is None:
        return _misuse("name an answer with --public-key, or an audit file with --audit")
    if options.files and options.public_key is None:
        return _misuse("--public-key names the file of the key that signed")
    if options.signature is not None and len(options.files) != 1:
        return _misuse("--signature goes with one file")
    status = 0
    if options.files:
        try:
            public = signing.public_key(Path(options.public_key))
        except signing.BadKey as error:
            return _misuse(f"{options.public_key}: {error}")
        detached = None if options.signature is None else options.signature.encode()
        steps: list[tuple[_Step, str]] = []
        for name in options.files:
            try:
                data = Path(name).read_bytes()
                signature = signing.verify(data, public, detached)
            except signing.Unverified as error:
                print(f"{name}: REFUSED: {error}")
                status = BROKEN
            except OSError as error:
                return _misuse(f"{name}: the file cannot be read ({type(error).__name__})")
            else:
                print(f"{name}: signed with the key {signature.key}")
                if (step := _step_of(data)) is not None:
                    steps.append((step, name))
        for line in _breaks(steps):
            print(line)
            status = BROKEN
        for line in _chains(steps) if status == 0 else ():
            print(line)
    if options.audit is not None:
        try:
            count, last = audit.verify(Path(options.audit))
        except audit.AuditError as error:
            print(f"{options.audit}: REFUSED: {error}")
            return BROKEN
        print(f"{options.audit}: {count} lines, whole; the last hash is {last}")
    return status


# --- runs ---------------------------------------------------------------------------------------------------
# Answers about one run after another: the state that came with a batch is the one that the answer before gave out.


@dataclass(frozen=True, slots=True)
class _Step:
    run_id: str
    look: int
    state_before: str | None
    state_after: str


def _step_of(data: bytes) -> _Step | None:
    """Which batch of which run an answer is about, if it is JSON and about one."""
    try:
        return _Step(**json.loads(data)["provenance"]["run"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _runs(steps: list[tuple[_Step, str]]) -> Iterator[tuple[str, list[tuple[_Step, str]]]]:
    """The answers about each run, in the order of its looks; copies of one answer once."""
    for run_id in dict.fromkeys(step.run_id for step, _ in steps):
        of_run = {step: name for step, name in reversed(steps) if step.run_id == run_id}
        yield run_id, sorted(of_run.items(), key=lambda each: (each[0].look, each[1]))


def _breaks(steps: list[tuple[_Step, str]]) -> Iterator[str]:
    """Answers that do not follow one another."""
    for run_id, of_run in _runs(steps):
        for (before, earlier), (after, later) in pairwise(of_run):
            if before.look == after.look:
                yield f"{later}: REFUSED: look {after.look} of the run {run_id}, as {earlier} is, and not the same"
            elif before.look + 1 < after.look:
                yield (
                    f"{later}: REFUSED: look {after.look} of the run {run_id}, and the one before that is here is look "
                    f"{before.look} ({earlier}): name the answers between them"
                )
            elif before.state_after != after.state_before:
                yield (
                    f"{later}: REFUSED: look {after.look} of the run {run_id} does not follow {earlier}: it was given "
                    "another state"
                )


def _chains(steps: list[tuple[_Step, str]]) -> Iterator[str]:
    """What is shown about each run of which there are several answers."""
    for run_id, of_run in _runs(steps):
        if len(of_run) > 1:
            first, last = of_run[0][0].look, of_run[-1][0].look
            yield f"run {run_id}: looks {first} to {last}, each follows the one before"


def _misuse(why: str) -> int:
    print(f"mace: {why}", file=sys.stderr)
    return MISUSE
