"""Leaks that change sides many times along a score, small samples, and what looking for them costs elsewhere.

Beside each interval stands what an attacker proves on the same records who learns from half of them which neighbours in
rank are members: a pass that such a lower end refutes is no pass. A quarter of an hour on two cores.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import norm

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng, shift
from estimators import Scores, advantage
from estimators.adversary.holdout import validate_anywhere
from estimators.adversary.insample import FewChanges, cells_or_changes_upper
from estimators.adversary.lower_end import BestCut, best_cut
from estimators.adversary.many_changes import sign_of
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.limits.binomial import clopper_pearson
from estimators.optimum.ends import ends_of
from estimators.sample.counting import finest, resolution

ALPHA = 0.025
LIMIT = 0.15
NEIGHBOURS = (1, 5, 15, 45, 135)
SIZES = {500: 200, 3000: 200, 10_000: 200}
PRICE_RUNS = {24: 1000, 50: 1000, 200: 1000, 1000: 500, 10_000: 200, 100_000: 40}
Draw = Callable[[Rng, int], tuple[Floats, Floats]]


def comb(narrow: int, share: float, factor: float, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Equal narrow gaps hold this share of nonmembers, and of members so many times as much."""
    inside, gap = rng.random(n) < share * factor, (1.0 - share) / narrow
    start = rng.integers(0, narrow, n) * (share / narrow + gap)
    width = share / narrow
    return np.where(inside, start + width * rng.random(n), start + width + gap * rng.random(n)), rng.random(n)


def sine(waves: float, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Members are 1 + 0.9 sine times as dense as nonmembers."""
    kept = rng.random((4 * n + 400, 2))
    kept = kept[1.9 * kept[:, 1] < 1.0 + 0.9 * np.sin(2.0 * np.pi * waves * kept[:, 0]), 0]
    return kept[:n], rng.random(n)


def lattice(size: int, gain: float, step: float, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Members have every other value of a lattice more often; a trace of noise hides that it is one."""
    odd = rng.random(n) < 0.5 - gain / 2.0
    values = 2 * rng.integers(0, size // 2, n) + odd, rng.integers(0, size, n)
    return values[0] * step, values[1] * step


def islands(number: int, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Each island of scores is all but one side's: which, is fixed by its number."""
    side = np.random.default_rng(number).random(number) < 0.5
    ours, theirs = np.flatnonzero(side), np.flatnonzero(~side)
    both = ((ours, theirs), (theirs, ours))
    at = [np.where(rng.random(n) < 0.7, rng.choice(own, n), rng.choice(other, n)) for own, other in both]
    return at[0] + 0.9 * rng.random(n), at[1] + 0.9 * rng.random(n)


def hashed(size: int, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """A score of so many values in no order, half of them twice as likely of members."""
    often = np.random.default_rng(size).permutation(size) < size // 2
    weights = np.where(often, 4.0 / 3.0, 2.0 / 3.0) / size
    spots = np.random.default_rng(size + 1).random(size)
    return spots[rng.choice(size, n, p=weights)], spots[rng.integers(0, size, n)]


def near_whole(share: float, other: float, rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Predictions of an overfit regressor of 400 integers: this share lies within a hundredth or so of one."""

    def side(near: float) -> Floats:
        close = rng.integers(0, 400, n) + rng.normal(0.0, 0.01, n)
        return np.where(rng.random(n) < near, close, 400.0 * rng.random(n))

    return side(share), side(other)


def atoms(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Five values that only members have, a fifth of them."""
    return np.where(rng.random(n) < 0.2, rng.integers(1, 6, n) / 6.0, rng.random(n)), rng.random(n)


def modes(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Three modes of members with two of nonmembers between them."""
    members = 4.0 * rng.integers(0, 3, n) + rng.normal(size=n)
    return members, 4.0 * rng.integers(0, 2, n) + 2.0 + rng.normal(size=n)


def of_modes() -> float:
    at = np.linspace(-8.0, 16.0, 200_001)
    laws = [norm.pdf(at[:, None], where).mean(axis=1) for where in ([0.0, 4.0, 8.0], [2.0, 6.0])]
    return float(np.abs(laws[0] - laws[1]).sum() * (at[1] - at[0]) / 2.0)


def spread_of(factor: float) -> float:
    """The advantage of a normal law against one so many times as wide."""
    at = factor * np.sqrt(2.0 * np.log(factor) / (factor**2 - 1.0))
    return float(2.0 * (ndtr(at) - ndtr(at / factor)))


MANY: dict[str, tuple[Draw, float]] = {
    "3 broad leaks": (partial(comb, 3, 0.3, 2.0), 0.3),
    "3 narrow leaks": (partial(comb, 3, 0.06, 4.0), 0.18),
    "5 narrow leaks": (partial(comb, 5, 0.1, 4.0), 0.3),
    "9 narrow leaks": (partial(comb, 9, 0.09, 6.0), 0.45),
    "20 narrow leaks": (partial(comb, 20, 0.1, 5.0), 0.4),
    "60 narrow leaks": (partial(comb, 60, 0.1, 6.0), 0.5),
    "sine, 5 crossings": (partial(sine, 3.0), 0.9 / np.pi),
    "sine, 11 crossings": (partial(sine, 6.0), 0.9 / np.pi),
    "sine, 49 crossings": (partial(sine, 25.0), 0.9 / np.pi),
    "sine, 199 crossings": (partial(sine, 100.0), 0.9 / np.pi),
    "lattice of 12": (partial(lattice, 12, 0.4, 1.0), 0.2),
    "lattice of 60": (partial(lattice, 60, 0.6, 1.0), 0.3),
    "lattice of 1,000": (partial(lattice, 1000, 0.8, 0.37), 0.4),
    "16 islands": (partial(islands, 16), 0.4),
    "64 islands": (partial(islands, 64), 0.4),
    "256 hashes": (partial(hashed, 256), 1.0 / 6.0),
    "near whole numbers": (partial(near_whole, 0.8, 0.1), 0.7),
    "near whole numbers, some": (partial(near_whole, 0.5, 0.3), 0.2),
    "5 atoms": (atoms, 0.2),
    "3 modes, 2 between": (modes, of_modes()),
}


def normal(by: float, wide: float, rng: Rng, n: int) -> tuple[Floats, Floats]:
    return rng.normal(by, wide, n), rng.normal(size=n)


def tail(rng: Rng, n: int) -> tuple[Floats, Floats]:
    return np.where(rng.random(n) < 0.1, rng.normal(6.0, 1.0, n), rng.normal(size=n)), rng.normal(size=n)


def confidences(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Crowded next to 1."""
    return expit(rng.normal(4.0, 2.0, n)), expit(rng.normal(2.0, 2.0, n))


def losses(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Crowded next to 0."""
    return rng.exponential(0.5, n), rng.exponential(1.0, n)


FEW: dict[str, tuple[Draw, float]] = {
    "no leak": (partial(normal, 0.0, 1.0), 0.0),
    "shift, small": (partial(normal, 0.1, 1.0), float(2.0 * ndtr(0.05) - 1.0)),
    "shift": (partial(normal, 0.7, 1.0), float(2.0 * ndtr(0.35) - 1.0)),
    "wider": (partial(normal, 0.0, 1.5), spread_of(1.5)),
    "a tenth apart": (tail, 0.1),
    "apart": (partial(normal, 20.0, 1.0), 1.0),
    "confidences": (confidences, float(2.0 * ndtr(0.5) - 1.0)),
    "losses": (losses, 0.25),
}


def neighbours_lower(members: Floats, nonmembers: Floats, rng: Rng) -> float:
    """What half the records prove of rules of nearest neighbours in rank that the other half taught."""
    n = len(members)
    halves = [side[rng.permutation(n)] for side in (members, nonmembers)]
    taught = np.concatenate([side[: n // 2] for side in halves])
    order = np.argsort(taught, kind="stable")
    values, votes = taught[order], np.where(order < n // 2, 1, -1)
    sums = np.concatenate([[0], votes.cumsum()])
    lower = 0.0
    for near in NEIGHBOURS:
        right, judged = 0, 0
        for sign, side in ((1, halves[0]), (-1, halves[1])):
            unseen = side[n // 2 :]
            left, beyond = (np.searchsorted(values, unseen, where) for where in ("left", "right"))
            start = np.clip(left - (near + 1) // 2, 0, len(values) - near)
            tied = beyond - left >= near
            vote = np.where(tied, sums[beyond] - sums[left], sums[start + near] - sums[start])
            right += int(((vote > 0) if sign > 0 else (vote <= 0)).sum())
            judged += len(unseen)
        lower = max(lower, float(2.0 * clopper_pearson(right, judged, ALPHA / len(NEIGHBOURS))[0] - 1.0))
    return lower


def one(task: tuple[str, int, int]) -> tuple[float, float, float, bool]:
    name, n, seed = task
    rng = np.random.default_rng([n, seed])
    members, nonmembers = MANY[name][0](rng, n)
    found = advantage(Scores.of(members, nonmembers, "continuous"), seed=seed)
    return found.lower, found.upper, neighbours_lower(members, nonmembers, rng), found.class_rejected


@table
def many(run: Run):
    """Ends beside what neighbours prove on the same records."""
    yield (
        "world | truth | records a side | runs | mean interval | neighbours at least | refuted by more than .01 | "
        "withdrawn | above the truth"
    )
    for name, (_, truth) in MANY.items():
        for n, most in run.few(SIZES.items(), 1):
            runs = run.times(most, 2)
            rows = np.array(run.map(one, [(name, n, seed) for seed in range(runs)]), dtype=float)
            lower, upper, other, withdrawn = rows.T
            refuted, above = int((other > upper + 0.01).sum()), int((lower > truth + 1e-12).sum())
            yield (
                f"{name} | {truth:.3f} | {n} | {runs} | [{lower.mean():.3f}, {upper.mean():.3f}] | "
                f"{other.mean():.3f} | {100 * refuted / runs:.3g}% | {100 * withdrawn.mean():.3g}% | "
                f"{run.rate(above, runs, form='.3g')}"
            )


def signs_of(task: tuple[str, int, int, int]) -> tuple[bool, bool]:
    name, n1, n0, seed = task
    rng = np.random.default_rng([n1, n0, seed])
    members, nonmembers = FEW[name][0](rng, max(n1, n0))
    asked, evident = sign_of(finest(Scores.of(members[:n1], nonmembers[:n0])))
    return asked, evident is not None


@table
def signs(run: Run):
    """How often a sample without many changes has a sign of them."""
    yield "world | records a side | runs | rules are asked | upper end covers more changes"
    for name in FEW:
        for n1, n0 in run.few(((300, 300), (1000, 1000), (10_000, 10_000), (300, 2700)), 1):
            runs = run.times(1000, 2)
            found = np.array(run.map(signs_of, [(name, n1, n0, seed) for seed in range(runs)]))
            asked, covers = 100 * found.mean(axis=0)
            yield f"{name} | {n1}, {n0} | {runs} | {asked:.3g}% | {covers:.3g}%"


def priced(task: tuple[str, int, int]) -> tuple[float, float, float, float]:
    name, n, seed = task
    rng = np.random.default_rng([n, seed])
    scores = Scores.of(*FEW[name][0](rng, n))
    ends, fine = ends_of(scores, 0.5, None, seed), finest(scores)
    found, alone = ends.at(0.95), validate_anywhere(fine, 0.5, resolution(2 * n), seed).at(ALPHA).lower
    two_changes = cells_or_changes_upper(ends.counts, FewChanges(fine, 0.5, 2), ALPHA, 2)
    return found.lower, found.upper, alone, two_changes


@table
def price(run: Run):
    """What both ends are beside those of rules on unseen records at the whole level, and of two changes."""
    yield (
        "world | truth | records a side | runs | lower end | by unseen records alone | upper end | of two changes | "
        "width, times that of the best rule | above, below the truth"
    )
    for name, (_, truth) in FEW.items():
        for n, most in run.few(PRICE_RUNS.items(), 2):
            runs = run.times(most, 2)
            rows = np.array(run.map(priced, [(name, n, seed) for seed in range(runs)]))
            right = round(2 * n * (1.0 + truth) / 2.0)
            best = [max(0.0, float(2.0 * end - 1.0)) for end in clopper_pearson(right, 2 * n, ALPHA)]
            above, below = int((rows[:, 0] > truth + 1e-12).sum()), int((rows[:, 1] < truth - 1e-12).sum())
            misses = ", ".join(run.rate(each, runs, form=".2g") for each in (above, below))
            lower, upper, alone, two = rows.mean(axis=0)
            yield (
                f"{name} | {truth:.3f} | {n} | {runs} | {lower:.4f} | {alone:.4f} | {upper:.4f} | {two:.4f} | "
                f"{(upper - lower) / (best[1] - best[0]):.2f} | {misses}"
            )


def steady(task: tuple[float, int, int, int]) -> list[float]:
    truth, n, sample, seeds = task
    rng = np.random.default_rng([n, sample])
    scores = Scores.of(rng.normal(shift(truth), 1.0, n), rng.normal(size=n))
    return [advantage(scores, seed=seed).lower for seed in range(seeds)]


@table
def seeds(run: Run):
    """How much the lower end of one sample hangs on the seed."""
    yield "truth | records a side | samples | seeds | mean lower end | largest s.d. over seeds"
    for truth, n in ((0.55, 24), (0.5, 50), (0.35, 100), (0.3, 200), (0.3, 1000)):
        samples, number = run.times(10, 1), run.times(200, 3)
        ends = np.array(run.map(steady, [(truth, n, sample, number) for sample in range(samples)]))
        yield f"{truth} | {n} | {samples} | {number} | {ends.mean():.3f} | {ends.std(axis=1).max():.3f}"


def judged(task: tuple[float, int, int, int]) -> tuple[int, float]:
    """Whether the decision about one sample changes with the seed, and the share of seeds that warn of it."""
    truth, n, sample, seeds = task
    rng = np.random.default_rng([n, sample, 7])
    scores = Scores.of(rng.normal(shift(truth), 1.0, n), rng.normal(size=n))
    gates = [judge(scores, [MaxAdvantage(LIMIT)], seed=seed) for seed in range(seeds)]
    warned = [any(note.code == "seed_may_decide" for note in each.cautions) for each in gates]
    return len({each.decision for each in gates}) - 1, sum(warned) / seeds


@table
def hairs(run: Run):
    """How often a decision changes with the seed, and how often the answer warns of it."""
    yield (
        f"truth (limit {LIMIT}) | records a side | samples | seeds | decided otherwise by a seed | of their answers "
        "warned | of the others"
    )
    for n in (50, 200, 1000, 4000):
        for truth in (0.0, 0.2, 0.3, 0.4, 0.6):
            samples, seeds = run.times(100, 2), run.times(6, 2)
            found = run.map(judged, [(truth, n, sample, seeds) for sample in range(samples)])
            shares = [[warned for changes, warned in found if bool(changes) is one] for one in (True, False)]
            told = [f"{100 * np.mean(each):.2g}%" if each else "-" for each in shares]
            yield f"{truth} | {n} | {samples} | {seeds} | {len(shares[0])} | {' | '.join(told)}"


def worst_law(task: tuple[int, int, float, float, int]) -> int:
    """Misses at the law of this truth under which the best cut tends to look best."""
    n1, n0, prior, right, runs = task
    rng, misses = np.random.default_rng([n1, n0, runs]), 0
    low, top = max(0.0, (right - prior) / (1.0 - prior)), max(0.0, 1.0 - (1.0 - right) / prior)
    for _ in range(runs):
        members = np.where(rng.random(n1) < top, 2.0, low + (1.0 - low) * rng.random(n1))
        cut = best_cut(finest(Scores.of(members, rng.random(n0))), prior)
        misses += cut is not None and cut.lower(2.0 * ALPHA) > 2.0 * right - 1.0
    return misses


@table
def exact(run: Run):
    """The best cut's end alone, at the law of the same truth that is worst for it; half of 5% is its due."""
    yield "records a side | prior | truth | draws | above the truth"
    worlds = ((8, 8, 0.5, 0.6), (24, 24, 0.5, 0.75), (200, 200, 0.5, 0.65), (1000, 1000, 0.5, 0.7))
    worlds += ((20, 40, 0.5, 0.7), (30, 15, 0.3, 0.8), (20, 80, 0.2, 0.88))
    worlds += ((8, 60, 0.01, 0.992), (60, 8, 0.99, 0.993))
    for n1, n0, prior, right in worlds:
        runs = run.times(10_000 if n1 + n0 < 1000 else 2000, 10)
        parts = [runs // 4 + part for part in range(4)]
        misses = sum(run.map(worst_law, [(n1, n0, prior, right, part) for part in parts]))
        rate = run.rate(misses, sum(parts), form=".2g")
        yield f"{n1}, {n0} | {prior} | {2 * right - 1:.3f} | {sum(parts)} | {rate}"


@table
def separated(run: Run):
    """Sides wholly apart: what an answer says of so few records."""
    yield "records a side | lower end | the best cut alone, at the whole level"
    for n in (8, 10, 24, 50, 200):
        found = advantage(Scores.of(np.arange(n) + 1000.0, np.arange(n) * 1.0)).lower
        yield f"{n} | {found:.3f} | {BestCut((1.0, 0.0), n, n, 0.5).lower(ALPHA):.3f}"
