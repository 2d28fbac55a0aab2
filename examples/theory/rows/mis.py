"""MIS: learning procedures on n draws from a few categories, against every data set there is."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from estimators.theory.mis.security import bracket, c_k, divergence, security_at, simple_delta, worst_delta
from examples.theory.rows import papers
from examples.theory.rows.row import Row
from examples.theory.truth import counting

Shares = tuple[float, ...]
THREE: Shares = (0.5, 0.3, 0.2)
LEANING: Shares = (0.9, 0.1)
EVEN: Shares = (0.25,) * 4
GAMMAS = (0.5, 1.0, 2.0)


def rows() -> Iterator[Row]:
    """Every bound of the paper on discrete data."""
    yield from worst_procedure()
    yield from by_diversity()
    yield from milder_procedures()
    yield from overfitting()


def worst_procedure() -> Iterator[Row]:
    """Theorem 14 is an equality; the procedure that hands out its histogram attains it."""
    for p, n in ((THREE, 4), (LEANING, 3)):
        for gamma in GAMMAS:
            yield Row(
                f"worst procedure, P = {p}, n = {n}, gamma = {gamma:g}",
                "Delta",
                counting.insecurity(p, n, counting.histogram, gamma),
                worst_delta(p, n, gamma),
                "worst_delta",
                papers.mis_theorem_14(p, n, gamma),
                "Theorem 14",
            )


def by_diversity() -> Iterator[Row]:
    """Corollary 15, on both sides; the worst share of nonmembers is at gamma = 1."""
    for p, n in ((EVEN, 5), (THREE, 6)):
        delta = counting.insecurity(p, n, counting.histogram, 1.0)
        low, high = bracket(p, n)
        case = f"worst procedure, P = {p}, n = {n}"
        yield Row(case, "Delta", delta, high, "bracket", papers.mis_corollary_15(p, n), "Corollary 15, c' = 0.44")
        lowest = 1.0 - 0.29 * papers.mis_diversity(p) / sqrt(n)
        yield Row(case, "Sec", 1.0 - delta, 1.0 - low, "bracket", lowest, "Corollary 15, c = 0.29")
    for p, n in ((LEANING, 3), (EVEN, 3)):
        yield Row(
            f"worst procedure, P = {p}, n = {n} (not above every 1/p_k)",
            "Delta",
            counting.insecurity(p, n, counting.histogram, 1.0),
            simple_delta(c_k(p), n),
            "simple_delta",
            papers.mis_diversity(p) / (2.0 * sqrt(n)),
            "C_K/(2 sqrt n)",
        )


def milder_procedures() -> Iterator[Row]:
    """Procedures that tell less: the exact divergence, and what the mutual information alone says."""
    p, n = THREE, 4
    for gamma in GAMMAS:
        outside, inside = counting.with_nonmember(p, n, max), counting.with_member(p, n, max)
        keys = sorted(outside.keys() | inside.keys(), key=str)
        yield Row(
            f"the largest of n = {n} draws, P = {p}, gamma = {gamma:g}",
            "Delta",
            counting.insecurity(p, n, max, gamma),
            divergence([outside.get(k, 0.0) for k in keys], [inside.get(k, 0.0) for k in keys], gamma),
            "divergence",
            papers.mis_equation_8(counting.information(p, n, max), gamma),
            "Eq. 8 (Pinsker)",
        )


def overfitting() -> Iterator[Row]:
    """A procedure that hands out which categories it saw, and has a loss of 0 on them and of 1 elsewhere."""
    p, n = (1 / 6,) * 6, 3
    outside = counting.with_nonmember(p, n, frozenset)
    below = sum(weight for (output, k), weight in outside.items() if isinstance(output, frozenset) and k in output)
    for gamma in GAMMAS:
        yield Row(
            f"six equal categories, n = {n}, loss 0 on what was seen, gamma = {gamma:g}",
            "Sec",
            1.0 - counting.insecurity(p, n, frozenset, gamma),
            min(security_at(1.0, below, gamma), 1.0),
            "security_at",
            papers.mis_theorem_11(0.0, below, gamma),
            "Theorem 11",
        )
