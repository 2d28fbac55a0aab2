"""The earlier version's section 5.2 (linear generator): relative error against eta, DP-SGD and MIP, and ours.

    .venv/bin/python -m examples.theory.mip.section52 -o examples/theory/mip/section52.svg

The stored text of the paper has lost every number of this section (n, d, the values of M, the errors), so they are
ours here, and what can be checked are its statements about who is better. Needs macekit[accounting].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from examples.theory.drawing import line_chart, write_svg
from examples.theory.mip.generator import SEED, Floats, dp_trained, relative_error
from examples.theory.mip.mechanisms import (
    MECHANISMS,
    Run,
    accountant_epsilon,
    multiplier_by_epsilon,
    multiplier_exactly,
    theorem_4_epsilon,
)
from examples.theory.mip.small import attacks, certificates
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

ETAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
NOT_DRAWN = ("MIP as printed, M = 4", "MIP, right radius, M = 8", "ours, solved")
"""More lines than eight cannot be told apart."""


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    n: int
    runs: int
    etas: tuple[float, ...] = ETAS


@dataclass(frozen=True)
class Effort:
    """All that a call computes: sizes, releases that are attacked, and records and pairs for certificates."""

    sizes: tuple[Size, ...]
    releases: int
    records: int
    pairs: tuple[int, ...]


FULL = Effort((Size(200, 10), Size(2_000, 10), Size(1_000_000, 4)), 20_000, 100, (50, 200, 800))
QUICK = Effort((Size(200, 2, (0.05, 0.2, 0.45)),), 4_000, 40, (50, 200))


@dataclass(frozen=True)
class Errors:
    """Relative errors of one size: mechanisms x etas x runs; without noise; and with clipping alone."""

    size: Size
    noisy: Floats
    plain: Floats
    clipped: Floats


def measured(size: Size) -> Errors:
    """All runs: each has its own records, half, and noise, which is the same for every eta but for its scale."""
    noisy = np.empty((len(MECHANISMS), len(size.etas), size.runs))
    plain, clipped = np.empty(size.runs), np.empty(size.runs)
    for i in range(size.runs):
        rng = np.random.default_rng([SEED, size.n, i])
        run = Run.of(size.n, rng)
        plain[i] = relative_error(run.theta)
        clipped[i] = relative_error(dp_trained(run.train, run.clips["median"], 0.0, rng))
        for j, eta in enumerate(size.etas):
            noisy[:, j, i] = [
                relative_error(add(run, eta, np.random.default_rng([SEED, size.n, i, 1])))
                for add in MECHANISMS.values()
            ]
    return Errors(size, noisy, plain, clipped)


def errors(result: Errors) -> str:
    """Mean relative error, and its standard error."""
    means = result.noisy.mean(axis=2)
    deviations = result.noisy.std(axis=2, ddof=1) / sqrt(result.size.runs)
    rows = [
        (name, *(f"{m:.3g} ± {e:.1g}" for m, e in zip(*each, strict=True)))
        for name, each in zip(MECHANISMS, zip(means, deviations, strict=True), strict=True)
    ]
    return table((f"n = {result.size.n:,}", *(f"eta = {eta}" for eta in result.size.etas)), rows)


def floors(results: Sequence[Errors]) -> str:
    """What is left without noise."""
    return table(
        ("n", "no noise at all", "clipping at the median, no noise"),
        [(f"{each.size.n:,}", float(each.plain.mean()), float(each.clipped.mean())) for each in results],
    )


def accounts(etas: Sequence[float] = ETAS) -> str:
    """The noise of DP-SGD, both ways, and what an accountant says of it."""
    head = (
        "eta",
        "epsilon at delta 1e-5 (Theorem 4)",
        "its noise multiplier",
        "epsilon of that, Renyi",
        "multiplier by GDP",
    )
    noises = [(eta, multiplier_by_epsilon(eta)) for eta in etas]
    return table(
        head,
        [
            (eta, theorem_4_epsilon(eta), noise, accountant_epsilon(noise), multiplier_exactly(eta))
            for eta, noise in noises
        ],
    )


def figure(result: Errors) -> Spec:
    """One size as a figure."""
    means = dict(zip(MECHANISMS, result.noisy.mean(axis=2), strict=True))
    series = {name: (result.size.etas, mean) for name, mean in means.items() if name not in NOT_DRAWN}
    return line_chart(
        f"MIP, earlier version, section 5.2: n = {result.size.n:,}, d = 3, mean of {result.size.runs} runs",
        "eta: accuracy of the best attack, above a coin's",
        "relative error of the covariance",
        series,
        log_y=True,
        dashed=[name for name in series if name.startswith("DP")],
    )


def markdown(results: Sequence[Errors], effort: Effort) -> str:
    """All tables."""
    small = [accounts(), attacks(10, 0.1, effort.releases), certificates(effort.records, effort.pairs, 0.1)]
    return "\n\n".join([*map(errors, results), floors(results), *small])


def main() -> None:
    """Print the tables; draw, if asked."""
    options = arguments(__doc__ or "").parse_args()
    effort = QUICK if options.quick else FULL
    results = [measured(size) for size in effort.sizes]
    print(markdown(results, effort))
    if options.o:
        write_svg([figure(each) for each in results], options.o)


if __name__ == "__main__":
    main()
