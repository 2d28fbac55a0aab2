"""Figure 6 of the PMP paper: the ratios against the dimension of the data, for a mean with Gaussian noise.

    .venv/bin/python -m examples.theory.pmp.figure6 -o examples/theory/pmp/figure6.svg

Caption: n = 100, C = 50, no outliers, sigma = 1, delta = 0.01. eps(X) = 1 is ours.
"""

from __future__ import annotations

from examples.theory.pmp.gaussian_mean import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=20, sigma=1.0, clip=50.0, target=1.0)
AT = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep(
        "PMP, Figure 6: n = 100, C = 50, no outliers, sigma = 1, delta = 0.01, eps(X) = 1",
        "dimension d",
        "dimension",
        AT,
        SETTING,
        quick=quick,
    )


if __name__ == "__main__":
    run(__doc__ or "", figure)
