"""Figure 5 of the PMP paper: the ratios against the clipping threshold, two points of X being ten times longer.

    .venv/bin/python -m examples.theory.pmp.figure5 -o examples/theory/pmp/figure5.svg

Caption: n = 100, d = 10, 2 outliers, sigma = 5, delta = 0.01. eps(X) = 1 is ours.
"""

from __future__ import annotations

from examples.theory.pmp.gaussian_mean import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=10, sigma=5.0, clip=100.0, target=1.0, outliers=2)
AT = (5.0, 10.0, 20.0, 30.0, 50.0, 70.0, 100.0, 150.0)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep(
        "PMP, Figure 5: n = 100, d = 10, 2 outliers, sigma = 5, delta = 0.01, eps(X) = 1",
        "clip threshold C",
        "clip",
        AT,
        SETTING,
        quick=quick,
    )


if __name__ == "__main__":
    run(__doc__ or "", figure)
