"""MIS, Table 1: the bounds on Delta beside ours, and beside the exact value for distributions of that diversity.

    .venv/bin/python -m examples.theory.mis.table1 -o examples/theory/mis/table1.svg

The paper prints C_K/(2 sqrt n) to two digits. Delta also depends on the distribution beyond its C_K, but hardly: three
distributions as unlike as their C_K allows, at the paper's numbers of cells, have the same exact Delta to 1%.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from estimators.statement import at_most
from estimators.theory.mis.security import c_k, simple_delta, worst_delta
from examples.theory.drawing import line_chart, write_svg
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

Floats = NDArray[np.float64]

CELLS = {4.3: 20, 6.74: 50, 9.20: 100}
"""The paper's three values of C_K, and the clusters they came from."""

SIZES = (1000, 5000, 10_000)
PAPER = {
    (1000, 4.3): 0.07,
    (1000, 6.74): 0.11,
    (1000, 9.20): 0.15,
    (5000, 4.3): 0.03,
    (5000, 6.74): 0.05,
    (5000, 9.20): 0.07,
    (10_000, 4.3): 0.02,
    (10_000, 6.74): 0.03,
    (10_000, 9.20): 0.05,
}


def one_large(diverse: float, cells: int) -> Floats:
    """One large cell, all others equal: the most diverse at that largest share (Lemma 24)."""
    return _solved(lambda share: np.r_[share, np.full(cells - 1, (1 - share) / (cells - 1))], diverse, 1 / cells, 1)


def geometric(diverse: float, cells: int) -> Floats:
    """Each cell is a constant times the one before."""

    def shares(ratio: float) -> Floats:
        powers = ratio ** np.arange(cells, dtype=np.float64)
        return np.asarray(powers / powers.sum())

    return _solved(shares, diverse, 1e-9, 1.0)


def nearly_uniform(diverse: float) -> Floats:
    """As few cells as can be that diverse: all equal but one smaller one."""
    full = floor(diverse**2 + 1)
    return _solved(lambda rest: np.r_[np.full(full, (1 - rest) / full), rest], diverse, 0.0, 1 / (full + 1))


def _solved(shares: Callable[[float], Floats], diverse: float, low: float, high: float) -> Floats:
    """The member of a one-parameter family whose C_K is as asked."""
    return shares(brentq(lambda x: c_k(shares(x)) - diverse, low, high, xtol=1e-15))


def exact(diverse: float, n: int) -> list[float]:
    """Theorem 14 at gamma = 1, the worst, for the three."""
    cells = CELLS[diverse]
    worlds = (nearly_uniform(diverse), geometric(diverse, cells), one_large(diverse, cells))
    return [worst_delta(world, n) for world in worlds]


def markdown() -> str:
    """The table."""
    head = (
        "n",
        "C_K",
        "paper",
        "C_K/(2 sqrt n)",
        "rounded up",
        "exact: nearly uniform",
        "exact: geometric",
        "exact: one large cell",
        "exact / bound",
    )
    rows = []
    for (n, diverse), paper in PAPER.items():
        bound, truths = simple_delta(diverse, n), exact(diverse, n)
        share = max(truths) / bound
        rows.append(
            (
                n,
                f"{diverse:.2f}",
                f"{paper:.2f}",
                f"{bound:.4f}",
                at_most(bound),
                *(f"{each:.4f}" for each in truths),
                f"{share:.3f}",
            )
        )
    return table(head, rows)


def figure() -> Spec:
    """Bound (dashed) and exact value over n."""
    sizes = np.unique(np.geomspace(100, 100_000, 61).round().astype(int))
    series = {}
    for diverse in CELLS:
        world = nearly_uniform(diverse)
        series[f"C_K = {diverse:.2f}, exact"] = (sizes, [worst_delta(world, int(n)) for n in sizes])
        series[f"C_K = {diverse:.2f}, paper's bound"] = (sizes, [simple_delta(diverse, int(n)) for n in sizes])
    dashed = [name for name in series if name.endswith("bound")]
    return line_chart(
        "Table 1: the most any learning procedure gives away",
        "n, training records",
        "Delta = 1 - Sec",
        series,
        log_x=True,
        log_y=True,
        dashed=dashed,
    )


def main() -> None:
    """Print the table, and draw if asked."""
    options = arguments(__doc__ or "").parse_args()
    print(markdown())
    if options.o:
        write_svg(figure(), options.o)


if __name__ == "__main__":
    main()
