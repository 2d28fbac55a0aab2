"""The question and the answer of each operation, found in its room, ``macekit/questions/ROOM``."""

from importlib import import_module
from typing import Any

from macekit.catalogue import BY_NAME, OPERATIONS
from macekit.operation import Operation
from macekit.schemas.records import Question

COLUMNS = frozenset(
    {
        "members",
        "nonmembers",
        "counts",
        "queries",
        "targets",
        "groups",
        "units",
        "cluster",
        "model",
        "shards",
        "state",
    }
)
"""Fields that hold records: decoded to arrays, checked by the library."""


def columns_of(operation: str) -> frozenset[str]:
    """Every field of a question that holds records or arrays, and is no option."""
    tables = BY_NAME[operation].tables
    return frozenset(tables) or COLUMNS | set(BY_NAME[operation].arrays)


def _of_room(operation: Operation, kind: str) -> Any:
    return getattr(import_module(f"macekit.questions.{operation.room}"), f"{operation.model}{kind}")


QUESTIONS: dict[str, type[Question]] = {each.name: _of_room(each, "Question") for each in OPERATIONS}
"""The question of each operation."""

ANSWERS: dict[str, type] = {each.name: _of_room(each, "Answer") for each in OPERATIONS}
"""The answer of each operation."""
