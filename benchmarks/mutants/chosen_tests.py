"""A pytest plugin that keeps the tests of a list, in its order. Stands in the tree's `.venv`."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what the list names."""
    with open(os.environ["CHOSEN_TESTS"], encoding="utf-8") as file:
        places = {name: place for place, name in enumerate(file.read().splitlines())}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in places])
    items[:] = sorted((item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid])
