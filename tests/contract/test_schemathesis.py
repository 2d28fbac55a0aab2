"""Requests made up by schemathesis are answered as the document says: every check, every phase."""

from __future__ import annotations

from pathlib import Path

from tests.app.running import Running, running
from tests.contract.document import document
from tests.contract.generated import findings, with_json, with_tables

KEY = "correct-horse-battery-staple"


def test_json_is_taken_and_refused_as_documented(served: Running, tmp_path: Path) -> None:
    found = findings(with_json(document()), served, tmp_path, "--max-examples", "10")

    assert not found.text, found.text
    assert found.asked > 50


def test_tables_are_taken_and_refused_as_documented(served: Running, tmp_path: Path) -> None:
    found = findings(with_tables(document(), served), served, tmp_path, "--max-examples", "5")

    assert not found.text, found.text
    assert found.asked > 50


def test_the_key_is_asked_for_wherever_it_is_documented(tmp_path: Path) -> None:
    with running(tmp_path, api_key=KEY) as locked:
        part = locked.ask("/openapi.json").json()
        only = (
            "--max-examples",
            "3",
            "--exclude-operation-id",
            "plan",
            "--phases",
            "examples,fuzzing,stateful",
        )

        found = findings(with_json(part), locked, tmp_path, *only, "-H", f"Authorization: Bearer {KEY}")

    assert not found.text, found.text
    assert found.asked > 50
