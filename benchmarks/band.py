"""Does the band hold the whole ROC as often as it says, and how wide is it beside one of equal width? By simulation.

Some ten minutes. `levels` computes the chance exactly: n uniform numbers in order are a Poisson process that has n
events, so the chance to keep within all limits is a convolution from limit to limit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.special import betaincinv, gammaln, ndtr, ndtri

from benchmarks.harness import Note, Run, least, mark, table
from benchmarks.worlds import Floats, Integers, Rng
from estimators import Counts, Scores, best_precision, roc_band
from estimators.limits.every_cut import ALPHAS, SIZES, local_level, share_limits
from estimators.privacy.roc import from_the_top, operating_points
from estimators.sample.counting import finest

RUNS = 1000
LARGE_RUNS = 200
CONFIDENCE = 0.95
OF_SIDE = 1.0 - CONFIDENCE**0.5
SHOWN = (0.001, 0.01, 0.1, 0.5)


def chance_outside(n: int, level: float, apart: float = 0.0) -> float:
    """That of n uniform numbers one in order lies outside its limits of this level; of ranks so many s.d. apart."""
    rank = np.arange(1, n + 1)
    if apart:
        steps = apart * np.arange(np.pi * np.sqrt(n) / apart + 2.0) / (2.0 * np.sqrt(n))
        some = np.clip(np.ceil(n * np.sin(np.minimum(steps, np.pi / 2.0)) ** 2), 1, n).astype(np.int64)
        rank = np.unique(np.concatenate([some, n + 1 - some]))
    low, high = (betaincinv(rank, n + 1.0 - rank, side) for side in (level / 2.0, 1.0 - level / 2.0))
    places, ranks = np.concatenate([low, high]), np.concatenate([rank, rank])
    is_high = np.repeat([False, True], len(rank))
    order = np.argsort(places, kind="stable")
    steps = n * np.diff(places[order], prepend=0.0)
    factorial = gammaln(np.arange(n + 200.0) + 1.0)

    def events(mean: float, k: Integers) -> Floats:
        return np.asarray(np.exp(k * np.log(mean) - mean - factorial[k]))

    law, least = np.ones(1), 0  # of the events so far, and the fewest of them
    for step, k, must in zip(steps, ranks[order], is_high[order], strict=True):
        if step > 0.0:
            reach = 9.0 * np.sqrt(step)
            more = np.arange(max(0, int(step - reach - 5)), min(n, int(step + reach + 16)) + 1)
            law, least = np.convolve(law, events(step, more)), least + int(more[0])
        if must:  # at least k by here
            law, least = law[max(0, k - least) :], max(least, int(k))
        else:  # fewer than k
            law = law[: max(0, k - least)]
        if not len(law):
            return 1.0
    rest = n - least - np.arange(len(law))
    left = max(n * (1.0 - places[order][-1]), 1e-300)
    stays = float((law[rest >= 0] * events(left, rest[rest >= 0])).sum())
    return 1.0 - stays / float(np.exp(n * np.log(n) - n - factorial[n]))


def level_for(n: int, alpha: float, apart: float = 0.0) -> float:
    """The level of each limit at which all hold with probability 1 - alpha: what ``every_cut.ETAS`` has."""
    at = np.log(alpha / max(1.0, 4.0 * np.log(n)))
    for _ in range(40):  # the chance grows a little faster than the level
        excess = np.log(max(chance_outside(n, float(np.exp(at)), apart), 1e-300) / alpha)
        at -= excess
        if abs(excess) < 1e-4:
            break
    return float(np.exp(at - 2e-4))


@table
def levels(run: Run) -> Iterator[str]:
    """The chance that not all limits hold, as a share of what it may be; none may be above 1."""
    confidences = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
    yield "records | ranks | " + " | ".join(f"{each:.1%}" for each in confidences)
    rng = np.random.default_rng(0)
    between = np.unique(np.exp(rng.uniform(np.log(2), np.log(20_000), 12)).astype(int)).tolist()
    for n in run.few([*between, 50_000, 300_000, 1_000_000], 4):
        apart = 0.0 if n <= 20_000 else 0.2 if n <= 300_000 else 0.4
        alphas = [1.0 - confidence**0.5 for confidence in confidences]
        shares = [chance_outside(n, local_level(n, alpha), apart) / alpha for alpha in alphas]
        run.faults += sum(share > 1.0 for share in shares)
        ranks = "all" if not apart else f"{apart} s.d. apart"
        yield f"{n:,} | {ranks} | " + " | ".join(f"{share:.3f}" for share in shares)
    kept = f"{len(SIZES)} sizes and {len(ALPHAS)} alphas"
    yield Note(f"The levels at {kept} are kept; these sizes lie between.")


Curve = Callable[[Floats], Floats]
Limits = Callable[..., tuple[Floats, Floats]]


@dataclass(frozen=True)
class World:
    """Scores of both sides, the largest TPR of a cut with an FPR of at most f, and of one with an FPR below f."""

    name: str
    draw: Callable[[Rng, int, int], tuple[Floats, Floats]]
    roc: Curve
    below: Curve


def shifted(by: float, share: float = 1.0) -> World:
    """Normal scores, a share of the members' ones moved up."""

    def draw(rng: Rng, n1: int, n0: int) -> tuple[Floats, Floats]:
        return rng.normal(size=n1) + by * (rng.random(n1) < share), rng.normal(size=n0)

    def roc(f: Floats) -> Floats:
        f = np.clip(f, 0.0, 1.0)
        return np.asarray((1.0 - share) * f + share * ndtr(ndtri(f) + by))

    return World(f"{share:.0%} of members up by {by:g}" if share < 1.0 else f"shift {by:g}", draw, roc, roc)


def atoms(name: str, members: list[float], nonmembers: list[float]) -> World:
    """Scores 0, 1, 2, ... with these probabilities."""
    laws = [np.array(side) / sum(side) for side in (members, nonmembers)]
    tpr, fpr = (np.concatenate([[0.0], law[::-1].cumsum()]) for law in laws)

    def draw(rng: Rng, n1: int, n0: int) -> tuple[Floats, Floats]:
        one, two = (rng.choice(len(law), n, p=law) for law, n in zip(laws, (n1, n0), strict=True))
        return one.astype(np.float64), two.astype(np.float64)

    def roc(f: Floats) -> Floats:
        return tpr[np.searchsorted(fpr - 1e-12, f, side="right") - 1]

    def below(f: Floats) -> Floats:
        return np.where(f > 0.0, tpr[np.maximum(np.searchsorted(fpr + 1e-12, f) - 1, 0)], 0.0)

    return World(name, draw, roc, below)


WORLDS = (
    *(shifted(0.0), shifted(0.5), shifted(2.0), shifted(4.0, 0.05)),
    atoms("five grades", [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]),
    atoms("interleaved atoms", [0, 3, 0, 3, 0, 3, 0, 3], [3, 0, 3, 0, 3, 0, 3, 0]),
)


def holds(world: World, members: Floats, nonmembers: Floats, limits: Limits) -> bool:
    """Whether the whole curve lies within: the lower limit rises at each FPR, the upper one just before it."""
    hits, alarms = from_the_top(finest(Scores.of(members, nonmembers)))
    fpr, tpr = limits(alarms, len(nonmembers), OF_SIDE), limits(hits, len(members), OF_SIDE)
    low = bool((world.roc(fpr[1]) >= tpr[0] - 1e-12).all())
    return low and bool((world.below(fpr[0][1:]) <= tpr[1][:-1] + 1e-12).all())


def of_one_width(k: Integers, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Dvoretzky, Kiefer and Wolfowitz, with Massart's constant."""
    wide = np.sqrt(np.log(2.0 / alpha) / (2.0 * n))
    return np.maximum(k / n - wide, 0.0), np.minimum(k / n + wide, 1.0)


def each_alone(counts: Counts, rates: Sequence[float] | Floats) -> Floats:
    """Limits of the TPR at each rate by itself, lower ones first."""
    points = operating_points(counts, list(rates), CONFIDENCE)
    return np.array([(each.estimate.lower, each.estimate.upper) for each in points]).T


@table
def coverage(run: Run) -> Iterator[str]:
    yield "scores | sides | R | band | at its rates | of one width | each rate by itself, read as a band"
    for (n1, n0), world in product(((30, 270), (200, 200), (2000, 2000)), WORLDS):
        runs = run.times(RUNS if n1 < 2000 else LARGE_RUNS)
        rng = np.random.default_rng((n1, n0, WORLDS.index(world)))
        missed = np.zeros(4, dtype=np.int64)
        for _ in range(runs):
            sides = world.draw(rng, n1, n0)
            counts = finest(Scores.of(*sides))
            ours = roc_band(counts, CONFIDENCE)
            truth, (low, high) = world.roc(ours.fpr), each_alone(counts, ours.fpr)
            at_rates = ((ours.lower <= truth + 1e-12) & (truth <= ours.upper + 1e-12)).all()
            alone = ((low <= truth + 1e-12) & (truth + 1e-12 <= high + 2e-12)).all()
            whole, of_width = (holds(world, *sides, limits) for limits in (share_limits, of_one_width))
            missed += ~np.array([whole, at_rates, of_width, alone])
        marks = [mark(int(each), runs, 1.0 - CONFIDENCE) for each in missed]
        run.faults += sum(map(bool, marks[:2]))
        cells = " | ".join(f"{1.0 - each / runs:.3f}{sign}" for each, sign in zip(missed, marks, strict=True))
        yield f"{world.name} | {n1}:{n0} | {runs} | {cells}"


@table
def width(run: Run) -> Iterator[str]:
    """Ends at some rates, as means."""
    yield "scores | a side | limits | " + " | ".join(f"FPR {rate:g}" for rate in SHOWN)
    for n, world in product((200, 2000, 20_000), (shifted(2.0), shifted(4.0, 0.05))):
        rng, rows = np.random.default_rng(n), []
        for _ in range(run.times(100 if n < 20_000 else 20)):
            counts = finest(Scores.of(*world.draw(rng, n, n)))
            hits, alarms = from_the_top(counts)
            ours = roc_band(counts, CONFIDENCE, SHOWN)
            (a, b), (c, d) = (of_one_width(side, n, OF_SIDE) for side in (alarms, hits))
            first = np.searchsorted(b, SHOWN, side="right") - 1
            last = np.searchsorted(a, SHOWN, side="right") - 1
            width = np.where(first >= 0, c[first], 0.0), d[last]
            rows.append(np.stack([ours.lower, ours.upper, *width, *each_alone(counts, SHOWN)]))
        truth = world.roc(np.array(SHOWN))
        yield f"{world.name} | {n:,} | truth | " + " | ".join(f"{value:.3f}" for value in truth)
        ways = np.mean(rows, axis=0).reshape(3, 2, -1)
        for name, ends in zip(("band", "of one width", "each by itself"), ways, strict=True):
            cells = " | ".join(f"[{low:.2f}, {high:.2f}]" for low, high in ends.T)
            yield f"{world.name} | {n:,} | {name} | {cells}"


@table
def speed(run: Run) -> Iterator[str]:
    """A band beside the sorting of both sides."""
    yield "a side | two sorts, ms | counts and band, times that | band of counts, ms"
    for n in run.few((1000, 100_000, 1_000_000), 2):
        sides = shifted(0.5).draw(np.random.default_rng(0), n, n)
        scores = Scores.of(*sides)
        counts = finest(scores)
        sorts = least(lambda sides=sides: [np.sort(side) for side in sides], 5)
        whole, part = least(partial(roc_band, scores), 5), least(partial(roc_band, counts), 5)
        yield f"{n:,} | {1000.0 * sorts:.2f} | {whole / sorts:.1f} | {1000.0 * part:.2f}"


def surest(world: World, prior: float, share: float) -> float:
    """The best precision of a cut that accuses so large a share of members."""
    fpr = np.geomspace(1e-9, 1.0, 100_001)
    tpr = world.roc(fpr)
    return float((prior * tpr / (prior * tpr + (1.0 - prior) * fpr))[tpr >= share].max())


def precision_of(task: tuple[int, float, float, int, int, int]) -> tuple[float, float]:
    """Limits of the best precision in one sample."""
    world, prior, share, n1, n0, run = task
    scores = Scores.of(*WORLDS[world].draw(np.random.default_rng((29, run)), n1, n0))
    (found,) = best_precision(scores, prior, CONFIDENCE, [share])
    return found.estimate.lower, found.estimate.upper


@table
def precision(run: Run) -> Iterator[object]:
    """The best precision of a cut that accuses so large a share of members: misses, and the mean limits."""
    yield "scores | members : nonmembers | prior | share | runs | misses below, above | limits, mean | truth"
    for world, (n1, n0) in product(range(len(WORLDS)), ((30, 270), (300, 300), (2000, 2000))):
        for prior, share in run.few(((0.1, 0.01), (0.1, 0.05), (0.1, 0.25), (0.5, 0.05)), 1):
            runs = run.times(RUNS if n1 < 2000 else LARGE_RUNS)
            truth = surest(WORLDS[world], prior, share)
            tasks = [(world, prior, share, n1, n0, each) for each in range(runs)]
            ends = np.array(run.map(precision_of, tasks))
            missed = [int((ends[:, 0] > truth + 1e-4).sum()), int((ends[:, 1] < truth - 1e-4).sum())]
            marks = [mark(each, runs, (1.0 - CONFIDENCE) / 2.0) for each in missed]
            run.faults += sum(map(bool, marks))
            shares = ", ".join(f"{each / runs:.1%}{sign}" for each, sign in zip(missed, marks, strict=True))
            low, high = ends.mean(axis=0)
            place = f"{WORLDS[world].name} | {n1} : {n0} | {prior:g} | {share:g} | {runs}"
            yield f"{place} | {shares} | [{low:.2f}, {high:.2f}] | {truth:.3f}"
