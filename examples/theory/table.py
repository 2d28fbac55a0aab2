"""Markdown tables as the examples print them, and the two arguments that each of them takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Cells are written as they are; numbers with three significant digits."""
    lines = [head, ["---"] * len(head), *([cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(value: object) -> str:
    """A number with three significant digits, and anything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def arguments(about: str) -> argparse.ArgumentParser:
    """What every example understands: -o FILE draws, --quick computes a small size."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="FILE", help="draw the figure into this file, as SVG")
    parser.add_argument("--quick", action="store_true", help="a small size, in seconds")
    return parser
