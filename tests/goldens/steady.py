"""What may differ between two runs of the same code, put out of an answer before it is kept or compared."""

import hashlib
import re

from macekit.call import __version__

DIGITS = 10
"""Significant digits that are kept of a number: the last ones depend on the processor's own exp and log."""

TINY = 1e-12
"""A number with many digits that is closer to 0 than this is what rounding left of 0."""

NUMBER = re.compile(r"(?<![\w.#-])-?\d+\.\d+(?:[eE][-+]?\d+)?")

MASKS = (
    (re.compile(r"\b\d{4}(\\?-\d\d){2}[T ]\d\d(\\?:\d\d){1,2}( UTC|Z)?"), "DATE"),
    (re.compile(r"urn:mace:request:[0-9a-f]{32}"), "urn:mace:request:ID"),
    (re.compile(r"\bmace " + __version__.replace(".", r"\\?\.") + r"(?![\w.])"), "mace VERSION"),
)
"""What is put in the place of what; a Markdown report has a backslash before punctuation."""


def steady(text: str) -> str:
    """The text without dates, ids and the project's version, its long numbers rounded."""
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return NUMBER.sub(_rounded, text)


def _rounded(match: re.Match[str]) -> str:
    digits = re.sub(r"[eE].*|\D", "", match[0]).lstrip("0")
    if len(digits) <= DIGITS:
        return match[0]
    value = float(match[0])
    return "0.0" if abs(value) < TINY else f"{value:.{DIGITS}g}"


def digest(text: str) -> str:
    """What differs if the text does."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
