"""What came from outside - file names, columns, labels - made fit to be printed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

MOST = 60
"""Characters of a name that are shown."""


def shown(text: str, most: int = MOST) -> str:
    """A name on one line, without anything a terminal would obey, and not longer than a name should be."""
    seen = plain(text[: most + 1])  # what is spelled out grows; what is shown does not
    return seen if len(seen) <= most else seen[: most - 1] + "…"


def plain(text: str) -> str:
    """Text with controls, direction marks and broken characters spelled out: what is printed is what is there."""
    return "".join(_spelled(letter) if unicodedata.category(letter) in SPELLED else letter for letter in text)


def plain_json(text: str) -> str:
    """JSON that says the same and holds nothing a terminal would obey; such letters stand in its strings only."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

SPELLED = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of characters that do something, or nothing, instead of being seen."""


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean X?``, or nothing if nothing is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
