"""The keywords an editor completes are the fields of the schemas, name by name and type by type."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Required, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

import macekit
from app.schemas import questions
from app.schemas.query import TABLE
from app.schemas.questions import QUESTIONS
from macekit import options
from macekit.options import OPTIONS

HELD = {"members", "nonmembers", "queries"}
"""Fields that are arguments of their own."""

RECORDS = {"counts", "units", "groups", "targets", "shards"}
"""Fields that hold records: a client takes them in more forms than JSON has."""

UNASKED = {"columns"}
"""Operations of the page alone."""

KNOWN = vars(questions) | vars(options)
KNOWN["MetricGiven"] = options.PresetMetric | options.LinearMetric | questions.MetricName


def hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, localns=KNOWN)


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


@pytest.mark.parametrize("operation", sorted(set(QUESTIONS) - UNASKED))
def test_every_field_of_a_question_is_a_keyword_and_no_other(operation: str) -> None:
    sampled = {"members", "queries"} & set(QUESTIONS[operation].model_fields)

    keywords = set(OPTIONS[operation].__annotations__)

    assert keywords == (set(QUESTIONS[operation].model_fields) - HELD) | (set(TABLE) if sampled else set())


@pytest.mark.parametrize("operation", sorted(set(QUESTIONS) - UNASKED))
def test_every_keyword_has_the_type_of_its_field(operation: str) -> None:
    fields = QUESTIONS[operation].model_fields
    keywords = hints(OPTIONS[operation])

    for name in set(fields) - HELD - RECORDS:
        wanted = Annotated[fields[name].annotation, None]
        assert shape(keywords[name]) == shape(wanted), name


@pytest.mark.parametrize("name", ["PresetMetric", "Coefficients", "LinearMetric", "Estimator"])
def test_options_within_options_are_those_of_the_schemas(name: str) -> None:
    fields, keywords = getattr(questions, name).model_fields, hints(getattr(options, name))

    assert {each: shape(kind) for each, kind in keywords.items()} == {
        each: shape(field.annotation) for each, field in fields.items()
    }


def test_there_is_a_function_for_each_question() -> None:
    assert set(QUESTIONS) - UNASKED == set(OPTIONS)
    names = {"advantage": "estimate", "individual-risk": "risk"}

    for operation in OPTIONS:
        name = names.get(operation, operation)
        assert getattr(macekit, name).__func__ is getattr(macekit.Mace, name)
