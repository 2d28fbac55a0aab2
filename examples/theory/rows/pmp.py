"""PMP: two mechanisms on halves of a few records, all of them gone through."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from estimators.theory.pmp.bounds import mip_eta
from estimators.theory.pmp.bounds import success as successes
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian, clip_rows, of_sum
from estimators.theory.pmp.laws import finite
from examples.theory.rows import papers
from examples.theory.rows.row import Row
from examples.theory.truth import attacks, halves, mixtures

Floats = NDArray[np.float64]
LOSSES = {
    "six points on a line, l the total distance": np.abs(
        np.subtract.outer([0.0, 1.0, 2.0, 3.0, 4.0, 9.0], [0.0, 2.0, 4.0])
    ),
    "four records, one of which dislikes an outcome": np.array([[0.0] * 3] * 3 + [[3.0, 0.0, 0.0]]),
}
POINTS = np.array([0.0, 0.4, 1.0, 1.3, 2.0, 4.0])
CLIP = 4.0


def rows() -> Iterator[Row]:
    """Every bound of the paper."""
    yield from modular_sums()
    yield from exponential_mechanism()
    yield from from_practical_epsilon()
    yield from one_record()
    yield from gaussian_mechanism()


def modular_sums() -> Iterator[Row]:
    """Proposition 5's algorithm, which no DP bounds at all."""
    for n, as_printed, name in (
        (3, log(2.0), "Proposition 5, ln 2"),
        (6, log(40.0 / 37.0), "after Proposition 5, ln(40/37)"),
    ):
        laws = [np.eye(2 * n)[sum(members) % (2 * n)] for members in combinations(range(2 * n), n)]
        ours = finite(np.array(laws), n).epsilon
        yield Row(f"sum mod {2 * n}, n = {n}", "eps~", halves.sum_modulo(n), ours, "finite", as_printed, name)


def exponential_mechanism() -> Iterator[Row]:
    """Proposition 9 is an equality, once both directions are taken."""
    for case, losses in LOSSES.items():
        sensitivity = float(np.ptp(losses, axis=0).max())
        for epsilon in (1.0, 8.0):
            laws = halves.laws_of_halves(losses, epsilon / (2.0 * sensitivity))
            truth = halves.practical_epsilon(laws)
            mechanism = Summed(losses, sensitivity)
            title = f"exponential mechanism, {case}, epsilon = {epsilon:g}"
            one_way = float(halves.log_ratios(laws).max())
            refuted = one_way < truth - 1e-6
            yield Row(
                title,
                "eps~",
                truth,
                mechanism.exact(epsilon).epsilon,
                "Summed.exact",
                one_way,
                "Proposition 9",
                refuted,
            )
            by_exchanges = float(mechanism.exchanges(epsilon).max())
            yield Row(title, "eps~", truth, by_exchanges, "Summed.exchanges", epsilon, "Proposition 5, eps~ <= eps")
            worst = halves.worst_case_epsilon(laws)
            yield Row(
                title,
                "eps(X)",
                worst,
                mechanism.on_records(epsilon),
                "Summed.on_records",
                epsilon,
                "Lemma 8, eps(X) <= eps",
            )


def from_practical_epsilon() -> Iterator[Row]:
    """What eps~ says of attacks: randomised response is its own worst case at n = 1."""
    for epsilon in (0.1, 2.0):
        inside, outside = attacks.randomised_response(epsilon)
        case = f"randomised response, n = 1, eps~ = {epsilon:g}"
        right = attacks.best_accuracy(inside, outside)
        yield Row(case, "success", right, successes(epsilon), "success", papers.pmp_lemma_6(epsilon), "Lemma 6")
        yield Row(case, "MIP's eta", right - 0.5, mip_eta(epsilon), "mip_eta", papers.pmp_lemma_13(epsilon), "Lemma 13")


def one_record() -> Iterator[Row]:
    """n = 1: a practical attacker knows as much as DP's, so Corollary 4 must not halve delta."""
    inside, outside = attacks.randomised_response(1.0, 0.1)
    for epsilon in (0.0, 1.0):
        truth = attacks.hockey_stick(inside, outside, epsilon)
        practical = float(finite(np.array([inside, outside]), 1).deltas(epsilon).max())
        yield Row(
            f"randomised response (1, 0.1), n = 1, epsilon = {epsilon:g}",
            "DP's delta",
            truth,
            practical,
            "InOut.deltas",
            papers.pmp_corollary_4(practical),
            "Corollary 4",
            refuted=True,
        )


def gaussian_mechanism() -> Iterator[Row]:
    """The mean of three of six numbers: Proposition 12 against the two mixtures of ten Gaussians, at every epsilon."""
    members = mixtures.subsets(len(POINTS), len(POINTS) // 2)
    outputs = members @ POINTS / (len(POINTS) // 2)
    for noise in (0.3, 1.0):
        mechanism = Gaussian(of_sum(clip_rows(POINTS[:, np.newaxis], CLIP) / (len(POINTS) // 2)), noise)
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            truth = max(
                mixtures.hockey_stick(outputs[column], outputs[~column], "Gaussian", noise, epsilon)
                for column in members.T
            )
            yield Row(
                f"Gaussian mechanism, mean of three of six numbers, sigma = {noise:g}, epsilon~ = {epsilon:g}",
                "delta",
                truth,
                mechanism.delta(epsilon),
                "Gaussian.delta",
                max(papers.pmp_proposition_12(POINTS / 3.0, x, noise, epsilon) for x in range(len(POINTS))),
                "Proposition 12",
            )
