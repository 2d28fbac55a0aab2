"""One case: the truth, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Both ``ours`` and ``paper`` are upper ends; ``refuted`` says that the paper's lies below the truth."""

    case: str
    quantity: str
    truth: float
    ours: float
    by: str
    paper: float | None = None
    source: str = ""
    refuted: bool = False

    def cells(self) -> tuple[object, ...]:
        """The line of the table."""
        paper = "-" if self.paper is None else number(self.paper) + (" **refuted**" if self.refuted else "")
        return (
            self.case,
            self.quantity,
            number(self.truth),
            number(self.ours),
            over(self.ours, self.truth),
            paper,
            "-" if self.paper is None else over(self.paper, self.truth),
            self.by,
            self.source or "-",
        )


ZERO = 1e-12
"""Smaller truths are rounding: there is no ratio to them."""

HEAD = ("case", "what", "truth", "ours", "ours/truth", "paper", "paper/truth", "by", "the paper's")


def number(value: float) -> str:
    """Four significant digits."""
    return "0" if abs(value) < ZERO else f"{value:.4g}"


def over(bound: float, truth: float) -> str:
    """How many times the truth."""
    return f"{bound / truth:.3f}" if truth > ZERO else "-"
