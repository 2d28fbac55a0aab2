"""Text that spells a number, which read as a category would be one of its own."""

from __future__ import annotations

import re
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from estimators import errors

LOOKS = 64
"""Scores all over a side that are looked at before all of them are."""

NUMBER = r"[+\-\u2212]?(?:\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
THOUSANDS = r"\d{1,3}(?:[,'_ ]\d{3})+\.\d+|\d{1,3}(?:[.' ]\d{3})+,\d+"
FRACTION = re.compile(
    rf"[+\-\u2212]?(?:\d+[.,]\d+|[.,]\d+|\d+\.|\d+[eEdD][+-]\d+|{THOUSANDS})(?:[eEdD][+-]?\d+)?[fF]?", re.ASCII
)
CURRENCY = r"[$\u20ac\u00a3\u00a5]"
ADORNED = re.compile(
    rf"(?:{NUMBER}\s*(?:%|\u2030|{CURRENCY}|USD|EUR|GBP)|[+\-\u2212]?{CURRENCY}\s*{NUMBER}|\[\s*{NUMBER}\s*\]"
    rf"|[A-Za-z_][\w.]*\(\s*\[?\s*{NUMBER}\s*\]?\s*(?:,[^()]*)?\))",
    re.ASCII,
)
"""A number with something around it: 81.3%, $8126.00, [0.81], tensor(0.81), array([0.5], dtype=float32)."""


def spells_number(text: str) -> bool:
    """Whether a text is a number that was written as text: a fraction, or a number with something around it.

    Whole numbers as text are not: they are names, such as postcodes, as often as numbers.
    """
    word = normalize("NFKC", text.strip())  # wide digits, too
    return bool(FRACTION.fullmatch(word) or ADORNED.fullmatch(word))


def require_no_spelled_number(side: NDArray[np.generic], name: str, start: int = 0) -> None:
    """Refuse text that spells numbers: read as categories, each would be one of its own."""
    if side.dtype.kind != "U" or side.ndim != 1 or not len(side):
        return
    step = max(1, len(side) // LOOKS)
    numbers = [spells_number(str(text)) for text in side[::step]]
    if 2 * sum(numbers) < len(numbers):
        return
    index = start + numbers.index(True) * step
    message = (
        f"record {index} is text that spells a number; give numbers as 0.81 or 1.2e-3, without percent or currency "
        'signs, thousands, letters, brackets or names around them, or say query "discrete" if they are categories'
    )
    raise errors.InputError.of_side(name, message, index)
