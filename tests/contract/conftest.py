"""One running service for all tests of the contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.running import Running, running


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), workers="2", queue="200") as found:
        yield found
