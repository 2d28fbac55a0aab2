"""A file of scores as a body: its format told by its first bytes or its name, as the shell does."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macekit.columns import require_regular

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
        from app.formats import HEAD, encoding_of, format_of, media_type_of

        name = os.fspath(path)
        require_regular(name)
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
