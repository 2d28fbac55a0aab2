"""Quotes of a CSV, looked at as it is read: one that is left open would swallow the rows that follow it.

Arrow takes the end of the file inside a quote for the end of the quote, and whatever follows a closing quote for more
of the value. So a quote that opens a value by mistake, in a column that nobody asks for, makes rows vanish without a
word.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macekit.decoding.compression import Source
from macekit.problems import Problem

QUOTE = ord('"')
BLANKS = b" \t"
NEAR = 256  # bytes before and behind a quote that are looked at: more blanks than anybody writes


class Quotes:
    """The state between two pieces of a CSV: how many lines were read, and whether a quote is open."""

    def __init__(self, separator: str) -> None:
        self._ends = frozenset({ord(separator), *b"\n\r"})
        self._blanks = bytes(set(BLANKS) - self._ends)
        self._text = b"\n"  # what was seen last, and what is not looked at yet
        self._next = 1
        self._line, self._newline = 1, b""
        self._quote_line: int | None = None
        self._doubled = -1

    def feed(self, data: bytes) -> None:
        """Look at a further piece; raises ``Problem`` at a quote that cannot be meant."""
        self._newline = self._newline or (b"\n" if b"\n" in data else b"\r")
        self._text += data
        self._look(max(self._next, len(self._text) - NEAR))

    def end(self) -> None:
        """Nothing follows."""
        self._text += b"\n"
        self._look(len(self._text) - 1)
        if self._quote_line is not None:
            detail = f"CSV: line {self._quote_line} opens a quote that is never closed"
            raise Problem("malformed-body", detail)

    def _look(self, stop: int) -> None:
        """Look at the text up to ``stop``, and forget what no later quote needs."""
        if self._text.find(b'"', self._next, stop) >= 0:
            text = np.frombuffer(self._text, np.uint8)
            quotes = self._next + np.flatnonzero(text[self._next : stop] == QUOTE)
            if quotes[0] == self._doubled:
                quotes = quotes[1:]
            if self._is_plain(text, quotes):
                self._count(quotes, stop)
            else:
                self._one_by_one(quotes.tolist())
        self._line = self._line_of(stop)
        forget = max(0, stop - NEAR)
        self._text = self._text[forget:]
        self._next = stop - forget
        self._doubled -= forget

    def _line_of(self, at: int) -> int:
        """The line in which a place lies, counted from 1."""
        return self._line + self._text.count(self._newline or b"\n", self._next, at)

    def _is_plain(self, text: NDArray[np.uint8], quotes: NDArray[Any]) -> bool:
        """Whether every other quote opens a value or doubles the one before it, and the others close or are doubled."""
        inside = self._quote_line is not None
        opening, closing = quotes[int(inside) :: 2], quotes[1 - int(inside) :: 2]
        if not inside and len(opening) and self._text[opening[0] - 1] == QUOTE:
            return False
        neighbours = np.zeros(256, dtype=np.bool_)
        neighbours[[*self._ends, QUOTE]] = True
        return bool(neighbours[text[opening - 1]].all() and neighbours[text[closing + 1]].all())

    def _count(self, quotes: NDArray[Any], stop: int) -> None:
        """Whether a quote is open behind the last of these, and where it was opened."""
        odd = bool(len(quotes) % 2)
        if (self._quote_line is not None) == odd and len(quotes) and self._is_double(int(quotes[-1]), stop):
            self._doubled, odd = stop, not odd
            quotes = quotes[:-1]
        if (self._quote_line is not None) == odd:
            self._quote_line = None
            return
        for at in reversed(quotes[int(self._quote_line is not None) :: 2].tolist()):
            if self._text[at - 1] != QUOTE:
                self._quote_line = self._line_of(at)
                return

    def _is_double(self, at: int, stop: int) -> bool:
        """Whether a quote is the last before ``stop`` and doubled by the one there."""
        return at == stop - 1 and self._text[stop : stop + 1] == b'"'

    def _one_by_one(self, quotes: list[int]) -> None:
        """The same where quotes stand within values, too, which is allowed in those that begin without one."""
        text, ends = self._text, tuple(bytes([end]) for end in self._ends)
        inside, begins = self._quote_line is not None, None
        for at in quotes:
            if at == self._doubled:
                continue
            if not inside:
                if text[at - 1] in self._ends:
                    inside, begins = True, at
                elif text[at - 1] in self._blanks and text[max(0, at - NEAR) : at].rstrip(self._blanks).endswith(ends):
                    raise self._problem(at, "has blanks between a separator and a quote; remove them")
            elif text[at + 1] == QUOTE:
                self._doubled = at + 1
            elif text[at + 1] in self._ends or text[at + 1 : at + NEAR].lstrip(self._blanks).startswith(ends):
                inside = False
            else:
                line = self._quote_line if begins is None else self._line_of(begins)
                raise self._problem(
                    at,
                    f"has text behind the quote that closes the value opened in line {line}; "
                    "double the quotes within a value",
                )
        if not inside:
            self._quote_line = None
        elif begins is not None:
            self._quote_line = self._line_of(begins)

    def _problem(self, at: int, what: str) -> Problem:
        return Problem("malformed-body", f"CSV: line {self._line_of(at)} {what}")


class QuotedSource(io.RawIOBase):
    """A file that is read along with its quotes."""

    def __init__(self, source: Source, quotes: Quotes) -> None:
        self._source = source
        self._quotes = quotes
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes of the file."""
        data = self._source.read(size)
        if data:
            self._quotes.feed(data)
        elif size and not self._ended:
            self._ended = True
            self._quotes.end()
        return data

    def readable(self) -> bool:
        """It is."""
        return True
