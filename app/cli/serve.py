"""`mace serve`: the service, until it is told to stop.

Exit status 0 after a stop by SIGTERM or SIGINT, 1 if it could not start, 2 if the settings cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.settings import Settings


def add(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "serve",
        help="the service, on http://127.0.0.1:8000 unless told otherwise; `mace config` lists its settings",
    )
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Serve by the settings of the environment."""
    from app.settings import BadSettings, load, unknown_variables

    try:
        settings = load()
        for name, near in unknown_variables().items():
            print(
                f"mace: {name} is not a setting" + (f"; did you mean {near}?" if near else ""),
                file=sys.stderr,
            )
        return serve(settings)
    except BadSettings as error:
        print("mace cannot start:", *str(error).splitlines(), sep="\n  ", file=sys.stderr)
        return 2


def serve(settings: Settings) -> int:
    """Serve by these settings; the exit status."""
    from app.main import create_app

    return listen(create_app(settings))


def listen(app: FastAPI) -> int:
    """Serve this app by its own settings; the exit status."""
    from app.cli.server import Server
    from app.telemetry import logs

    settings: Settings = app.state.service.settings
    logs.configure(settings)
    server = Server(app)
    try:
        server.run()
    except SystemExit:  # how uvicorn says that it cannot start; why is in the log
        return 1
    return 0 if server.started else 1
