"""From values to places along an axis, and the marks that the axis has: as d3 and Vega-Lite have them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from estimators.python.dataclass import dataclass

Row: TypeAlias = Mapping[str, Any]
Span: TypeAlias = tuple[float, float]

PADDING_INNER, PADDING_OUTER = 0.2, 0.2
"""Room between bands that hold several things, and around all, as shares of a step from one to the next."""

NICE = 10  # about how many round steps an axis has that ends at round numbers

FACTORS = ((10, 50.0), (5, 10.0), (2, 2.0))
"""Round numbers, and from which square of the rough step on each is the nearest."""

PLAIN = 6  # digits up to which a number is written out


@dataclass(frozen=True, slots=True)
class Numeric:
    """Numbers from one end to the other, evenly or by their logarithms."""

    domain: Span
    place: Span
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Where a value lies; beyond the ends, too."""
        return self.places([value])[0]

    def places(self, values: Sequence[float]) -> list[float]:
        """Where each of these lies."""
        (low, high), (first, last) = self.domain, self.place
        if self.logarithmic:
            low, high = _logarithm(low), _logarithm(high)
            values = [_logarithm(each) for each in values]
        if low == high:
            return [(first + last) / 2.0] * len(values)
        span, length = high - low, last - first
        return [first + (value - low) / span * length for value in values]

    def marks(self, count: int) -> list[float]:
        """Round numbers along the axis, about so many."""
        if not self.logarithmic:
            return ticks(*self.domain, count)
        first, last = (math.log10(end) for end in self.domain)
        powers = [10.0**power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]
        if len(powers) >= 3:
            return powers
        fine = [digit * 10.0**power for power in range(math.floor(first), math.ceil(last) + 1) for digit in (1, 2, 5)]
        values = [each for each in fine if self.domain[0] <= each <= self.domain[1]]
        return values if len(values) >= 2 else ticks(*self.domain, count)


@dataclass(frozen=True, slots=True)
class Bands:
    """Names, each with a band of its own; ``inner`` is the room between two, as a share of a step."""

    names: Sequence[object]
    length: float
    inner: float = 0.0
    outer: float = 0.0

    @property
    def step(self) -> float:
        """From one band to the next."""
        return self.length / max(1e-9, len(self.names) - self.inner + 2.0 * self.outer)

    @property
    def band(self) -> float:
        """How wide a band is."""
        return self.step * (1.0 - self.inner)

    def start(self, name: object) -> float:
        """Where the band of a name begins."""
        return self.step * (self.outer + self.names.index(name))

    def at(self, name: object) -> float:
        """Its middle."""
        return self.start(name) + self.band / 2.0

    def places(self, names: Sequence[object]) -> list[float]:
        """The middle of each of these."""
        return [self.at(name) for name in names]


Scale: TypeAlias = Numeric | Bands


def _logarithm(value: float) -> float:
    return math.log(max(value, 5e-324))


def numeric(defs: Sequence[tuple[Mapping[str, Any], Sequence[object]]], place: Span, *, bars: bool) -> Numeric:
    """The scale that all layers share: of their definitions of a channel, each with the values that it shows."""
    scales = [each.get("scale") or {} for each, _ in defs]
    logarithmic = any(scale.get("type") == "log" for scale in scales)
    domain = next((scale["domain"] for scale in scales if "domain" in scale), None)
    if domain is not None:
        return Numeric((float(domain[0]), float(domain[-1])), place, logarithmic)
    values = [float(value) for _, each in defs for value in each if isinstance(value, int | float)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if logarithmic:
        return Numeric((low, high), place, True)
    if bars or any(scale.get("zero", True) for scale in scales):
        low, high = min(low, 0.0), max(high, 0.0)
    if any(scale.get("nice", True) for scale in scales):
        low, high = nice(low, high)
    return Numeric((low, high), place)


def _step(low: float, high: float, count: float) -> tuple[float, int]:
    """How far apart round numbers are, about so many of them: a factor, and the power of ten that it multiplies."""
    rough = (high - low) / max(0.5, count)
    power = math.floor(math.log10(rough))
    error = rough / 10.0**power
    factor = next((each for each, least in FACTORS if error * error >= least), 1)
    return float(factor), power


def _round_numbers(low: float, high: float, count: float) -> tuple[int, int, float, int]:
    factor, power = _step(low, high, count)
    if power < 0:
        scale = 10.0**-power / factor
        first, last = round(low * scale), round(high * scale)
        first += first / scale < low
        last -= last / scale > high
    else:
        scale = 10.0**power * factor
        first, last = round(low / scale), round(high / scale)
        first += first * scale < low
        last -= last * scale > high
    return first, last, scale, power


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers from low to high, about so many."""
    if not (math.isfinite(high - low) and high > low):
        return [low] if low == high and math.isfinite(low) else []
    first, last, scale, power = _round_numbers(low, high, count)
    return [each / scale if power < 0 else each * scale for each in range(first, last + 1)]


def nice(low: float, high: float) -> Span:
    """The same range, up to round numbers."""
    for _ in range(10):
        if not high > low:
            break
        factor, power = _step(low, high, NICE)
        step = factor * 10.0**power
        wider = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        if wider == (low, high):
            break
        low, high = (float(f"{end:.12g}") for end in wider)
    return low, high


def labels(marks: Sequence[float], form: str | None) -> list[str]:
    """The marks of an axis as text: ``~p`` in percent, ``~r`` with the digits they have, else with as many each."""
    if form == "~p":
        return [_signed(f"{_trimmed(100.0 * mark)}%") for mark in marks]
    if form == "~r":
        return [_signed(_trimmed(mark)) for mark in marks]
    if len(marks) < 2:
        return [_signed(_trimmed(mark)) for mark in marks]
    step, most = min(b - a for a, b in pairwise(marks)), max(abs(mark) for mark in marks)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0.0 else 0
    if digits > PLAIN or most >= 10.0 ** (PLAIN + 3):
        figures = max(1, math.ceil(math.log10(most / step) + 1e-9) + 1) if step > 0.0 and most else 6
        return [_signed(_short(mark, figures)) for mark in marks]
    return [_signed(f"{mark:,.{digits}f}") for mark in marks]


def _trimmed(value: float) -> str:
    """Six digits, without zeros at their end; very small and very large numbers as powers of ten."""
    if value and not 1e-6 <= abs(value) < 1e9:
        return _short(value, PLAIN)
    digits = PLAIN - 1 - (math.floor(math.log10(abs(value))) if value else 0)
    text = f"{round(value, digits):,.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _short(value: float, digits: int) -> str:
    text, _, power = f"{value:.{digits - 1}e}".partition("e")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if float(text) == 0.0 or not int(power) else f"{text}e{int(power):+d}"


def _signed(text: str) -> str:
    """With a minus that is as wide as a plus; none before nothing but zeros."""
    if text.startswith("-"):
        return text[1:] if not any(each in text for each in "123456789") else "\N{MINUS SIGN}" + text[1:]
    return text
