"""The one service, by the name that it has in tests of the contract."""

from __future__ import annotations

import pytest

from tests.app.running import Running


@pytest.fixture(scope="session")
def served(service: Running) -> Running:
    return service
