"""Licences: each by name on a list, for the part a distribution plays; what is unknown is refused."""

from email.message import Message

import checks
import licences
import pytest


class Stated:
    """A distribution of which only the metadata matters."""

    def __init__(self, name: str = "thing", *fields: tuple[str, str]) -> None:
        self.name = name
        self.metadata = Message()
        for field, value in fields:
            self.metadata[field] = value


def stated(*fields: tuple[str, str], name: str = "thing") -> list[str]:
    return licences.licences_of(Stated(name, *fields))  # type: ignore[arg-type]


def test_the_expression_wins_over_classifiers_and_those_over_free_text() -> None:
    classifier = ("Classifier", "License :: OSI Approved :: MIT License")
    text = ("License", "BSD\nand a whole page of it")

    assert stated(("License-Expression", "Apache-2.0"), classifier, text) == ["Apache-2.0"]
    assert stated(classifier, ("Classifier", "License :: OSI Approved :: BSD License"), text) == [
        "MIT AND BSD-3-Clause"
    ]
    assert stated(text) == ["BSD-3-Clause"]
    assert stated(name="pysimdjson") == ["MIT"]
    assert stated() == []


@pytest.mark.parametrize(("expression", "ships", "as_tool"), [
    ("MIT", True, True), ("Apache-2.0 AND BSD-2-Clause", True, True), ("GPL-3.0-only OR MIT", True, True),
    ("MIT AND MPL-2.0", False, True), ("GPL-3.0-only", False, False),
    ("MIT AND GPL-3.0-only", False, False), ("(MIT)", False, False),
    ("GPL-2.0-only WITH Classpath-exception-2.0", False, False), ("UNKNOWN", False, False),
    ("", False, False),
])  # fmt: skip
def test_what_is_not_on_the_list_is_refused(expression: str, ships: bool, as_tool: bool) -> None:
    assert (licences.complaint("thing", [expression], ships=True) is None) is ships
    assert (licences.complaint("thing", [expression], ships=False) is None) is as_tool


def test_the_complaint_names_who_and_what() -> None:
    assert licences.complaint("thing", ["SSPL-1.0"], ships=True) == (
        "thing: SSPL-1.0, which is not accepted in what we ship"
    )
    assert licences.complaint("thing", [], ships=False) == ("thing: states no licence, which is not accepted in a tool")


def test_an_exception_is_for_one_distribution_and_its_own_licence_only() -> None:
    assert licences.complaint("certifi", ["MPL-2.0"], ships=True) is None
    assert licences.complaint("certifi", ["GPL-3.0-only"], ships=True)
    assert licences.complaint("thing", ["MPL-2.0"], ships=True)
    assert licences.complaint("psycopg", ["LGPL-3.0-only"], ships=False) is None
    assert licences.complaint("psycopg", ["LGPL-3.0-only"], ships=True) is not None
    assert licences.complaint("psycopg", ["GPL-3.0-only"], ships=False) is not None
    assert licences.complaint("another", ["LGPL-3.0-only"], ships=False) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numpy", "asyncpg", "dp-accounting", "opentelemetry-sdk", "swagger-ui-dist"])
def test_the_check_covers_all_that_ships_extras_and_assets_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(licences, "PERMISSIVE", frozenset())

    found = checks.accepted_licences()

    assert any(line.startswith(f"{name}: ") and line.endswith("in what we ship") for line in found)
