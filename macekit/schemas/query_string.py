"""What a query string says: of the table it comes with, and of the question, each option by its dotted name."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from macekit.catalogue import ARRAYS, BY_NAME, SIDED
from macekit.schemas.by_operation import QUESTIONS, schema_of

WIDE = ("members_column", "nonmembers_column")
"""Options that name the column of each side, in a table that has one for each."""

MODEL = "model"  # names the column of the model that scored each row, in a question about several

TABLE = ("score", "member", "group", "unit", "cluster", MODEL, *WIDE)
"""Options that name columns of a table."""

FIRST_MEMBERS = "members"  # NPY of one dimension: so many values at the start are members

COLUMN = "column"
"""Names the columns of the first array of a question that is asked of arrays; the others go by their own names."""

WHOLE = "table"  # names the column that says of each row to which table it belongs

DATA = "data"
"""Names a dataset that the service has, in place of a body; it may be a file, a folder or a pattern."""

DATED = "dated"
"""Asks for a report that says when it was made; with any form of body, for it is no option of the question."""

DETAIL = "detail"  # asks for an answer's brief form; like ``DATED`` no option of the question

NAMES = frozenset({"against", "by"})
"""Options that are names of the caller's own: text whatever they look like, and never a list."""

JSON_ONLY = frozenset({"edges", "state", "declaration", "w1", "w2", "w3", "w4", "coefficients"})
"""Options too long or too rare for a query string; a JSON body takes them."""


def takes_arrays(operation: str) -> bool:
    """Whether a question is asked of arrays, each with columns of its own, and not of two sides, or of nothing."""
    return bool(ARRAYS.get(operation)) and operation not in SIDED


def of_table(operation: str) -> tuple[str, ...]:
    """Options that say which column of a table is what."""
    if operation in SIDED:
        return (*TABLE[:2], *WIDE)
    if BY_NAME[operation].tables:
        return (WHOLE,)
    if BY_NAME[operation].texts:
        return TABLE[1:2]
    if takes_arrays(operation):
        return (COLUMN, *ARRAYS[operation][1:]) if BY_NAME[operation].paper else ()
    return TABLE if MODEL in QUESTIONS[operation].model_fields else tuple(each for each in TABLE if each != MODEL)


def query_pairs(options: Mapping[str, object]) -> tuple[tuple[str, str], ...] | None:
    """Options as a query string has them; None if it cannot carry one of them."""
    pairs = [(name, _text(name, value)) for name, value in _flattened(options, "")]
    texts = tuple((name, text) for name, text in pairs if text is not None)
    return texts if len(texts) == len(pairs) else None


def _flattened(options: Mapping[str, object], above: str) -> Iterator[tuple[str, object]]:
    for name, value in options.items():
        if isinstance(value, Mapping) and value and name not in JSON_ONLY:
            yield from _flattened(value, f"{above}{name}.")
        else:
            yield above + name, value


def _text(name: str, value: object) -> str | None:
    if name.rpartition(".")[2] in JSON_ONLY:
        return None
    if isinstance(value, str) and (name in NAMES or name in TABLE):
        return value  # the reader takes it whole, or knows that it names several
    if isinstance(value, list):
        parts = [_word(each) for each in value]
        texts = [part for part in parts if part is not None]
        return ",".join(texts) if texts and len(texts) == len(parts) else None
    return _word(value)


def _word(value: object) -> str | None:
    """One value without the comma that parts several."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return None if "," in value else value
        case _:
            return None


# Which kinds of values an array of a question may hold: read off its schema, so that both say the same.

Schema = dict[str, Any]

KINDS = {"number": "numbers", "integer": "numbers", "string": "text", "boolean": "booleans", "array": "rows"}
"""What an array of values of a JSON type is called."""

FIELDS = frozenset(name for names in ARRAYS.values() for name in names)
"""Every field of any question that holds an array."""


@cache
def kinds(operation: str, field: str) -> frozenset[str]:
    """``numbers``, ``rows``, ``text`` and ``booleans``, as far as the field takes them."""
    schema = schema_of(operation)
    defs = schema.get("$defs", {})
    return frozenset(
        KINDS[items["type"]]
        for branch in branches(schema["properties"][field], defs)
        if branch.get("type") == "array"
        for items in branches(branch["items"], defs)
    )


@cache
def required(operation: str) -> tuple[str, ...]:
    """Arrays without which the question is none."""
    names = schema_of(operation).get("required", ())
    return tuple(name for name in ARRAYS[operation] if name in names)


def branches(schema: Schema, defs: Schema) -> Iterator[Schema]:
    """What a value may be, references followed."""
    if "$ref" in schema:
        others = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**defs[schema["$ref"].rsplit("/", 1)[1]], **others}
    either = schema.get("anyOf") or schema.get("oneOf")
    if not either:
        yield schema
    for branch in either or ():
        yield from branches(branch, defs)
