"""Requests made up by schemathesis are answered as the document says: every check, a few requests an operation.

``python -m benchmarks.contract`` asks thousands.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.running import Running, running
from tests.contract.document import unfold, unfolded
from tests.contract.generated import findings, with_json, with_tables

KEY = "correct-horse-battery-staple"


@pytest.mark.slow
def test_json_is_taken_and_refused_as_documented_and_the_key_is_asked_for(tmp_path: Path) -> None:
    with running(tmp_path, api_key=KEY, workers="2", queue="200") as locked:
        part = with_json(unfold(locked.ask("/openapi.json").json()))
        key = ("-H", f"Authorization: Bearer {KEY}")

        found = findings(part, locked, tmp_path, "--max-examples", "2", *key)

    assert not found.text, found.text
    assert found.tested == sum(map(len, part["paths"].values()))
    assert found.asked > 4 * found.tested


@pytest.mark.slow
def test_tables_are_taken_and_refused_as_documented(served: Running, tmp_path: Path) -> None:
    part = with_tables(unfolded(), served)

    found = findings(part, served, tmp_path, "--max-examples", "2")

    assert not found.text, found.text
    assert found.tested == sum(map(len, part["paths"].values()))
    assert found.asked > 4 * found.tested
