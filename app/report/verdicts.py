"""A decision as a word, a sign and a colour: never one of them alone."""

from __future__ import annotations

from dataclasses import dataclass

from app.report.palette import FAIL, OPEN, PASS


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one decision is shown; ``style`` is the style sheet's name for it, ``colour`` what a chart draws it in."""

    word: str
    sign: str
    style: str
    colour: str


WORDS = {
    "pass": Verdict("PASS", "✓", "pass", PASS),
    "fail": Verdict("FAIL", "✕", "fail", FAIL),
    "inconclusive": Verdict("NOT ENOUGH DATA", "?", "open", OPEN),
}
"""Every decision there is."""
