"""The `mace` command: one module for each thing it does; a new one is a line in ``COMMANDS``.

A line is a function ``add(subparsers)``, which describes the options of a command and names the function to run. What
a command works with is imported when it runs, so that `mace --version` stays fast.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from app.cli import commands, config, demo, gate, serve
from app.cli.parsing import MISUSE, Parser
from app.cli.terminal import CannotPrintError, flush, heedless, let_go
from macekit.call import __version__

COMMANDS = (demo.add, commands.add, gate.add, commands.add_theory, serve.add, config.add)

DESCRIPTION = """Certify membership leakage from scores.

examples:
  mace demo
  mace estimate scores.csv --max-advantage 0.1
  mace COMMAND --help"""

OUR_MISTAKE = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


@heedless()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status, however it ends."""
    for stream in (sys.stdout, sys.stderr):  # a name the terminal cannot spell is no reason to fail
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
    except BrokenPipeError:  # who read us has read enough
        let_go(sys.stdout)
        return PIPE_CLOSED
    except CannotPrintError as error:
        let_go(sys.stdout)
        print(f"mace: {error}", file=sys.stderr)
        return MISUSE
    except Exception:  # 1 is for an answer: a mistake of ours must not pass for one
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
