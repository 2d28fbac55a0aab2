"""Queries of a released table: how often one sees a leak where there is none, and which of them sees which leak.

    python -m benchmarks.queries               # the tables of docs/queries.md, some 15 minutes
    python -m benchmarks.queries --runs 0.1    # a tenth of the runs

Without a leak the certified interval of the advantage must cover 0 in at least 95% of the runs, for every query; it is
built to do so in 97.5%. The released table is drawn without looking at either side, and repeats a part of its own rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from estimators.advantage import advantage
from estimators.queries import SYNTHETIC, encode, synthetic_scores
from estimators.sample.scores import Scores

Table = dict[str, Any]
Draw = Callable[[np.random.Generator, int], Table]


def people(rng: np.random.Generator, n: int) -> Table:
    """Mixed columns that hang together, with missing values."""
    age = rng.integers(18, 80, n)
    wage = np.round(rng.lognormal(2 + age / 80, 0.5), 2)
    wage[rng.random(n) < 0.05] = np.nan
    job = np.where(rng.random(n) < 0.5, (age // 8) % 8, rng.integers(0, 8, n)).astype(str)
    return {
        "age": age,
        "wage": wage,
        "tax": np.round(0.3 * np.nan_to_num(wage) + rng.normal(scale=0.2, size=n), 2),
        "job": np.char.add("job ", job),
        "part_time": rng.random(n) < 0.3,
        "since": rng.integers(8000, 18000, n).astype("datetime64[D]"),
    }


def categories(rng: np.random.Generator, n: int) -> Table:
    """A few levels, so that most distances tie."""
    return {name: rng.choice(list("abcd"), n, p=[0.6, 0.2, 0.15, 0.05]) for name in "xyz"}


def decimals(rng: np.random.Generator, n: int) -> Table:
    """Rounded numbers that do not hang together."""
    return {name: rng.normal(size=n).round(2) for name in "xyz"}


def part(table: Table, which: Any) -> Table:
    return {name: column[which] for name, column in table.items()}


def stacked(*tables: Table) -> Table:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def alarms(draw: Draw, n: int, reference: bool, runs: int) -> dict[str, float]:
    """Shares of runs without a leak in which the lower end of the advantage lies above 0."""
    seen: dict[str, int] = {}
    for run in range(runs):
        rng = np.random.default_rng([3, run, n])
        released = draw(rng, n)
        released = stacked(released, part(released, slice(n // 6)))
        tables = encode(draw(rng, n), draw(rng, n), released, draw(rng, n) if reference else None)
        scores = synthetic_scores(tables)
        for name in scores.members:
            result = advantage(Scores.of(scores.members[name], scores.nonmembers[name]))
            seen[name] = seen.get(name, 0) + (result.lower > 0.0)
    return {name: count / runs for name, count in seen.items()}


def without_a_leak(share: float) -> Iterator[str]:
    cases = [
        (draw, n, reference)
        for draw in (people, categories, decimals)
        for n, reference in ((60, True), (60, False), (300, True))
    ]
    runs = max(10, round(200 * share))
    columns = [
        f"{draw.__name__}, {n}" + ("" if reference else ", no reference") for draw, n, reference in cases
    ]
    results = [alarms(draw, n, reference, runs) for draw, n, reference in cases]
    yield f"| query ({runs} runs each) | " + " | ".join(columns) + " |"
    yield "| --- |" + " ---: |" * len(cases)
    for name in SYNTHETIC:
        shares = [f"{100 * result[name]:.1f}%" if name in result else "-" for result in results]
        yield f"| `{name}` | " + " | ".join(shares) + " |"


def verbatim(rng: np.random.Generator, members: Table, fresh: Table, share: float) -> Table:
    n = len(members["age"])
    return stacked(part(fresh, slice(round(n * (1 - share)))), part(members, slice(round(n * share))))


def mixtures(rng: np.random.Generator, members: Table, fresh: Table) -> Table:
    """Each released row takes every column from one of three similar members, as SMOTE and trees do."""
    n = len(members["age"])
    order = np.argsort(members["age"] + rng.random(n))
    near = np.clip(np.arange(n)[:, None] + rng.integers(-1, 2, (n, len(members))), 0, n - 1)
    return {name: column[order][near[:, place]] for place, (name, column) in enumerate(members.items())}


def jittered(rng: np.random.Generator, members: Table, fresh: Table) -> Table:
    """Members, every number a little off."""
    n = len(members["age"])
    return members | {
        "wage": members["wage"] * np.exp(rng.normal(scale=0.05, size=n)),
        "tax": members["tax"] + rng.normal(scale=0.05, size=n),
        "age": members["age"] + rng.integers(-2, 3, n),
        "since": members["since"] + rng.integers(-90, 90, n),
    }


def shuffled(rng: np.random.Generator, members: Table, fresh: Table) -> Table:
    """Every column of the members shuffled for itself: no row is near, all values are theirs."""
    return {name: rng.permutation(column) for name, column in members.items()}


RELEASES: dict[str, Callable[[np.random.Generator, Table, Table], Table]] = {
    "fresh rows": lambda rng, members, fresh: fresh,
    "1% verbatim": lambda rng, members, fresh: verbatim(rng, members, fresh, 0.01),
    "10% verbatim": lambda rng, members, fresh: verbatim(rng, members, fresh, 0.10),
    "jittered": jittered,
    "mixtures of three": mixtures,
    "columns shuffled": shuffled,
}


def with_a_leak(n: int = 1000) -> Iterator[str]:
    """Certified intervals of the advantage, query by query; one seed."""
    columns: list[dict[str, str]] = []
    for release in RELEASES.values():
        rng = np.random.default_rng(0)
        members, nonmembers, fresh, reference = (people(rng, n) for _ in range(4))
        tables = encode(members, nonmembers, release(rng, members, fresh), reference)
        scores = synthetic_scores(tables)
        answers = {
            name: advantage(Scores.of(scores.members[name], scores.nonmembers[name])) for name in SYNTHETIC
        }
        columns.append({name: f"[{each.lower:.3f}, {each.upper:.3f}]" for name, each in answers.items()})
    yield f"| query ({n} a table) | " + " | ".join(RELEASES) + " |"
    yield "| --- |" + " --- |" * len(RELEASES)
    for name in SYNTHETIC:
        yield f"| `{name}` | " + " | ".join(column[name] for column in columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    share = parser.parse_args().runs
    for lines in (with_a_leak(), without_a_leak(share)):
        for line in lines:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
