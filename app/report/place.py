"""A place in an answer: numbers and sentences taken from it know where they came from, so no path can be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.report.model import Kind, Name, Number, Said


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the decoded answer, and its dotted path. Whatever is not there, or null, is an empty place."""

    value: Any
    path: str = ""

    def __getitem__(self, key: str | int) -> Place:
        path = f"{self.path}.{key}" if self.path else str(key)
        held = self.value
        if isinstance(key, str):
            return Place(held.get(key) if isinstance(held, dict) else None, path)
        return Place(held[key], path)

    def __iter__(self) -> Iterator[Place]:
        return (self[i] for i in range(len(self.value or ())))

    def __len__(self) -> int:
        return len(self.value or ())

    def __bool__(self) -> bool:
        return self.value is not None

    def number(self, kind: Kind = "share") -> Number:
        """The number here."""
        return Number(self.value, self.path, kind)

    def said(self) -> Said:
        """The sentence here."""
        return Said(self.value or "", self.path)

    def name(self) -> Name:
        """The name here, which somebody else chose; labels may also be numbers and booleans."""
        return Name(self.value if isinstance(self.value, str) else str(self.value), self.path)


def at(answer: Place, path: str) -> Place:
    """The place a dotted path leads to."""
    for name in path.split("."):
        answer = answer[name]
    return answer
