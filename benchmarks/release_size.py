"""How many rows of a release may go out: how often too many are named, what the bands cover, and what it costs.

A training set of 20,000 rows is released, in part or blurred, and audited by samples of it. Its own truth at every size
is what all its rows and 100,000 others say of a score; one record's score depends on no other that is asked about.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import ks_2samp

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng, adults, part
from estimators import Scores, Series, release_size
from estimators.audits.queries import encode_points, synthetic_scores
from estimators.audits.queries.nested import default_sizes, nested_scores
from estimators.audits.queries.table import encode
from estimators.audits.release_size import first_rows
from estimators.runs.series import judge_series

OPTIONS = {"rows": (5000, 500)}
QUICK = 0.002
POPULATION, OTHERS = 20_000, 100_000
AUDITED = 1000  # rows a side of an audit
BREAKS = 5000  # the size whose truth the limit lies next to
SIZES = [20, 200, 500, 1000, 2000, 5000, 10_000, 20_000]


@dataclass(frozen=True)
class World:
    """Scores of a training set and of others at each size, and the advantage that they have in truth."""

    scores: Mapping[int, Mapping[str, tuple[Floats, Floats]]]

    @property
    def truths(self) -> dict[int, float]:
        return {
            size: max(float(ks_2samp(*sides).statistic) for sides in queries.values())
            for size, queries in self.scores.items()
        }

    def audit(self, rng: Rng, limit: float | None, seed: int) -> Series:
        """The series that ``release_size`` makes of samples of both sides."""
        rows = [rng.choice(number, AUDITED, replace=False) for number in (POPULATION, OTHERS)]

        def sample(sides: tuple[Floats, Floats]) -> Scores:
            return Scores.of(sides[0][rows[0]], sides[1][rows[1]], "continuous")

        steps = {size: {q: sample(sides) for q, sides in each.items()} for size, each in self.scores.items()}
        return judge_series(steps.items(), len(steps), limit, seed=seed)


def blurred(rng: Rng, train: Floats, others: Floats) -> Floats:
    return train[rng.integers(POPULATION, size=POPULATION)] + rng.normal(0, 1e-4, (POPULATION, 2))


def balanced(rng: Rng, train: Floats, others: Floats) -> Floats:
    """A quarter as before, then rows like others that were not trained on: the advantage falls again."""
    first = blurred(rng, train, others)[: POPULATION // 4]
    rest = POPULATION - len(first)
    later = others[rng.choice(OTHERS // 5, rest)] + rng.normal(0, 1e-4, (rest, 2))
    return np.concatenate([first, later])


@cache
def world(released: Callable[..., Floats], *queries: str) -> World:
    """The same rows and the same release each time."""
    rng = np.random.default_rng(0)
    train, others = rng.normal(size=(POPULATION, 2)), rng.normal(size=(OTHERS, 2))
    steps = nested_scores(encode_points(train, others, released(rng, train, others)), SIZES, list(queries))
    scores = {
        size: {name: (each.members[name], each.nonmembers[name]) for name in queries}
        for size, each in zip(SIZES, steps, strict=True)
    }
    return World(scores)


WORLDS = {
    "grows, one query": (blurred, "closeness"),
    "grows, three queries": (blurred, "closeness", "kth_closeness", "closeness_ratio"),
    "rises and falls, one query": (balanced, "closeness"),
}


@table
def claims(run: Run):
    """The limit lies a thousandth below the truth of one size: how often that size or a larger one is named."""
    runs = run.times(1000, 2 if run.quick else 20)
    yield (
        f"advantage ({runs} runs, {AUDITED:,} rows a side) | limit | first size above | truth there | the walk names "
        "one above | each size by itself does | Bonferroni does | the walk names the size before | Bonferroni does"
    )
    for name, queries in run.few(WORLDS.items(), 1):
        here = world(*queries)
        truths = here.truths
        limit, before = truths[BREAKS] - 0.001, SIZES[SIZES.index(BREAKS) - 1]
        walk, alone, shared = [], [], []
        for seed in range(runs):
            series = here.audit(np.random.default_rng([1, seed]), limit, seed)
            walk.append(0 if series.last_passed is None else int(series.last_passed.label))
            passing = [int(step.label) for step in series.steps if step.decisive_upper <= limit]
            alone.append(max(passing, default=0))
            shared.append(max((int(s.label) for s in series.steps if s.estimate.upper <= limit), default=0))
        wrong = [np.mean([truths.get(each, 0.0) > limit for each in sizes]) for sizes in (alone, shared)]
        right = [np.mean([each == before for each in sizes]) for sizes in (walk, shared)]
        too_many = np.mean([each >= BREAKS for each in walk])  # it speaks of all smaller ones, too
        yield (
            f"{name} | {limit:.3f} | {BREAKS:,} | {truths[BREAKS]:.3f} | {too_many:.1%} | {wrong[0]:.1%} | "
            f"{wrong[1]:.1%} | {right[0]:.0%} | {right[1]:.0%}"
        )


@table
def bands(run: Run):
    """How often the band around all sizes leaves a truth out, and how often a size fails that keeps the limit."""
    runs = run.times(500, 2 if run.quick else 20)
    yield (
        f"advantage ({runs} runs, {AUDITED:,} rows a side) | some upper end below the truth | some lower end above | "
        "mean width at 20 rows | at 20,000"
    )
    for name, queries in run.few(WORLDS.items(), 1):
        here, below, above, widths = world(*queries), 0, 0, []
        truths = here.truths.values()
        for seed in range(runs):
            ends = [step.estimate for step in here.audit(np.random.default_rng([2, seed]), None, seed).steps]
            below += any(each.upper < truth for each, truth in zip(ends, truths, strict=True))
            above += any(each.lower > truth for each, truth in zip(ends, truths, strict=True))
            widths.append([ends[0].interval.width, ends[-1].interval.width])
        first, last = np.mean(widths, axis=0)
        yield f"{name} | {below / runs:.1%} | {above / runs:.1%} | {first:.3f} | {last:.3f}"


@table
def cost(run: Run):
    """CPU seconds of one answer, and of a search from scratch at every size."""
    n, rng = run.rows, np.random.default_rng(3)
    train, holdout, released, reference = (adults(rng, n) for _ in range(4))
    few = [part(each, slice(n // 5)) for each in (train, holdout, released)]
    every, names = range(n // 250, n // 5 + 1, n // 250), ["closeness", "kth_closeness", "near_copy"]
    sizes = len(default_sizes(n))
    yield f"{n:,} rows a table, 12 mixed columns | CPU s"
    release_size(*({"x": np.arange(40) + start} for start in (0, 40, 20)))  # imports
    at_once = lambda: list(nested_scores(encode(*few), every, names))  # noqa: E731
    from_scratch = lambda: [synthetic_scores(first_rows(encode(*few), each), names) for each in every]  # noqa: E731
    cases = {
        f"6 queries, no reference, {sizes} sizes": lambda: release_size(train, holdout, released),
        f"12 queries, a reference, {sizes} sizes": lambda: release_size(train, holdout, released, reference),
        f"3 queries by neighbours at {len(every)} sizes, {n // 5:,} rows": at_once,
        "the same, each size searched from scratch": from_scratch,
    }
    for name, call in cases.items():
        start = time.process_time()
        call()
        yield f"{name} | {time.process_time() - start:.1f}"
