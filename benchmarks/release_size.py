"""How many rows of a release may go out: how often too many are named, what the bands cover, and what it costs.

    python -m benchmarks.release_size               # the tables of docs/releases.md, some 15 CPU minutes
    python -m benchmarks.release_size --runs 0.1    # a tenth of the runs
    python -m benchmarks.release_size --only cost   # one table: claims, bands or cost

A training set of 20,000 rows is released, in part or blurred, and audited by samples of it. Its own truth at every size
is what all its rows and 100,000 others say of a score; one record's score depends on no other that is asked about.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from benchmarks.synthetic import part, people
from estimators.queries import encode_points, synthetic_scores
from estimators.queries.nested import nested_scores
from estimators.queries.table import encode
from estimators.release_size import default_sizes, first_rows, release_size
from estimators.sample.scores import Scores
from estimators.series import Series, judge_series

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]

POPULATION, OTHERS = 20_000, 100_000
BREAKS = 5000
"""The size whose truth the limit lies next to."""

SIZES = [20, 200, 500, 1000, 2000, 5000, 10_000, 20_000]


@dataclass(frozen=True)
class World:
    """Scores of a training set and of others at each size, and the advantage that they have in truth."""

    scores: Mapping[int, Mapping[str, Sides]]

    def truth(self, size: int) -> float:
        return max(float(ks_2samp(*sides).statistic) for sides in self.scores[size].values())

    def audit(self, rng: np.random.Generator, n: int, limit: float | None, seed: int) -> Series:
        """The series that ``release_size`` makes of samples of both sides."""
        rows = rng.choice(POPULATION, n, replace=False), rng.choice(OTHERS, n, replace=False)
        steps = (
            (
                size,
                {
                    name: Scores.of(each[0][rows[0]], each[1][rows[1]], "continuous")
                    for name, each in queries.items()
                },
            )
            for size, queries in self.scores.items()
        )
        return judge_series(steps, len(self.scores), limit, seed=seed)


@cache
def world(released: Callable[[np.random.Generator, Floats, Floats], Floats], *queries: str) -> World:
    """The same rows and the same release each time."""
    rng = np.random.default_rng(0)
    train, others = rng.normal(size=(POPULATION, 2)), rng.normal(size=(OTHERS, 2))
    tables = encode_points(train, others, released(rng, train, others))
    names = list(queries)
    steps = zip(SIZES, nested_scores(tables, SIZES, names), strict=True)
    return World(
        {size: {name: (each.members[name], each.nonmembers[name]) for name in names} for size, each in steps}
    )


def blurred(rng: np.random.Generator, train: Floats, others: Floats) -> Floats:
    """Training rows with a little noise."""
    return train[rng.integers(POPULATION, size=POPULATION)] + rng.normal(0, 1e-4, (POPULATION, 2))


def balanced(rng: np.random.Generator, train: Floats, others: Floats) -> Floats:
    """A quarter as before, then rows like others that were not trained on: the advantage falls again."""
    first = blurred(rng, train, others)[: POPULATION // 4]
    later = others[rng.choice(OTHERS // 5, POPULATION - len(first))] + rng.normal(
        0, 1e-4, (POPULATION - len(first), 2)
    )
    return np.concatenate([first, later])


WORLDS: dict[str, tuple[Callable[..., Floats], tuple[str, ...]]] = {
    "grows, one query": (blurred, ("closeness",)),
    "grows, three queries": (blurred, ("closeness", "kth_closeness", "closeness_ratio")),
    "rises and falls, one query": (balanced, ("closeness",)),
}


def claims(share: float) -> Iterator[str]:
    """The limit lies a thousandth below the truth of one size: how often that size or a larger one is named."""
    runs, n = max(20, round(1000 * share)), 1000
    yield (
        f"| advantage ({runs} runs, {n:,} rows a side) | limit | first size above | truth there | the walk names one "
        "above | each size by itself does | Bonferroni does | the walk names the size before | Bonferroni does |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, (released, queries) in WORLDS.items():
        here = world(released, *queries)
        truths = {size: here.truth(size) for size in SIZES}
        limit = truths[BREAKS] - 0.001
        before = SIZES[SIZES.index(BREAKS) - 1]
        largest: dict[str, list[int]] = {"walk": [], "alone": [], "shared": []}
        for run in range(runs):
            series = here.audit(np.random.default_rng([1, run]), n, limit, run)
            alone = [int(step.label) for step in series.steps if step.decisive_upper <= limit]
            shared = [int(step.label) for step in series.steps if step.estimate.upper <= limit]
            last = series.last_passed
            largest["walk"].append(0 if last is None else int(last.label))
            largest["alone"].append(max(alone, default=0))
            largest["shared"].append(max(shared, default=0))
        wrong = {
            way: np.mean([truths.get(each, 0.0) > limit for each in sizes]) for way, sizes in largest.items()
        }
        wrong["walk"] = np.mean(
            [each >= BREAKS for each in largest["walk"]]
        )  # it speaks of all smaller ones, too
        right = {way: np.mean([each == before for each in sizes]) for way, sizes in largest.items()}
        yield (
            f"| {name} | {limit:.3f} | {BREAKS:,} | {truths[BREAKS]:.3f} | {wrong['walk']:.1%} | "
            f"{wrong['alone']:.1%} | {wrong['shared']:.1%} | {right['walk']:.0%} | {right['shared']:.0%} |"
        )


def bands(share: float) -> Iterator[str]:
    """How often the band around all sizes leaves a truth out, and how often a size fails that keeps the limit."""
    runs, n = max(20, round(500 * share)), 1000
    yield (
        f"| advantage ({runs} runs, {n:,} rows a side) | some upper end below the truth | some lower end above | "
        "mean width at 20 rows | at 20,000 |"
    )
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, (released, queries) in WORLDS.items():
        here = world(released, *queries)
        truths = [here.truth(size) for size in SIZES]
        below = above = 0
        widths = []
        for run in range(runs):
            ends = [step.estimate for step in here.audit(np.random.default_rng([2, run]), n, None, run).steps]
            below += any(each.upper < truth for each, truth in zip(ends, truths, strict=True))
            above += any(each.lower > truth for each, truth in zip(ends, truths, strict=True))
            widths.append([ends[0].interval.width, ends[-1].interval.width])
        first, last = np.mean(widths, axis=0)
        yield f"| {name} | {below / runs:.1%} | {above / runs:.1%} | {first:.3f} | {last:.3f} |"


def cost(share: float) -> Iterator[str]:
    """CPU seconds of one answer, and of a search from scratch at every size."""
    n = round(5000 * min(1.0, share * 10))
    rng = np.random.default_rng(3)
    train, holdout, released, reference = (people(rng, n) for _ in range(4))
    few = [part(table, slice(n // 5)) for table in (train, holdout, released)]
    every, names = range(n // 250, n // 5 + 1, n // 250), ["closeness", "kth_closeness", "near_copy"]
    yield f"| {n:,} rows a table, 12 mixed columns | CPU s |"
    yield "| --- | ---: |"
    release_size({"x": np.arange(40)}, {"x": np.arange(40)}, {"x": np.arange(40)})  # imports
    cases: dict[str, Callable[[], Any]] = {
        f"6 queries, no reference, {len(default_sizes(n))} sizes": lambda: release_size(
            train, holdout, released
        ),
        f"12 queries, a reference, {len(default_sizes(n))} sizes": lambda: release_size(
            train, holdout, released, reference
        ),
        f"3 queries by neighbours at {len(every)} sizes, {n // 5:,} rows": lambda: list(
            nested_scores(encode(*few), every, names)
        ),
        "the same, each size searched from scratch": lambda: [
            synthetic_scores(first_rows(encode(*few), size), names) for size in every
        ],
    }
    for name, call in cases.items():
        start = time.process_time()
        call()
        yield f"| {name} | {time.process_time() - start:.1f} |"


TABLES: dict[str, Callable[[float], Iterator[str]]] = {"claims": claims, "bands": bands, "cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    parser.add_argument("--only", choices=TABLES, help="one table")
    options = parser.parse_args()
    for name in [options.only] if options.only else TABLES:
        for line in TABLES[name](options.runs):
            print(line, flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
