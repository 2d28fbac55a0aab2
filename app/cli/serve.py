"""`mace serve` and `mace config`: the service until a signal stops it, and its settings, without the secrets."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.cli.parsing import Misuse
from app.cli.terminal import write_line

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
    """Describe `mace serve`."""
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


MASK = "********"


def add_config(commands: Any) -> None:
    """Describe `mace config`: every setting, its value, where it came from and what it means."""
    command = commands.add_parser("config", help="every setting, its value, and the source of the value")
    command.add_argument("--toml", action="store_true", help="print them as a file that MACE_CONFIG accepts")
    command.set_defaults(run=run_config)


def run_config(options: argparse.Namespace) -> int:
    """Print the settings; 2 if they cannot be used."""
    from app.cli.limits_file import lines, read_limits
    from app.settings import BadSettings, load, unknown_variables

    try:
        settings = load()
    except BadSettings as error:
        print("these settings cannot be used:", *str(error).splitlines(), sep="\n  ", file=sys.stderr)
        return 2
    write_line(as_toml(settings) if options.toml else as_table(settings))
    if not options.toml:
        try:
            file = read_limits(None)
        except Misuse as error:
            print(f"mace config: {error}", file=sys.stderr)
            return 2
        if file is not None:
            print(f"\nfrom {file.name}, unless typed otherwise:", *lines(file), sep="\n  ")
    for name, near in unknown_variables().items():
        print(f"{name} is not a setting" + (f"; did you mean {near}?" if near else ""), file=sys.stderr)
    return 0


def as_table(settings: Settings) -> str:
    """One line a setting: its variable, its value, where it came from, what it is."""
    from app.settings import PREFIX

    sources = origins()
    rows = [
        (PREFIX + name.upper(), _text(getattr(settings, name)), sources[name], field.description or "")
        for name, field in type(settings).model_fields.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(word.ljust(width) for word, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    )


def as_toml(settings: Settings) -> str:
    """A file that gives the same settings; what is not set, and what is secret, stands in it as a comment."""
    lines = ["# Settings of mace; variables MACE_* win over this file."]
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        lines += ["", f"# {field.description}"]
        if value is None:
            lines.append(f"# {name} = ")
        elif _secret(value):
            lines.append(f'# {name} = "{MASK}"')
        else:
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join(lines)


def origins() -> dict[str, str]:
    """Where each setting came from: environment, file or default."""
    from app.settings import PREFIX, Settings, file_settings

    variables = {name.upper() for name in os.environ}
    file = file_settings()
    return {
        name: "environment" if PREFIX + name.upper() in variables else "file" if name in file else "default"
        for name in Settings.model_fields
    }


def _secret(value: object) -> bool:
    return hasattr(value, "get_secret_value") or (isinstance(value, str) and "@" in value)


def _text(value: object) -> str:
    if value is None:
        return "not set"
    if _secret(value):
        return f"{MASK} (set)"
    if isinstance(value, tuple):
        return ",".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value) or "empty"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
