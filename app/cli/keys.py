"""`mace keys`: the file of the service's keys. A new key is printed once; the file holds its digest."""

import argparse
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.cli.parsing import Parser, misuse

DESCRIPTION = """The keys of a service: named, each for what it may ask, with an end. MACE_KEYS_FILE names the file;
a running service reads it again when it has changed.

examples:
  mace keys add keys.toml pipeline --expires 90d --requests-per-minute 60
  mace keys add keys.toml shards --scope counts
  mace keys add keys.toml prometheus --scope metrics
  mace keys list keys.toml
  mace keys rotate keys.toml pipeline --overlap 48h
  mace keys remove keys.toml pipeline"""

ENDINGS = """exit status:
  0    done
  2    the file or an option cannot be used; nothing was changed"""

SPAN = re.compile(r"(\d{1,5})([dh])")


def add(commands: Any) -> None:
    """Describe the command."""
    commands.add_parser(
        "keys",
        help="make, list, replace and remove the service's keys",
        usage="mace keys add|list|rotate|remove FILE [NAME] [OPTIONS]",
        description=DESCRIPTION,
        epilog=ENDINGS,
        fill=_add_acts,
    )


def _add_acts(command: Parser) -> None:
    acts = command.add_subparsers(title="what to do", metavar="ACT", prog="mace keys", required=True)

    def act(name: str, does: str, run: Callable[[argparse.Namespace], int], usage: str, whose: str = "") -> Any:
        parser = acts.add_parser(name, help=does, usage=f"mace keys {name} FILE{usage}")
        note = "; it is made if there is none" if run is _add else ""
        parser.add_argument("file", metavar="FILE", help=f"file of keys{note}")
        if whose:
            parser.add_argument("name", metavar="NAME", help=whose)
        parser.set_defaults(run=run)
        return parser

    holder = "who will hold the key; it stands in the log"
    new = act("add", "make a key and print it, once", _add, " NAME [OPTIONS]", holder)
    new.add_argument(
        "--scope",
        metavar="NAME",
        action="append",
        help="what it opens: ask (default), counts, metrics, or a question as /v1/gate; repeatable",
    )
    new.add_argument("--expires", metavar="WHEN", help="90d, 12h, or a date as 2027-01-31; default: never")
    new.add_argument("--requests-per-minute", metavar="N", type=int, help="most requests in a minute")
    new.add_argument("--at-once", metavar="N", type=int, help="most requests under way")
    new.add_argument("--largest-body", metavar="BYTES", type=int, help="most bytes of a body")
    act("list", "name, scope, end and limits of each key", _list, "")
    does = "make a key that takes another's place, while both are good"
    rotation = act("rotate", does, _rotate, " NAME [--overlap WHEN]", "whose key")
    rotation.add_argument("--overlap", metavar="WHEN", help="until when the former one is good (default: 24h)")
    act("remove", "take a key back", _remove, " NAME", "whose key")


def _add(options: argparse.Namespace) -> int:
    from pydantic import ValidationError

    from app import keys

    path = Path(options.file)
    try:
        present = keys.read(path) if path.exists() else ()
        if any(key.name == options.name for key in present):
            return misuse(
                f"{path.name} has a key of the name {options.name}; mace keys rotate makes another in its place"
            )
        secret, end = keys.new_secret(), None if options.expires is None else end_of(options.expires)
        if end is not None and end <= datetime.now(UTC):
            return misuse(f"expires: got {options.expires!r}, which is over already; need 90d, 12h, or a day to come")
        key = keys.Key(
            name=options.name,
            sha256=keys.digest_of(secret.encode()),
            scope=tuple(options.scope or ["ask"]),
            expires=end,
            requests_per_minute=options.requests_per_minute,
            at_once=options.at_once,
            largest_body=options.largest_body,
        )
        keys.write(path, [*present, key])
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = str(first["loc"][0]).replace("_", "-") if first["loc"] else "key"
        return misuse(f"{where}: {first['msg'].removeprefix('Value error, ')}")
    except (OSError, ValueError) as error:
        return _refuse_error(path, error)
    return _show(secret, key.name, path)


def _show(secret: str, name: str, path: Path) -> int:
    print(secret)
    print(f"mace: the key of {name} stands above, once; {path.name} holds its digest", file=sys.stderr)
    return 0


def _rotate(options: argparse.Namespace) -> int:
    from app import keys

    path = Path(options.file)
    try:
        present = [key for key in keys.read(path) if key.name != options.name or not key.has_expired()]
        former = [key for key in present if key.name == options.name]
        if len(former) != 1:
            return misuse(f"{path.name} has {len(former)} good keys of the name {options.name}; need one")
        secret, end = keys.new_secret(), end_of(options.overlap or "24h", "overlap")
        (old,) = former
        new = old.model_copy(update={"sha256": keys.digest_of(secret.encode())})
        ending = old.model_copy(update={"expires": min(end, old.expires or end)})
        keys.write(path, [ending if key is old else key for key in present] + [new])
    except (OSError, ValueError) as error:
        return _refuse_error(path, error)
    return _show(secret, new.name, path)


def _list(options: argparse.Namespace) -> int:
    from app import keys

    try:
        present = keys.read(Path(options.file))
    except keys.BadKeys as error:
        return misuse(str(error))
    rows: list[tuple[str, ...]] = [("name", "scope", "expires", "a minute", "at once", "largest body")]
    for key in present:
        end = "never" if key.expires is None else key.expires.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        limits = (key.requests_per_minute, key.at_once, key.largest_body)
        rows.append(
            (
                key.name,
                ",".join(key.scope),
                end + (" (over)" if key.has_expired() else ""),
                *("-" if limit is None else str(limit) for limit in limits),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _remove(options: argparse.Namespace) -> int:
    from app import keys

    path = Path(options.file)
    try:
        present = keys.read(path)
        rest = [key for key in present if key.name != options.name]
        if len(rest) == len(present):
            names = ", ".join(key.name for key in present) or "none"
            return misuse(f"{path.name} has no key of the name {options.name}; it has: {names}")
        keys.write(path, rest)
    except (keys.BadKeys, OSError) as error:
        return _refuse_error(path, error)
    return 0


def end_of(text: str, option: str = "expires") -> datetime:
    """When ``90d``, ``12h`` from now, or the day that is named, is over."""
    if match := SPAN.fullmatch(text):
        count = int(match[1])
        return datetime.now(UTC).replace(microsecond=0) + (
            timedelta(days=count) if match[2] == "d" else timedelta(hours=count)
        )
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except ValueError:
        raise ValueError(f"{option}: got {text!r}; need 90d, 12h, or a date as 2027-01-31") from None


def _refuse_error(path: Path, error: Exception) -> int:
    """What cannot be read says why itself; of what cannot be written the system says why."""
    return misuse(f"{path.name}: cannot be written: {error.strerror}" if isinstance(error, OSError) else str(error))
