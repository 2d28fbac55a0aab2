"""The command, the request and the program that make an answer again, from what its provenance repeats."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote, urlencode

from macekit.call import JSON
from macekit.catalogue import command, flag
from macekit.formats import FORMATS, encoding_named, format_named
from macekit.report.model import Listing
from macekit.schemas.query import FIRST_MEMBERS, TABLE, spelled
from macekit.schemas.questions import QUESTIONS, columns_of
from macekit.text import shown

ADDRESS = "http://127.0.0.1:8000"
SCORES, REQUEST = "scores.csv", "request.json"
"""What the input is called where its name is not known, or is not one to be repeated."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question again: its operation, the options that are not the usual ones, its file, and if it has groups.

    Options include the columns that were named; ``grouped`` stands for one that is not known. Counts are told apart,
    since they are posted as such. ``arrays`` are those a question of theory was asked of; None stands for scores.
    """

    operation: str
    options: Mapping[str, Any]
    source: str | None = None
    grouped: bool = False
    others: tuple[str, ...] = ()
    counted: bool = False
    arrays: tuple[str, ...] | None = None

    @property
    def bare(self) -> bool:
        """Whether it was asked of nothing: its options are all there is."""
        return self.arrays == () and self.flat is not None

    @property
    def unnamed(self) -> bool:
        """Whether it came as a request that was no file, as far as is known: without a name, or columns of a table."""
        return self.source is None and not {*TABLE, FIRST_MEMBERS} & self.options.keys()

    @property
    def whole(self) -> bool:
        """Whether it is one JSON request, options and all."""
        return self.unnamed or self.flat is None

    @property
    def flat(self) -> tuple[tuple[str, str], ...] | None:
        """Options as a query string and a shell have them; None if they cannot, or if one would do harm there."""
        found = spelled(self.options)
        return found if found is not None and all(_harmless(text) for _, text in found) else None

    @property
    def nameless(self) -> bool:
        """Whether there were groups, in a column whose name is not known."""
        return self.grouped and "group" not in self.options

    @property
    def file(self) -> str:
        """The input's own name, if it is harmless to type."""
        if self.whole:
            return REQUEST
        return _typed(self.source or SCORES, SCORES)

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
        if name not in columns_of(operation) and not field.is_required()
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
    """``mace report scores.csv --max-advantage 0.1 -o report.html``."""
    words = [command(asked.operation), *([] if asked.bare else map(shlex.quote, asked.inputs))]
    if asked.flat is None or (asked.unnamed and not asked.bare):
        return f"{_saved(asked)}\n\n{' '.join([*words, '-o', 'report.html'])}"
    for name, text in asked.flat:
        words += _option(asked.operation, name, text, isinstance(asked.options.get(name), bool))
    if asked.nameless:
        words += [flag("group"), "GROUP"]
    return " ".join([*words, "-o", "report.html"])


def over_http(asked: Asked) -> str:
    """The file as it is, options in the query string; or all of it as one JSON request."""
    if asked.bare:
        return _posted(asked, JSON, shlex.quote(json.dumps(asked.options)), "")
    kind, flat = FORMATS[format_named(asked.file) or "csv"], asked.flat
    if flat is None or asked.unnamed or kind == JSON:
        return f"{_saved(asked)}\n\n{_posted(asked, JSON, shlex.quote(f'@{asked.file}'), '')}"
    query = (*flat, ("group", "GROUP")) if asked.nameless else flat
    written = urlencode(query, safe=",", quote_via=quote)
    return _posted(asked, kind, shlex.quote(f"@{asked.file}"), f"?{written}" if written else "")


def from_python(asked: Asked) -> str:
    """``macekit.report("scores.csv", threshold=0.1)``; letters beyond ASCII are spelt as Python does."""
    name = command(asked.operation).removeprefix("mace ").replace(" ", ".").replace("-", "_")
    if asked.bare:
        arguments = ", ".join(f"{key}={value!a}" for key, value in asked.options.items())
        return f"import macekit\n\nmacekit.{name}({arguments}).to_html()"
    if asked.unnamed:
        return f'import macekit\n\nmacekit.{name}("{REQUEST}").to_html()'
    given = {**asked.options, **({"group": "GROUP"} if asked.nameless else {})}
    file = SCORES if asked.whole else asked.file
    arguments = ", ".join([ascii(file), *(f"{key}={_named(key, value)!a}" for key, value in given.items())])
    return f"import macekit\n\nmacekit.{name}({arguments}).to_html()"


def _named(option: str, value: Any) -> Any:
    """Several columns go to Python as a list: a comma parts them only where all is text."""
    several = option == "score" and isinstance(value, str) and "," in value
    return value.split(",") if several else value


def _typed(name: str, otherwise: str) -> str:
    """A file's name as it is typed, if it is harmless to type."""
    return f"./{name}" if name.startswith("-") else name if shown(name) == name else otherwise


def _posted(asked: Asked, kind: str, data: str, query: str) -> str:
    address = shlex.quote(f"{ADDRESS}/v1/{asked.operation}{query}")
    packed = None if asked.bare else encoding_named(asked.file)
    headers = [
        f"Content-Type: {kind}",
        *([f"Content-Encoding: {packed}"] if packed else []),
        "Accept: text/html",
    ]
    said = " ".join(f"-H '{header}'" for header in headers)
    return f"curl -s --data-binary {data} {said} \\\n  -o report.html {address}"


def _saved(asked: Asked) -> str:
    """A JSON request, its records left out; letters beyond ASCII are spelt as JSON does."""
    sides = '"counts": {…}' if asked.counted else '"members": […], "nonmembers": […]'
    if asked.arrays is not None:
        sides = ", ".join(f'"{name}": […]' for name in asked.arrays)
    records = '"queries": {…}' if asked.operation == "compare" else sides
    groups = ', "groups": […]' if asked.grouped else ""
    of_table = {*TABLE, FIRST_MEMBERS}  # which a JSON request has not
    options = json.dumps({name: each for name, each in asked.options.items() if name not in of_table})[1:-1]
    body = f"{records}{groups}, {options}" if options else f"{records}{groups}"
    return f"{asked.file} holds\n{{{body}}}"


def _harmless(text: str) -> bool:
    """Whether names are no more than names where they are typed."""
    return all(shown(part) == part for part in text.split(","))


def _option(operation: str, name: str, text: str, boolean: bool) -> list[str]:
    word = flag(name, operation)
    if boolean:
        return [word if text == "true" else word.replace("--", "--no-", 1)]
    return [word, shlex.quote(text)]


def _dumped(value: Any) -> Any:
    """A default as the JSON of provenance has it."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(exclude_none=True)
