"""Examples that run as they stand: the same in Swagger UI, in README's first request and in the tests.

They stand in the room of their operation, ``examples.json`` of ``macekit/questions/ROOM``, by the operation's name; one
without is shown with scores of both sides. Those are of a model that has overfitted: it is surer of members.
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from macekit.call import JSON
from macekit.catalogue import BY_NAME, OPERATIONS
from macekit.operation import Operation


@dataclass(frozen=True, slots=True)
class Example:
    """One request body: a line about it, and the body itself."""

    summary: str
    value: Any


def _examples(row: Operation) -> dict[str, Example]:
    file = files("macekit.questions").joinpath(*row.room.split("."), "examples.json")
    if not file.is_file():
        return {"scores": Example("Scores of both sides", SAMPLE)} if JSON in row.bodies else {}
    return {name: Example(**each) for name, each in json.loads(file.read_text("utf-8"))[row.name].items()}


SCORES = _examples(BY_NAME["advantage"])["scores"].value
SAMPLE = {side: SCORES[side] for side in ("members", "nonmembers")}
MEMBERS, NONMEMBERS = SAMPLE.values()

JSON_EXAMPLES = {row.name: examples for row in OPERATIONS if (examples := _examples(row))}
"""JSON bodies, by operation; the first of each is what Swagger UI shows."""

GROUPS = JSON_EXAMPLES["report"]["scores"].value["groups"]
