"""Worlds whose truth is known in closed form or by quadrature: what the estimators are judged against."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr
from scipy.stats import beta, binom, cauchy, norm, t

Array = NDArray[np.generic]


@dataclass(frozen=True)
class World:
    """A pair of score distributions: how to draw from them, and what is true of them.

    ``share`` gives the true probability of each cell of a partition, so the truth at a stated
    resolution can be computed too.
    """

    name: str
    draw: Callable[[np.random.Generator, int, int], tuple[Array, Array]]
    truth: Callable[[float], float]
    member_cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None)
    nonmember_cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None)
    dimension: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", cache(self.truth))  # quadrature is slow, simulations ask often

    def truth_at(self, cuts: NDArray[np.float64], prior: float) -> float:
        """Advantage of the best adversary that sees only the interval between cuts a score falls in."""
        assert self.member_cdf is not None
        assert self.nonmember_cdf is not None
        r = np.diff(self.member_cdf(cuts), prepend=0.0, append=1.0)
        q = np.diff(self.nonmember_cdf(cuts), prepend=0.0, append=1.0)
        return float(np.abs(prior * r - (1 - prior) * q).sum())


def shift_for(advantage: float) -> float:
    """Mean difference of two unit Gaussians with this advantage at prior 1/2: 2 Phi(m/2) - 1."""
    return float(2 * norm.ppf((1 + advantage) / 2))


def _normal_pair_truth(m: float, s: float) -> Callable[[float], float]:
    def truth(prior: float) -> float:
        return _integral(lambda x: prior * norm.pdf(x, m, s) - (1 - prior) * norm.pdf(x))

    return truth


def _integral(difference: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    grid = np.linspace(-40, 40, 400_001)
    return float(np.trapezoid(np.abs(difference(grid)), grid))


def identical() -> World:
    """No leakage: the truth is the baseline |2p-1|."""
    return World(
        "identical",
        lambda rng, a, b: (rng.normal(size=a), rng.normal(size=b)),
        lambda prior: abs(2 * prior - 1),
        ndtr,
        ndtr,
    )


def gaussian_shift(advantage: float) -> World:
    """Unit Gaussians apart so that the advantage at prior 1/2 is the one named."""
    m = shift_for(advantage)
    return World(
        f"shift {advantage:g}",
        lambda rng, a, b: (rng.normal(m, size=a), rng.normal(size=b)),
        _normal_pair_truth(m, 1.0),
        lambda x: ndtr(x - m),
        ndtr,
    )


def scale(s: float = 1.5) -> World:
    """Members spread wider: a leak with two sides, of which a threshold sees half."""
    return World(
        f"scale {s:g}",
        lambda rng, a, b: (rng.normal(0, s, size=a), rng.normal(size=b)),
        _normal_pair_truth(0.0, s),
        lambda x: ndtr(x / s),
        ndtr,
    )


def heavy_tails(advantage: float = 0.2) -> World:
    """Student's t with two degrees of freedom, shifted: by symmetry the cut at m/2 is best at prior 1/2."""
    m = 2 * float(t.ppf((1 + advantage) / 2, 2))

    def truth(prior: float) -> float:
        grid = np.sinh(np.linspace(-12, 12, 400_001))
        values = np.abs(prior * t.pdf(grid - m, 2) - (1 - prior) * t.pdf(grid, 2))
        return float(np.trapezoid(values, grid))

    return World(
        "t2",
        lambda rng, a, b: (rng.standard_t(2, size=a) + m, rng.standard_t(2, size=b)),
        truth,
        lambda x: t.cdf(np.asarray(x) - m, 2),
        lambda x: t.cdf(np.asarray(x), 2),
    )


def cauchy_shift(advantage: float = 0.2) -> World:
    """Cauchy, shifted: no moments at all."""
    m = 2 * float(cauchy.ppf((1 + advantage) / 2))

    def truth(prior: float) -> float:
        grid = np.sinh(np.linspace(-18, 18, 400_001))
        return float(np.trapezoid(np.abs(prior * cauchy.pdf(grid - m) - (1 - prior) * cauchy.pdf(grid)), grid))

    return World(
        "cauchy",
        lambda rng, a, b: (rng.standard_cauchy(a) + m, rng.standard_cauchy(b)),
        truth,
        lambda x: cauchy.cdf(np.asarray(x) - m),
        lambda x: cauchy.cdf(np.asarray(x)),
    )


def rare_leak(share: float = 0.02) -> World:
    """A few members memorised: far out, where no nonmember is."""

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        members = rng.normal(size=a)
        members[rng.random(a) < share] += 12.0
        return members, rng.normal(size=b)

    def truth(prior: float) -> float:
        return prior * share + abs(prior * (1 - share) - (1 - prior))

    return World(
        f"rare {share:g}", draw, truth, lambda x: (1 - share) * ndtr(x) + share * ndtr(np.asarray(x) - 12.0), ndtr
    )


def atoms() -> World:
    """A saturated sigmoid: a third of the mass exactly at 1, the rest continuous below it."""

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        return np.minimum(rng.normal(0.5067, size=a), 0.7), np.minimum(rng.normal(size=b), 0.7)

    def truth(prior: float) -> float:
        grid = np.linspace(-40, 0.7, 400_001)
        below = np.trapezoid(np.abs(prior * norm.pdf(grid, 0.5067) - (1 - prior) * norm.pdf(grid)), grid)
        return float(below + abs(prior * norm.sf(0.7, 0.5067) - (1 - prior) * norm.sf(0.7)))

    return World(
        "atoms",
        draw,
        truth,
        lambda x: np.where(np.asarray(x) > 0.7, 1.0, ndtr(np.asarray(x) - 0.5067)),
        lambda x: np.where(np.asarray(x) > 0.7, 1.0, ndtr(x)),
    )


def alternating(steps: int = 10, advantage: float = 0.15) -> World:
    """Uniform, but members prefer every other of ``steps`` steps: only a fine resolution sees it."""
    tilt = 2 * advantage

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        even = rng.random(a) < (1 + tilt) / 2
        step = 2 * rng.integers(0, steps // 2, size=a) + ~even
        return (step + rng.random(a)) / steps, rng.random(b)

    def truth(prior: float) -> float:
        return 0.5 * abs(prior * (1 + tilt) - (1 - prior)) + 0.5 * abs(prior * (1 - tilt) - (1 - prior))

    def cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = np.where(np.arange(steps) % 2 == 0, 1 + tilt, 1 - tilt) / steps
        ends = np.concatenate([[0.0], np.cumsum(weights)])
        return np.interp(x, np.arange(steps + 1) / steps, ends)

    return World("alternating", draw, truth, cdf, lambda x: np.clip(x, 0.0, 1.0))


def comb(teeth: int, share: float, factor: float) -> World:
    """Uniform, but members are so many times as dense in narrow teeth that hold this share of the nonmembers."""
    width, gap = share / teeth, (1.0 - share) / teeth

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        tooth, inside = rng.integers(0, teeth, a), rng.random(a) < share * factor
        place = np.where(inside, width * rng.random(a), width + gap * rng.random(a))
        return tooth * (width + gap) + place, rng.random(b)

    def truth(prior: float) -> float:
        within = abs(prior * share * factor - (1 - prior) * share)
        return within + abs(prior * (1 - share * factor) - (1 - prior) * (1 - share))

    return World("comb", draw, truth)


def half_split_lower(
    members: NDArray[np.float64], nonmembers: NDArray[np.float64], rng: np.random.Generator, nearest: int = 15
) -> float:
    """Certified at 97.5% of nearest neighbours in rank: half of each side teach, the others judge (Clopper-Pearson)."""
    sides = [rng.permutation(side) for side in (members, nonmembers)]
    (taught1, judging1), (taught0, judging0) = (np.split(side, [len(side) // 2]) for side in sides)
    taught = np.concatenate([taught1, taught0])
    weight = np.repeat([1.0 / len(taught1), -1.0 / len(taught0)], [len(taught1), len(taught0)])
    order = np.argsort(taught)
    sums = np.concatenate([[0.0], weight[order].cumsum()])

    def accuses(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        first = np.searchsorted(taught[order], scores) - nearest // 2 - 1
        first = np.clip(first, 0, len(taught) - nearest)
        return np.asarray(sums[first + nearest] > sums[first])

    right = int(accuses(judging1).sum() + (~accuses(judging0)).sum())
    judged = len(judging1) + len(judging0)
    return float(2.0 * beta.ppf(0.025, right, judged - right + 1) - 1.0)


def categories(size: int, advantage: float, name: str | None = None) -> World:
    """Equally likely categories, of which members prefer every other one by ``advantage``."""
    r = np.where(np.arange(size) % 2 == 0, 1 + 2 * advantage, 1 - 2 * advantage) / size
    q = np.full(size, 1.0 / size)
    return categorical(name or f"{size} categories", r / r.sum(), q)


def categorical(name: str, r: NDArray[np.float64], q: NDArray[np.float64]) -> World:
    """Categories with given probabilities; labels are text, so nothing about their order is known."""
    labels = np.array([f"c{i:05d}" for i in range(len(r))])

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        return labels[rng.choice(len(r), size=a, p=r)], labels[rng.choice(len(q), size=b, p=q)]

    return World(name, draw, lambda prior: float(np.abs(prior * r - (1 - prior) * q).sum()))


def zipf(size: int = 100) -> World:
    """Zipf categories tilted by a smooth random-looking sign pattern."""
    q = 1.0 / np.arange(1, size + 1)
    q /= q.sum()
    tilt = 0.25 * np.sign(np.sin(np.arange(size) * 2.3))
    r = q * (1 + tilt)
    return categorical(f"zipf {size}", r / r.sum(), q)


def xor(advantage: float = 0.2) -> World:
    """Two numbers whose signs agree more often for members: invisible in each number alone."""
    tilt = 2 * advantage

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Array, Array]:
        members = np.abs(rng.normal(size=(a, 2))) * rng.choice([-1.0, 1.0], size=(a, 1))
        flip = rng.random(a) > (1 + tilt) / 2
        members[flip, 1] *= -1
        return members, rng.normal(size=(b, 2))

    def truth(prior: float) -> float:
        return 0.5 * abs(prior * (1 + tilt) - (1 - prior)) + 0.5 * abs(prior * (1 - tilt) - (1 - prior))

    return World("xor 2-d", draw, truth, dimension=2)


def vector_shift(dimension: int, advantage: float) -> World:
    """Unit Gaussians in several dimensions, shifted along the diagonal."""
    m = shift_for(advantage)
    step = m / np.sqrt(dimension)
    line = gaussian_shift(advantage)
    return World(
        f"shift {dimension}-d",
        lambda rng, a, b: (rng.normal(step, size=(a, dimension)), rng.normal(size=(b, dimension))),
        line.truth,
        dimension=dimension,
    )


WORLDS: tuple[World, ...] = (
    identical(), gaussian_shift(0.05), gaussian_shift(0.2), gaussian_shift(0.5), scale(), heavy_tails(),
    atoms(), rare_leak(), alternating(), categories(10, 0.1), categories(100, 0.1), categories(10_000, 0.1),
    xor(), vector_shift(5, 0.2),
)  # fmt: skip
"""The scenarios of the coverage table (docs/methods.md)."""


def answers(rng, epsilon, n_members, n_nonmembers):
    """Randomised response on membership, blurred inside each answer: its epsilon is exactly the one named."""
    honest = expit(epsilon)
    members = np.where(rng.random(n_members) < honest, 1.0, -1.0)
    nonmembers = np.where(rng.random(n_nonmembers) < honest, -1.0, 1.0)
    return members + 0.5 * rng.random(n_members), nonmembers + 0.5 * rng.random(n_nonmembers)


def copied(rows: int, copies: int, seed: int) -> tuple[Array, Array]:
    """Closeness to the nearest synthetic row: copies stand at the very top."""
    rng = np.random.default_rng(seed)
    closeness = [-rng.gamma(4.0, 0.1, rows) for _ in range(2)]
    closeness[0][:copies] = 0.0
    return closeness[0], closeness[1]


def most_misses(runs: int, level: float = 0.025) -> int:
    """Misses that a method of this level exceeds once in a thousand simulations."""
    return int(binom.isf(1e-3, runs, level))
