"""The one service, by the name that it has in tests of the contract, and what it answers to the examples."""

from collections.abc import Callable
from functools import cache

import pytest

from tests.app.running import Answer, Running

Ask = Callable[[str, str, bytes], Answer]


@pytest.fixture(scope="session")
def served(service: Running) -> Running:
    return service


@pytest.fixture(scope="session")
def ask_once(served: Running) -> Ask:
    """Post a body of a form to an address; what was asked before is not asked again."""

    @cache
    def ask(address: str, form: str, body: bytes) -> Answer:
        return served.ask(address, "POST", body, {"Content-Type": form})

    return ask
