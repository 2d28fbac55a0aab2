"""`mace verify`: whether kept answers are what was signed, and whether an audit file is whole. Needs no network."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.cli.parsing import MISUSE

DESCRIPTION = """Whether kept answers are, byte for byte, what a service signed, and whether an audit file is whole.

examples:
  mace verify answer.json report.html --public-key mace.pub
  mace verify risk.csv --public-key mace.pub --signature '{"algorithm":"Ed25519",...}'
  mace verify --audit audit.jsonl"""

ENDINGS = """exit status:
  0    all of it holds
  1    something was changed, or was never signed; standard output says what
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
    from app import audit, signing

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
        for name in options.files:
            try:
                signature = signing.verify(Path(name).read_bytes(), public, detached)
            except signing.Unverified as error:
                print(f"{name}: REFUSED: {error}")
                status = BROKEN
            except OSError as error:
                return _misuse(f"{name}: the file cannot be read ({type(error).__name__})")
            else:
                print(f"{name}: signed with the key {signature.key}")
    if options.audit is not None:
        try:
            count, last = audit.verify(Path(options.audit))
        except audit.AuditError as error:
            print(f"{options.audit}: REFUSED: {error}")
            return BROKEN
        print(f"{options.audit}: {count} lines, whole; the last hash is {last}")
    return status


def _misuse(why: str) -> int:
    print(f"mace: {why}", file=sys.stderr)
    return MISUSE
