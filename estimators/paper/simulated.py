"""How often the paper's intervals contained what one might take them for: the simulations of docs/paper.md.

``python -m benchmarks run paper`` makes the table, over five worlds at priors 0.5 and 0.1.
"""

from __future__ import annotations

from math import log
from typing import Literal

from estimators.density.bandwidth import BANDWIDTHS, Bandwidth, Fixed

Range = tuple[float, float]
Subject = Literal["advantage", "risk"]

CATEGORIES = "10 categories"
SLICES = {10: "10 slices", 100: "100 slices"}
KERNELS: dict[type, str] = {type(rule): name for name, rule in BANDWIDTHS.items()} | {Fixed: "fixed 0.3"}

SHARES: dict[str, dict[int, tuple[Range, Range]]] = {
    "10 categories": {
        300: ((0.0, 1.0), (1.0, 1.0)),
        1000: ((0.0, 1.0), (0.99, 1.0)),
        10_000: ((0.0, 1.0), (0.98, 1.0)),
    },
    "100 slices": {
        300: ((0.0, 1.0), (0.99, 1.0)),
        1000: ((0.0, 1.0), (0.84, 1.0)),
        10_000: ((0.0, 1.0), (0.32, 1.0)),
    },
    "10 slices": {
        300: ((0.77, 1.0), (0.48, 1.0)),
        1000: ((0.23, 1.0), (0.2, 1.0)),
        10_000: ((0.0, 1.0), (0.03, 1.0)),
    },
    "scott": {
        300: ((0.97, 1.0), (0.88, 1.0)),
        1000: ((0.93, 1.0), (0.68, 1.0)),
        10_000: ((0.5, 1.0), (0.43, 1.0)),
    },
    "silverman": {
        300: ((0.95, 1.0), (0.96, 1.0)),
        1000: ((0.95, 1.0), (0.97, 1.0)),
        10_000: ((0.92, 1.0), (0.97, 1.0)),
    },
    "sheather_jones": {
        300: ((1.0, 1.0), (0.98, 1.0)),
        1000: ((1.0, 1.0), (0.98, 1.0)),
        10_000: ((0.92, 1.0), (0.96, 1.0)),
    },
    "least_squares": {
        300: ((0.87, 1.0), (0.95, 1.0)),
        1000: ((0.93, 1.0), (0.96, 1.0)),
        10_000: ((0.83, 1.0), (0.96, 1.0)),
    },
    "fixed 0.3": {
        300: ((1.0, 1.0), (0.97, 1.0)),
        1000: ((1.0, 1.0), (0.99, 1.0)),
        10_000: ((0.25, 1.0), (0.52, 1.0)),
    },
}
"""By reading and records a side: least and greatest share of the cases that contain the advantage; f_p at the score."""


def of_slices(bins: int) -> str:
    """The simulated reading that is nearest to so many equal slices."""
    return SLICES[min(SLICES, key=lambda each: abs(log(each / bins)))]


def of_kernel(bandwidth: Bandwidth) -> str | None:
    """The reading with this rule for the bandwidth."""
    return KERNELS.get(type(bandwidth))


def share_within(subject: Subject, reading: str | None, n_members: int, n_nonmembers: int) -> str:
    """End of a sentence: the share of simulated intervals that contain the subject, at the nearest size.

    Empty where nothing was simulated: of vectors, of lattices, of a rule that is not in the table.
    """
    sizes = SHARES.get(reading or "")
    if sizes is None:
        return ""
    size = min(sizes, key=lambda each: abs(log(each / min(n_members, n_nonmembers))))
    least, greatest = sizes[size][0 if subject == "advantage" else 1]
    what = "the advantage" if subject == "advantage" else "f_p at the score"
    return (
        f"; at 95% confidence, simulated ({reading}, {size:,} records a side), it contains {what} in "
        f"{least:.0%} to {greatest:.0%} of samples, depending on the world (docs/paper.md)"
    )
