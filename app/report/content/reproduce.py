"""The command, the request and the program that make an answer again, from what its provenance repeats."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, get_args
from urllib.parse import quote

from app.call import ARROW, CSV, JSON, NPY, PARQUET
from app.report.model import Listing
from app.schemas.questions import COLUMNS, JSON_ONLY, QUESTIONS
from app.shell import command, flag
from app.words import shown

ADDRESS = "http://127.0.0.1:8000"
BODIES = {
    ".csv": CSV,
    ".npy": NPY,
    ".arrow": ARROW,
    ".arrows": ARROW,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".json": JSON,
}
"""How a file is posted, by its suffix."""

TOLD = frozenset({"score", "member", "group", "unit", "members"})
"""Options that speak of a table or an array, which a JSON request has not."""

ENCODINGS = {".gz": "gzip", ".zst": "zstd"}
"""How a compressed file is announced."""

TABLE, REQUEST = "scores.csv", "request.json"
"""What the input is called where its name is not known, or is not one to be repeated."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question again: its operation, the options that are not the usual ones, its file, and if it has groups.

    Options include the columns that were named; ``grouped`` stands for one that is not known.
    """

    operation: str
    options: Mapping[str, Any]
    source: str | None = None
    grouped: bool = False
    others: tuple[str, ...] = ()

    @property
    def flat(self) -> dict[str, Any] | None:
        """Options by their dotted names; None if a query string or a shell cannot carry them."""
        found = dict(_flattened(self.options, ""))
        return found if all(_carried(name, value) for name, value in found.items()) else None

    @property
    def nameless(self) -> bool:
        """Whether there were groups, and nobody knows in which column."""
        return self.grouped and "group" not in self.options

    @property
    def file(self) -> str:
        """The input's own name, if it is harmless to type."""
        if self.flat is None:
            return REQUEST
        return _typed(self.source or TABLE, TABLE)

    @property
    def inputs(self) -> list[str]:
        """What the shell is given to read."""
        files = [self.file, *(_typed(name, f"scores-{at}.csv") for at, name in enumerate(self.others, 2))]
        sided = bool(self.others) and self.operation != "compare"
        return ["--members", files[0], "--nonmembers", files[1]] if sided else files


def unusual(operation: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from what the question is without them; one that is null again says so."""
    fields = QUESTIONS[operation].model_fields
    usual = {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if name not in COLUMNS and not field.is_required()
    }
    plain = {name: _dumped(value) for name, value in usual.items()}
    found = {name: value for name, value in options.items() if plain.get(name) != value}
    nulled = {
        name: None
        for name, value in plain.items()
        if value is not None and name not in options and type(None) in get_args(fields[name].annotation)
    }
    return found | nulled


def listings(asked: Asked) -> tuple[Listing, ...]:
    """In a shell, over HTTP, and from Python; several files go to a shell only."""
    shell = Listing("In a shell", in_shell(asked))
    if asked.others:
        return (shell,)
    return (shell, Listing("Over HTTP", over_http(asked)), Listing("From Python", from_python(asked)))


def in_shell(asked: Asked) -> str:
    """``mace report scores.csv --threshold 0.1 -o report.html``."""
    words = [command(asked.operation), *map(shlex.quote, asked.inputs)]
    if asked.flat is None:
        return f"{_saved(asked)}\n\n{' '.join([*words, '-o', 'report.html'])}"
    for name, value in asked.flat.items():
        words += _option(name, value)
    if asked.nameless:
        words += [flag("group"), "GROUP"]
    return " ".join([*words, "-o", "report.html"])


def over_http(asked: Asked) -> str:
    """The file as it is, options in the query string; or all of it as one JSON request."""
    kind, flat = _kind(asked.file), asked.flat
    if flat is None or kind == JSON:
        return f"{_saved(asked)}\n\n{_posted(asked, JSON, REQUEST if flat is None else asked.file, '')}"
    query = {name: _spelled(value) for name, value in flat.items()}
    if asked.nameless:
        query["group"] = "GROUP"
    written = "&".join(f"{name}={quote(value, safe=',')}" for name, value in query.items())
    return _posted(asked, kind, asked.file, f"?{written}" if written else "")


def from_python(asked: Asked) -> str:
    """``macekit.report("scores.csv", threshold=0.1)``; letters beyond ASCII are spelt as Python does."""
    name = command(asked.operation).removeprefix("mace ")
    given = {**asked.options, **({"group": "GROUP"} if asked.nameless else {})}
    file = TABLE if asked.file == REQUEST else asked.file
    arguments = ", ".join([ascii(file), *(f"{key}={value!a}" for key, value in given.items())])
    return f"import macekit\n\nmacekit.{name}({arguments}).to_html()"


def _typed(name: str, otherwise: str) -> str:
    """A file's name as it is typed, if it is harmless to type."""
    return f"./{name}" if name.startswith("-") else name if shown(name) == name else otherwise


def _posted(asked: Asked, kind: str, file: str, query: str) -> str:
    address = shlex.quote(f"{ADDRESS}/v1/{asked.operation}{query}")
    packed = ENCODINGS.get(PurePath(file).suffix.lower())
    headers = [
        f"Content-Type: {kind}",
        *([f"Content-Encoding: {packed}"] if packed else []),
        "Accept: text/html",
    ]
    said = " ".join(f"-H '{header}'" for header in headers)
    return f"curl -s --data-binary {shlex.quote(f'@{file}')} {said} \\\n  -o report.html {address}"


def _kind(file: str) -> str:
    """How a file is written, whether it is compressed or not; a table, if its name does not say."""
    path = PurePath(file)
    bare = PurePath(path.stem) if path.suffix.lower() in ENCODINGS else path
    return BODIES.get(bare.suffix.lower(), CSV)


def _saved(asked: Asked) -> str:
    """A JSON request, its records left out; letters beyond ASCII are spelt as JSON does."""
    records = '"queries": {…}' if asked.operation == "compare" else '"members": […], "nonmembers": […]'
    groups = ', "groups": […]' if asked.grouped else ""
    options = json.dumps({name: each for name, each in asked.options.items() if name not in TOLD})[1:-1]
    body = f"{records}{groups}, {options}" if options else f"{records}{groups}"
    return f"{asked.file if asked.flat is not None else REQUEST} holds\n{{{body}}}"


def _flattened(options: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Nested options by a dot; coefficients stay what they are, for JSON."""
    for name, value in options.items():
        if isinstance(value, Mapping) and "coefficients" not in value:
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _carried(name: str, value: Any) -> bool:
    """Whether a shell and a query string can say it."""
    if isinstance(value, list):
        return bool(value) and all(_carried(name, each) and "," not in str(each) for each in value)
    if value is None or isinstance(value, Mapping) or name.rsplit(".", 1)[-1] in JSON_ONLY:
        return False
    return shown(str(value)) == str(value)


def _option(name: str, value: Any) -> list[str]:
    word = "--metric" if name == "metric.preset" else flag(name)
    if isinstance(value, bool):
        return [word if value else word.replace("--", "--no-", 1)]
    return [word, shlex.quote(_spelled(value))]


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_spelled(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _dumped(value: Any) -> Any:
    """A default as the JSON of provenance has it."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(exclude_none=True)
