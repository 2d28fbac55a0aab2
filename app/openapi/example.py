"""One request body to be tried out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """One request body: a line about it, and the body itself."""

    summary: str
    value: object
