"""Individual risk: how much a record's own score betrays of its membership (MACE, section 4).

The signed risk f_p = (p r - (1-p) q) / (p r + (1-p) q) belongs to a cell, so everything is worked out
once a cell and looked up for each record. Its magnitude |f_p| is the individual risk (MACE, Theorem 1);
at p != 1/2 it is |2p-1| without any leak. For a continuous score the risk stated is the one at the
resolution of the cells: the risk at a single point cannot be bounded without assuming smoothness
(``estimators.windows`` does so).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.binomial import clopper_pearson
from estimators.counts import Counts
from estimators.errors import require_open_unit
from estimators.fieller import signed_risk_limits
from estimators.statement import IID, VERSION, Caution, Guarantee, Provenance, percent

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Masked = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]


class CellInterval(Protocol):
    """A way to bound the signed risk of cells from their counts."""

    name: ClassVar[str]
    exact: ClassVar[bool]

    def limits(
        self,
        members: Integers,
        n_members: int,
        nonmembers: Integers,
        n_nonmembers: int,
        prior: float,
        alpha: float,
    ) -> tuple[Floats, Floats]:
        """Lower and upper limit, each of level 1 - alpha."""
        ...


@dataclass(frozen=True, slots=True)
class MoverFieller:
    """Ratio limits from two exact ones; by enumeration never below .957 at a nominal .95 (STATISTICS 2.5)."""

    name: ClassVar[str] = "mover_fieller"
    exact: ClassVar[bool] = False

    def limits(
        self,
        members: Integers,
        n_members: int,
        nonmembers: Integers,
        n_nonmembers: int,
        prior: float,
        alpha: float,
    ) -> tuple[Floats, Floats]:
        """MOVER-Fieller with Clopper-Pearson ends."""
        return signed_risk_limits(members, n_members, nonmembers, n_nonmembers, prior, alpha)


@dataclass(frozen=True, slots=True)
class Conditional:
    """Exact: given its records, a cell's members are one binomial, whose share s determines f_p."""

    name: ClassVar[str] = "conditional"
    exact: ClassVar[bool] = True

    def limits(
        self,
        members: Integers,
        n_members: int,
        nonmembers: Integers,
        n_nonmembers: int,
        prior: float,
        alpha: float,
    ) -> tuple[Floats, Floats]:
        """f(s) at the exact limits of s; it rises with s."""
        low, high = clopper_pearson(members, members + nonmembers, alpha)
        return tuple(risk_at_share(s, n_members, n_nonmembers, prior) for s in (low, high))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Limits:
    """Lower and upper limits of many values, each pair or all pairs holding with ``confidence``."""

    lower: Floats
    upper: Floats
    confidence: float
    guarantee: Guarantee

    def folded(self) -> Limits:
        """Limits of the magnitudes: [0, max] where 0 lies between (STATISTICS E13; folding the ends fails there)."""
        low, high = np.abs(self.lower), np.abs(self.upper)
        straddles = (self.lower <= 0.0) & (self.upper >= 0.0)
        return Limits(
            np.where(straddles, 0.0, np.minimum(low, high)),
            np.maximum(low, high),
            self.confidence,
            self.guarantee,
        )


@dataclass(frozen=True, eq=False)
class CellRisks:
    """A row for each cell. Plug-in values are masked where no record fell; limits are then [-1, 1] and [0, 1]."""

    counts: Counts
    prior: float
    posterior: Masked
    signed_risk: Masked
    signed: Limits
    signed_simultaneous: Limits
    cautions: tuple[Caution, ...]
    provenance: Provenance

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.counts.size

    @property
    def risk(self) -> Masked:
        """|f_p|, plugged in."""
        return np.ma.abs(self.signed_risk)  # type: ignore[no-any-return, no-untyped-call]

    @cached_property
    def pointwise(self) -> Limits:
        """Limits of |f_p|, for one cell at a time."""
        return self.signed.folded()

    @cached_property
    def simultaneous(self) -> Limits:
        """Limits of |f_p| that hold for all cells, and so for all records, at once."""
        return self.signed_simultaneous.folded()

    @property
    def baseline(self) -> float:
        """|2p-1|: the risk of every record when nothing leaks."""
        return abs(2.0 * self.prior - 1.0)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        worst = int(np.argmax(self.simultaneous.lower))
        low, high = self.simultaneous.lower[worst], self.simultaneous.upper[worst]
        return (
            f"With {percent(self.signed.confidence)} confidence in all {self.size} cells at once, the individual risk "
            f"reaches between {low:.3f} and {high:.3f} in the cell where it is surest; without any leak it would be "
            f"{self.baseline:.3f} everywhere."
        )


def cell_risks(
    counts: Counts, prior: float = 0.5, confidence: float = 0.95, interval: CellInterval | None = None
) -> CellRisks:
    """Risk of each cell with limits for it alone and for all cells at once (Bonferroni over occupied cells)."""
    require_open_unit("prior", prior)
    require_open_unit("confidence", confidence)
    how = interval or MoverFieller()
    n1, n0, pooled = counts.n_members, counts.n_nonmembers, counts.pooled
    empty = pooled == 0
    occupied = max(1, int((~empty).sum()))
    x, y, back = _distinct_pairs(counts.members, counts.nonmembers)
    posterior = prior * x / n1 / np.where(x + y > 0, prior * x / n1 + (1.0 - prior) * y / n0, 1.0)
    weight = prior * x / n1 + (1.0 - prior) * y / n0
    signed_risk = (prior * x / n1 - (1.0 - prior) * y / n0) / np.where(weight > 0, weight, 1.0)
    delta, where = 1.0 - confidence, f"the risk at the resolution of {counts.size} cells"
    bands = []
    for alpha, what in (
        (delta / 2.0, f"{where}, cell by cell"),
        (delta / 2.0 / occupied, f"{where}, all at once"),
    ):
        low, high = how.limits(x, n1, y, n0, prior, alpha)
        bands.append(Limits(low[back], high[back], confidence, Guarantee(what, IID, how.exact)))
    options = (("interval", how.name), ("cells", f"{counts.cells.kind}:{counts.size}"))
    return CellRisks(
        counts,
        prior,
        np.ma.MaskedArray(posterior[back], mask=empty),
        np.ma.MaskedArray(signed_risk[back], mask=empty),
        *bands,
        tuple(_cautions(counts)),
        Provenance(f"cells+{how.name}", VERSION, n1, n0, prior, None, options),
    )
