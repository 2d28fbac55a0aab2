"""A file of scores as a body: its format told by its name or its first bytes, as the shell does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.body import Body
    from app.call import Call
    from app.decoding.material import Material

EXPANDED = 2**40
"""Bytes that one's own compressed file may expand to."""


@dataclass(frozen=True, slots=True)
class File:
    """A file, how it is written, and whether it is compressed."""

    path: str
    media_type: str
    encoding: str

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> File:
        """The file at a path."""
        from app.decoding.formats import HEAD, encoding_of, format_of, media_type_of

        name = os.fspath(path)
        with open(name, "rb") as file:
            head = file.read(HEAD)
        return cls(name, media_type_of(format_of(name, head), head), encoding_of(head))

    def call(self, operation: str, query: tuple[tuple[str, str], ...]) -> Call:
        """The call about this file."""
        from app.call import Call

        return Call(operation, self.media_type, self.encoding, query, expanded_limit=EXPANDED)

    def body(self) -> Body:
        """Its bytes, mapped."""
        from app.body import Body

        return Body.of_descriptor(os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)))

    def material(self, operation: str, query: tuple[tuple[str, str], ...]) -> Material:
        """The whole of it, decoded here."""
        from app.decoding import decode

        with self.body() as body:
            return decode(self.call(operation, query), body)


def spelled(options: Mapping[str, object], above: str = "") -> tuple[tuple[str, str], ...] | None:
    """Options as a query string spells them; None if one has no such spelling."""
    from app.schemas.questions import JSON_ONLY

    pairs: list[tuple[str, str]] = []
    for name, value in options.items():
        if name in JSON_ONLY:
            return None
        if isinstance(value, Mapping):
            inner = spelled({str(key): each for key, each in value.items()}, f"{above}{name}.")
            if inner is None:
                return None
            pairs += inner
            continue
        text = _text(value)
        if text is None:
            return None
        pairs.append((above + name, text))
    return tuple(pairs)


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return None if "," in value else value
    if isinstance(value, list):
        parts = [_text(each) for each in value]
        return None if None in parts or not parts else ",".join(str(part) for part in parts)
    return None
