"""Figure 1 of the PMP paper: the ratios against the standard deviation of the data, on the line.

    .venv/bin/python -m examples.theory.pmp.figure1 -o examples/theory/pmp/figure1.svg

Caption: d = 1, n = 6, m = 10, C = 10, eps(X) = 5. geometric_median.py says what it leaves open.
"""

from __future__ import annotations

from examples.theory.pmp.geometric_median import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=1, sigma=1.0, clip=10.0, vectors=10, target=5.0)
AT = (0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep("PMP, Figure 1: d = 1, n = 6, m = 10, C = 10, eps(X) = 5", "sigma", "sigma", AT, SETTING, quick=quick)


if __name__ == "__main__":
    run(__doc__ or "", figure)
