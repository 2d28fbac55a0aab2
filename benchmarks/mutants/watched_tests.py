"""A pytest plugin that writes down which functions each test enters; stands in the tree's `.venv` meanwhile."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import watched_functions  # type: ignore[import-not-found]  # stands beside it there


class Watcher:
    """Clears the marks before each test, and writes down those that stand after it."""

    def __init__(self, folder: Path) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.empty = bytes((folder / "marks").stat().st_size)
        self.marks = folder / f"marks-{worker}"
        self.marks.write_bytes(self.empty)
        os.environ[watched_functions.VARIABLE] = str(self.marks)
        watched_functions.mark_in(str(self.marks))
        self.output = (folder / f"tests-{worker}.jsonl").open("w")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self.marks.open("r+b") as file:
            file.write(self.empty)
        began = time.perf_counter()
        result = yield
        took = time.perf_counter() - began
        numbers = [number for number, mark in enumerate(self.marks.read_bytes()) if mark]
        self.output.write(json.dumps([item.nodeid, took, numbers]) + "\n")
        self.output.flush()
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Watch, in processes that run tests."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Watcher(Path(os.environ["WATCHED_FOLDER"])))
