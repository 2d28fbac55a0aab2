"""The command, the request and the program that make an answer again, from what its provenance repeats."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import quote, urlencode

from estimators.python.dataclass import dataclass
from macekit.call import JSON
from macekit.catalogue import BY_NAME, SEVERAL, command, flag
from macekit.formats import FORMATS, encoding_named, format_named
from macekit.reports.model import Listing
from macekit.schemas.by_operation import QUESTIONS, columns_of
from macekit.schemas.query_string import FIRST_MEMBERS, TABLE, query_pairs
from macekit.text import printable

ADDRESS = "http://127.0.0.1:8000"
FROM_A_MODEL = "audit_model"
"""The function of ``macekit`` that asks a model itself, and what provenance then calls the method."""

LEFT_OUT = "…"  # what stands in provenance for arrays and functions, of which no text can be made

SCORES, REQUEST = "scores.csv", "request.json"
"""What the input is called where its name is not known, or is not one to be repeated."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One question again: its operation, the options that are not the usual ones, its file, and if it has groups.

    Options include the columns that were named; ``grouped`` stands for one that is not known. ``from_counts``: counts
    were sent instead of records. ``arrays`` are those a question of theory was asked of; None stands for scores.
    """

    operation: str
    options: Mapping[str, Any]
    source: str | None = None
    grouped: bool = False
    others: tuple[str, ...] = ()
    from_counts: bool = False
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
        pairs = query_pairs(self.options)
        harmless = all(printable(part) == part for _, text in pairs or () for part in text.split(","))
        return pairs if harmless else None

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
        sided = bool(self.others) and self.operation not in SEVERAL
        return ["--members", files[0], "--nonmembers", files[1]] if sided else files

    @property
    def tables(self) -> dict[str, str]:
        """The tables it was asked of, by what they are, each with its file; a ``grouped`` question has all of them."""
        row = BY_NAME[self.operation]
        files = [*([] if self.source is None else [self.source]), *self.others]
        used = row.tables if self.grouped else row.needed_tables
        usual = [f"{name}.csv" for name in used]
        return {
            name: _typed(file, otherwise)
            for name, file, otherwise in zip(used, files if len(files) == len(used) else usual, usual, strict=True)
        }


def unusual(operation: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from what the question is without them; one that is null again says so."""
    fields = QUESTIONS[operation].model_fields
    usual = {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if name not in columns_of(operation) and not field.is_required()
    }
    plain = {name: _dumped(value) for name, value in usual.items()}
    changes = {name: value for name, value in options.items() if plain.get(name) != value}
    nulled = {
        name: None
        for name, value in plain.items()
        if value is not None and name not in options and type(None) in get_args(fields[name].annotation)
    }
    return changes | nulled


def listings(question: Reproduction) -> tuple[Listing, ...]:
    """In a shell, over HTTP, and from Python; several files go to a shell only."""
    shell = Listing("In a shell", in_shell(question))
    if question.others:
        return (shell, Listing("From Python", from_python(question))) if question.tables else (shell,)
    return (shell, Listing("Over HTTP", over_http(question)), Listing("From Python", from_python(question)))


def of_a_model(options: Mapping[str, Any]) -> tuple[Listing, ...]:
    """From Python alone, by who has the model and its rows; arrays and functions are left out."""
    sides = ("model", "X_train", "y_train", "X_test", "y_test")
    pairs = [f"{key}={value if value == LEFT_OUT else ascii(value)}" for key, value in options.items()]
    call = f"import macekit\n\nmacekit.{FROM_A_MODEL}({', '.join([*sides, *pairs])}).to_html()"
    return (Listing("From Python", call),)


def in_shell(question: Reproduction) -> str:
    """``mace report scores.csv --max-advantage 0.1 -o report.html``."""
    if question.tables:
        return _tables_in_shell(question)
    words = [command(question.operation), *([] if question.bare else map(shlex.quote, question.inputs))]
    if question.flat is None or (question.unnamed and not question.bare):
        return f"{_request_file(question)}\n\n{' '.join([*words, '-o', 'report.html'])}"
    for name, text in question.flat:
        words += _option(question.operation, name, text, isinstance(_value(question.options, name), bool))
    if question.nameless:
        words += [flag("group"), "GROUP"]
    return " ".join([*words, "-o", "report.html"])


def _tables_in_shell(question: Reproduction) -> str:
    """``mace synthetic --train train.csv --holdout holdout.csv --synthetic synthetic.csv -o report.html``."""
    words = [command(question.operation)]
    for name, file in question.tables.items():
        words += [f"--{name}", shlex.quote(file)]
    for name, text in question.flat or ():
        words += _option(question.operation, name, text, isinstance(_value(question.options, name), bool))
    return " ".join([*words, "-o", "report.html"])


def over_http(question: Reproduction) -> str:
    """The file as it is, options in the query string; or all of it as one JSON request."""
    if question.bare:
        return _curl(question, JSON, shlex.quote(json.dumps(question.options)), "")
    kind, flat = FORMATS[format_named(question.file) or "csv"], question.flat
    if flat is None or question.unnamed or kind == JSON:
        return f"{_request_file(question)}\n\n{_curl(question, JSON, shlex.quote(f'@{question.file}'), '')}"
    query = (*flat, ("group", "GROUP")) if question.nameless else flat
    query_text = urlencode(query, safe=",", quote_via=quote)
    return _curl(question, kind, shlex.quote(f"@{question.file}"), f"?{query_text}" if query_text else "")


def from_python(question: Reproduction) -> str:
    """``macekit.report("scores.csv", max_advantage=0.1)``; letters beyond ASCII are spelt as Python does."""
    name = BY_NAME[question.operation].python
    if question.tables:
        pairs = [
            *map(ascii, question.tables.values()),
            *(f"{key}={value!a}" for key, value in question.options.items()),
        ]
        return f"import macekit\n\nmacekit.{name}({', '.join(pairs)}).to_html()"
    if question.bare:
        arguments = ", ".join(f"{key}={value!a}" for key, value in question.options.items())
        return f"import macekit\n\nmacekit.{name}({arguments}).to_html()"
    if question.unnamed:
        return f'import macekit\n\nmacekit.{name}("{REQUEST}").to_html()'
    options = {**question.options, **({"group": "GROUP"} if question.nameless else {})}
    file = SCORES if question.whole else question.file
    arguments = ", ".join([ascii(file), *(f"{key}={_column_argument(key, value)!a}" for key, value in options.items())])
    return f"import macekit\n\nmacekit.{name}({arguments}).to_html()"


def _column_argument(option: str, value: Any) -> Any:
    """Several columns go to Python as a list: a comma parts them only where all is text."""
    several = option == "score" and isinstance(value, str) and "," in value
    return value.split(",") if several else value


def _typed(name: str, otherwise: str) -> str:
    """A file's name as it is typed, if it is harmless to type."""
    return f"./{name}" if name.startswith("-") else name if printable(name) == name else otherwise


def _curl(question: Reproduction, kind: str, data: str, query: str) -> str:
    address = shlex.quote(f"{ADDRESS}/v1/{question.operation}{query}")
    encoding = None if question.bare else encoding_named(question.file)
    headers = [f"Content-Type: {kind}", *([f"Content-Encoding: {encoding}"] if encoding else []), "Accept: text/html"]
    header_flags = " ".join(f"-H '{header}'" for header in headers)
    return f"curl -s --data-binary {data} {header_flags} \\\n  -o report.html {address}"


def _request_file(question: Reproduction) -> str:
    """A JSON request, its records left out; letters beyond ASCII are spelt as JSON does."""
    sides = '"counts": {…}' if question.from_counts else '"members": […], "nonmembers": […]'
    if question.arrays is not None:
        sides = ", ".join(f'"{name}": […]' for name in question.arrays)
    records = '"queries": {…}' if question.operation in SEVERAL else sides
    if question.tables:
        records = ", ".join(f'"{name}": {{…}}' for name in question.tables)
    groups = ', "groups": […]' if question.grouped and not question.tables else ""
    of_table = {*TABLE, FIRST_MEMBERS}  # which a JSON request has not
    options = json.dumps({name: each for name, each in question.options.items() if name not in of_table})[1:-1]
    body = f"{records}{groups}, {options}" if options else f"{records}{groups}"
    return f"{question.file} holds\n{{{body}}}"


def _value(options: Mapping[str, Any], name: str) -> Any:
    first, _, rest = name.partition(".")
    value = options.get(first)
    return _value(value, rest) if rest and isinstance(value, Mapping) else value


NEGATIVE = re.compile(r"-\.?\d.*")  # what the shell takes for a value


def _option(operation: str, name: str, text: str, boolean: bool) -> list[str]:
    word = flag(name, operation)
    if boolean:
        return [word if text == "true" else word.replace("--", "--no-", 1)]
    apart = not text.startswith("-") or NEGATIVE.fullmatch(text) is not None
    return [word, shlex.quote(text)] if apart else [f"{word}={shlex.quote(text)}"]  # else it would be an option


def _dumped(value: Any) -> Any:
    """A default as the JSON of provenance has it."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(exclude_none=True)
