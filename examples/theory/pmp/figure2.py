"""Figure 2 of the PMP paper: the ratios against the clipping threshold, two points of X being extreme.

    .venv/bin/python -m examples.theory.pmp.figure2 -o examples/theory/pmp/figure2.svg

Caption: d = 5, n = 6, 2 outliers (times 100), m = 32, sigma = 1, eps(X) = 10.
"""

from __future__ import annotations

from examples.theory.pmp.geometric_median import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=5, sigma=1.0, clip=50.0, vectors=32, target=10.0, outliers=2)
AT = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep(
        "PMP, Figure 2: d = 5, n = 6, 2 outliers, m = 32, sigma = 1, eps(X) = 10",
        "clip threshold C",
        "clip",
        AT,
        SETTING,
        quick=quick,
    )


if __name__ == "__main__":
    run(__doc__ or "", figure)
