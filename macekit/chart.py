"""One picture of an answer: a Vega-Lite specification, and what is drawn from it without a browser."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.report.model import Figure


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chart:
    """A chart; ``altair.Chart.from_dict(chart.spec)`` goes on from it."""

    figure: Figure

    @property
    def name(self) -> str:
        """What ``Result.plot`` calls it."""
        return self.figure.name

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.figure.title

    @property
    def description(self) -> str:
        """What it shows, in words."""
        return self.figure.description

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, in the plain values of JSON."""
        from app.report.engine import VERSION

        schema = f"https://vega.github.io/schema/vega-lite/v{VERSION.partition('.')[0]}.json"
        found: dict[str, Any] = json.loads(json.dumps({"$schema": schema, **self.figure.spec}))
        return found

    def to_svg(self) -> str:
        """The chart as SVG."""
        from app.report.drawing import svg

        return svg((self.figure,)).decode()

    def to_png(self) -> bytes:
        """The chart as PNG."""
        from app.report.drawing import png

        return png((self.figure,))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as SVG or PNG by its suffix."""
        target = Path(path)
        match target.suffix.lower():
            case ".svg":
                target.write_text(self.to_svg(), encoding="utf-8")
            case ".png":
                target.write_bytes(self.to_png())
            case _:
                raise ValueError("a chart is saved as .svg or .png")
        return target

    def __repr__(self) -> str:
        return f"<Chart {self.name}: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": f"{self.title}. {self.description}"}
