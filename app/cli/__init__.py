"""The `mace` command: ``COMMANDS`` lists what adds its commands; a new one is a line there.

Each line is a function ``add(subparsers)``, which describes a command and names the function that runs it. A command
imports what it works with when it runs, so that `mace --version` stays fast.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from app.cli import commands, config, demo, gate, keys, serve, shadows, text, verify
from app.cli.parsing import MISUSE, Parser
from app.cli.terminal import CannotPrintError, discard, flush, ignore_stderr_errors
from macekit.call import __version__

COMMANDS = (
    demo.add,
    commands.add,
    gate.add,
    text.add,
    shadows.add,
    commands.add_theory,
    serve.add,
    config.add,
    keys.add,
    verify.add,
)

DESCRIPTION = """Certify membership leakage from scores.

examples:
  mace demo
  mace estimate scores.csv --max-advantage 0.1
  mace COMMAND --help"""

SERVICE = frozenset(
    {
        "cryptography",
        "fastapi",
        "httptools",
        "limits",
        "prometheus_client",
        "pydantic_settings",
        "starlette",
        "uvicorn",
    }
)
"""Modules that `mace serve` and `mace config` need, and that come with the extra `serve`."""

OUR_MISTAKE = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


@ignore_stderr_errors()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status, however it ends."""
    for stream in (
        sys.stdout,
        sys.stderr,
    ):  # a character that the terminal does not have is no reason to fail
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
        print(
            f"mace: needs {error.name}, which is not installed; pip install 'macekit[serve]'",
            file=sys.stderr,
        )
        return 1
    except Exception:  # status 1 is a decision: an error of ours must not look like one
        traceback.print_exc()
        return OUR_MISTAKE
    return status


def parser() -> Parser:
    """Every command, with its options and its function (`run`)."""
    top = Parser(prog="mace", usage="mace COMMAND [OPTIONS]", description=DESCRIPTION)
    top.add_argument("--version", action="version", version=f"mace {__version__}")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", prog="mace", required=True)
    for add in COMMANDS:
        add(subparsers)
    return top
