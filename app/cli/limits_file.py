"""Options of gate, model and synthetic that stand in a file, so that a pipeline and a person ask for the same.

The file is `mace.toml`, or the table `[tool.mace]` of `pyproject.toml`, of the folder in which the command runs. An
option is called as in the shell, without its dashes; a table named like a command is for that command alone. What is
typed wins over its own table, and that over what stands for all.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.cli.options import Option, options_of
from app.cli.parsing import Misuse
from estimators.python.dataclass import dataclass
from macekit.catalogue import BY_NAME
from macekit.text import nearest, printable

COMMANDS = ("gate", "model", "synthetic")  # what reads such a file

PLAIN, PROJECT = "mace.toml", "pyproject.toml"
NO_FILE = "none"  # what `--limits` names to read none

OF_SERVICE = "; settings of the service stand in a file of another name, which MACE_CONFIG names"

MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class LimitsFile:
    """What a file says: texts of options as they would be typed, by the command; "" is for all."""

    name: str
    options: Mapping[str, Mapping[str, str | bool]]

    def of(self, command: str) -> dict[str, str | bool]:
        """The options of one command, by their flags without dashes; those that only another one has are left out."""
        flags = _flags(command)
        shared = {name: value for name, value in self.options.get("", {}).items() if name in flags}
        return shared | dict(self.options.get(command, {}))


def read_limits(path_text: str | None) -> LimitsFile | None:
    """The file that is named, or the one of this folder; None if there is none, or none is wanted.

    Raises:
        Misuse: it cannot be read, is not TOML, or holds what is no option.
    """
    if path_text == NO_FILE:
        return None
    if path_text is not None:
        path = Path(path_text)
        return _parse(path, _tables(path, required=path.name == PROJECT) or {})
    for name in (PLAIN, PROJECT):
        if Path(name).is_file() and (tables := _tables(Path(name), required=False)) is not None:
            return _parse(Path(name), tables)
    return None


def fill_in(file: LimitsFile, question: str, options: Sequence[Option], arguments: argparse.Namespace) -> list[str]:
    """Take from the file what was not typed; the options that were taken, as they would be typed."""
    keys = {each.flag.removeprefix("--"): each.key for each in options}
    typed_options = []
    for name, value in file.of(question).items():
        if getattr(arguments, keys[name]) is None:
            setattr(arguments, keys[name], value)
            typed_options.append(_typed(name, value))
    return typed_options


def lines(file: LimitsFile) -> Iterator[str]:
    """What each command takes from the file, a line each."""
    for command in COMMANDS:
        options = " ".join(_typed(*pair) for pair in file.of(command).items())
        yield f"mace {command} {options}".rstrip()


def _typed(name: str, value: str | bool) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name} {printable(value)}"


def _flags(command: str) -> frozenset[str]:
    return frozenset(each.flag.removeprefix("--") for each in options_of(BY_NAME[command].name))


def _tables(path: Path, *, required: bool) -> Mapping[str, Any] | None:
    """The file as TOML; of a project's the table of mace, None without one."""
    name = printable(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Misuse(f"{name}: is larger than {MOST_BYTES:,} bytes; that is no file of limits")
        content: Mapping[str, Any] = tomllib.loads(data.decode())
    except OSError as error:
        raise Misuse(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Misuse(f"{name}: is not TOML: {printable(str(error))}; --limits none passes it over") from None
    if path.name != PROJECT:
        return content
    tool = content.get("tool")
    mace = tool.get("mace") if isinstance(tool, Mapping) else None
    if mace is None and required:
        raise Misuse(f"{name}: has no table [tool.mace]")
    if mace is not None and not isinstance(mace, Mapping):
        raise Misuse(f"{name}: tool.mace is no table; write [tool.mace], and below it max-advantage = 0.1")
    return mace


def _parse(path: Path, tables: Mapping[str, Any]) -> LimitsFile:
    name = printable(str(path))
    of_all = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    options = {"": _options(name, "", of_all, frozenset().union(*map(_flags, COMMANDS)))}
    for command, table in tables.items():
        if not isinstance(table, Mapping):
            continue
        if command not in COMMANDS:
            raise Misuse(f"{name}: {printable(command)} is none of {', '.join(COMMANDS)}{nearest(command, COMMANDS)}")
        options[command] = _options(name, f"{command}.", table, _flags(command))
    return LimitsFile(name, options)


def _options(file: str, table: str, values: Mapping[str, Any], flags: frozenset[str]) -> dict[str, str | bool]:
    options: dict[str, str | bool] = {}
    for key, value in values.items():
        name, place = key.replace("_", "-"), f"{file}: {table}{printable(key)}"
        if name not in flags:
            raise Misuse(f"{place}: is not an option{nearest(name, sorted(flags)) or OF_SERVICE}")
        if name in options:
            raise Misuse(f"{place}: is given twice")
        options[name] = _text(place, value)
    return options


def _text(place: str, value: object) -> str | bool:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list) and value and all(_is_plain(each) for each in value):
        return ",".join(map(str, value))
    if _is_plain(value):
        return str(value)
    raise Misuse(f"{place}: need a text, a number, true, false, or a list of texts or numbers")


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
