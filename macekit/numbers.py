"""The statements of an answer as rows: what each is of, its estimate, and the ends of its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

POINTS = ("estimate", "risk", "tpr")
"""What an answer calls the estimate between two ends."""

PASSED_OVER = frozenset(
    {"records", "cells", "distribution", "band", "provenance", "guarantee", "warnings", "epsilon_lower_bound"}
)
"""What holds no statements, or one for each record or cell, or says again what another says in full."""


@dataclass(frozen=True, slots=True)
class Row:
    """One statement; ``name`` is its place in the answer."""

    name: str
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    confidence: float | None = None


def rows(answer: Mapping[str, Any]) -> list[Row]:
    """Every statement of an answer, the first one first; numbers without an interval have an estimate alone."""
    return list(_walk(answer, ""))


def _walk(at: Mapping[str, Any], path: str) -> Iterator[Row]:
    for name, value in at.items():
        if name in PASSED_OVER or value is None:
            continue
        here = name if not path or path == "result" else f"{path}.{name}"
        if isinstance(value, Mapping):
            yield from _statement(value, _called(here, value))
        elif isinstance(value, list):
            for place, each in enumerate(value):
                if isinstance(each, Mapping):
                    yield from _statement(each, _called(f"{here}.{place}", each, here))
        elif not path or path == "result":
            yield from _alone(here, value)
    if "auc" in at:
        yield Row(f"{path}.auc", at["auc"], at["auc_lower"], at["auc_upper"])


def _statement(value: Mapping[str, Any], name: str) -> Iterator[Row]:
    point = next((word for word in POINTS if word in value), None)
    if "lower" in value and "upper" in value:
        estimate = None if point is None else value[point]
        yield Row(name, estimate, value["lower"], value["upper"], value.get("confidence"))
    elif "lower_bound" in value:
        yield Row(name, None, value["lower_bound"], None, value.get("confidence"))
    elif "tightest" in value:
        yield Row(name, None, None, value["value"])
    yield from _walk(value, name)


def _alone(name: str, value: object) -> Iterator[Row]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield Row(name, value)


def _called(path: str, value: Mapping[str, Any], above: str | None = None) -> str:
    """A place by the name of what stands there, if it has one: ``groups.young`` and not ``groups.0``."""
    if "first" in value and "second" in value:
        return f"{above or path}.{value['first']} - {value['second']}"
    if "fpr" in value and isinstance(value["fpr"], float):
        return f"{above or path}.fpr {value['fpr']:g}"
    if "quantity" in value:  # of several bounds of one, each has a name of its own, too
        return ".".join([above or path, value["quantity"], *([value["name"]] if "name" in value else [])])
    own = value.get("name", value.get("label"))
    return path if own is None else f"{above or path}.{own}"
