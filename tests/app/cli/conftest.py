"""A folder with the example files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.files import put_examples


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples, and this process among them."""
    put_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
