"""Examples that run as they stand: the same in Swagger UI, in README's first request and in the tests.

They stand in the room of their operation, ``examples.json`` of ``macekit/questions/ROOM``, by the operation's name.
The scores are those of a model that has overfitted: members are predicted with more confidence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from macekit.catalogue import OPERATIONS, Operation


@dataclass(frozen=True, slots=True)
class Example:
    """One request body: a line about it, and the body itself."""

    summary: str
    value: Any


def _examples(row: Operation) -> dict[str, Example]:
    file = files("macekit.questions").joinpath(*row.room.split("."), "examples.json")
    if not file.is_file():
        return {}
    return {name: Example(**each) for name, each in json.loads(file.read_text("utf-8"))[row.name].items()}


JSON_EXAMPLES = {row.name: found for row in OPERATIONS if (found := _examples(row))}
"""JSON bodies, by operation; the first of each is what Swagger UI shows."""

SAMPLE = {side: JSON_EXAMPLES["advantage"]["scores"].value[side] for side in ("members", "nonmembers")}
MEMBERS, NONMEMBERS = SAMPLE.values()
GROUPS = JSON_EXAMPLES["report"]["scores"].value["groups"]
