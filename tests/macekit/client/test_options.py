"""The keywords an editor completes are the fields of the schemas, name by name and type by type."""

import inspect
import runpy
import types
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, Required, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

import macekit
from macekit.catalogue import ARRAYS, BY_NAME
from macekit.client import keywords
from macekit.client.keywords import OPTIONS
from macekit.client.theory import Theory
from macekit.schemas import questions
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import of_table
from tests.cases import each_case

ROOT = Path(__file__).parents[3]

HELD = {"members", "nonmembers", "queries", "warnings"}
"""Fields that are arguments of their own."""

RECORDS = {"counts", "units", "cluster", "model", "groups", "targets", "shards"}
"""Fields that hold records: a client takes them in more forms than JSON has."""

UNASKED = {"columns"}
"""Operations of the page alone."""


def shape(given: Any) -> Any:
    """A type without its limits; what is a class of fields by its name."""
    origin = get_origin(given)
    if origin in (Annotated, Required):
        return shape(get_args(given)[0])
    if origin in (Union, types.UnionType):
        return frozenset(flat(given))
    if origin is Literal:
        return frozenset(get_args(given))
    if origin is list:
        return ("list", shape(get_args(given)[0]))
    if isinstance(given, type) and (issubclass(given, BaseModel) or hasattr(given, "__required_keys__")):
        return given.__name__
    return given


def flat(union: Any) -> Iterator[Any]:
    for each in get_args(union):
        found = shape(each)
        yield from found if isinstance(found, frozenset) else (found,)


def test_what_was_made_of_the_schemas_is_of_these_schemas() -> None:
    text = (ROOT / "macekit" / "client" / "keywords.py").read_text(encoding="utf-8")

    assert text == "".join(runpy.run_path(str(ROOT / "scripts" / "keywords.py"))["source"]()), "run scripts/setup"


@each_case("operation", sorted(set(QUESTIONS) - UNASKED))
def test_every_field_of_a_question_is_a_keyword_of_its_type_and_no_other(operation: str) -> None:
    fields = QUESTIONS[operation].model_fields
    arrays, tables = set(ARRAYS.get(operation, ())), set(BY_NAME[operation].tables)
    of_tables = set(of_table(operation)) if {"members", "queries"} & set(fields) or arrays else set()

    typed = get_type_hints(OPTIONS[operation])

    wanted = set(fields) - tables if tables else (set(fields) - HELD - arrays) | (of_tables - arrays)
    assert set(typed) == wanted
    for name in set(fields) - (tables or HELD | RECORDS | arrays):
        assert shape(typed[name]) == shape(Annotated[fields[name].annotation, None]), name


@each_case("name", ["PresetMetric", "Coefficients", "LinearMetric", "Estimator"])
def test_options_within_options_are_those_of_the_schemas(name: str) -> None:
    fields, typed = getattr(questions, name).model_fields, get_type_hints(getattr(keywords, name))

    assert {each: shape(kind) for each, kind in typed.items()} == {
        each: shape(field.annotation) for each, field in fields.items()
    }


@each_case("operation", sorted(ARRAYS))
def test_every_array_is_an_argument_of_its_own_the_first_one_first(operation: str) -> None:
    function = attrgetter(BY_NAME[operation].python)(macekit)

    arguments = [name for name, each in inspect.signature(function).parameters.items() if each.kind != each.VAR_KEYWORD]

    held = list(ARRAYS[operation])
    assert arguments == (
        held or (["members", "nonmembers"] if operation in ("theory/together", "theory/one-run") else [])
    )


def test_there_is_a_function_for_each_question() -> None:
    assert set(QUESTIONS) - UNASKED == set(OPTIONS)

    for operation in OPTIONS:
        name = BY_NAME[operation].python
        if BY_NAME[operation].paper:
            assert callable(getattr(Theory, name.removeprefix("theory.")))
        else:
            assert getattr(macekit, name).__func__ is getattr(macekit.Mace, name)
    assert isinstance(macekit.theory, Theory)
