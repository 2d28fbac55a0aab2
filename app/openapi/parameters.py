"""Options as query parameters, for bodies that are tables: made from the question, so the two cannot differ."""

from collections.abc import Iterator, Mapping, Set
from typing import Any

from macekit.catalogue import ARRAYS, BY_NAME, SIDED
from macekit.schemas.by_operation import QUESTIONS, columns_of, schema_of
from macekit.schemas.query_string import COLUMN, FIRST_MEMBERS, JSON_ONLY, WHOLE, branches, of_table, takes_arrays

Schema = dict[str, Any]

EXAMPLE = "example"

ABOUT_TABLE = "table: "  # what begins the description of an option that names columns

TABLE = {
    "score": "table: the column of scores, or several, separated by commas, for a vector (in /v1/compare, "
    "/v1/compare-releases and /v1/series: one query each)",
    "member": "table: the column that says who is a member; COLUMN=VALUE where one value of two stands for members",
    "group": "table: the column of group labels",
    "unit": "table: the column with the person (or other unit) of each record; one record of each is kept",
    "cluster": "table: the column with the person (or document, ...) of each record, or two that cross, separated by a "
    "comma; all records are used, and intervals allow for records of one cluster that are alike",
    "model": "table: the column with the model that scored each record, where one procedure trained several",
    "members_column": "table with a column for each side: the scores of members",
    "nonmembers_column": "table with a column for each side: the scores of nonmembers",
    "members": "NPY of one dimension: the number of values at its start that are members",
}
"""What may be said of a table of both sides, which is the name of a column but for ``members``."""

_NEEDS = {"group": "groups", "unit": "units", "cluster": "cluster", "model": "model", "members": "members"}


def parameters(operation: str) -> list[Schema]:
    """Every option a query string can carry, nested ones with a dot.

    None has an example: Swagger UI would fill it in, and send it beside a JSON body, too.
    """
    if not columns_of(operation) & set(QUESTIONS[operation].model_fields):
        return []
    about_table = _about_table(operation)
    options = {
        **_options(operation),
        **{name: {"schema": kind, "description": text} for name, kind, text in about_table},
    }
    return [
        {"name": name, "in": "query", **{k: v for k, v in rest.items() if k != EXAMPLE}}
        for name, rest in options.items()
    ]


def examples_of_options(operation: str) -> dict[str, object]:
    """The options of which the question itself has an example."""
    return {name: rest[EXAMPLE] for name, rest in _options(operation).items() if EXAMPLE in rest}


def _options(operation: str) -> dict[str, Schema]:
    schema = schema_of(operation)
    return _flatten(schema, schema.get("$defs", {}), "", columns_of(operation) | JSON_ONLY)


def _about_table(operation: str) -> Iterator[tuple[str, Schema, str]]:
    """What may be said of the table that is the body."""
    if BY_NAME[operation].tables:
        words = ", ".join(BY_NAME[operation].tables)
        text = f"{ABOUT_TABLE}the column that says of each row to which it belongs ({words}); table, if left out"
        return iter(((WHOLE, {"type": "string"}, text),))
    return _of_arrays(operation) if takes_arrays(operation) else _of_sides(operation)


def _of_sides(operation: str) -> Iterator[tuple[str, Schema, str]]:
    """What may be said of a table of both sides."""
    fields, about = QUESTIONS[operation].model_fields, set(of_table(operation))
    if not BY_NAME[operation].texts:
        about.add(FIRST_MEMBERS)
    for name, text in TABLE.items():
        need = _NEEDS.get(name)
        if name not in about:
            continue
        if need is None or need in fields or (need == "members" and operation in SIDED):
            yield name, {"type": "integer", "minimum": 1} if name == "members" else {"type": "string"}, text


def _of_arrays(operation: str) -> Iterator[tuple[str, Schema, str]]:
    """What may be said of a table whose columns are arrays of the question."""
    fields = QUESTIONS[operation].model_fields
    for option, name in zip(of_table(operation), ARRAYS[operation], strict=False):
        usual = "; without it, all columns, or the only one" if option == COLUMN else ""
        text = f"{ABOUT_TABLE}the column of {name}, or several, separated by commas, for rows of numbers{usual}"
        yield option, {"type": "string"}, f"{text}. {name}: {fields[name].description}"


def _flatten(schema: Mapping[str, Any], defs: Schema, prefix: str, left_out: Set[str]) -> dict[str, Schema]:
    """Options by their names with dots, with the example that the question gives of some."""
    options: dict[str, Schema] = {}
    for name, field in schema["properties"].items():
        if name in left_out:
            continue
        example = {EXAMPLE: field["examples"][0]} if "examples" in field else {}
        for branch in branches(field, defs):
            text = field.get("description") or branch.get("description", "")
            if branch.get("type") == "object":  # weights and coefficients are for JSON
                if prefix == "" and "coefficients" not in branch["properties"]:
                    options |= _flatten(branch, defs, f"{name}.", left_out)
            elif branch.get("type") == "array":
                items = next(branches(branch["items"], defs))  # a list of names or of numbers
                options[prefix + name] = {
                    "schema": {
                        **{k: v for k, v in branch.items() if k in {"type", "minItems", "maxItems"}},
                        "items": {k: v for k, v in items.items() if k not in {"title", "description"}},
                    },
                    "explode": False,
                    "description": text,
                    **example,
                }
            elif branch.get("type") != "null":
                kind = {k: v for k, v in branch.items() if k not in {"title", "description", "default", "examples"}}
                deprecated = {"deprecated": True} if field.get("deprecated") else {}
                before = options.get(prefix + name)
                either = kind if before is None else {"anyOf": [before["schema"], kind]}
                options[prefix + name] = {"schema": either, "description": text, **deprecated, **example}
    return options
