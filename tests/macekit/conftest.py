"""Tests for which an engine is started, and when they come."""

import pytest

STARTED = ("spark", "postgres")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests for which an engine is started come first and together, so that a single worker starts it."""

    def place(item: pytest.Item) -> int:
        case = getattr(item, "callspec", None)
        needed = [*getattr(item, "fixturenames", ()), case and case.params.get("readers")]
        return next((at for at, engine in enumerate(STARTED) if engine in needed), len(STARTED))

    items.sort(key=place)
