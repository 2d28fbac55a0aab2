"""What a drawing is made on: places along an axis, as d3 and Vega-Lite have them; shapes and text, and their room."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

from estimators.python.dataclass import dataclass, field

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


WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
WIDTH = {chr(32 + place): int(width) / 1000 for place, width in enumerate(WIDTHS.split())}
"""Of the characters of ASCII in Helvetica and the fonts of its width, as shares of the size."""

WIDE, COMBINING, ELSE = 1.0, 0.0, 0.6
"""The same of the characters of East Asia, of marks over others, and of all else."""

BOLDER = 1.08  # how much wider bold text is, about
ASCENT, DESCENT = 0.8, 0.22  # how far text reaches above and below its line, as shares of its size

ESCAPES = {'"': "&quot;"}

PADDING = 5  # around everything that is drawn


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a text is."""
    return sum(_width(each) for each in text) * size * (BOLDER if bold else 1.0)


def _width(character: str) -> float:
    if (width := WIDTH.get(character)) is not None:
        return width
    if unicodedata.combining(character):
        return COMBINING
    return WIDE if unicodedata.east_asian_width(character) in "WF" else ELSE


def number(value: float) -> str:
    """Two digits after the point: a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def path_of(points: Sequence[tuple[float, float]]) -> str:
    """Straight lines from point to point."""
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


@dataclass(eq=False, slots=True)
class Canvas:
    """Elements in the order drawn, and the box around them; ``colours`` are written in place of those named."""

    prefix: str = ""
    colours: Mapping[str, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    clips: list[str] = field(default_factory=list)
    box: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])

    def reach(self, *points: tuple[float, float]) -> None:
        """Have room for these points."""
        left, top, right, bottom = self.box
        for x, y in points:
            left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
        self.box = [left, top, right, bottom]

    def path(self, outline: str, **looks: object) -> None:
        """Lines, filled or drawn."""
        self.pieces.append(f'<path d="{outline}"{self._attributes(looks)}/>')

    def lines(self, points: Sequence[tuple[float, float]], *, close: bool = False, **looks: object) -> None:
        """Straight lines, for which room is made unless they are cut off."""
        if looks.get("clip_path") is None:
            self.reach(*points)
        self.path(path_of(points) + "Z" * close, **looks)

    def text(
        self,
        words: str,
        x: float,
        y: float,
        size: float,
        anchor: str = "start",
        *,
        turned: bool = False,
        **looks: object,
    ) -> None:
        """Words at a place: their left end, middle or right end is there; ``turned`` they read upwards."""
        width = width_of(words, size, bold=looks.get("font_weight") == "bold")
        before = {"start": 0.0, "middle": width / 2.0, "end": width}[anchor]
        first, last = -before, width - before
        if turned:
            self.reach((x - ASCENT * size, y - last), (x + DESCENT * size, y - first))
        else:
            self.reach((x + first, y - ASCENT * size), (x + last, y + DESCENT * size))
        place = f'x="{number(x)}" y="{number(y)}"'
        if turned:
            place = f'transform="translate({number(x)},{number(y)})rotate(-90)"'
        ends = {} if anchor == "start" else {"text_anchor": anchor}
        looks = {**ends, "font_size": number(size), **looks}
        self.pieces.append(f"<text {place}{self._attributes(looks)}>{escape(words)}</text>")

    def clip(self, width: float, height: float) -> str:
        """The name of a frame beyond which nothing is drawn."""
        outline = f"M0,0h{number(width)}v{number(height)}h-{number(width)}Z"
        if outline not in self.clips:
            self.clips.append(outline)
        return f"url(#{self.prefix}clip{self.clips.index(outline)})"

    def _attributes(self, looks: Mapping[str, object]) -> str:
        parts = []
        for name, value in looks.items():
            if value is None or (name == "opacity" and value == 1):
                continue
            text = number(value) if isinstance(value, int | float) else escape(str(value), ESCAPES)
            if name in ("fill", "stroke"):
                text = self.colours.get(text, text)
            parts.append(f' {name.replace("_", "-")}="{text}"')
        return "".join(parts)

    def finished(self) -> Drawing:
        """What was drawn, with a little room around it."""
        left, top = (ceil(-end) + PADDING for end in self.box[:2])
        width, height = (ceil(end) + PADDING for end in self.box[2:])
        clips = "".join(
            f'<clipPath id="{self.prefix}clip{place}"><path d="{outline}"/></clipPath>'
            for place, outline in enumerate(self.clips)
        )
        definitions = f"<defs>{clips}</defs>" if clips else ""
        body = f'<g transform="translate({left},{top})" fill="none">{definitions}{"".join(self.pieces)}</g>'
        return Drawing(left + width, top + height, left, body)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing's size, how much stands at the left of its axes (names, mostly), and its markup."""

    width: float
    height: float
    left: float
    body: str
