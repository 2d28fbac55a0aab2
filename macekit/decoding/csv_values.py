"""A column of CSV, where everything is text, as what it spells: numbers, true and false, or text.

Blanks around a value are no part of it. A column is of one kind from its first row to its last, however it is cut into
blocks: what is text among numbers was a number once, and is refused with its row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from estimators.errors import InputError, MixedTypes, NotFinite
from estimators.sample.integers import as_64_bit
from macekit.decoding.columns import FILLED, Labels, absent, as_numpy
from macekit.decoding.table import Values
from macekit.decoding.typed import labels
from macekit.problems import fault

if TYPE_CHECKING:
    import pyarrow as pa

LOOKS = 32
MOST_DIGITS = 1000
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
FILLED_UP = re.compile(r"[+-]?0\d", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
BOOLEANS = frozenset({"true", "false"})
INFINITE = frozenset({"inf", "-inf", "infinity", "-infinity"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-nan"}) | INFINITE
UNUSUAL = "[xX]|^[+-]?0[0-9]"
"""What Arrow reads as an integer and people may not mean as one: 0x1F, and 007."""

TRIMMED = "blanks around values dropped"
TRUTH = "true and false, in any case, read as booleans"

Finder = Callable[[int], tuple[str, int]]
"""What a column is called in messages and the number of a row in it, from the place among all that is read."""


@dataclass(slots=True)
class Spelling:
    """What a column was found to spell so far; ``names`` says that whole numbers beside text are names, as asked."""

    names: bool = False
    kind: str | None = None
    notes: set[str] = field(default_factory=set)
    fractions: bool = False
    lengths: set[int] = field(default_factory=set)
    filled: tuple[str, int] | None = None
    missing: tuple[str, int] | None = None
    bare: set[str] = field(default_factory=set)
    padded: set[str] = field(default_factory=set)

    def values(self, column: pa.Array | pa.ChunkedArray, find: Finder) -> Values:
        """The next rows of the column as what they spell."""
        import pyarrow.compute as pc

        looks = [column[at].as_py() for at in range(0, len(column), max(1, len(column) // LOOKS))]
        if all(NUMBER.fullmatch(text.strip()) for text in looks):
            numbers = self._numbers(column, looks, find)
            if numbers is None and any(text != text.strip() for text in looks):
                numbers = self._numbers(pc.utf8_trim_whitespace(column), looks, find)
                if numbers is not None:
                    self.notes.add(TRIMMED)
            if numbers is not None:
                return numbers
        return self._by_text(labels(column), find)

    def text(self, column: Labels, find: Finder) -> Labels:
        """The next rows of a column that is text whatever it spells, without blanks around it."""
        stripped = [text.strip() if text is not None else None for text in column.texts]
        padded = {bare for bare, text in zip(stripped, column.texts, strict=True) if bare is not None and bare != text}
        if padded:
            self.notes.add(TRIMMED)
        self.padded |= padded
        self.bare |= {text for text in stripped if text is not None} - padded
        self.bare |= padded & {text for text in column.texts if text is not None}
        both = self.bare & self.padded
        if both:
            what, row = find(column.first(text in both for text in stripped) or 0)
            detail = (
                f"row {row} is a text that stands with blanks around it in one row and without in another; "
                "write both alike"
            )
            raise fault("bad-records", what, detail, row)
        return Labels(column.codes, stripped) if padded else column

    def end(self) -> None:
        """Nothing follows: refuse whole numbers of which some begin with zeros, and not all have as many digits."""
        if self.kind is None and self.missing is not None:
            raise absent(*self.missing)
        if self.filled is not None and len(self.lengths) > 1 and not self.fractions:
            what, row = self.filled
            detail = (
                f"row {row} is a whole number that begins with zeros, and others have another number of "
                "digits; write numbers without zeros, or say query=discrete if they are names"
            )
            raise fault("bad-records", what, detail, row)

    def _numbers(
        self, column: pa.Array | pa.ChunkedArray, looks: Sequence[str], find: Finder
    ) -> NDArray[np.generic] | None:
        """Integers if all are, else floats if all are numbers; None if they have to be looked at one by one.

        A cast that fails says so for every row, which takes long: where a look finds a fraction, none to integers is
        tried.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = all(WHOLE.fullmatch(text.strip()) for text in looks)
        for kind in (pa.int64(), pa.uint64(), pa.float64()) if whole else (pa.float64(),):
            try:
                numbers = pc.cast(column, kind)
            except pa.ArrowInvalid:
                continue
            integers = pa.types.is_integer(kind)
            if integers and pc.any(pc.match_substring_regex(column, UNUSUAL)).as_py():
                return None
            values: NDArray[np.generic] = as_numpy(numbers)
            if not integers and not (np.abs(values).max(initial=0.0) < 2.0**63):
                return None  # not finite, or too long for 64 bits: perhaps identifiers, which floats would merge
            if whole and not integers and not pc.any(pc.match_substring_regex(column, "[.eE]")).as_py():
                return None  # integers with a plus sign
            if len(values):
                self._be("numbers", find)
                if integers:
                    digits = pc.utf8_ltrim(column, "-") if int(values.min()) < 0 else column
                    sizes = pc.min_max(pc.binary_length(digits)).as_py()
                    self.lengths |= {sizes["min"], sizes["max"]}
                self.fractions |= not integers
            return values
        return None

    def _be(self, kind: str, find: Finder) -> None:
        """Be of this kind, as all rows before."""
        if kind != "text" and self.missing is not None:
            raise absent(*self.missing)
        if self.kind is not None and self.kind != kind:
            raise _mixed(*find(0), kind, self.kind)
        self.kind = kind

    def _by_text(self, column: Labels, find: Finder) -> Values:
        """The same, text by text."""
        texts = [text.strip() if text else "" for text in column.texts]
        number = np.array([NUMBER.fullmatch(text) is not None for text in texts], dtype=np.bool_)
        missing = np.array([text.lower() in MISSING for text in texts], dtype=np.bool_)
        truth = np.array([text.lower() in BOOLEANS for text in texts], dtype=np.bool_)
        comma = np.array([DECIMAL_COMMA.fullmatch(text) is not None for text in texts], dtype=np.bool_)
        if number.all() and not (self.names and any(map(_begins_with_zeros, texts))):
            if texts != column.texts:
                self.notes.add(TRIMMED)
            return self._of_numbers(column, texts, find)
        if "" in texts or (number.any() and missing.any() and (number | missing).all()):
            at = column.first(missing) or 0
            what, row = find(at)
            if texts[column.codes[at]].lower() in INFINITE:
                raise fault(NotFinite, what, f"row {row} is infinite; leave it out, or look why", row)
            raise absent(what, row)
        if missing.all() and self.kind != "text":
            self.missing = self.missing or find(0)
            if self.kind is not None:
                raise absent(*self.missing)
            return self.text(column, find)
        if comma.any() and (comma | number).all():
            what, first = find(column.first(comma) or 0)
            raise fault(InputError, what, "numbers have a decimal comma; need a decimal point", first)
        if truth.all():
            self._be("true or false", find)
            self.notes.add(TRUTH)
            return np.take(np.array([text.lower() == "true" for text in texts], dtype=np.bool_), column.codes)
        for few, kind in ((number, "numbers"), (truth, "true or false")):
            if few.any() and not self.names:
                raise _mixed(*find(column.first(~few) or 0), "text", kind)
        self._be("text", find)
        return self.text(column, find)

    def _of_numbers(self, column: Labels, texts: list[str], find: Finder) -> NDArray[np.generic]:
        """Numbers that are spelled in ways that Arrow does not read, or that need a second look."""
        self._be("numbers", find)
        if not all(WHOLE.fullmatch(text) for text in texts):
            self.fractions = True
            return np.take(np.array([float(text) for text in texts], dtype=np.float64), column.codes)
        digits = [text.lstrip("+-") for text in texts]
        first = column.first(map(_begins_with_zeros, texts))
        self.lengths |= set(map(len, digits))
        if first is not None:
            self.filled = self.filled or find(first)
            self.notes.add(FILLED)
        if max(map(len, digits)) > MOST_DIGITS:
            what, row = find(column.first(len(text) > MOST_DIGITS for text in digits) or 0)
            raise fault("out-of-range", what, f"row {row} has more than {MOST_DIGITS} digits", row)
        return np.take(as_64_bit(np.array([int(text) for text in texts], dtype=object)), column.codes)


def typed_texts(
    columns: Sequence[pa.ChunkedArray], what: Sequence[str], spelling: Spelling | None = None
) -> list[Values]:
    """Several columns read as one, so that the same text is the same value in each; ``what`` each is, for messages."""
    import pyarrow as pa

    ends = np.cumsum([len(column) for column in columns])
    spelling = spelling or Spelling()

    def find(at: int) -> tuple[str, int]:
        which = int(np.searchsorted(ends, at, side="right"))
        return what[which], at - int(ends[which] - len(columns[which]))

    chunks = [chunk for column in columns for chunk in column.chunks]
    values = spelling.values(pa.chunked_array(chunks, pa.string()), find)
    spelling.end()
    if isinstance(values, Labels):
        return [Labels(codes, values.texts) for codes in np.split(values.codes, ends[:-1])]
    return list(np.split(values, ends[:-1]))


def is_value(text: str) -> bool:
    """Whether a text is a value and no name of a column: a number, a boolean, or what stands for a missing number."""
    return bool(NUMBER.fullmatch(text)) or text.strip().lower() in {*MISSING - {""}, *BOOLEANS}


def _mixed(what: str, row: int, kind: str, others: str) -> MixedTypes:
    """A column of two kinds."""
    detail = (
        f"row {row} is {kind}, but others are {others}; write one kind, leave out rows that have no value, or "
        "say query=discrete if all of them are names"
    )
    return fault(MixedTypes, what, detail, row)


def _begins_with_zeros(text: str) -> bool:
    """Whether a whole number is written with zeros before its digits."""
    return FILLED_UP.match(text) is not None
