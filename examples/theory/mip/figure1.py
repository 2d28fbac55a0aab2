"""Figure 1: noise against eta on Proposition 11's data set; DP dotted for several n, MIP solid, and ours.

    .venv/bin/python -m examples.theory.mip.figure1 -o examples/theory/mip/figure1.svg

The paper's lines are redrawn from its formulas (it prints no numbers): Delta/ln((1+2 eta)/(1-2 eta)) and
(6.16/eta)^2 sigma, with its bound sigma^2 <= 5. Ours for M = 2 takes that same sigma. The others use what the proof
knows of the data: the mean deviation instead of the standard deviation, and how far a swap moves the output.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, sqrt

import numpy as np
from scipy.optimize import brentq

from estimators.theory.mip.scales import corollary_10_scale, linear_scale
from examples.theory.drawing import line_chart, write_svg
from examples.theory.mip.proposition11 import (
    deviation_limit,
    laplace_for_dp,
    mean_deviation_limit,
    sensitivity,
    swaps_limit,
)
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

SIGMA = sqrt(5)
"""The paper's bound on the standard deviation; 1 is nearer (see deviation_limit)."""

SIZES = (36, 40, 44, 48)
GRID = np.concatenate([[0.005], np.arange(0.01, 0.5, 0.01), [0.495, 0.499]])

Noise = Callable[[float], float]


def lines() -> dict[str, Noise]:
    """Noise as a function of eta, by name."""
    dp: dict[str, Noise] = {f"DP, n = {n}": lambda eta, n=n: laplace_for_dp(n, eta) for n in SIZES}  # type: ignore[misc]
    return {
        **dp,
        "MIP, the paper's, any n": lambda eta: corollary_10_scale(eta, SIGMA, 2.0),
        "MIP, sigma/(2 eta), any n": lambda eta: linear_scale(eta, SIGMA),
        "MIP, the same with M = 1, n = 36": lambda eta: linear_scale(eta, mean_deviation_limit(36)),
        "MIP, swaps, n = 36": lambda eta: swaps_limit(36, eta),
    }


def figure() -> Spec:
    """The figure."""
    series = {name: (GRID, [noise(float(eta)) for eta in GRID]) for name, noise in lines().items()}
    dotted = [name for name in series if name.startswith("DP")]
    return line_chart(
        "MIP, Figure 1: noise for a wanted eta, on Proposition 11's data set",
        "eta: accuracy of the best attack, above a coin's",
        "scale of the Laplace noise",
        series,
        log_y=True,
        dashed=dotted,
    )


def values() -> str:
    """The same at a few eta."""
    etas = (0.01, 0.05, 0.1, 0.25, 0.45)
    return table(
        ("noise", *(f"eta = {eta}" for eta in etas)), [(name, *map(noise, etas)) for name, noise in lines().items()]
    )


def crossing(n: int) -> float:
    """From which eta on the paper's MIP noise is below DP's: the root of their difference, in (0, 0.4)."""
    return float(
        brentq(lambda eta: np.log(corollary_10_scale(eta, SIGMA, 2.0) / laplace_for_dp(n, eta)), 1e-6, 0.4, xtol=1e-12)
    )


def upper_crossing(n: int) -> float:
    """How near eta must be to 1/2 for DP to need less again, as 1 - 2 eta: there log(2/(1 - 2 eta)) = Delta/noise."""
    exponent = sensitivity(n) / corollary_10_scale(0.5 - 1e-12, SIGMA, 2.0)
    return 2.0 / (expm1(exponent) + 2.0)


def claims() -> str:
    """What the paper says about its figure, beside what its formulas give."""
    ratio = {n: laplace_for_dp(n, 0.01) / corollary_10_scale(0.01, SIGMA, 2.0) for n in (*SIZES, 50)}
    least = min(
        ratio[36], *(laplace_for_dp(36, eta) / corollary_10_scale(eta, SIGMA, 2.0) for eta in GRID if eta >= 0.01)
    )
    smallest = next(n for n in range(4, 60, 2) if crossing_exists(n) and crossing(n) <= 0.01)
    return table(
        ("the paper's text", "its formulas"),
        [
            (
                "n >= 36, eta >= 0.01: MIP has a large advantage",
                f"DP/MIP at eta = 0.01 is {ratio[36]:.3g} (n = 36), {ratio[48]:.3g} (n = 48), and no less up to "
                f"eta = 0.499 ({least:.3g}); above 1 from n = {smallest} on",
            ),
            (
                "for almost all eta",
                f"n = 36: from eta = {crossing(36):.2g} on, until 1 - 2 eta = {upper_crossing(36):.1g}",
            ),
            (
                "n > 48: DP's noise does not fit the plot",
                f"at eta = 0.01 n = 50 needs {laplace_for_dp(50, 0.01):.2g}, "
                f"MIP {corollary_10_scale(0.01, SIGMA, 2.0):.2g}",
            ),
            (
                "DP's noise grows exponentially in n, MIP's is constant",
                f"Delta {sensitivity(36):.3g} (n = 36), {sensitivity(48):.3g} (n = 48); what MIP needs even falls: "
                f"swaps at eta = 0.1 need {swaps_limit(36, 0.1):.2g} and {swaps_limit(48, 0.1):.2g}",
            ),
            ("sigma^2 <= 5", f"sigma^2 <= {deviation_limit(36) ** 2:.10f} at n = 36, and it tends to 1"),
        ],
    )


def crossing_exists(n: int) -> bool:
    """Whether the paper's MIP noise is ever below DP's before eta = 0.4."""
    return corollary_10_scale(0.4, SIGMA, 2.0) < laplace_for_dp(n, 0.4)


def markdown() -> str:
    """Both tables."""
    return f"{values()}\n\n{claims()}"


def main() -> None:
    """Print the tables; draw, if asked."""
    options = arguments(__doc__ or "").parse_args()
    print(markdown())
    if options.o:
        write_svg(figure(), options.o)


if __name__ == "__main__":
    main()
