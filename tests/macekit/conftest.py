"""Tests for which an engine is started, and when they come; and what a process draws, it draws once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
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


STARTED = ("spark", "postgres")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests for which an engine is started come first and together, so that a single worker starts it."""

    def place(item: pytest.Item) -> int:
        case = getattr(item, "callspec", None)
        needed = [*getattr(item, "fixturenames", ()), case and case.params.get("readers")]
        return next((at for at, engine in enumerate(STARTED) if engine in needed), len(STARTED))

    items.sort(key=place)
