"""A real service, started once for the tests of its client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import macekit
from tests.app.running import Running, running


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture(scope="session")
def mace(service: Running) -> macekit.Mace:
    return macekit.Mace(f"http://127.0.0.1:{service.port}")
