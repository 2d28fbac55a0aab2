"""With how many digits the numbers of a table were written, and those of another as if they had been, too.

A row that was copied is written again: as a float of 32 or 16 bits, by ``%.4f``, with three significant digits, or cut
off. Its numbers equal those that it was copied from only after these are rounded in the same way. Which way that is, is
read off all values of a column: a precision holds for a table if each of its values is one of that precision.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass

FLOATS: dict[int, type[np.floating[Any]]] = {16: np.float16, 32: np.float32, 64: np.float64}
"""Floats by their bits."""

WHOLE_UP_TO = {16: 2**11, 32: 2**24}
"""Every whole number up to here is one of so many bits: that says nothing of how it was written."""

DIGITS = {16: 3, 32: 6, 64: 15}  # decimal digits that every float of so many bits keeps

APART = 0.5
"""Values of which rounding leaves at least this share different are rounded; others only if they lie next to one."""

NEAR_OF_LARGEST, NEAR_OF_STEP = 2.0**-20, 1.0 / 20.0
"""How near a value is to one of a precision: at most this share of the largest value away, and of a step."""

BY_CHANCE = 0.001
"""How probable it may be that a table of numbers like those of the other has so few digits all the same."""

LEAST_MISFITS = 8  # so many values at least, finer than a step, would show that a precision is none
FEW = 16  # values that are tried before all are


class Cut(Enum):
    """How digits were cut off: programs differ in what becomes of a half, and some do not round at all."""

    NEAREST = "as C and Python print: a half is one only if the binary value is"
    EVEN = "halves to the even digit, as NumPy rounds"
    AWAY = "halves away from zero, as spreadsheets and databases round"
    OFF = "cut off"


@dataclass(frozen=True, slots=True)
class Precision:
    """How numbers were written.

    Attributes:
        bits: Of the float that holds them: 16, 32 or 64.
        decimals: Digits after the point, less than 0 for tens and hundreds; None if that is not how they were rounded.
        digits: Significant digits; None likewise.
    """

    bits: int = 64
    decimals: int | None = None
    digits: int | None = None

    @property
    def words(self) -> str:
        """The precision in words."""
        unit = "" if 1 in (self.decimals, self.digits) else "s"
        if self.decimals is not None:
            text = f"{self.decimals} decimal{unit}" if self.decimals >= 0 else f"{10**-self.decimals:,}s"
            text = text if self.decimals else "whole numbers"
        elif self.digits is not None:
            text = f"{self.digits} significant digit{unit}"
        else:
            return f"float{self.bits}"
        return text if self.bits == 64 else f"{text} in float{self.bits}"

    @property
    def rounds_digits(self) -> bool:
        """Whether decimal digits were cut, in one way or another."""
        return self.decimals is not None or self.digits is not None

    def places(self, values: Floats) -> Integers:
        """How many digits after the point each value keeps."""
        if self.digits is None:
            return np.full(len(values), self.decimals or 0, dtype=np.int64)
        sizes = np.abs(np.where(values == 0.0, 1.0, values))
        return np.asarray(self.digits - 1 - np.floor(np.log10(sizes)).astype(np.int64))

    def rounded(self, values: Floats, cut: Cut = Cut.NEAREST) -> Floats:
        """Values as if they had been written so."""
        if self.rounds_digits:
            values = _to_places(values, self.places(values), cut)
        return values if self.bits == 64 else _narrow(values, self.bits)


def precision_of(values: Floats, others: Floats) -> Precision:
    """The coarsest precision at which every value is one.

    Args:
        values: Different numbers of one table, at least one.
        others: Those of another. Where both decimals and significant digits explain the values, it is what changes
            these more.
    """
    for bits in (16, 32, 64):
        if bits < 64 and not _fits(values, bits):
            continue
        both = (_first(_decimals(values, bits), values), _first(_significant(values, bits), values))
        explained = [each for each in both if each is not None]
        if explained:
            return max(explained, key=lambda each: float(np.abs(each.rounded(others) - others).mean()))
        if bits < 64:
            return Precision(bits)
    return Precision()


def alike(
    fine: Floats, coarse: Floats, further: Floats, members: Floats | None = None
) -> tuple[list[str], dict[Cut, tuple[Floats, Floats, Floats]]]:
    """Numbers of two tables at the coarser precision of both.

    Args:
        fine: Different numbers of the one table: of both sides together, which can be exchanged.
        coarse: Different numbers of the other, mostly the one with fewer digits: the released table.
        further: Numbers that are treated as those of ``fine``.
        members: Those of ``fine`` that are of members. If they alone are written with fewer digits, far beyond chance,
            the others are read as if they had been, too; those of the other table, where they lie next to one.

    Returns:
        in words at which precision that is; and for each way to cut digits off the three in the same order, such that
        equal numbers are equal at that precision. No words and none of these, where rounding makes no number equal to
        one that it was not equal to.
    """
    if not len(fine) or not len(coarse):
        return [], {}
    words: list[str] = []
    every = {Cut.NEAREST: (fine, coarse, further)}
    writing = fine
    if members is not None and len(members) and _is_no_chance(precision_of(members, fine), members, fine):
        writing = members
    own, of_fine = precision_of(coarse, fine), precision_of(writing, coarse)
    if _is_no_chance(own, coarse, fine):
        target = own.rounded(coarse)
        if _become_equal(fine, own.rounded(fine), coarse, target):
            words.append(own.words)
            cuts = Cut if own.rounds_digits else [Cut.NEAREST]
            every = {cut: (own.rounded(fine, cut), target, own.rounded(further, cut)) for cut in cuts}
            coarse = target
    if _is_no_chance(of_fine, writing, coarse):
        rounded, before = _next_to(coarse, of_fine), every[Cut.NEAREST][0]
        after = of_fine.rounded(before)
        if _become_equal(coarse, rounded, before, after) or _become_equal(before, after, coarse, rounded):
            words.append(of_fine.words)
            every = {
                cut: (of_fine.rounded(ones), rounded, of_fine.rounded(others))
                for cut, (ones, _, others) in every.items()
            }
    return (words, every) if words else ([], {})


def is_coarser(ones: Floats, others: Floats) -> bool:
    """Whether the one table's different numbers have fewer digits: rounding so changes the other's more."""
    if not len(ones) or not len(others):
        return False
    change, back = (
        float(np.abs(precision_of(target, values).rounded(values) - values).mean())
        for target, values in ((ones, others), (others, ones))
    )
    return change > back


def _is_no_chance(precision: Precision, values: Floats, others: Floats) -> bool:
    """Whether as many numbers like the others would hardly all be of this precision, as the values are."""
    if precision == Precision():
        return False
    return float((precision.rounded(others) == others).mean()) ** len(values) < BY_CHANCE


def _become_equal(before: Floats, after: Floats, others: Floats, target: Floats) -> bool:
    """Whether rounding makes a value equal to one of the other table that was equal to none."""
    return bool((np.isin(after, target) & ~np.isin(before, others)).any())


def _next_to(values: Floats, precision: Precision) -> Floats:
    """Values at a precision that is not theirs: all of them if they stay apart, else those next to one of it.

    Beside whole numbers always the latter: 31.00000001 is an age that went through a scaling, 31.4 is none.
    """
    target = precision.rounded(values)
    whole = np.array_equal(np.floor(target), target)
    if not whole and len(np.unique(target)) >= APART * len(np.unique(values)):
        return target
    near = np.full(len(values), NEAR_OF_LARGEST * float(np.abs(values).max()))
    if precision.rounds_digits:
        near = np.minimum(near, NEAR_OF_STEP * 10.0 ** -precision.places(values).astype(np.float64))
    return np.where(np.abs(target - values) <= near, target, values)


def _fits(values: Floats, bits: int) -> bool:
    """Whether narrow floats hold all values, as they are or as the shortest text of one; small whole numbers aside."""
    largest = np.abs(values).max()
    if largest > np.finfo(FLOATS[bits]).max:
        return False
    if (np.floor(values) == values).all() and largest <= WHOLE_UP_TO[bits]:
        return False
    return _are_in(values[:FEW], bits) and _are_in(values, bits)


def _are_in(values: Floats, bits: int) -> bool:
    narrow = _narrow(values, bits)
    odd = narrow != values
    texts = narrow[odd].astype(FLOATS[bits]).astype(np.str_)
    return bool((texts.astype(np.float64) == values[odd]).all())


def _narrow(values: Floats, bits: int) -> Floats:
    """As floats of so many bits; what is too large for these stays."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(FLOATS[bits]).astype(np.float64)
    return np.where(np.isfinite(narrow), narrow, values)


def _decimals(values: Floats, bits: int) -> Iterator[Precision]:
    """Steps of ten that are no finer than floats of so many bits are at one of the smaller values, the coarsest first.

    Of floats that were not rounded those below it would betray themselves.
    """
    sizes = np.sort(np.abs(values[values != 0.0])) if values.any() else np.ones(1)
    small = sizes[min(max(len(sizes) // 10, LEAST_MISFITS), len(sizes) - 1)]
    step = np.floor(np.log2(small)) - np.finfo(FLOATS[bits]).nmant  # of these floats there, in powers of two
    for decimals in range(-max(int(np.log10(sizes.max())), 0), int(np.floor(-step * np.log10(2.0))) + 1):
        yield from (Precision(width, decimals) for width in dict.fromkeys((64, bits)))


def _significant(values: Floats, bits: int) -> Iterator[Precision]:
    """Significant digits whose steps are no finer than floats of so many bits are at any value, the fewest first.

    Text may have one more than such floats keep everywhere: 1.234 has a float16 of its own, 2,701 shares one.
    """
    sizes = np.abs(values[values != 0.0])
    steps = np.floor(np.log2(sizes)) - np.finfo(FLOATS[bits]).nmant
    for digits in range(1, DIGITS[bits] + 2):
        coarse = digits <= DIGITS[bits] or bool(
            (-Precision(digits=digits).places(sizes) >= steps * np.log10(2.0)).all()
        )
        widths = dict.fromkeys((64, bits)) if digits <= DIGITS[bits] else [64]
        yield from (Precision(width, digits=digits) for width in widths if coarse)


def _first(candidates: Iterator[Precision], values: Floats) -> Precision | None:
    """The first at which all values are; of most not even a few are, which is looked at for all of them at once."""
    every, few = list(candidates), values[:FEW]
    places = [each.places(few) for each in every]
    rounded = np.split(_to_places(np.tile(few, len(every)), np.concatenate(places), Cut.NEAREST), len(every))
    for each, part in zip(every, rounded, strict=True):
        if np.array_equal(part if each.bits == 64 else _narrow(part, each.bits), few) and np.array_equal(
            each.rounded(values), values
        ):
            return each
    return None


def _to_places(values: Floats, places: Integers, cut: Cut) -> Floats:
    """Each value with so many digits after the point."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
        scaled = np.abs(values) * up / down
        low = np.floor(scaled)
        part = scaled - low
        off = 8.0 * np.finfo(np.float64).eps * np.maximum(scaled, 1.0)
        halves = np.flatnonzero(np.abs(part - 0.5) <= off)
        steps = np.rint(scaled)
        if cut is Cut.OFF:
            steps = low + (part >= 1.0 - off)
        elif cut is Cut.AWAY:
            steps[halves] = low[halves] + 1.0
        elif cut is Cut.NEAREST and len(halves):
            numbers = zip(np.abs(values[halves]).tolist(), places[halves].tolist(), strict=True)
            exact = np.array([round(value, digits) for value, digits in numbers])
            steps[halves] = np.rint(exact * up[halves] / down[halves])
        result = np.copysign(steps * down / up, values) + 0.0
    return np.where(np.isfinite(result) & (scaled < 2.0**53), result, values)
