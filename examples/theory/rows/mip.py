"""MIP: the mean of four of eight numbers with noise, all 70 training sets; and the exact value of finite laws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from estimators.theory.mip.attack import finite_eta
from estimators.theory.mip.noises import Gaussian, KNorm, Noise, Norm
from estimators.theory.mip.scales import corollary_10_scale, linear_scale, moment_eta, moment_scale, theorem_9_scale
from examples.theory.rows import papers
from examples.theory.rows.row import Row
from examples.theory.truth import attacks, mixtures, radial

Floats = NDArray[np.float64]
ETA = 0.1
DATA = {
    "two records, mean of one": (0.0, 1.0),
    "0 to 7, mean of four": tuple(range(8)),
    "four 0, four 1, mean of four": (0.0,) * 4 + (1.0,) * 4,
    "0 to 6 and 40, mean of four": (*range(7), 40),
}
NOISES: dict[str, Noise] = {"Laplace": KNorm(Norm.euclid(1)), "Gaussian": Gaussian([1.0])}


def rows() -> Iterator[Row]:
    """Every calibration on every data set, at eta = 0.1."""
    for case, data in DATA.items():
        records = np.asarray(data, dtype=float)
        members = mixtures.subsets(len(records), len(records) // 2)
        outputs = members @ records / (len(records) // 2)
        for law, noise in NOISES.items():
            yield from calibrations(case, law, noise, outputs, members)
    yield from printed_radius()
    yield from finite_laws()


def printed_radius() -> Iterator[Row]:
    """Corollary 10's Laplace radius in many dimensions, theta = +-sigma by membership: the noise stays too near."""
    for dimension in (1, 10**6):
        truth = radial.laplace_radius_eta(corollary_10_scale(ETA, 1.0, 2.0), dimension)
        yield Row(
            f"Corollary 10's radius as printed, d = {dimension}, two records at +-sigma",
            "eta",
            truth,
            0.5 if dimension > 1 else moment_eta(corollary_10_scale(ETA, 1.0, 2.0), NOISES["Laplace"], 1.0),
            "nothing is claimed" if dimension > 1 else "moment_eta",
            ETA,
            "Corollary 10",
            refuted=dimension > 1,
        )


def finite_laws() -> Iterator[Row]:
    """Proposition 2 for training sets of any size: a random law for each, every adversary tried."""
    rng = np.random.default_rng(0)
    for records, size in ((4, 2), (5, 2), (6, 3)):
        members = mixtures.subsets(records, size)
        laws = rng.dirichlet([0.5] * 4, size=len(members))
        prior = size / records
        truth = max(
            attacks.best_accuracy(laws[column].mean(axis=0), laws[~column].mean(axis=0), prior) for column in members.T
        ) - max(prior, 1.0 - prior)
        result = finite_eta(laws, records, size)
        case = f"random laws on four outcomes, {size} of {records} records"
        yield Row(case, "eta", truth, result.eta, "finite_eta")
        yield Row(case, "eta", truth, result.bound, "finite_eta, by swaps")


def calibrations(case: str, law: str, noise: Noise, outputs: Floats, members: NDArray[np.bool_]) -> Iterator[Row]:
    """Noise as the paper and as we would have it; the truth is what that noise attains."""

    def eta_at(scale: float) -> float:
        return mixtures.exact_eta(outputs, members, law, scale)

    sigma, mean = float(outputs.std()), float(np.abs(outputs - outputs.mean()).mean())
    if law == "Laplace":
        nine, ten = theorem_9_scale(ETA, sigma, 2.0), corollary_10_scale(ETA, sigma, 2.0)
        for name, scale in (("Theorem 9", nine), ("Corollary 10", ten)):
            yield Row(
                f"{case}; {law} noise of {name} ({scale / sigma:.0f} sigma)",
                "eta",
                eta_at(scale),
                moment_eta(scale, noise, sigma),
                "moment_eta",
                ETA,
                name,
            )
        scale = linear_scale(ETA, sigma)
        yield Row(
            f"{case}; {law} noise sigma/(2 eta) ({scale / sigma:.0f} sigma)",
            "eta",
            eta_at(scale),
            ETA,
            "linear_scale",
            min(0.5, papers.mip_eta_of_noise(scale / sigma, 2.0)),
            "Corollary 10, solved for eta",
        )
    for name, deviation in (("sigma", sigma), ("mean deviation", mean)):
        scale = moment_scale(ETA, noise, deviation)
        yield Row(
            f"{case}; {law} noise by {name} ({scale / sigma:.2f} sigma)",
            "eta",
            eta_at(scale),
            moment_eta(scale, noise, deviation),
            "moment_scale",
        )
    scale = swap_scale(noise, outputs, members)
    yield Row(
        f"{case}; {law} noise by swaps ({scale / sigma:.2f} sigma)",
        "eta",
        eta_at(scale),
        swap_eta(scale, noise, outputs, members),
        "noise.total_variation over all swaps",
    )


def swap_eta(scale: float, noise: Noise, outputs: Floats, members: NDArray[np.bool_]) -> float:
    """Half the mean total variation over all pairs that differ in the record, for the worst one."""
    return 0.5 * max(
        float(noise.total_variation(noise.size(moves[:, np.newaxis]) / scale).mean())
        for moves in swaps(outputs, members)
    )


def swap_scale(noise: Noise, outputs: Floats, members: NDArray[np.bool_]) -> float:
    """The noise for which that is eta."""
    spread = float(np.ptp(outputs))
    return float(brentq(lambda scale: swap_eta(scale, noise, outputs, members) - ETA, 1e-3 * spread, 1e3 * spread))


def swaps(outputs: Floats, members: NDArray[np.bool_]) -> list[Floats]:
    """Of every record: how far the output moves when another takes its place, over all training sets with it."""
    records = members.shape[1]
    place = {tuple(np.flatnonzero(row)): i for i, row in enumerate(members)}
    moves: list[list[float]] = [[] for _ in range(records)]
    for subset in combinations(range(records), records // 2):
        for left in subset:
            for came in set(range(records)) - set(subset):
                other = tuple(sorted({*subset, came} - {left}))
                moves[left].append(outputs[place[other]] - outputs[place[subset]])
    return [np.array(each) for each in moves]
