"""Queries of a released table: how often one sees a leak where there is none, and which of them sees which leak.

Without a leak the certified interval of the advantage must cover 0 in at least 95% of the runs, for every query; it is
built to do so in 97.5%. The released table is drawn without looking at either side, and repeats a part of its own rows.
"""

from collections import Counter
from itertools import product

import numpy as np

from benchmarks.harness import Run, table
from benchmarks.worlds import Rng, Table, part, stacked
from estimators import Scores, advantage
from estimators.audits.queries import SYNTHETIC, encode, synthetic_scores

OPTIONS = {"rows": (1000, 200)}


def people(rng: Rng, n: int) -> Table:
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


def categories(rng: Rng, n: int) -> Table:
    """A few levels, so that most distances tie."""
    return {name: rng.choice(list("abcd"), n, p=[0.6, 0.2, 0.15, 0.05]) for name in "xyz"}


def decimals(rng: Rng, n: int) -> Table:
    return {name: rng.normal(size=n).round(2) for name in "xyz"}


def verbatim(members: Table, fresh: Table, share: float) -> Table:
    n = len(members["age"])
    return stacked(part(fresh, slice(round(n * (1 - share)))), part(members, slice(round(n * share))))


def mixtures(rng: Rng, members: Table, fresh: Table) -> Table:
    """Each released row takes every column from one of three similar members, as SMOTE and trees do."""
    n = len(members["age"])
    order = np.argsort(members["age"] + rng.random(n))
    near = np.clip(np.arange(n)[:, None] + rng.integers(-1, 2, (n, len(members))), 0, n - 1)
    return {name: column[order][near[:, place]] for place, (name, column) in enumerate(members.items())}


def jittered(rng: Rng, members: Table, fresh: Table) -> Table:
    n = len(members["age"])
    return members | {
        "wage": members["wage"] * np.exp(rng.normal(scale=0.05, size=n)),
        "tax": members["tax"] + rng.normal(scale=0.05, size=n),
        "age": members["age"] + rng.integers(-2, 3, n),
        "since": members["since"] + rng.integers(-90, 90, n),
    }


def shuffled(rng: Rng, members: Table, fresh: Table) -> Table:
    """No row is near, and all values are theirs."""
    return {name: rng.permutation(each) for name, each in members.items()}


RELEASES = {
    "fresh rows": lambda rng, members, fresh: fresh,
    "1% verbatim": lambda rng, members, fresh: verbatim(members, fresh, 0.01),
    "10% verbatim": lambda rng, members, fresh: verbatim(members, fresh, 0.10),
    "jittered": jittered,
    "mixtures of three": mixtures,
    "columns shuffled": shuffled,
}


@table
def leaks(run: Run):
    """Certified intervals of the advantage, query by query; one seed."""
    columns = []
    for release in RELEASES.values():
        rng = np.random.default_rng(0)
        members, nonmembers, fresh, reference = (people(rng, run.rows) for _ in range(4))
        scores = synthetic_scores(encode(members, nonmembers, release(rng, members, fresh), reference))
        answers = (advantage(Scores.of(scores.members[name], scores.nonmembers[name])) for name in SYNTHETIC)
        columns.append([f"[{each.lower:.3f}, {each.upper:.3f}]" for each in answers])
    yield f"query ({run.rows} a table) | {' | '.join(RELEASES)}"
    for name, row in zip(SYNTHETIC, zip(*columns, strict=True), strict=True):
        yield f"`{name}` | {' | '.join(row)}"


def alarms(draw, n: int, reference: bool, runs: int) -> Counter[str]:
    """Runs without a leak in which the lower end of the advantage lies above 0."""
    seen = Counter[str]()
    for run in range(runs):
        rng = np.random.default_rng([3, run, n])
        released = draw(rng, n)
        released = stacked(released, part(released, slice(n // 6)))
        tables = encode(draw(rng, n), draw(rng, n), released, draw(rng, n) if reference else None)
        scores = synthetic_scores(tables)
        for name in scores.members:
            result = advantage(Scores.of(scores.members[name], scores.nonmembers[name]))
            seen[name] += result.lower > 0.0
    return seen


@table
def without_a_leak(run: Run):
    sizes = ((60, True), (60, False), (300, True))[: 2 if run.quick else None]
    cases = [(draw, *size) for draw, size in product((people, categories, decimals), sizes)]
    runs = run.times(200, 1 if run.quick else 10)
    heads = [f"{draw.__name__}, {n}{'' if reference else ', no reference'}" for draw, n, reference in cases]
    results = [alarms(*case, runs) for case in cases]
    yield f"query ({runs} runs each) | {' | '.join(heads)}"
    for name in SYNTHETIC:
        shares = [f"{100 * (seen[name] / runs):.1f}%" if name in seen else "-" for seen in results]
        yield f"`{name}` | {' | '.join(shares)}"
