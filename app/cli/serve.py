"""`mace serve`: the service, until a signal stops it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.settings import Settings

DESCRIPTION = """The service, until it is told to stop.

examples:
  mace serve
  mace serve --port 8080

Every other setting is a variable MACE_* or stands in the file that MACE_CONFIG names; `mace config` lists them."""

ENDINGS = """signals:
  SIGTERM, SIGINT, SIGQUIT    end, once what is under way is done
  SIGHUP                      read keys again, go on in a new audit file if it was moved away
  SIGUSR1                     give the audit file a number, and go on in a new one

exit status:
  0    stopped by SIGTERM, SIGINT or SIGQUIT
  1    could not start; why is on standard error
  2    the settings cannot be used"""


def add(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "serve",
        help="the service, by default on http://127.0.0.1:8000; `mace config` lists its settings",
        usage="mace serve [OPTIONS]",
        description=DESCRIPTION,
        epilog=ENDINGS,
    )
    command.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: MACE_HOST, or 127.0.0.1)")
    command.add_argument(
        "--port", metavar="N", help="port to listen on; 0 takes a free one (default: MACE_PORT, or 8000)"
    )
    command.set_defaults(run=run)


ELSEWHERE = (
    "mace cannot start: the service forks its workers, which this system cannot; run it on Linux or macOS, in a "
    "container, say. Every other command answers here without it, and so does Python"
)


def run(options: argparse.Namespace) -> int:
    """Serve by the settings of the environment; the options of the command win over them."""
    if not hasattr(os, "fork"):
        print(ELSEWHERE, file=sys.stderr)
        return 2
    with nothing_collected():
        from app.settings import BadSettings, load, unknown_variables

    overrides = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
    try:
        settings = load(**overrides)
        for name, near in unknown_variables().items():
            print(f"mace: {name} is not a setting" + (f"; did you mean {near}?" if near else ""), file=sys.stderr)
        return serve(settings)
    except BadSettings as error:
        print("mace cannot start:", *str(error).splitlines(), sep="\n  ", file=sys.stderr)
        return 2


def serve(settings: Settings) -> int:
    """Serve by these settings; the exit status."""
    with nothing_collected():
        from app.cli.server import listen
        from app.main import create_app

        application = create_app(settings)
    return listen(application)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """What is imported here is never freed: looking for garbage in it takes part of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
