"""The charts of one answer, by name: each section asks for its own."""

from __future__ import annotations

from dataclasses import dataclass

from app.report.model import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Album:
    """All figures there are."""

    figures: tuple[Figure, ...]

    def named(self, *names: str) -> tuple[Figure, ...]:
        """Those of these names that there are, in this order."""
        return tuple(each for name in names for each in self.figures if each.name == name)
