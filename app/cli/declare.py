"""`mace declare`: what a gate will be asked, written down before its scores are seen."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.parsing import PASS, Misuse, Parser, add_overwrite, run_command
from macekit.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.cli.options import Option

DESCRIPTION = """Write down what a gate will be asked, before its scores are seen: limits, options, columns, sizes.

examples:
  mace declare release-7.json --score loss --member is_train --max-advantage 0.1
  mace declare release-7.json --max-advantage 0.1 --n-members 5000 --n-nonmembers 5000 --signing-key key.pem
  mace gate scores.parquet --declared release-7.json"""

SUFFIXES = (".json",)


def add(commands: Any) -> None:
    """Describe the command; its options are added when it is named."""
    commands.add_parser(
        "declare",
        help="write down what a gate will be asked, before its scores are seen",
        usage="mace declare FILE [OPTIONS]",
        fill=_fill,
    )


def _fill(parser: Parser) -> None:
    from app.cli.options import add_to, options_of

    parser.description = DESCRIPTION
    parser.add_argument("file", metavar="FILE", help="file to write (.json)")
    add_to(parser, [each for each in options_of("gate") if each.name not in ("anytime", "planned")])
    group = parser.add_argument_group("and else")
    group.add_argument("--n-members", metavar="N", type=int, help="the gate must get so many members")
    group.add_argument("--n-nonmembers", metavar="N", type=int, help="the gate must get so many nonmembers")
    group.add_argument("--signing-key", metavar="FILE", help="sign it with this Ed25519 key (PEM)")
    add_overwrite(group, "the file if it exists")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the file; 2 if it would declare no question."""
    return run_command("declare", partial(_declare, arguments))


def _declare(arguments: argparse.Namespace) -> int:
    from app.cli.inputs import as_misuse
    from app.cli.options import columns_of, options_of, values_of
    from app.cli.outputs import target_of
    from macekit.call import JSON, Call
    from macekit.declaration import declaration_of
    from macekit.operations.options import provenance_options, validate
    from macekit.questions.gate import GateQuestion
    from macekit.questions.gate.work import require_limits

    options = [each for each in options_of("gate") if hasattr(arguments, each.key)]
    target = target_of(arguments.file, SUFFIXES, arguments.overwrite)
    call = Call("gate", query=columns_of(options, arguments))
    with as_misuse():
        question = validate(GateQuestion, values_of(options, arguments))
        require_limits(question, grouped="group" in dict(call.query))
    declaration = declaration_of(provenance_options(question, call), arguments.n_members, arguments.n_nonmembers)
    body: bytes | memoryview = json.dumps(declaration, indent=1).encode()
    if arguments.signing_key is not None:
        from app import signing

        try:
            signer = signing.Signer.of_file(Path(arguments.signing_key))
        except signing.BadKey as error:
            raise Misuse(f"--signing-key: {error}") from None
        body, _ = signer.sign(body, JSON, "")
    target.write(bytes(body))
    print(f"{declaration['sha256']}  {target.name}")
    return PASS


def take(name: str, options: Sequence[Option], arguments: argparse.Namespace) -> dict[str, Any]:
    """A kept declaration as the field of a question, after what it says and was not typed is taken from it."""
    from macekit.declaration import require_whole
    from macekit.problems import Problem
    from macekit.questions.gate import GateQuestion

    try:
        with open(name, "rb") as file:
            declaration = json.loads(file.read(2**20))
        if not isinstance(declaration, dict):
            raise ValueError
        declared = _flat(require_whole(declaration)["options"])
    except OSError as error:
        raise Misuse(f"--declared: {printable(name)}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Misuse(f"--declared: {printable(name)}: is no declaration; mace declare writes one") from None
    except Problem as problem:
        raise Misuse(f"--declared: {printable(name)}: {problem.local}") from None
    usual = _flat(GateQuestion.model_construct().model_dump(exclude_none=True))
    arguments.filled_in = []
    for each in options:
        value = declared.get(each.name, declared.get(f"{each.name}.preset"))
        if value is not None and value != usual.get(each.name) and getattr(arguments, each.key) is None:
            typed = ",".join(map(str, value)) if isinstance(value, list) else value
            setattr(arguments, each.key, typed if isinstance(typed, bool) else str(typed))
            arguments.filled_in.append(each)
    return {"declaration": declaration}


def _flat(options: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Nested options by their names with dots."""
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return flat
