"""Differential privacy: mechanisms so small that every adversary can be tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from estimators.theory.bounds import Bound
from estimators.theory.dp import ApproximateDp, GaussianDp, Promise, advantage_ceiling, bounds
from estimators.theory.dp.ceilings import theorem_8
from estimators.theory.shifts import gaussian_delta, laplace_total_variation
from examples.theory.rows import papers
from examples.theory.rows.row import Row
from examples.theory.truth import attacks, mixtures, selection

Floats = NDArray[np.float64]
MACE = "MACE, Theorem 1.4 (of a single record)"
PROMISES = ((1.0, 0.0), (1.0, 0.05), (4.0, 0.0))


def rows() -> Iterator[Row]:
    """What a promise of DP is worth, for each of the papers."""
    yield from extreme_pair()
    yield from exponential_mechanism()
    yield from laplace_and_gaussian()
    yield from add_or_remove()
    yield from security()


def extreme_pair() -> Iterator[Row]:
    """The pair of laws with (epsilon, delta)-DP's own ROC curve: all that is proven from it alone must be tight."""
    for epsilon, delta in PROMISES:
        inside, outside = attacks.randomised_response(epsilon, delta)
        promise = ApproximateDp(epsilon, delta)
        case = f"randomised response, epsilon = {epsilon:g}, delta = {delta:g}"
        for prior in (0.5, 0.3, 0.1):
            truth = attacks.best_advantage(inside, outside, prior)
            paper, source = (None, "") if delta else (papers.mace_theorem_1_4(epsilon, prior), MACE)
            ours, by = tightest(bounds(promise, prior), "advantage")
            yield Row(f"{case}, prior {prior:g}", "advantage", truth, ours, by, paper, source)
        eta, by = tightest(bounds(promise), "mip_eta")
        yield Row(
            case,
            "eta",
            attacks.best_accuracy(inside, outside) - 0.5,
            eta,
            by,
            papers.mip_theorem_4(epsilon, delta),
            "MIP, Theorem 4",
        )
        yield from at_false_positive_rates(case, promise, inside, outside, eta)


def at_false_positive_rates(case: str, promise: Promise, inside: Floats, outside: Floats, eta: float) -> Iterator[Row]:
    """The most powerful test at each rate, against the curve, and against Theorem 8, which loses a factor of 2."""
    for rate in (0.01, 0.1, 0.25):
        truth = attacks.best_tpr(inside, outside, rate)
        ours, by = tightest(bounds(promise, false_positive_rates=[rate]), f"tpr_at_fpr_{rate:g}")
        as_printed = rate + papers.mip_theorem_8(eta)
        yield Row(
            case,
            f"TPR at FPR {rate:g}",
            truth,
            ours,
            by,
            as_printed,
            "MIP, Theorem 8",
            refuted=as_printed < truth - 1e-6,
        )
    gap = attacks.largest_gap(inside, outside)
    as_printed = papers.mip_theorem_8(eta)
    yield Row(case, "TPR - FPR", gap, theorem_8(eta, 0.0), "theorem_8", as_printed, "MIP, Theorem 8", refuted=True)


def tightest(candidates: tuple[Bound, ...], quantity: str) -> tuple[float, str]:
    """The bound that the library marks, and its name."""
    best = next(bound for bound in candidates if bound.quantity == quantity and bound.tightest)
    return best.value, best.name


def exponential_mechanism() -> Iterator[Row]:
    """Two of four records, three outcomes: DP bounds two training sets, the adversary compares mixtures of three."""
    records, outcomes, epsilon = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.5, 3.0]), 2.0
    losses = np.abs(records[:, np.newaxis] - outcomes)
    laws = {}
    for members in combinations(range(4), 2):
        weights = np.exp(-epsilon * losses[list(members)].sum(axis=0) / (2.0 * 3.0))
        laws[members] = weights / weights.sum()
    worst = max(
        attacks.best_accuracy(
            np.mean([law for members, law in laws.items() if x in members], axis=0),
            np.mean([law for members, law in laws.items() if x not in members], axis=0),
        )
        for x in range(4)
    )
    yield Row(
        "exponential mechanism, two of {0, 1, 2, 3}, epsilon = 2",
        "eta",
        worst - 0.5,
        advantage_ceiling(epsilon) / 2.0,
        "advantage_ceiling/2",
        papers.mip_theorem_4(epsilon, 0.0),
        "MIP, Theorem 4",
    )


def laplace_and_gaussian() -> Iterator[Row]:
    """One number moved by its sensitivity, 1: DP's promise against the distance of the two densities."""
    for epsilon in (0.5, 2.0):
        truth = mixtures.hockey_stick([0.0], [1.0], "Laplace", 1.0 / epsilon, 0.0) / 2.0
        for ours, by in (
            (advantage_ceiling(epsilon) / 2.0, "advantage_ceiling/2"),
            (laplace_total_variation(epsilon) / 2.0, "laplace_total_variation/2"),
        ):
            yield Row(
                f"Laplace mechanism, epsilon = {epsilon:g}",
                "eta",
                truth,
                ours,
                by,
                papers.mip_theorem_4(epsilon, 0.0),
                "MIP, Theorem 4",
            )
    mu, epsilon = 1.0, 1.0
    delta = mixtures.hockey_stick([0.0], [1.0], "Gaussian", 1.0, epsilon)
    yield Row("Gaussian mechanism, mu = 1, epsilon = 1", "delta", delta, gaussian_delta(mu, epsilon), "gaussian_delta")
    cuts = np.linspace(-20.0, 20.0, 400_001)
    for prior in (0.5, 0.3, 0.1):
        right = prior * norm.sf(cuts - mu) + (1.0 - prior) * norm.cdf(cuts)
        truth = 2.0 * float(right.max()) - 1.0
        case = f"Gaussian mechanism, mu = 1, prior {prior:g}"
        ours, by = tightest(bounds(GaussianDp(mu), prior), "advantage")
        yield Row(case, "advantage", truth, ours, by)
        yield Row(
            f"{case}, told as epsilon = 1 and its delta",
            "advantage",
            truth,
            *tightest(bounds(ApproximateDp(epsilon, delta + 1e-15), prior), "advantage"),
        )
    for rate in (0.01, 0.1):
        ours, by = tightest(bounds(GaussianDp(mu), false_positive_rates=[rate]), f"tpr_at_fpr_{rate:g}")
        cut = norm.isf(rate)
        yield Row("Gaussian mechanism, mu = 1", f"TPR at FPR {rate:g}", float(norm.sf(cut - mu)), ours, by)


def add_or_remove() -> Iterator[Row]:
    """A promise about adding a record, members being a fixed number: two steps, by way of the set without either."""
    epsilon = 1.0
    lost = np.exp(-epsilon) / 2.0
    inside, outside = (np.array([1.0 - lost, lost]), np.array([lost, 1.0 - lost]))  # either e^eps from (1/2, 1/2)
    ours, by = tightest(bounds(ApproximateDp(epsilon), adjacency="add_remove"), "advantage")
    yield Row(
        "one bit, epsilon = 1 by adding or removing, half of the records",
        "advantage",
        attacks.best_advantage(inside, outside),
        ours,
        by,
        2.0 * papers.mip_theorem_4(2.0 * epsilon, 0.0),
        "MIP, Theorem 4 at 2 epsilon",
    )


def security() -> Iterator[Row]:
    """MIS under epsilon-DP: a nonmember is a fresh draw, so the corners of DP's ROC curve can be halved."""
    for epsilon in (0.5, 2.0):
        for gamma in (0.5, 1.0, 2.0):
            outside, inside = selection.joint(8, 4 if gamma == 1.0 else 2, epsilon)
            nu = gamma / (1.0 + gamma)
            candidates = bounds(ApproximateDp(epsilon), 1.0 - nu)
            truth = selection.insecurity(outside, inside, gamma)
            case = f"subset selection from 8 categories, epsilon = {epsilon:g}, gamma = {gamma:g}"
            paper = papers.mis_equation_9(epsilon, 0.0, gamma)
            for quantity, name in (("mis_delta", "envelope"), ("mis_delta_iid", "iid")):
                ours = next(each.value for each in candidates if each.quantity == quantity and each.name == name)
                yield Row(case, "Delta", truth, ours, name, paper, "MIS, Eq. 9")
