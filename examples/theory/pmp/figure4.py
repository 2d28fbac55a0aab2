"""Figure 4 of the PMP paper: the ratios against eps(X), for a mean with Gaussian noise.

    .venv/bin/python -m examples.theory.pmp.figure4 -o examples/theory/pmp/figure4.svg

Caption: n = 100, d = 20, C = 50, no outliers, sigma = 1, delta = 0.01. gaussian_mean.py says what it leaves open.
"""

from __future__ import annotations

from examples.theory.pmp.gaussian_mean import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=20, sigma=1.0, clip=50.0, target=10.0)
AT = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep(
        "PMP, Figure 4: n = 100, d = 20, C = 50, no outliers, sigma = 1, delta = 0.01",
        "eps(X)",
        "target",
        AT,
        SETTING,
        quick=quick,
    )


if __name__ == "__main__":
    run(__doc__ or "", figure)
