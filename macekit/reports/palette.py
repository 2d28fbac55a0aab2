"""The colours of charts and decisions by what they mean: a specification has the light ones, a page replaces them.

Every meaning has a colour of its own, so that one can be told from another in a finished drawing; shapes, dashes and
words say the same as the colours do (Okabe and Ito's advice: blue and orange stay apart for every kind of eye).
"""

from dataclasses import dataclass

MEMBER = "#0a5c9e"
NONMEMBER = "#b34700"
BAND = "#a9cbe6"
INK = "#1b1f24"
MUTED = "#59636e"
GRID = "#e1e5ea"
SURFACE = "#fefefe"
THRESHOLD = "#8a1650"
BASELINE = "#6a7178"
PASS = "#176b3a"
FAIL = "#b42318"
OPEN = "#8a5b00"

VARIABLES = {
    "--mace-member": MEMBER,
    "--mace-nonmember": NONMEMBER,
    "--mace-band": BAND,
    "--mace-ink": INK,
    "--mace-muted": MUTED,
    "--mace-grid": GRID,
    "--mace-surface": SURFACE,
    "--mace-threshold": THRESHOLD,
    "--mace-baseline": BASELINE,
    "--mace-pass": PASS,
    "--mace-fail": FAIL,
    "--mace-open": OPEN,
}
"""The style sheet's name of each colour, and the colour itself on a light ground."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one decision is shown, never by one of these alone: ``style`` is the style sheet's name for its colour."""

    word: str
    sign: str
    style: str
    colour: str


WORDS = {
    "pass": Verdict("PASS", "✓", "pass", PASS),
    "fail": Verdict("FAIL", "✕", "fail", FAIL),
    "fail, or drift": Verdict("FAIL, OR DRIFT", "✕", "fail", FAIL),
    "inconclusive": Verdict("UNDECIDED", "?", "open", OPEN),
    "not applicable": Verdict("NOT APPLICABLE", "?", "open", OPEN),
}
"""Every decision there is, by its word in the JSON: what people read of it, in every door, is here alone."""
