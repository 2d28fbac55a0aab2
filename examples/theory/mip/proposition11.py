"""Proposition 11's data set: what DP's Laplace noise needs, what MIP needs, and what an attack then really gains.

    .venv/bin/python -m examples.theory.mip.proposition11 -o examples/theory/mip/proposition11.svg

A(D) = 1/sum(D) over half of D = {2^i : i <= n-2} and A = sqrt(p) - sum_{i <= n/2-2} 2^i, with p = 1/C(n, n/2). One
training set, D*, gives 1/sqrt(p); all others lie between 0 and 1. The paper's section 4 prints A with C(n, n/2)^(1/2)
where its appendix D has p^(1/2): as printed there, the proposition fails (the column "as printed").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import comb, log, log1p, sqrt

import numpy as np
from scipy.optimize import brentq

from estimators.theory.mip.scales import corollary_10_scale, linear_scale
from estimators.theory.shifts import laplace_total_variation
from estimators.theory.subsets import matrix, positions
from examples.theory.drawing import line_chart, write_svg
from examples.theory.mip.laplace import Bits, Floats, exact_eta
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

ETA = 0.1
SIZES = (4, 6, 8, 10, 12, 14)
QUICK = (4, 6, 8, 10)
EVERY_SCALE = (log(1e-12), log(1e12))


def share(n: int) -> float:
    """The paper's p: how often each training set is drawn."""
    return 1.0 / comb(n, n // 2)


def sensitivity(n: int) -> float:
    """The exact Delta: D* against the neighbour whose sum is largest, which has 2^(n-2) in place of A."""
    return sqrt(comb(n, n // 2)) - 1.0 / ((1 << n - 2) + (1 << n // 2 - 1) - 1)


def deviation_limit(n: int) -> float:
    """No less than the standard deviation. Without D* the outputs sum to at most 6 over all sets, and none exceeds 1.

    A set without A and with greatest power 2^t has a sum of at least 2^t, and there are C(t, n/2-1); with A it is at
    least 2^(t-1), and there are C(t, n/2-2); and the sum over t >= r of C(t, r) 2^-t is 2. So E A^2 <= 1 + 6p.
    """
    return sqrt(1.0 + 6.0 * share(n))


def mean_deviation_limit(n: int) -> float:
    """No less than the mean absolute deviation, E|A - EA| <= 2 EA <= 2 (sqrt(p) + 6p): nearly all of it is D*."""
    return 2.0 * (sqrt(share(n)) + 6.0 * share(n))


def laplace_for_dp(n: int, eta: float) -> float:
    """The paper's way to eta by DP: Delta/epsilon, with Theorem 4's epsilon = ln((1+2 eta)/(1-2 eta))."""
    return sensitivity(n) / (log1p(2 * eta) - log1p(-2 * eta))


def swaps_limit(n: int, eta: float) -> float:
    """Enough by coupling neighbours, for any n: a swap meets D* with probability 2p at most, and costs 1/2 then.

    All other swaps move the output by 12p in the mean at most (6 over half the sets), so eta <= p + 3p/s.
    """
    p = share(n)
    return 3 * p / (eta - p) if eta > p else float("inf")


@dataclass(frozen=True)
class Enumerated:
    """Every training set of one small n: who is in it, and what the algorithm says."""

    members: Bits
    values: Floats

    @classmethod
    def of(cls, n: int, *, printed_in_section_4: bool = False) -> Enumerated:
        """Powers are summed as whole numbers, and sqrt(p) is added where A is in: nothing cancels."""
        members = matrix(n, n // 2, "use swaps_limit")
        whole = np.append(2 ** np.arange(n - 1), -(2 ** (n // 2 - 1) - 1))
        rest = share(n) ** (-0.5 if printed_in_section_4 else 0.5)
        return cls(members, 1.0 / (members @ whole + rest * members[:, -1]))

    @cached_property
    def swaps(self) -> Floats:
        """How far each swap of one record moves the output: records x pairs of neighbours."""
        moves = []
        for record in range(self.members.shape[1]):
            inside = np.flatnonzero(self.members[:, record])
            pairs = [(i, other) for i in inside for other in np.flatnonzero(~self.members[i])]
            before, others = np.array(pairs).T
            swapped = self.members[before]
            swapped[:, record] = False
            swapped[np.arange(len(others)), others] = True
            moves.append(self.values[positions(swapped)] - self.values[before])
        return np.abs(moves)

    def swap_scale(self, eta: float) -> float:
        """The least Laplace noise whose neighbours give ``eta``: half of E[1 - e^(-|v|/(2s))], for the worst record."""

        def excess(log_scale: float) -> float:
            gained = laplace_total_variation(self.swaps / np.exp(log_scale)).mean(axis=1)
            return float(gained.max()) / 2 - eta

        return float(np.exp(brentq(excess, *EVERY_SCALE, xtol=1e-12)))

    def least_scale(self, eta: float) -> float:
        """The least Laplace noise of all: more of it is less and then some noise of its own, so eta falls with it."""

        def excess(log_scale: float) -> float:
            return float(exact_eta(self.values, self.members, float(np.exp(log_scale))).max()) - eta

        return float(np.exp(brentq(excess, *EVERY_SCALE, xtol=1e-9)))


@cache
def scales_and_etas(size: int, eta: float = ETA) -> dict[str, tuple[float, float]]:
    """For one small n: each way's noise for ``eta``, and the exact eta of the worst record under that noise."""
    world = Enumerated.of(size)
    sigma, mean = float(world.values.std()), float(np.abs(world.values - world.values.mean()).mean())
    scales = {
        "DP": laplace_for_dp(size, eta),
        "paper": corollary_10_scale(eta, sigma, 2.0),
        "sigma/(2 eta)": linear_scale(eta, sigma),
        "same, M = 1": linear_scale(eta, mean),
        "swaps": world.swap_scale(eta),
        "least of all": world.least_scale(eta),
    }
    return {name: (scale, float(exact_eta(world.values, world.members, scale).max())) for name, scale in scales.items()}


def moments(sizes: tuple[int, ...]) -> str:
    """What the proposition is about, by enumeration."""
    rows = []
    for n in sizes:
        world, as_printed = Enumerated.of(n), Enumerated.of(n, printed_in_section_4=True)
        mean = float(np.abs(world.values - world.values.mean()).mean())
        rows.append(
            (
                n,
                comb(n, n // 2),
                float(world.values.var()),
                mean,
                float(world.swaps.max()),
                2 ** (n / 3),
                float(as_printed.swaps.max()),
            )
        )
    return table(
        ("n", "training sets", "variance (paper: <= 5)", "E\\|A - EA\\|", "Delta", "2^(n/3)", "Delta as printed"), rows
    )


def noises(sizes: tuple[int, ...]) -> str:
    """Noise for eta = 0.1, and the exact eta it leaves."""
    results = {n: scales_and_etas(n) for n in sizes}
    return table(
        ("n", *results[sizes[0]]),
        [(n, *(f"{scale:.3g} ({eta:.3g})" for scale, eta in each.values())) for n, each in results.items()],
    )


def markdown(sizes: tuple[int, ...] = SIZES) -> str:
    """Both tables."""
    middle = f"Laplace noise for eta = {ETA}, and in brackets the exact eta that it leaves:"
    return f"{moments(sizes)}\n\n{middle}\n\n{noises(sizes)}"


def figure(sizes: tuple[int, ...] = SIZES) -> Spec:
    """The noise of the second table over n."""
    names = list(scales_and_etas(sizes[0]))
    series = {name: (sizes, [scales_and_etas(n)[name][0] for n in sizes]) for name in names}
    title = f"MIP, Proposition 11: Laplace noise for eta = {ETA}, and the least of all"
    return line_chart(title, "n", "scale of the Laplace noise", series, log_y=True, dashed=["DP"])


def main() -> None:
    """Print the tables; draw, if asked."""
    options = arguments(__doc__ or "").parse_args()
    sizes = QUICK if options.quick else SIZES
    print(markdown(sizes))
    if options.o:
        write_svg(figure(sizes), options.o)


if __name__ == "__main__":
    main()
