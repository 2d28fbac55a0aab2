"""Requests made up by schemathesis are answered as the document says: every check, a few requests an operation.

``python -m benchmarks.contract`` asks thousands. Of those that the document shows, see test_openapi.
"""

from pathlib import Path

import pytest

from tests.app.running import Running, running
from tests.contract.document import unfold, unfolded
from tests.contract.generated import Schema, findings, with_json, with_tables

KEY = "correct-horse-battery-staple"


def answer_that_a_key_is_needed(service: Running, paths: Schema, headers: dict[str, str]) -> set[str]:
    """The operations that do, by their names."""
    return {
        about["operationId"]
        for path, item in paths.items()
        for method, about in item.items()
        if service.ask(path, method.upper(), b"", headers).status == 401
    }


@pytest.mark.slow
def test_json_is_taken_and_refused_as_documented_and_the_key_is_asked_for(tmp_path: Path) -> None:
    with running(tmp_path, api_key=KEY, workers="2", queue="200") as locked:
        whole = unfold(locked.ask("/openapi.json").json())
        part = with_json(whole)
        key = ("-H", f"Authorization: Bearer {KEY}")

        found = findings(part, locked, tmp_path, "--max-examples", "2", *key)
        asking = [
            answer_that_a_key_is_needed(locked, whole["paths"], headers)
            for headers in ({}, {"Authorization": f"Bearer {KEY[:-1]}"})
        ]

    assert not found.text, found.text
    assert found.tested == sum(map(len, part["paths"].values()))
    assert found.asked > 4 * found.tested
    documented = {each["operationId"] for item in whole["paths"].values() for each in item.values() if each["security"]}
    assert len(documented) > 30
    assert asking == [documented, documented]


@pytest.mark.slow
def test_tables_are_taken_and_refused_as_documented(served: Running, tmp_path: Path) -> None:
    part = with_tables(unfolded(), served)

    found = findings(part, served, tmp_path, "--max-examples", "2")

    assert not found.text, found.text
    assert found.tested == sum(map(len, part["paths"].values()))
    assert found.asked > 4 * found.tested
