"""The `mace` command: ``COMMANDS`` lists what adds its commands; a new one is a line there.

Each line is a function ``add(subparsers)``, which describes a command and names the function that runs it. A command
imports what it works with when it runs, so that `mace --version` stays fast.
"""

import argparse
import sys
import textwrap
import traceback
from collections.abc import Sequence
from typing import Any

from app.cli import commands, completion, declare, demo, importing, keys, serve, verify
from app.cli.parsing import MISUSE, Parser, parser_of
from app.cli.terminal import CannotPrintError, discard, flush, ignore_stderr_errors, screen_width
from macekit.call import __version__

COMMANDS = (
    demo.add,
    commands.add,
    commands.add_gate,
    declare.add,
    importing.add,
    commands.add_theory,
    serve.add,
    serve.add_config,
    keys.add,
    verify.add,
    completion.add,
)

DESCRIPTION = """Certify membership leakage from scores.

examples:
  mace demo
  mace estimate scores.csv --max-advantage 0.1
  mace help COMMAND"""

EVERY_DAY = ("demo", "gate", "report", "model", "synthetic", "text", "shadows", "plan", "serve")
OF_THEORY_AND_SERVICE = ("theory", "config", "keys", "verify", "completion", "help")
"""Commands under the first and the last of three headings; every other one is a further question."""

NAME_COLUMNS = 18

SERVICE = frozenset({"cryptography", "fastapi", "httptools", "prometheus_client", "starlette", "uvicorn"})
"""Modules that `mace serve` needs, and that come with the extra `serve`."""

OUR_MISTAKE = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


@ignore_stderr_errors()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status, however it ends."""
    # a character that the terminal does not have is no reason to fail
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            options = parser().parse_args(arguments)
            status: int = options.run(options)
        finally:
            flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe
        discard(sys.stdout)
        return PIPE_CLOSED
    except CannotPrintError as error:
        discard(sys.stdout)
        print(f"mace: {error}", file=sys.stderr)
        return MISUSE
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SERVICE:
            traceback.print_exc()
            return OUR_MISTAKE
        print(f"mace: needs {error.name}, which is not installed; pip install 'macekit[serve]'", file=sys.stderr)
        return 1
    except Exception:  # status 1 is a decision: an error of ours must not look like one
        traceback.print_exc()
        return OUR_MISTAKE
    return status


def parser() -> Parser:
    """Every command, with its options and its function (`run`)."""
    top = Parser(prog="mace", usage="mace COMMAND [OPTIONS]", description=DESCRIPTION)
    top.add_argument("--version", action="version", version=f"mace {__version__}")
    subparsers = top.add_subparsers(  # type: ignore[call-overload]  # it takes what makes a parser, too
        metavar="COMMAND", prog="mace", required=True, help=argparse.SUPPRESS, parser_class=parser_of
    )
    listing = _Commands(subparsers)
    for add in (*COMMANDS, _add_help):
        add(listing)
    top.listing = listing.under_headings
    return top


class _Commands:
    """Adds commands, and keeps what each is for, to be listed under headings."""

    def __init__(self, subparsers: Any) -> None:
        self._subparsers = subparsers
        self._purposes: dict[str, str] = {}

    def add_parser(self, name: str, **settings: Any) -> Any:
        """Add a command, as argparse does; its ``help`` is what it is for."""
        self._purposes[name] = settings.pop("help")
        return self._subparsers.add_parser(name, **settings)

    def under_headings(self) -> str:
        """Every command with what it is for: those of every day first."""
        further = [name for name in self._purposes if name not in (*EVERY_DAY, *OF_THEORY_AND_SERVICE)]
        headings = (
            ("every day", EVERY_DAY),
            ("more questions", further),
            ("theory, and the service", OF_THEORY_AND_SERVICE),
        )
        return "\n\n".join(
            "\n".join([f"{heading}:", *(self._line(name) for name in names if name in self._purposes)])
            for heading, names in headings
        )

    def _line(self, name: str) -> str:
        indent = " " * (NAME_COLUMNS + 2)
        first = f"  {name:<{NAME_COLUMNS}}"
        return textwrap.fill(self._purposes[name], screen_width(), initial_indent=first, subsequent_indent=indent)


def _add_help(commands: Any) -> None:
    """`mace help`, and `mace help COMMAND`: what `--help` prints."""
    command = commands.add_parser(
        "help",
        help="what there is, or what a command takes: mace help COMMAND",
        usage="mace help [COMMAND]",
        description="What `mace --help` prints, or `mace COMMAND --help`.",
    )
    command.add_argument("words", nargs="*", metavar="COMMAND", help="a command, such as gate, or theory dp")
    command.set_defaults(run=lambda options: parser().parse_args([*options.words, "--help"]))
