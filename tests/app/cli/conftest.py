"""Folders with files to ask about, in which this process is, in no pipeline and at no terminal."""

from pathlib import Path

import pytest

from tests.app.cli.files import put_examples
from tests.app.cli.tables import put_tables


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without files."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def folder(empty: Path) -> Path:
    """The service's own examples."""
    put_examples(empty)
    return empty


@pytest.fixture
def tables(empty: Path) -> Path:
    """Tables of records, and scores of a thousand."""
    put_tables(empty)
    return empty
