"""A decision as a word, a sign and a colour: never one of them alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one decision is shown; ``colour`` is the style sheet's name for it."""

    word: str
    sign: str
    colour: str


WORDS = {
    "pass": Verdict("PASS", "✓", "pass"),
    "fail": Verdict("FAIL", "✕", "fail"),
    "inconclusive": Verdict("NOT ENOUGH DATA", "?", "open"),
}
"""Every decision there is."""
