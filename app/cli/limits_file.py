"""Options of gate, model and synthetic that stand in a file, so that a pipeline and a person ask for the same.

The file is `mace.toml`, or the table `[tool.mace]` of `pyproject.toml`, of the folder in which the command runs. An
option is called as in the shell, without its dashes; a table named like a command is for that command alone. What is
typed wins over what a JSON request says, that over the command's own table, and that over what stands for all.
"""

from __future__ import annotations

import argparse
import codecs
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.cli.options import Option, options_of, values_of
from app.cli.parsing import Misuse
from estimators.python.dataclass import dataclass
from macekit.call import JSON, Call
from macekit.catalogue import BY_NAME
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import of_table
from macekit.text import nearest, printable

if TYPE_CHECKING:
    from app.cli.inputs import Source
    from app.cli.run import Inputs

COMMANDS = ("gate", "model", "synthetic")  # what reads such a file

PLAIN, PROJECT = "mace.toml", "pyproject.toml"
NO_FILE = "none"  # what `--limits` names to read none

OF_SERVICE = "; settings of the service stand in a file of another name, which MACE_CONFIG names"

MOST_BYTES = 2**20

WHOLE = ("state", "declaration")  # a request with one of these has all its options there


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


def fill_in(question: str, options: Sequence[Option], arguments: argparse.Namespace) -> str:
    """Take from the file what was not typed; `arguments.filled_in` are these options. The name of the file, if any."""
    file = read_limits(arguments.limits)
    by_flag = {each.flag.removeprefix("--"): each for each in options}
    arguments.filled_in = []
    for name, value in ({} if file is None else file.of(question)).items():
        if getattr(arguments, by_flag[name].key) is None:
            setattr(arguments, by_flag[name].key, value)
            arguments.filled_in.append(by_flag[name])
    return "" if file is None else file.name


def values_of_each(
    inputs: Inputs, question: str, options: Sequence[Option], arguments: argparse.Namespace, from_file: str
) -> list[dict[str, object]]:
    """The options of each input: what a request there says itself wins over what was filled in, and that is said."""
    from app.cli.inputs import Source
    from app.cli.run import Apart

    filled_in = {each.name: each for each in getattr(arguments, "filled_in", ())}
    texts = {name: _typed(each.flag[2:], getattr(arguments, each.key)) for name, each in filled_in.items()}
    several = isinstance(inputs, Apart)
    is_typed = getattr(arguments, "option:confidence", None) is not None and "confidence" not in filled_in
    names_in_use, notes, every = set[str](), list[str](), []
    for each in [of_file for _, of_file in inputs.files] if isinstance(inputs, Apart) else [inputs]:
        source, own, columns = each[0] if isinstance(each, list) and len(each) == 1 else None, list[str](), list[str]()
        if isinstance(source, Source) and source.media_type == JSON and (texts or several):
            in_request = _said_by(source, question)
            own = [name for name in texts if name.partition(".")[0] in in_request or not in_request.isdisjoint(WHOLE)]
            columns = [name for name in of_table(question) if name in texts and name not in own]
            if columns:
                words = " ".join(texts[name] for name in columns)
                notes.append(f"{source.name} is a request and has no columns, so not filled in: {words}")
            if several and "confidence" in in_request and not is_typed:
                message = "has a confidence of its own; of several files, type the one of all together: --confidence"
                raise Misuse(f"{source.name}: {message}")
            if own:
                notes.append(f"{source.name} itself says, so not filled in: {' '.join(texts[name] for name in own)}")
        names_in_use |= texts.keys() - own - set(columns)
        options_of_input = {**vars(arguments), **{filled_in[name].key: None for name in own}}
        every.append(values_of(options, argparse.Namespace(**options_of_input)))
    if from_file and names_in_use:
        notes.insert(0, f"from {from_file}: {' '.join(text for name, text in texts.items() if name in names_in_use)}")
    for line in () if arguments.quiet else notes:
        print(f"note: {line}", file=sys.stderr)
    return every


def _said_by(source: Source, operation: str) -> frozenset[str]:
    """The options that a JSON request gives itself; null says nothing.

    Raises:
        Misuse: it comes from a pipe and is too long to be looked at before it is read.
    """
    from macekit.decoding.compression import expanded

    if source.size is None:
        raise Misuse(f"{source.name}: so long a request is not looked into before it is read; put it into a file")
    form = msgspec.defstruct("_Said", [(each, Any, None) for each in QUESTIONS[operation].model_fields])
    with source.body() as body:
        data = bytes(expanded(Call(operation, JSON, source.encoding), body)).removeprefix(codecs.BOM_UTF8)
    try:
        fields = msgspec.structs.asdict(msgspec.json.decode(data, type=form))
    except (msgspec.DecodeError, RecursionError):  # the reader of requests says what is wrong
        return frozenset()
    return frozenset(name for name, value in fields.items() if value is not None)


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
        content: Mapping[str, Any] = tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        raise Misuse(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Misuse(f"{name}: is not TOML: {printable(str(error))}; --limits none passes it over") from None
    if path.name != PROJECT and "tool" not in content:
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
