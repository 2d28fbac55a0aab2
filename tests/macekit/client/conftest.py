"""The client of a real service."""

import pytest

import macekit
from tests.app.running import Running


@pytest.fixture(scope="session")
def mace(service: Running) -> macekit.Mace:
    return macekit.Mace(f"http://127.0.0.1:{service.port}")
