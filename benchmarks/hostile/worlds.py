"""Worlds whose truth is known exactly: the mass of both sides at points, or in intervals too small to matter."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from benchmarks.hostile.question import CellOf, Column, Covers, Question
from benchmarks.worlds import Draw as ClusterDraw
from benchmarks.worlds import Floats, Part, Rng, copies, crossed, draw_mixture, equal, people, shift

Sides = tuple[Column, Column]
Sizes = tuple[int, int]
Draw = Callable[[Rng, int, int], Sides]

GRID = np.linspace(-12.0, 33.0, 90_001)


@dataclass(frozen=True)
class Laws:
    """Both sides' laws of a score: masses at points, in the order of the score if it has one."""

    points: Column | None
    members: Floats
    nonmembers: Floats

    def advantage(self, prior: float) -> float:
        return float(np.abs(self._gain(prior)).sum())

    def covered(self, prior: float, covers: Covers, cell_of: CellOf | None) -> float | None:
        """The largest advantage of the attackers that an upper end is meant for; None if that is not known here."""
        if covers is Covers.ANY:
            return self.advantage(prior)
        if covers is Covers.OWN_SCORE or self.points is None:
            return None
        gain = self._gain(prior)
        cuts = 2.0 * np.concatenate([[0.0], gain.cumsum()]) - gain.sum()
        """What the rule has that says "member" below the cut, and "nonmember" above."""
        if covers is Covers.MEMBERS_ABOVE:
            return float((-cuts).max())
        values = [float(np.abs(cuts).max())]
        if covers is Covers.TWO_CHANGES:
            rise = (cuts - np.minimum.accumulate(cuts)).max()
            fall = (np.maximum.accumulate(cuts) - cuts).max()
            values += [float(rise - gain.sum()), float(fall + gain.sum())]
        if cell_of is not None:
            values.append(float(np.abs(np.bincount(1 + cell_of(self.points), gain)).sum()))
        return max(values)

    def epsilon(self) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(np.log(self.members / self.nonmembers))
        return float(np.nanmax(ratio))

    def _gain(self, prior: float) -> Floats:
        return prior * self.members - (1.0 - prior) * self.nonmembers


@dataclass(frozen=True)
class World:
    """How a question is drawn, and what is true. Of one with looks the tool is asked again after so many a side."""

    name: str
    sizes: tuple[int, int]
    prior: float
    laws: Laws
    epsilon: float
    question: Callable[[Rng], Question]
    looks: tuple[int, ...] = ()
    clustered: bool = False

    @property
    def independent(self) -> bool:
        """Whether records are independent and the tool is asked once, as every tool assumes."""
        return not self.looks and not self.clustered

    @property
    def truth(self) -> float:
        return self.laws.advantage(self.prior)

    @property
    def leaks(self) -> bool:
        """Whether an attacker who sees the score does better than one who does not."""
        return self.truth > abs(2.0 * self.prior - 1.0) + 1e-6


def independent(
    name: str, laws: Laws, draw: Draw, sizes: Sizes, prior: float = 0.5, epsilon: float | None = None
) -> World:
    """Records of each side drawn one by one."""

    def question(rng: Rng) -> Question:
        return Question(*draw(rng, *sizes), prior)

    return World(name, sizes, prior, laws, laws.epsilon() if epsilon is None else epsilon, question)


def in_cells(cuts: Floats, parts: Iterable[Part]) -> Floats:
    """The mass of a mixture of normal laws between cuts."""
    below = sum(share * ndtr((cuts - mean) / spread) for share, mean, spread in parts)
    return np.diff(below, prepend=0.0, append=1.0)


STANDARD: tuple[Part, ...] = ((1.0, 0.0, 1.0),)


def normals(name: str, members: tuple[Part, ...], sizes: tuple[int, int], prior: float = 0.5) -> World:
    """A mixture of normal laws beside a standard normal one; if they differ, their ratio has no largest value."""
    sides = [in_cells(GRID, parts) for parts in (members, STANDARD)]
    points = np.concatenate([[GRID[0] - 1.0], (GRID[1:] + GRID[:-1]) / 2.0, [GRID[-1] + 1.0]])

    def draw(rng: Rng, n: int, m: int) -> Sides:
        return draw_mixture(rng, members, n), draw_mixture(rng, STANDARD, m)

    epsilon = 0.0 if members == STANDARD else math.inf
    return independent(name, Laws(points, *sides), draw, sizes, prior, epsilon)


def ties(name: str, by: float, step: float, sizes: tuple[int, int]) -> World:
    """Shifted normal scores, rounded to a multiple of the step."""
    values = np.arange(-20, 21 + int(by / step)) * step
    edges = (values[1:] + values[:-1]) / 2.0
    sides = [in_cells(edges, shifted(mean)) for mean in (by, 0.0)]

    def draw(rng: Rng, n: int, m: int) -> Sides:
        steps = [np.round(side / step) for side in (rng.normal(by, 1.0, n), rng.normal(0.0, 1.0, m))]
        first, last = values[0] / step, values[-1] / step
        return np.clip(steps[0], first, last) * step, np.clip(steps[1], first, last) * step

    return independent(name, Laws(values, *sides), draw, sizes)


def atom(name: str, share: float, by: float, sizes: tuple[int, int]) -> World:
    """A share of either side's scores is 0; the others are normal, members' shifted."""
    grid = GRID[np.abs(GRID) > 1e-9]
    points = np.concatenate([grid - 1e-9, [0.0]])
    order = np.argsort(points, kind="stable")
    sides = []
    for mean in (by, 0.0):
        masses = (1.0 - share) * np.diff(ndtr(grid - mean), prepend=0.0)
        masses[-1] += (1.0 - share) * ndtr(mean - grid[-1])
        sides.append(np.append(masses, share)[order])

    def draw(rng: Rng, n: int, m: int) -> Sides:
        scores = rng.normal(by, 1.0, n), rng.normal(0.0, 1.0, m)
        return tuple(np.where(rng.random(len(each)) < share, 0.0, each) for each in scores)

    return independent(name, Laws(points[order], *sides), draw, sizes, epsilon=0.0 if by == 0.0 else math.inf)


def waves(name: str, periods: int, sizes: tuple[int, int], depth: float = 0.6) -> World:
    """Uniform nonmembers, and members whose density waves around theirs."""
    edges = np.linspace(0.0, 1.0, 200 * periods + 1)
    turn = 2.0 * np.pi * periods
    members = np.diff(edges) - depth * np.diff(np.cos(turn * edges)) / turn
    laws = Laws((edges[1:] + edges[:-1]) / 2.0, members, np.diff(edges))

    def draw(rng: Rng, n: int, m: int) -> Sides:
        tries = rng.random(4 * n + 200)
        accepted = tries[(1.0 + depth) * rng.random(tries.size) < 1.0 + depth * np.sin(turn * tries)]
        return accepted[:n], rng.random(m)

    return independent(name, laws, draw, sizes, epsilon=-math.log(1.0 - depth))


def hole(name: str, width: float, sizes: tuple[int, int]) -> World:
    """Uniform nonmembers, and members who are uniform, too, but never in the middle."""
    edges = np.linspace(0.0, 1.0, 2001)
    points = (edges[1:] + edges[:-1]) / 2.0
    members = (np.abs(points - 0.5) > width / 2.0) / 2000.0 / (1.0 - width)

    def draw(rng: Rng, n: int, m: int) -> Sides:
        beside = rng.uniform(width / 2.0, 0.5, n)
        return np.where(rng.random(n) < 0.5, 0.5 + beside, 0.5 - beside), rng.random(m)

    return independent(name, Laws(points, members, np.diff(edges)), draw, sizes)


def categories(name: str, kinds: int, tilt: float, sizes: tuple[int, int]) -> World:
    """Names of which few are frequent; of the rare ones every second is more frequent among members."""
    nonmembers = 1.0 / (1.0 + np.arange(kinds)) ** 1.1
    members = nonmembers * (1.0 + tilt * (np.arange(kinds) >= 10) * (-1.0) ** np.arange(kinds))
    members, nonmembers = members / members.sum(), nonmembers / nonmembers.sum()
    names = np.array([f"kind {place}" for place in np.random.default_rng(0).permutation(kinds)])

    def draw(rng: Rng, n: int, m: int) -> Sides:
        return rng.choice(names, n, p=members), rng.choice(names, m, p=nonmembers)

    return independent(name, Laws(names, members, nonmembers), draw, sizes)


def parity(name: str, width: int, of: int, advantage: float, sizes: tuple[int, int]) -> World:
    """Rows of normal numbers; the product of the first few signs is +1 more often among members."""
    chances = np.array([1.0 + advantage, 1.0 - advantage]) / 2.0

    def side(rng: Rng, n: int, even: float) -> Floats:
        rows = rng.normal(size=(n, width))
        rows[:, 0] = np.abs(rows[:, 0]) * np.sign(rows[:, 1:of]).prod(axis=1)
        rows[:, 0] *= np.where(rng.random(n) < even, 1.0, -1.0)
        return rows

    def draw(rng: Rng, n: int, m: int) -> Sides:
        return side(rng, n, chances[0]), side(rng, m, chances[1])

    return independent(name, Laws(None, chances, chances[::-1]), draw, sizes)


def clusters(name: str, draw: ClusterDraw, advantage: float, rows: int) -> World:
    """Rows that are alike within persons, or within records and models."""

    def question(rng: Rng) -> Question:
        members, nonmembers, labels = draw(rng)
        return Question(members, nonmembers, 0.5, tuple(labels))

    alone = normals(name, shifted(shift(advantage)), (rows, rows))
    return replace(alone, question=question, clustered=True)


def looks(name: str, by: float, batch: int, times: int) -> World:
    """Scores that come batch by batch, and somebody who asks after each."""
    all_at_once = normals(name, shifted(by), (batch * times, batch * times))
    return replace(all_at_once, looks=tuple(batch * (1 + i) for i in range(times)))


def shifted(by: float) -> tuple[Part, ...]:
    return ((1.0, by, 1.0),)


MEMORISED = ((0.02, 20.0, 1.0), (0.98, 0.0, 1.0))

WORLDS = (
    normals("no leak", STANDARD, (8, 8)),
    normals("no leak", STANDARD, (1000, 1000)),
    normals("no leak", STANDARD, (100_000, 100_000)),
    normals("no leak", STANDARD, (200, 1800)),
    normals("no leak, prior 0.01", STANDARD, (100, 9900), 0.01),
    normals("no leak, prior 0.99", STANDARD, (9900, 100), 0.99),
    ties("no leak, ties", 0.0, 1.0, (300, 300)),
    atom("no leak, half the scores are 0", 0.5, 0.0, (500, 500)),
    categories("no leak, 1,000 names", 1000, 0.0, (500, 500)),
    normals("shift 0.5", shifted(0.5), (300, 300)),
    normals("shift 0.5", shifted(0.5), (1000, 1000)),
    normals("shift 0.2", shifted(0.2), (100_000, 100_000)),
    normals("shift 1", shifted(1.0), (10, 10_000)),
    normals("shift 1, prior 0.1", shifted(1.0), (1000, 1000), 0.1),
    normals("shift 1, prior 0.9", shifted(1.0), (1800, 200), 0.9),
    normals("shift 3, prior 0.01", shifted(3.0), (100, 9900), 0.01),
    normals("shift 3, prior 0.99", shifted(3.0), (9900, 100), 0.99),
    ties("shift 1, ties", 1.0, 1.0, (300, 300)),
    atom("shift 0.5, half the scores are 0", 0.5, 0.5, (500, 500)),
    normals("total leak", shifted(20.0), (8, 8)),
    normals("total leak", shifted(20.0), (500, 500)),
    normals("2% are memorised", MEMORISED, (1000, 1000)),
    normals("2% are memorised", MEMORISED, (10_000, 10_000)),
    normals("members spread wider", ((1.0, 0.0, 1.5),), (1000, 1000)),
    categories("1,000 names, rare ones tilted", 1000, 0.9, (500, 500)),
    waves("density crosses 5 times", 3, (5000, 5000)),
    waves("density crosses 19 times", 10, (5000, 5000)),
    parity("product of 2 signs", 2, 2, 0.2, (3000, 3000)),
    parity("product of 3 signs among 8", 8, 3, 0.3, (3000, 3000)),
    clusters("no leak, 40 persons of 50 rows", people(equal(40, 50), 0.5, 0.0), 0.0, 1000),
    clusters("no leak, half the rows are copies", copies(500, 0.5, 0.0), 0.0, 500),
    clusters("no leak, 100 records, 20 models", crossed(100, 20, (0.4, 0.2), 0.0, both=True), 0.0, 1000),
    clusters("0.2, 100 persons of 20 rows", people(equal(100, 20), 0.5, 0.2), 0.2, 1000),
    looks("no leak, asked 30 times", 0.0, 50, 30),
    looks("shift 0.25, asked 30 times", 0.25, 50, 30),
    normals("total leak, prior 0.01", shifted(20.0), (100, 9900), 0.01),
    normals("total leak", shifted(20.0), (10_000, 10_000)),
    hole("members have a hole", 0.3, (1000, 1000)),
)
