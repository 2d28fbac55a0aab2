"""What a body held: columns of records, and the options of the question as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic] | list[object]


@dataclass(frozen=True, slots=True)
class Sample:
    """One query's scores of both sides, or its counts as ``Counts.from_dict`` takes them."""

    members: Column | None = None
    nonmembers: Column | None = None
    counts: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """A decoded body; several queries go by name, a single sample has the empty name.

    ``groups`` and ``units`` are in the order of the records, members first. ``rows`` says in which row of a table each
    record stood. ``textual`` options came in a query string and are still text. ``arrays`` are what theory is asked of,
    by the names of their fields: numbers of 64 bits in one dimension or two, or a list of text.
    """

    samples: dict[str, Sample] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)
    textual: bool = False
    arrays: dict[str, Column] = field(default_factory=dict)
    targets: Column | None = None
    groups: Column | None = None
    units: Column | None = None
    rows: NDArray[np.int64] | None = None
