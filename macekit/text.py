"""What came from outside - file names, columns, labels - made fit to be printed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

MOST = 60
"""Characters of a name that are shown."""


def printable(text: str, most: int = MOST) -> str:
    """A name on one line, without anything a terminal would obey, and not longer than a name should be."""
    line = escape_controls(text[: most + 1])  # what is spelled out grows; what is shown does not
    return line if len(line) <= most else line[: most - 1] + "…"


def escape_controls(text: str) -> str:
    """Text with controls, direction marks and broken characters spelled out: what is printed is what is there."""
    return "".join(_escape(letter) if unicodedata.category(letter) in CONTROLS else letter for letter in text)


def escape_controls_in_json(text: str) -> str:
    """JSON that says the same and holds nothing a terminal would obey; such letters stand in its strings only."""
    return UNSEEN.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)


UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of characters that do something, or nothing, instead of being seen."""


def closest(name: str, names: Iterable[str]) -> str | None:
    """The one of several names that is most like this one; None if none is like it."""
    return next(iter(get_close_matches(name, list(names), n=1)), None)


def nearest_first(name: str, names: Iterable[str], most: int = 12) -> str:
    """Names in quotes, those most like this one first, and how many more there are; what is mistyped is among them."""
    every = list(dict.fromkeys(names))
    near = get_close_matches(name, every, n=most)
    first = [*near, *(each for each in every if each not in near)]
    shown = ", ".join(f"'{printable(each)}'" for each in first[:most])
    return f"{shown} and {len(first) - most:,} more" if len(first) > most else shown


def nearest(name: str, names: Iterable[str]) -> str:
    """``; did you mean X?``, or nothing if nothing is near."""
    near = closest(name, names)
    return f"; did you mean {near}?" if near else ""


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
