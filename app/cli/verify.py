"""`mace verify`: whether kept answers are what was signed, and an audit file is whole. Needs no network.

With `--recompute` a filed answer is computed again from its data, and compared number by number.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import Any

from app.cli.parsing import MISUSE, misuse

DESCRIPTION = """Whether kept answers are, byte for byte, what a service signed, and whether an audit file is whole.

A line end behind an answer in JSON, as editors leave it, is no part of it.

Of answers about the batches of one run (mace gate --sequential) it also says whether each follows the one before.

examples:
  mace verify answer.json report.html --public-key mace.pub
  mace verify risk.csv --public-key mace.pub --signature '{"algorithm":"Ed25519",...}'
  mace verify answer.json --public-key https://mace.example
  mace verify answer.json --public-key mace.pub --request body.json --target '/v1/gate?prior=0.5'
  mace verify answer.json --recompute scores.csv
  mace verify --audit audit.jsonl
  mace verify --audit a/audit.jsonl --audit b/audit.jsonl"""

ENDINGS = """exit status:
  0    all of it holds
  1    something was changed, or was never signed, or a batch of a run is missing or was judged twice; standard output
       says what
  2    misuse, or a file that cannot be read"""

BROKEN = 1
CLOSE = 1e-12
"""How far a number may be from the filed one, as a share of it: kinds of processors differ by less."""
NOT_COMPARED = frozenset({"provenance", "signature", "state", "warnings"})
"""Members of an answer that are no results, or say how a question was written."""
MEMBERS = ": members"


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
    command.add_argument(
        "--public-key",
        metavar="FILE",
        help="the service's public keys, in PEM or as a JWK set, or the address of a service that publishes them",
    )
    command.add_argument("--request", metavar="FILE", help="the body that the one file answers, as it was sent")
    command.add_argument(
        "--target", metavar="TEXT", help="where it was sent, query and all, as /v1/gate; goes with --request"
    )
    command.add_argument(
        "--recompute", metavar="DATA", help="compute the one file again from its data, and compare number by number"
    )
    command.add_argument(
        "--signature", metavar="TEXT", help="the header Mace-Signature of the one file, if it is not in it"
    )
    command.add_argument(
        "--audit",
        metavar="FILE",
        action="append",
        type=Path,
        help="audit file whose chain is followed, over the numbered ones before it, too; give it again for that "
        "of each replica, and what they say of one another is checked",
    )
    command.add_argument(
        "--begin-anew",
        action="store_true",
        help="if the chain is broken, put the audit file aside and begin another that names its digest",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each file; 0 if all of them hold."""
    if not options.files and options.audit is None:
        return misuse("name an answer with --public-key, or an audit file with --audit")
    if options.files and options.public_key is None and options.recompute is None:
        return misuse("--public-key names the file of the key that signed")
    if (options.request is None) != (options.target is None):
        return misuse("--request and --target go together")
    for option in ("request", "recompute"):
        if getattr(options, option) is not None and len(options.files) != 1:
            return misuse(f"--{option} goes with one file")
    if options.begin_anew and len(options.audit or ()) != 1:
        return misuse("--begin-anew goes with one --audit")
    if options.signature is not None and len(options.files) != 1:
        return misuse("--signature goes with one file")
    status = 0
    if options.files and options.public_key is not None:
        status = _check_signed(options)
    if options.recompute is not None and status == 0:
        status = _compute_again(options.files[0], options.recompute)
    if status == MISUSE:
        return status
    for path in options.audit or ():
        status = max(status, _follow(path, begin_anew=options.begin_anew))
    if status == 0 and len(options.audit or ()) > 1:
        status = _check_links(options.audit)
    return status


def _check_signed(options: argparse.Namespace) -> int:
    """Print of each file which key signed it, or why it is refused; and whether those of a run follow one another."""
    from app import signing

    status = 0
    try:
        public = signing.public_keys(options.public_key)
        request = None if options.request is None else Path(options.request).read_bytes()
    except signing.BadKey as error:
        return misuse(f"{options.public_key}: {error}")
    except OSError as error:
        return misuse(f"{options.request}: the file cannot be read ({type(error).__name__})")
    detached = None if options.signature is None else options.signature.encode()
    steps: list[tuple[_Step, str]] = []
    for name in options.files:
        try:
            data = Path(name).read_bytes()
            signature = signing.verify(data, public, detached)
            if request is not None and signature.request != signing.request_digest(options.target, request):
                raise signing.Unverified("it is the answer to another request")
        except signing.Unverified as error:
            print(f"{name}: REFUSED: {error}")
            status = BROKEN
        except OSError as error:
            return misuse(f"{name}: the file cannot be read ({type(error).__name__})")
        else:
            when = "" if signature.time is None else f" at {signature.time}"
            print(f"{name}: signed with the key {signature.key}{when}")
            if (step := _step_of(data)) is not None:
                steps.append((step, name))
    for line in _breaks(steps):
        print(line)
        status = BROKEN
    for line in _chains(steps) if status == 0 else ():
        print(line)
    return status


def _compute_again(name: str, data: str) -> int:
    """Print where a filed answer is not what its data give."""
    try:
        lines = recompute(Path(name).read_bytes(), Path(data))
    except NotRecomputed as error:
        return misuse(f"{name}: {error}")
    except OSError as error:
        return misuse(f"{error.filename}: the file cannot be read ({type(error).__name__})")
    for line in lines:
        print(f"{name}: REFUSED: {line}")
    if not lines:
        print(f"{name}: what {data} gives, number by number")
    return BROKEN if lines else 0


class NotRecomputed(ValueError):
    """An answer cannot be computed again from these data; the text says why."""


def differences(answer: bytes, data: Path) -> Iterator[str]:
    """Where a filed answer is not what its data give by its own options; none if it is.

    Raises:
        NotRecomputed: it does not say how it was computed, or the data cannot be asked so.
        OSError: the data cannot be read.
    """
    from macekit.reports.saved import recognise

    try:
        filed = json.loads(answer)
    except ValueError:
        filed = None
    operation = recognise(filed)
    if operation is None or not isinstance(filed.get("provenance"), dict):
        raise NotRecomputed("it is no answer in JSON that says how it was computed")
    again = _answer(operation, filed["provenance"], data)
    for name in ("version", "input_sha256"):
        if filed["provenance"].get(name) != again["provenance"].get(name):
            yield f"provenance.{name}: filed {filed['provenance'].get(name)}, here {again['provenance'].get(name)}"
    yield from _unlike(filed, again, "")


def _answer(operation: str, provenance: Mapping[str, Any], data: Path) -> dict[str, Any]:
    """The answer to the question that a filed answer says it was asked, about these data."""
    from macekit.call import JSON, Body, Call
    from macekit.formats import HEAD, encoding_of, format_of, media_type_of
    from macekit.operations import perform
    from macekit.schemas.query_string import query_pairs

    content = data.read_bytes()
    options = {name: value for name, value in provenance.get("options", {}).items() if value is not None}
    media_type = media_type_of(format_of(data.name, content[:HEAD]), content[:HEAD])
    if media_type == JSON:
        call, content = Call(operation), json.dumps({**json.loads(content), **options}).encode()
    else:
        pairs = query_pairs(options)
        if pairs is None:
            raise NotRecomputed("its options have no place in a query string; give the data as JSON")
        columns = _columns(provenance.get("columns", ()), operation)
        query = tuple({**dict(pairs), **columns}.items())
        call = Call(operation, media_type, encoding_of(content[:HEAD]), query)
    reply = perform(call, Body.of(content))
    document: dict[str, Any] = json.loads(bytes(reply.body))
    if reply.problem is not None:
        raise NotRecomputed(f"the data cannot be asked so: {reply.local or document['detail']}")
    return document


def _columns(columns: Any, operation: str) -> dict[str, str]:
    """Which columns were what, as a query string names them."""
    from macekit.schemas.query_string import of_table

    names: dict[str, list[str]] = {}
    for column in columns:
        if (role := column["role"]) in of_table(operation):
            words = [note.removesuffix(MEMBERS) for note in column["notes"] if note.endswith(MEMBERS)]
            names.setdefault(role, []).append("=".join([column["name"], *words]))
    return {role: ",".join(several) for role, several in names.items()}


def _unlike(filed: Any, again: Any, place: str) -> Iterator[str]:
    """Where two answers say different things."""
    if isinstance(filed, dict) and isinstance(again, dict):
        for name in {**filed, **again}:
            if name not in NOT_COMPARED:
                yield from _unlike(filed.get(name), again.get(name), f"{place}.{name}".lstrip("."))
    elif isinstance(filed, list) and isinstance(again, list) and len(filed) == len(again):
        for number, pair in enumerate(zip(filed, again, strict=True)):
            yield from _unlike(*pair, f"{place}[{number}]")
    elif isinstance(filed, int | float) and isinstance(again, int | float):
        if not isclose(filed, again, rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{place}: filed {filed}, here {again}"
    elif filed != again:
        yield f"{place}: filed {json.dumps(filed)[:80]}, here {json.dumps(again)[:80]}"


def recompute(answer: bytes, data: Path) -> list[str]:
    """The first differences, as they are printed."""
    from macekit.problems import Problem

    try:
        return [each for each, _ in zip(differences(answer, data), range(10), strict=False)]
    except Problem as problem:
        raise NotRecomputed(problem.local) from None


def _follow(path: Path, *, begin_anew: bool) -> int:
    """Follow the chain of an audit file; where it is broken, begin another if that is wanted."""
    from app import audit_file as audit

    notes: list[str] = []
    try:
        count, last = audit.verify(path, notes)
    except audit.AuditError as error:
        print(f"{path}: REFUSED: {error}")
        if begin_anew:
            try:
                print(f"{path}: begun anew; what it was is {audit.begin_anew(path)}")
            except audit.AuditError as failure:
                return misuse(f"{path}: {failure}")
        return BROKEN
    for note in notes:
        print(f"note: {note}")
    print(f"{path}: {count} lines, whole; the last hash is {last}")
    return 0


def _check_links(paths: list[Path]) -> int:
    """Print where the chains of replicas contradict one another."""
    from app.audit_links import check_links

    notes: list[str] = []
    faults = check_links(paths, notes)
    for note in notes:
        print(f"note: {note}")
    for fault in faults:
        print(f"REFUSED: {fault}")
    if not faults:
        print("what these chains name of one another is there")
    return BROKEN if faults else 0


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
