"""What a drawing is written on: shapes and text as SVG, and the room that they take."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from math import ceil
from xml.sax.saxutils import escape

from estimators.python.dataclass import dataclass, field

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
