"""Figure 3 of the PMP paper: the ratios against the dimension of the data, for the geometric median.

    .venv/bin/python -m examples.theory.pmp.figure3 -o examples/theory/pmp/figure3.svg

Caption: n = 6, m = 10, sigma = 1, eps(X) = 2. C = 10 is ours.
"""

from __future__ import annotations

from examples.theory.pmp.geometric_median import Setting, sweep
from examples.theory.pmp.sweep import Sweep, run

SETTING = Setting(dimension=1, sigma=1.0, clip=10.0, vectors=10, target=2.0)
AT = (1, 2, 3, 5, 10, 20, 50, 100)


def figure(quick: bool) -> Sweep:
    """The ratios along the axis."""
    return sweep(
        "PMP, Figure 3: n = 6, m = 10, C = 10, sigma = 1, eps(X) = 2",
        "dimension d",
        "dimension",
        AT,
        SETTING,
        quick=quick,
    )


if __name__ == "__main__":
    run(__doc__ or "", figure)
