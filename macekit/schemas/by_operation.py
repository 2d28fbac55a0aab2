"""The question and the answer of each operation, found in its room, ``macekit/questions/ROOM``."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from macekit.catalogue import BY_NAME
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
        "warnings",
        "declaration",
    }
)
"""Fields that hold records: decoded to arrays, checked by the library."""


def columns_of(operation: str) -> frozenset[str]:
    """Every field of a question that holds records or arrays, and is no option."""
    tables = BY_NAME[operation].tables
    return frozenset(tables) or COLUMNS | set(BY_NAME[operation].arrays)


class _Rooms(Mapping[str, Any]):
    """What stands in the room of each operation; a room is imported when it is asked for."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._classes: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._classes:
            row = BY_NAME[name]
            room = import_module(f"macekit.questions.{row.room}")
            self._classes[name] = getattr(room, f"{row.model}{self._kind}")
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)


QUESTIONS: Mapping[str, type[Question]] = _Rooms("Question")  # the question of each operation
ANSWERS: Mapping[str, Any] = _Rooms("Answer")  # the answer of each operation


class SchemaMaker(GenerateJsonSchema):
    """Makes JSON schemas in half the time: a default that is plain is not looked at by an adapter made for it."""

    def encode_default(self, dft: Any) -> Any:
        """A default as JSON has it."""
        return dft if dft is None or isinstance(dft, bool | int | float | str) else super().encode_default(dft)


@cache
def schema_of(operation: str) -> Mapping[str, Any]:
    """The JSON schema of a question, read by many and changed by nobody."""
    return QUESTIONS[operation].model_json_schema(schema_generator=SchemaMaker)
