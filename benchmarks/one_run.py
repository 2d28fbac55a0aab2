"""A promise in one training run: how often a true one is contradicted, and how large an epsilon is shown.

Records are drawn by fair coins, or split. Confidence .9, so the level is 5%. Ten minutes of one core.
"""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from math import exp, sqrt

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import binom

from benchmarks.harness import Note, Run, least, table
from estimators import Scores
from estimators.privacy.direction import Direction
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.sample.counting import finest
from estimators.theory.dp import ApproximateDp, GaussianDp
from estimators.theory.dp.promise import GaussianEnvelope
from estimators.theory.one_run import Draw, epsilon_over_runs, one_run
from estimators.theory.one_run.betting import count_refutes, epsilon_refuted
from estimators.theory.one_run.guesses import PAIRINGS, Guesses, guesses_of
from estimators.theory.shifts import gaussian_epsilon

DELTA = 1e-5
LEVEL = 0.05
CONFIDENCE = 1.0 - 2.0 * LEVEL
WORLDS = {
    "1 sd apart": ("gauss", 1.0),
    "2 sd apart": ("gauss", 2.0),
    "4 sd apart": ("gauss", 4.0),
    "5% memorised": ("memorised", 0.05),
}


def draw(kind: str, strength: float, records: int, rng: np.random.Generator, split: bool = False) -> Scores:
    """Records that are members by coins, or half of them; a member's score is shifted, or far out by chance."""
    member = rng.random(records) < 0.5
    if split:
        member = rng.permutation(np.arange(records) < records // 2)
    far = rng.random(records) < strength
    score = rng.normal(size=records) + (strength * member if kind == "gauss" else 20.0 * (member & far))
    return Scores.of(score[member], score[~member])


def is_contradicted(task: tuple[float, int, int, bool]) -> tuple[bool, bool, bool]:
    """By the count, by the bet on one epsilon, and by mu's own bound."""
    mu, records, run, split = task
    data = draw("gauss", mu, records, np.random.default_rng((5, run)), split)
    how, about = ("split", "replace") if split else ("coin", None)
    true = GaussianDp(mu * (sqrt(2.0) if split else 1.0))  # of two scores, one shifted, which one
    epsilon = ApproximateDp(gaussian_epsilon(true.mu, DELTA) if true.mu else 0.0, DELTA)
    kept, bet = (
        one_run(data, how, promise, 0.0, CONFIDENCE, about, direction="high", seed=run) for promise in (true, epsilon)
    )
    normal = one_run(data, how, None, DELTA, CONFIDENCE, gaussian=True, direction="high", seed=run)
    return (
        kept.decision == "contradicted",
        bet.decision == "contradicted",
        normal.gaussian is not None and normal.gaussian.mu > true.mu,
    )


@table
def true_promise(run: Run) -> Iterator[object]:
    """Share of runs of 1,000 records in which what is true is contradicted, each way at 5%."""
    yield "drawn | mu | runs | its curve, counted | its epsilon, by betting | mu"
    for split in (False, True):
        for mu in run.few((0.0, 0.5, 1.0, 2.0), 2):
            runs = run.times(1000, 20)
            found = run.map(is_contradicted, [(mu, 1000, each, split) for each in range(runs)])
            cells = " | ".join(run.rate(wrong, runs, LEVEL) for wrong in np.sum(found, axis=0).tolist())
            yield f"{'split' if split else 'coins'} | {mu:g} | {runs} | {cells}"


@cache
def contradicted_from(mu: float, coins: int) -> int:
    """The fewest right guesses of all that contradict mu."""

    def contradicts(right: int) -> bool:
        counts = np.array([[coins, right, 0]])
        made = Guesses(coins, np.zeros(1), np.zeros(1), np.zeros((2, 0)), counts, np.ones(1))
        return count_refutes(made, GaussianEnvelope(mu), LEVEL)

    return bisect_left(range(coins + 1), True, lo=coins // 2 + 1, key=contradicts)


def chance_of(mu: float, coins: int, right: int) -> float:
    """The chance of so many right guesses or more by randomised response whose strength all canaries share.

    The strength is drawn as often as a Gaussian mechanism of this mu is so sure: |mu x - mu^2 / 2|, x of either of its
    two normal laws. Told the strength, a record's two laws are those of randomised response, so they are mu apart.
    """
    x = np.linspace(-12.0, 12.0 + mu, 200_001)
    weight = (np.exp(-x * x / 2.0) + np.exp(-((x - mu) ** 2) / 2.0)) / 2.0
    sure = binom.sf(right - 1, coins, expit(np.abs(mu * x - mu * mu / 2.0)))
    return float((weight * sure).sum() / weight.sum())


@table
def hanging_together(run: Run) -> Iterator[object]:
    """The exact chance that a true mu is contradicted, where one draw says how sure all guesses are."""
    yield "canaries, all guessed | mu | contradicted from | chance | by a test that takes guesses for independent"
    for coins in run.few((200, 1000, 10_000), 1):
        for mu in run.few((0.25, 0.5, 1.0, 2.0), 2):
            least_right = contradicted_from(mu, coins)
            chance = chance_of(mu, coins, least_right)
            run.faults += chance > LEVEL
            alone = binom.isf(LEVEL, coins, ndtr(mu / 2.0)) + 1
            independent = chance_of(mu, coins, int(alone))
            fewest = f"{least_right:,}" if least_right <= coins else "none"
            yield f"{coins:,} | {mu:g} | {fewest} | {100 * chance:.2f}% | {100 * independent:.0f}%"


def leaky(task: tuple[float, float, int, int]) -> bool:
    """Randomised response, and with a small chance everything at once: at exactly (epsilon, delta)."""
    epsilon, delta, records, run = task
    rng = np.random.default_rng((9, run))
    member = rng.random(records) < 0.5
    honest = rng.random(records) < exp(epsilon) / (1.0 + exp(epsilon))
    if rng.random() < delta:
        honest[:] = True
    score = np.where(honest, member, ~member) + rng.random(records) * 0.01
    data = Scores.of(score[member], score[~member])
    return one_run(data, "coin", None, delta, CONFIDENCE, direction="high").epsilon.value > epsilon


@table
def attained(run: Run) -> Iterator[object]:
    """Share of runs in which the bound is above the epsilon of a mechanism that attains its (epsilon, delta)."""
    yield "records | epsilon | delta | runs | bound above it"
    for records in run.few((200, 1000), 1):
        for epsilon, delta in run.few(((0.5, 0.0), (2.0, 0.0), (1.0, 1e-5), (1.0, 0.03)), 2):
            runs = run.times(2000, 40)
            wrong = sum(run.map(leaky, [(epsilon, delta, records, each) for each in range(runs)]))
            yield f"{records} | {epsilon:g} | {delta:g} | {runs} | {run.rate(wrong, runs, LEVEL)}"


def over_runs_above(task: tuple[float, str, int, int]) -> tuple[bool, float]:
    """Of randomised response that attains epsilon: whether the bound over all runs is above it, and the bound."""
    epsilon, how, number, run = task
    rng, runs = np.random.default_rng((17, run)), []
    for _ in range(number):
        member = rng.permutation(200) < 100 if how == "split" else rng.random(200) < 0.5
        honest = rng.random(200) < expit(epsilon)
        score = np.where(honest, member, ~member) + 0.5 * rng.random(200)
        runs.append(Scores.of(score[member], score[~member]))
    last = epsilon_over_runs(runs, how, confidence=CONFIDENCE, direction="high", seed=run)[-1]
    return last > (epsilon if how == "coin" else 2.0 * epsilon), last


@table
def over_runs(run: Run) -> Iterator[object]:
    """Runs of 200 records each: how often the bound over all is above the epsilon that is attained, and its mean."""
    yield "drawn | epsilon (of a split: twice) | runs together | times | bound above it | mean bound"
    for how in ("coin", "split"):
        for epsilon in run.few((0.5, 2.0), 1):
            for number in run.few((1, 5), 1):
                times = run.times(1000 if how == "coin" else 300, 10)
                found = run.map(over_runs_above, [(epsilon, how, number, each) for each in range(times)])
                wrong, mean = sum(above for above, _ in found), np.mean([bound for _, bound in found])
                rate = run.rate(wrong, times, LEVEL)
                yield f"{how} | {epsilon:g} | {number} | {times} | {rate} | {mean:.2f}"


def shown(task: tuple[str, int, int]) -> list[float]:
    """Bounds: by coins, by a split, today's of ``audit``, and read as Gaussian."""
    world, records, run = task
    kind, strength = WORLDS[world]
    data = draw(kind, strength, records, np.random.default_rng((11, run)))
    by_coins = one_run(data, "coin", None, DELTA, CONFIDENCE, direction="high")
    normal = one_run(data, "coin", None, DELTA, CONFIDENCE, gaussian=True, direction="high").gaussian
    audit = epsilon_lower_bound(finest(data), CONFIDENCE, DELTA, "high").value
    split = draw(kind, strength, records, np.random.default_rng((12, run)), split=True)
    by_split = one_run(split, "split", None, DELTA, CONFIDENCE, direction="high", seed=run)
    return [by_coins.epsilon.value, by_split.epsilon.value, audit, 0.0 if normal is None else normal.epsilon]


@table
def bounds(run: Run) -> Iterator[object]:
    """Mean bound on epsilon at delta 1e-5 and level 5%, scores high for members."""
    yield "records | world | truth | runs | coins | split (records replaced) | `audit` | coins, read as Gaussian"
    for records, full in run.few(((1000, 300), (10_000, 100)), 1):
        for world in run.few(WORLDS, 2):
            kind, strength = WORLDS[world]
            runs = run.times(full, 4)
            means = np.mean(run.map(shown, [(world, records, each) for each in range(runs)]), axis=0)
            truth = f"{gaussian_epsilon(strength, DELTA):.2f}" if kind == "gauss" else "any"
            cells = " | ".join(f"{each:.2f}" for each in means)
            yield f"{records:,} | {world} | {truth} | {runs} | {cells}"
    yield Note("Read as Gaussian is no bound where the mechanism is not: then its epsilon may lie above the truth.")


def bound_by_seed(task: tuple[str, int, int, int]) -> float:
    """Of one sample that was split: the bound that this seed's pairings show."""
    world, records, pairings, seed = task
    data = draw(*WORLDS[world], records, np.random.default_rng(13), split=True)
    if pairings == PAIRINGS:
        return one_run(data, "split", None, DELTA, CONFIDENCE, direction="high", seed=seed).epsilon.value
    orders = guesses_of(data, Draw.SPLIT, Direction.HIGH, seed)[0]
    return max(epsilon_refuted(order[0], DELTA, LEVEL / len(orders)) for order in orders)


@table
def pairings(run: Run) -> Iterator[object]:
    """Mean and s.d. over seeds of the bound from one sample that was split, with one pairing and with five."""
    yield "records | world | seeds | one pairing | five, as stated"
    for records in run.few((1000, 10_000), 1):
        for world in run.few(WORLDS, 2):
            seeds = run.times(50, 4)
            cells = []
            for number in (1, PAIRINGS):
                found = run.map(bound_by_seed, [(world, records, number, seed) for seed in range(seeds)])
                cells.append(f"{np.mean(found):.2f}, s.d. {np.std(found):.2f}")
            yield f"{records:,} | {world} | {seeds} | {' | '.join(cells)}"


@table
def cost(run: Run) -> Iterator[object]:
    """Milliseconds of a promise of mu and all bounds, beside two sorts of the scores."""
    yield "records | coins, ms | split, ms | two np.sort, ms"
    mu = GaussianDp(1.0)
    for records in run.few((1000, 10_000, 1_000_000), 2):
        data = draw("gauss", 1.0, records, np.random.default_rng(1))
        sides = [np.ascontiguousarray(side.ravel()) for side in (data.members, data.nonmembers)]
        sort = least(lambda sides=sides: [np.sort(side) for side in sides])
        both = (
            least(lambda data=data, how=how, about=about: one_run(data, how, mu, DELTA, 0.95, about))
            for how, about in (("coin", None), ("split", "replace"))
        )
        yield f"{records:,} | {' | '.join(f'{1000 * each:.1f}' for each in (*both, sort))}"
