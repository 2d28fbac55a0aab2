"""Every query of the catalogue is a function of its name, and needs what the catalogue says."""

import inspect
from collections.abc import Mapping
from types import ModuleType

import pytest

from estimators.audits import queries
from estimators.audits.queries import (
    CATALOGUE,
    DISCRIMINATORS,
    MODELS,
    SHADOWS,
    SYNTHETIC,
    TEXT,
    WHITE_BOX,
    discriminators,
    models,
    shadows,
    text,
    white_box,
)
from estimators.audits.queries.query import DIRECTION, Query, by_name
from tests.cases import each_case

MODULES: tuple[tuple[Mapping[str, Query], ModuleType], ...] = (
    (MODELS, models), (WHITE_BOX, white_box), (DISCRIMINATORS, discriminators), (SHADOWS, shadows),
    (TEXT, text),
)  # fmt: skip
NO_QUERIES = {"random_halves", "compressed_sizes", "aggregate", "records_with_shadows", "sums_to_one"}


@each_case("catalogue, module", MODULES)
def test_a_query_is_a_public_function_of_its_name_and_needs_the_arguments_without_a_default(catalogue, module):
    found = inspect.getmembers(module, inspect.isfunction)
    functions = {name for name, each in found if each.__module__ == module.__name__ and name[0] != "_"}

    assert set(catalogue) == functions - NO_QUERIES

    for name, query in catalogue.items():
        arguments = inspect.signature(getattr(module, name)).parameters.values()

        assert query.needs == tuple(each.name for each in arguments if each.default is each.empty), name


def test_all_queries_are_in_one_catalogue_under_names_that_differ_and_only_vectors_have_no_direction():
    parts = (SYNTHETIC, *(catalogue for catalogue, _ in MODULES))

    assert [name for part in parts for name in part] == list(CATALOGUE)
    with pytest.raises(ValueError, match="same name"):
        by_name([CATALOGUE["loss"], CATALOGUE["loss"]])

    without = {name for name, query in CATALOGUE.items() if query.direction != DIRECTION}

    assert without == {"hidden_features", "discriminator_vector", "hybrid"}
    assert all(CATALOGUE[name].says.startswith("a vector:") for name in without)
    assert set(queries.__all__) >= {"CATALOGUE", "MODELS", "WHITE_BOX", "DISCRIMINATORS", "SHADOWS", "TEXT"}
