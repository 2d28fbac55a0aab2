"""How large a share of some records was trained on: how often each end is wrong, how wide it is, and where it breaks.

Known members and nonmembers and candidates, of which a share was used, in worlds of known truth. "knowing
laws" is the width that the best estimator has who knows both; "three exact rates" puts exact limits of three shares
beyond a cut together; "rates taken as known" is what is published, and takes both rates of the cut for exact. Each end
may miss 2.5%. Twenty minutes on two cores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

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
Labelled = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class World:
    """How members and nonmembers score, and the chances of ``POINTS`` or of each value."""

    members: Sample
    nonmembers: Sample
    laws: tuple[np.ndarray, np.ndarray]


def normal(mean: float, rng: Rng, n: int) -> np.ndarray:
    return rng.normal(mean, 1.0, n)


def memorised(rng: Rng, n: int) -> np.ndarray:
    return normal(0.0, rng, n) + 4.0 * (rng.random(n) < 0.05)


def beside_normal(members: Sample, law: np.ndarray) -> World:
    """Members of this law, nonmembers of the standard normal one."""
    laws = tuple(each / each.sum() for each in (law, norm.pdf(POINTS)))
    return World(members, partial(normal, 0.0), laws)


WORLDS = {
    name: beside_normal(partial(normal, by), norm.pdf(POINTS, by))
    for name, by in (("shift 0.5", 0.5), ("shift 1", 1.0), ("shift 2", 2.0), ("no leak", 0.0))
} | {
    "5% memorised": beside_normal(memorised, 0.05 * norm.pdf(POINTS, 4.0) + 0.95 * norm.pdf(POINTS)),
    "five values": World(
        *(lambda rng, n, chance=each: rng.binomial(4, chance, n) * 1.0 for each in (0.65, 0.4)),
        tuple(binom.pmf(np.arange(5), 4, each) for each in (0.65, 0.4)),
    ),
}
THOUSAND = (1000, 1000, 1000)
CELLS = (
    *(("shift 0.5", THOUSAND, 0.3), ("shift 1", (50, 50, 50), 0.3), ("shift 1", (200, 200, 100), 0.3)),
    *(("shift 1", THOUSAND, share) for share in (0.0, 0.05, 0.33, 1.0)),
    *(("shift 1", (5000, 5000, 200), 0.9), ("shift 2", THOUSAND, 0.0), ("shift 2", THOUSAND, 0.3)),
    *(("5% memorised", THOUSAND, 0.3), ("five values", THOUSAND, 0.3), ("five values", (200, 200, 100), 0.9)),
    ("no leak", THOUSAND, 0.3),
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
    beyond = [each >= cut for each in (members[i:], nonmembers[j:], candidates)]
    limits = [clopper_pearson(int(each.sum()), len(each), 2.0 * LEVEL / 3.0) for each in beyond]
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
    result, own = dataset_use(*groups, direction="high"), number / sizes[2]
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


BROKEN = {
    "members score half as high": (1.0, 0.0),
    "members score twice as high": (4.0, 0.0),
    "nonmembers drift upward": (2.0, 0.3),
    "a third kind": (2.0, 0.0),
}
"""What is not as it is taken for, and the means of candidates that were used and that were not."""


def odd(kind: str, rng: Rng, n: int) -> list[np.ndarray]:
    """Groups of n, of whose candidates three in ten were used."""
    share, (used, unused) = int(rng.binomial(n, 0.3)), BROKEN[kind]
    members, nonmembers = normal(used, rng, share), normal(unused, rng, n - share)
    if kind == "a third kind":
        nonmembers[: n // 5] = -4.0
    return [normal(2.0, rng, n), normal(0.0, rng, n), np.concatenate([members, nonmembers])]


def broken_one(task: tuple[str, int]) -> list[float]:
    kind, run = task
    groups = odd(kind, np.random.default_rng((11, run)), 1000)
    result = dataset_use(*groups, max_share=0.2, direction="high")
    beyond = result.lower_whatever > 0.3
    return [*seen_of(result)[:2], not result.is_mixture, beyond, result.decision.value == "pass"]


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


def both_ends(task: tuple[list[np.ndarray], int]) -> tuple[float, float]:
    groups, seed = task
    result = dataset_use(*groups, direction="high", seed=seed)
    return result.share.lower, result.share.upper


@table
def orders(run: Run):
    """What the seed changes: deviations of both ends over seeds, as a part of the width."""
    yield "world | members : nonmembers : candidates | share | samples | lower end | upper end"
    samples = run.times(3)
    for name, sizes, share in run.few([each for each in CELLS if each[2] in (0.3, 0.9)][:6], 2):
        ratios = []
        for sample in range(samples):
            groups, _ = draw(WORLDS[name], np.random.default_rng((13, sample)), sizes, share)
            ends = run.map(both_ends, [(groups, seed) for seed in range(SEEDS)])
            width = np.mean([upper - lower for lower, upper in ends])
            ratios.append(np.std(ends, axis=0) / width)
        low, high = np.mean(ratios, axis=0)
        yield f"{name} | {':'.join(map(str, sizes))} | {share:g} | {samples} | {low:.2f} | {high:.2f}"


def weak(number: int, rng: Rng, n: int, used: float) -> np.ndarray:
    """Each column knows a little, and they do so independently: together a shift of 1.5."""
    return rng.normal(1.5 * used / np.sqrt(number), 1.0, (n, number))


def beside_reference(rng: Rng, n: int, used: float) -> np.ndarray:
    """A loss in which how hard a text is hides its use, and that of a model which knows as much of the text."""
    return rng.normal(0.0, 0.7, (n, 2)) + rng.normal(0.0, 2.0, (n, 1)) + used * np.eye(2)[0]


def one_of_five(rng: Rng, n: int, used: float) -> np.ndarray:
    """The third column tells, the others do not."""
    return rng.normal(size=(n, 5)) + 1.5 * used * np.eye(5)[2]


VECTORS = {
    "2: a loss and a reference's": beside_reference,
    "3, each weak": partial(weak, 3),
    "5, each weak": partial(weak, 5),
    "5, of which one tells": one_of_five,
    "5, no leak": lambda rng, n, used: rng.normal(size=(n, 5)),
}
COLUMNS = (
    *(("2: a loss and a reference's", (200, 200, 100)), ("3, each weak", (50, 50, 50))),
    *(("5, each weak", (200, 200, 100)), ("5, each weak", THOUSAND)),
    *product(("5, of which one tells", "5, no leak"), ((50, 50, 50), (200, 200, 100))),
)


def in_groups(draw_rows: Callable[[Rng, int, float], np.ndarray], rng: Rng, sizes: tuple[int, int, int]):
    """Records of the three groups, of whose candidates each was used with a chance of .3."""
    number = int(rng.binomial(sizes[2], 0.3))
    parts = [draw_rows(rng, number, 1.0), draw_rows(rng, sizes[2] - number, 0.0)]
    return [draw_rows(rng, sizes[0], 1.0), draw_rows(rng, sizes[1], 0.0), np.concatenate(parts)]


def seen_of(result) -> list[float]:
    """Whether the ends miss a share of .3, and how wide they leave it."""
    return [result.lower > 0.3, result.upper < 0.3, max(0.0, result.upper - result.lower)]


def columns_one(task: tuple[str, tuple[int, int, int], int]) -> list[float]:
    name, sizes, run = task
    groups = in_groups(VECTORS[name], np.random.default_rng((17, run)), sizes)
    single, joint = (dataset_use(*groups, combine=each) for each in ("never", "auto"))
    return [*seen_of(single), *seen_of(joint), len(joint.weights) > 0]


def beside(run: Run, work: Callable, tasks: list[tuple], level: float = LEVEL) -> tuple[str, np.ndarray]:
    """Misses and widths of two ways, in words, more misses than this level marked; and the means of all."""
    rows, words = np.array(run.map(work, tasks), dtype=float), []
    sums, means = rows.sum(axis=0), rows.mean(axis=0)
    for first in (0, 3):
        words += [run.rate(each, len(rows), level) for each in sums[first : first + 2]]
        words.append(f"{means[first + 2]:.3f}")
    return " | ".join(words), means


@table
def columns(run: Run):
    """Several columns: the sharpest, and what is read where a combination may be."""
    yield (
        "columns | members : nonmembers : candidates | runs | sharpest: misses below | above | width | "
        "combine=auto: misses below | above | width | were combined"
    )
    runs = run.times(RUNS, 4)
    for name, sizes in run.few(COLUMNS, 2):
        words, means = beside(run, columns_one, [(name, sizes, each) for each in range(runs)])
        yield f"{name} | {':'.join(map(str, sizes))} | {runs} | {words} | {100 * means[6]:.0f}%"


def passages(sizes: tuple[int, int], spread: float, rng: Rng, n: int, used: float) -> Labelled:
    """Scores of documents' passages, and the document of each: how hard a document is, and each passage, vary."""
    number = rng.integers(sizes[0], sizes[1] + 1, n)
    document = np.repeat(np.arange(n), number)
    return rng.normal(0.5 * used + spread * rng.normal(size=n)[document]), document


def far_passages(rng: Rng, n: int, used: float) -> Labelled:
    """Of a used document's eight passages one in ten stands far out."""
    document = np.repeat(np.arange(n), 8)
    return rng.normal(4.0 * used * (rng.random(8 * n) < 0.1)), document


FEW, MORE, MANY = (partial(passages, (each, each), 0.0) for each in (2, 5, 20))
DOCUMENTS = {
    "8, independent": [partial(passages, (8, 8), 0.0)] * 3,
    "2 to 14, alike in a document": [partial(passages, (2, 14), 0.7)] * 3,
    "8, one in ten far out": [far_passages] * 3,
    "8, no leak": [lambda rng, n, used: passages((8, 8), 0.0, rng, n, 0.0)] * 3,
    "broken: known 2, candidates 5": [FEW, FEW, MORE],
    "broken: members 20, others 2": [MANY, FEW, FEW],
}
"""How passages are drawn of members, of nonmembers and of candidates."""


def units_one(task: tuple[str, int, int]) -> list[float]:
    name, n, run = task
    rng = np.random.default_rng((19, run))
    known, other, asked = DOCUMENTS[name]
    number = int(rng.binomial(n, 0.3))
    parts = [known(rng, n, 1.0), other(rng, n, 0.0), asked(rng, number, 1.0), asked(rng, n - number, 0.0)]
    scores, labels = ([each[i] for each in parts] for i in (0, 1))
    labels = [each + n * i for i, each in enumerate(labels)]
    groups, units = ([*each[:2], np.concatenate(each[2:])] for each in (scores, labels))
    one, mean = (dataset_use(*groups, units=units, per_unit=each) for each in ("one", "mean"))
    warned = any(each.code == "units_differ" for each in mean.cautions)
    return [*seen_of(one), *seen_of(mean), not mean.is_mixture, warned]


@table
def units(run: Run):
    """Passages of documents: one of each, and the mean; and where the groups' documents differ in passages."""
    yield (
        "passages a document | documents of each group | runs | one of each: misses below | above | width | "
        "per_unit=mean: misses below | above | width | said to be no mixture | warned"
    )
    runs = run.times(RUNS, 4)
    for name in run.few(DOCUMENTS, 2):
        level = 1.0 if name.startswith("broken") else LEVEL
        words, means = beside(run, units_one, [(name, 200, each) for each in range(runs)], level)
        yield f"{name} | 200 | {runs} | {words} | {100 * means[6]:.0f}% | {100 * means[7]:.1f}%"
