"""How large a share of some records was trained on: how often each end is wrong, how wide it is, and where it breaks.

Known members and nonmembers and candidates, of which a share was used, in worlds of known truth. "knowing
laws" is the width that the best estimator has who knows both; "three exact rates" puts exact limits of three shares
beyond a cut together; "rates taken as known" is what is published, and takes both rates of the cut for exact. Each end
may miss 2.5%. Ten minutes on two cores.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm

from benchmarks.harness import Run, mark, table
from benchmarks.worlds import Rng
from estimators.audits.usage import dataset_use
from estimators.limits.binomial import clopper_pearson

RUNS = 200
BROKEN_RUNS = 60
SEEDS = 12
LEVEL = 0.025
POINTS = np.linspace(-6.0, 9.0, 301)

Sample = Callable[[Rng, int], np.ndarray]


@dataclass(frozen=True)
class World:
    """How members and nonmembers score, and the chances of ``POINTS`` or of each value."""

    members: Sample
    nonmembers: Sample
    laws: tuple[np.ndarray, np.ndarray]


def normal(mean: float, rng: Rng, n: int) -> np.ndarray:
    return rng.normal(mean, 1.0, n)


def shifted(mean: float) -> World:
    """A Gaussian shift."""
    laws = tuple(each / each.sum() for each in (norm.pdf(POINTS, mean), norm.pdf(POINTS)))
    return World(lambda rng, n: normal(mean, rng, n), lambda rng, n: normal(0.0, rng, n), laws)


def memorised() -> World:
    """One member in twenty stands far out."""
    far, near = norm.pdf(POINTS, 4.0), norm.pdf(POINTS)
    laws = (0.05 * far + 0.95 * near, near)
    return World(
        lambda rng, n: normal(0.0, rng, n) + 4.0 * (rng.random(n) < 0.05),
        lambda rng, n: normal(0.0, rng, n),
        tuple(each / each.sum() for each in laws),
    )


def five_values() -> World:
    laws = tuple(binom.pmf(np.arange(5), 4, each) for each in (0.65, 0.4))
    return World(
        lambda rng, n: rng.binomial(4, 0.65, n) * 1.0, lambda rng, n: rng.binomial(4, 0.4, n) * 1.0, laws
    )


WORLDS = {
    "shift 0.5": shifted(0.5),
    "shift 1": shifted(1.0),
    "shift 2": shifted(2.0),
    "5% memorised": memorised(),
    "five values": five_values(),
    "no leak": shifted(0.0),
}
CELLS = (
    ("shift 0.5", (1000, 1000, 1000), 0.3),
    ("shift 1", (50, 50, 50), 0.3),
    ("shift 1", (200, 200, 100), 0.3),
    ("shift 1", (1000, 1000, 1000), 0.0),
    ("shift 1", (1000, 1000, 1000), 0.05),
    ("shift 1", (1000, 1000, 1000), 0.33),
    ("shift 1", (1000, 1000, 1000), 1.0),
    ("shift 1", (5000, 5000, 200), 0.9),
    ("shift 2", (1000, 1000, 1000), 0.0),
    ("shift 2", (1000, 1000, 1000), 0.3),
    ("5% memorised", (1000, 1000, 1000), 0.3),
    ("five values", (1000, 1000, 1000), 0.3),
    ("five values", (200, 200, 100), 0.9),
    ("no leak", (1000, 1000, 1000), 0.3),
)


def draw(world: World, rng: Rng, sizes: tuple[int, int, int], share: float) -> tuple[list[np.ndarray], int]:
    """The three groups, and how many of the candidates were used."""
    number = int(rng.binomial(sizes[2], share))
    parts = [world.members(rng, number), world.nonmembers(rng, sizes[2] - number)]
    return [world.members(rng, sizes[0]), world.nonmembers(rng, sizes[1]), np.concatenate(parts)], number


def best_cut(members: np.ndarray, nonmembers: np.ndarray) -> float:
    """The cut beyond which members lie most beyond nonmembers."""
    cuts = np.unique(np.concatenate([members, nonmembers]))
    beyond = [1.0 - np.searchsorted(np.sort(each), cuts) / len(each) for each in (members, nonmembers)]
    return float(cuts[np.argmax(beyond[0] - beyond[1])])


def three_rates(groups: list[np.ndarray]) -> tuple[float, float]:
    """Exact limits of the three shares beyond a cut, which is chosen on three in ten of the known records."""
    members, nonmembers, candidates = groups
    i, j = int(0.3 * len(members)), int(0.3 * len(nonmembers))
    cut = best_cut(members[:i], nonmembers[:j])
    limits = [
        clopper_pearson(int((each >= cut).sum()), len(each), 2.0 * LEVEL / 3.0)
        for each in (members[i:], nonmembers[j:], candidates)
    ]
    (low, high), (low0, high0), (lowx, highx) = limits
    if high <= low0:
        return 0.0, 1.0
    lower = max(0.0, (lowx - high0) / (high - high0)) if high > high0 else 0.0
    upper = min(1.0, (highx - low0) / (low - low0)) if low > low0 else 1.0
    return lower, upper


def taken_as_known(groups: list[np.ndarray]) -> tuple[float, float]:
    """The share by rates of a cut that are taken for exact, with the error of the candidates alone."""
    members, nonmembers, candidates = groups
    cut = best_cut(members, nonmembers)
    tpr, fpr, seen = (float((each >= cut).mean()) for each in groups)
    error = norm.isf(LEVEL) * np.sqrt(seen * (1.0 - seen) / len(candidates))
    return (seen - error - fpr) / (tpr - fpr), (seen + error - fpr) / (tpr - fpr)


def knowing(world: World, number: int, share: float) -> float:
    """The mean width within [0, 1] of the best interval that knows both laws."""
    members, nonmembers = world.laws
    both = share * members + (1.0 - share) * nonmembers
    information = number * float(((members - nonmembers) ** 2 / np.maximum(both, 1e-300)).sum())
    if information < 1e-6:
        return 1.0
    error = information**-0.5
    centre = share + error * norm.ppf((np.arange(400) + 0.5) / 400)
    ends = [np.clip(centre + side * norm.isf(LEVEL) * error, 0.0, 1.0) for side in (-1.0, 1.0)]
    return float((ends[1] - ends[0]).mean())


def one(task: tuple[str, tuple[int, int, int], float, int]) -> list[float]:
    name, sizes, share, run = task
    groups, number = draw(WORLDS[name], np.random.default_rng((7, run)), sizes, share)
    result, own = dataset_use(*groups, direction="high", seed=run), number / sizes[2]
    lower, upper = result.share.lower, result.share.upper
    exact, known = three_rates(groups), taken_as_known(groups)
    return [
        lower > share,
        upper < share,
        lower > own + 1e-9,
        upper < own - 1e-9,
        result.lower_whatever > share,
        not result.is_mixture,
        result.none_used <= 2.0 * LEVEL,
        max(0.0, upper - lower),
        exact[0] > share or exact[1] < share,
        exact[1] - exact[0],
        known[0] > share or known[1] < share,
    ]


@table
def covered(run: Run):
    """How often each end misses, and how wide the interval is."""
    yield (
        "world | members : nonmembers : candidates | share | runs | misses below | above | these: below | "
        "above | end without assumption misses | said to be no mixture | none used: refuted | width | knowing laws | "
        "three exact rates | rates taken as known miss"
    )
    runs = run.times(RUNS, 4)
    for name, sizes, share in run.few(CELLS, 3):
        rows = np.array(run.map(one, [(name, sizes, share, each) for each in range(runs)]), dtype=float)
        sums, means = rows.sum(axis=0).astype(int), rows.mean(axis=0)
        wrong = [mark(int(each), runs) for each in sums[:5]]
        wrong += [mark(int(sums[5]), runs, 0.01 + 2.0 * LEVEL), mark(int(sums[6]), runs, 2.0 * LEVEL)]
        wrong[6] = wrong[6] if share == 0.0 else ""
        run.faults += sum(map(bool, wrong))
        shares = " | ".join(f"{100 * each:.1f}%{odd}" for each, odd in zip(means[:7], wrong, strict=True))
        best = knowing(WORLDS[name], sizes[2], share)
        yield (
            f"{name} | {':'.join(map(str, sizes))} | {share:g} | {runs} | {shares} | {means[7]:.3f} | {best:.3f} | "
            f"{means[9]:.3f} | {100 * means[10]:.1f}%"
        )


BROKEN = (
    "members score half as high",
    "members score twice as high",
    "nonmembers drift upward",
    "a third kind",
)


def odd(kind: str, rng: Rng, n: int) -> list[np.ndarray]:
    """Groups of n, of whose candidates three in ten were used, and something is not as it is taken for."""
    share = int(rng.binomial(n, 0.3))
    members = normal(
        {"members score half as high": 1.0, "members score twice as high": 4.0}.get(kind, 2.0), rng, share
    )
    nonmembers = normal(0.3 if kind == "nonmembers drift upward" else 0.0, rng, n - share)
    if kind == "a third kind":
        nonmembers[: n // 5] = -4.0
    return [normal(2.0, rng, n), normal(0.0, rng, n), np.concatenate([members, nonmembers])]


def broken_one(task: tuple[str, int]) -> list[float]:
    kind, run = task
    groups = odd(kind, np.random.default_rng((11, run)), 1000)
    result = dataset_use(*groups, max_share=0.2, direction="high", seed=run)
    return [
        result.lower > 0.3,
        result.upper < 0.3,
        not result.is_mixture,
        result.lower_whatever > 0.3,
        result.decision.value == "pass",
    ]


@table
def broken(run: Run):
    """What the interval takes for granted does not hold: which ends are wrong then, and whether it is noticed."""
    yield (
        "of 1,000 of each group, shift 2, share .3 | runs | lower end wrong | upper end wrong | said to be no mixture "
        "| end without assumption wrong | passes .2"
    )
    runs = run.times(BROKEN_RUNS, 4)
    for kind in run.few(BROKEN, 2):
        means = np.mean(run.map(broken_one, [(kind, each) for each in range(runs)]), axis=0)
        yield f"{kind} | {runs} | " + " | ".join(f"{100 * each:.0f}%" for each in means)


@table
def orders(run: Run):
    """What the seed changes: deviations of both ends over seeds, as a part of the width."""
    yield "world | members : nonmembers : candidates | share | samples | lower end | upper end"
    samples = run.times(3)
    for name, sizes, share in run.few([each for each in CELLS if each[2] in (0.3, 0.9)][:6], 2):
        ratios = []
        for sample in range(samples):
            groups, _ = draw(WORLDS[name], np.random.default_rng((13, sample)), sizes, share)
            ends = run.map(_ends, [(groups, seed) for seed in range(SEEDS)])
            width = np.mean([upper - lower for lower, upper in ends])
            ratios.append(np.std(ends, axis=0) / width)
        low, high = np.mean(ratios, axis=0)
        yield f"{name} | {':'.join(map(str, sizes))} | {share:g} | {samples} | {low:.2f} | {high:.2f}"


def _ends(task: tuple[list[np.ndarray], int]) -> tuple[float, float]:
    groups, seed = task
    result = dataset_use(*groups, direction="high", seed=seed)
    return result.share.lower, result.share.upper
