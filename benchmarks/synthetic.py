"""Audits of a released table: how often they see a copy, a leak that is none, and sides that were not shuffled.

    python -m benchmarks.synthetic               # the tables of docs/synthetic.md, some 25 CPU minutes
    python -m benchmarks.synthetic --runs 0.1    # a tenth of the runs
    python -m benchmarks.synthetic --only cost   # one table: cost, copies, unasked, shifted, untrained or learners

Tables have 12 mixed columns that hang together: numbers, money, dates, booleans, few and many levels, missing values.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from estimators.advantage import advantage
from estimators.adversary.learned import DEFAULT_LEARNERS, boosting, logistic, quadratic
from estimators.queries import SYNTHETIC, encode, synthetic_scores
from estimators.sample.scores import Scores
from estimators.split import check_split
from estimators.synthetic import SyntheticAudit, audit_synthetic

Table = dict[str, Any]

LIMITS: dict[str, Any] = {
    "max_advantage": 0.1,
    "max_tpr": 0.01,
    "at_fpr": 0.001,
    "max_copies_over_holdout": 0,
}
"""The limits of every audit here."""


def people(rng: np.random.Generator, n: int, shift: float = 0.0) -> Table:
    """Twelve mixed columns that hang together; those of a shift are older, and earn more."""
    age = np.clip(rng.normal(45 + 6 * shift, 13, n), 18, 90).round().astype(int)
    education = np.clip((rng.normal(0, 1, n) + 3 - age / 80 + 0.3 * shift).round(), 0, 5).astype(int)
    wage = np.round(rng.lognormal(2 + education / 6 + age / 120, 0.45), 2)
    wage[rng.random(n) < 0.04] = np.nan
    part = rng.random(n) < 0.25
    hours = np.round(np.where(part, rng.normal(20, 6, n), rng.normal(39, 5, n)))
    married = rng.random(n) < np.clip((age - 18) / 40, 0, 0.8)
    return {
        "age": age,
        "education": education,
        "wage": wage,
        "hours": hours,
        "job": np.char.add("job ", ((education * 2 + rng.integers(0, 6, n)) % 12).astype(str)),
        "region": rng.choice(list("ABCDEFGH"), n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05]),
        "status": np.where(married, "married", "single"),
        "children": rng.poisson(np.where(married, 1.4, 0.3)),
        "part_time": hours < 30,
        "since": rng.integers(8000, 18000, n).astype("datetime64[D]"),
        "tax": np.round(0.25 * np.nan_to_num(wage) * hours / 40 + rng.normal(0, 0.3, n), 2),
        "city": np.char.add("city ", (rng.zipf(1.6, n) % 300).astype(str)),
    }


def part(table: Table, which: Any) -> Table:
    return {name: column[which] for name, column in table.items()}


def stacked(*tables: Table) -> Table:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def audited(
    train: Table, holdout: Table, released: Table, reference: Table | None = None, **options: Any
) -> SyntheticAudit:
    return audit_synthetic(train, holdout, released, reference, **LIMITS, **options)


def cost(share: float) -> Iterator[str]:
    yield "| rows a table | audit | CPU s |"
    yield "| ---: | --- | ---: |"
    n = round(5000 * min(1.0, share * 10))
    rng = np.random.default_rng(0)
    train, holdout, released, reference = (people(rng, n) for _ in range(4))
    check_split(part(train, slice(200)), part(holdout, slice(200)))  # imports
    cases: dict[str, Callable[[], object]] = {
        "12 queries, a reference, the sides": lambda: audited(train, holdout, released, reference),
        "6 queries, no reference, the sides": lambda: audited(train, holdout, released),
        "the sides alone": lambda: check_split(train, holdout),
    }
    for name, call in cases.items():
        start = time.process_time()
        call()
        yield f"| {n:,} | {name} | {time.process_time() - start:.1f} |"


def copies(share: float) -> Iterator[str]:
    """1% of the training rows in the release, word for word, and the same release without them."""
    runs, n = max(5, round(50 * share)), 5000
    yield (
        f"| release ({runs} runs, {n:,} rows a table, no reference) | fails | by copies | an exposure | "
        "fewest shown to be copied |"
    )
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, number in (("1% of the training rows, word for word", n // 100), ("drawn without them", 0)):
        audits = []
        for run in range(runs):
            rng = np.random.default_rng([5, run])
            train, holdout, released = (people(rng, n) for _ in range(3))
            released = stacked(part(train, slice(number)), part(released, slice(n - number)))
            audits.append(audited(train, holdout, released, seed=run, check_sides=False))
        yield (
            f"| {name} | {_share(each.verdict.word.startswith('fail') for each in audits)} | "
            f"{_share(each.limits[2].decision.value == 'fail' for each in audits)} | "
            f"{_share(each.most_exposed[1].alarm for each in audits)} | "
            f"{min(each.copies.beyond_chance.lower for each in audits):.0f} |"
        )


def numbers(rng: np.random.Generator, n: int) -> Table:
    """Three columns of numbers that were measured with many digits."""
    level = rng.normal(0, 1, n)
    return {
        "rate": 50 + 8 * level + rng.normal(0, 5, n),
        "share": rng.beta(2, 5, n),
        "sum": rng.lognormal(3 + level / 3, 1, n),
    }


def few_levels(rng: np.random.Generator, n: int) -> Table:
    """Four columns of few categories."""
    return {name: rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]) for name in "wxyz"}


WRITERS: dict[str, Callable[[Any], Any]] = {
    "whole numbers": lambda column: column.round(),
    "1 decimal": lambda column: column.round(1),
    "2 significant digits": lambda column: np.array([float(f"{value:.2g}") for value in column]),
    "float16": lambda column: column.astype(np.float16),
    "float32": lambda column: column.astype(np.float32),
}
"""How the numbers of a release are written, those of the sides having all their digits."""


def unasked(share: float) -> Iterator[str]:
    """Copies that nobody limited, of releases that were made of neither side, and of some rows word for word."""
    runs, n = max(20, round(400 * share)), 100
    options: dict[str, Any] = {
        "max_advantage": 0.4,
        "queries": ["closeness", "exact_copy"],
        "check_sides": False,
    }
    yield (
        f"| the release ({n} rows a table) is written in | copied rows | runs | hold-out rows in it, on average | "
        "pass, copies accepted | of these failed unasked | other decisions changed |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name in (*WRITERS, "few categories", "few categories, twice as many training rows"):
        write = WRITERS.get(name)
        for number, times in ((0, runs), (10, max(5, runs // 10))):
            seen, decisions = [], []
            for run in range(times):
                rng = np.random.default_rng([9, run, number])
                draw = few_levels if write is None else numbers
                train = draw(rng, 2 * n if "twice" in name else n)
                holdout, released = (draw(rng, n) for _ in range(2))
                if number:
                    released = stacked(part(train, slice(number)), part(released, slice(number, None)))
                if write is not None:
                    released = {column: write(values) for column, values in released.items()}
                accepted, audit = (
                    audit_synthetic(train, holdout, released, accept_copies=accept, seed=run, **options)
                    for accept in (True, False)
                )
                seen.append(audit.copies.nonmembers)
                decisions.append((accepted.verdict.word, audit.verdict.word))
            passes = [other for one, other in decisions if one == "pass"]
            changed = sum(one != other for one, other in decisions if one != "pass")
            changed += sum(other not in ("pass", "fail") for other in passes)
            yield (
                f"| {name} | {number} | {times} | {np.mean(seen):.1f} | {len(passes)} | {passes.count('fail')} | "
                f"{changed} |"
            )


def shifted(share: float) -> Iterator[str]:
    """Rows sorted by age and split in the middle; a release like the older half, made without looking at it."""
    runs, n = max(5, round(50 * share)), 2000
    yield (
        f"| sides ({runs} runs, {n:,} rows a table, no leak) | sides said to differ | fail, or drift | plain fail | "
        "inconclusive | pass |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, sort in (("sorted by age, split in the middle", True), ("shuffled", False)):
        audits = []
        for run in range(runs):
            rng = np.random.default_rng([6, run])
            everybody, others = people(rng, 2 * n), people(rng, 2 * n)
            orders = [
                np.argsort(-table["age"], kind="stable") if sort else rng.permutation(2 * n)
                for table in (everybody, others)
            ]
            train, holdout = (part(everybody, rows) for rows in (orders[0][:n], orders[0][n:]))
            audits.append(audited(train, holdout, part(others, orders[1][:n]), seed=run))
        differ = _share(each.split is not None and each.split.differs for each in audits)
        verdicts = [each.verdict.word for each in audits]
        shares = [
            _share(each == verdict for each in verdicts)
            for verdict in ("fail, or drift", "fail", "inconclusive", "pass")
        ]
        yield f"| {name} | {differ} | {' | '.join(shares)} |"


def untrained(share: float) -> Iterator[str]:
    """Both sides unused: how often the interval of each query covers 0, and the largest of all."""
    runs, n = max(10, round(200 * share)), 500
    covered = dict.fromkeys(SYNTHETIC, 0)
    largest = alarms = fails = 0
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        train, holdout, released, reference = (people(rng, n) for _ in range(4))
        released = stacked(released, part(released, slice(n // 6)))  # a generator that repeats itself
        scores = synthetic_scores(encode(train, holdout, released, reference))
        for name in SYNTHETIC:
            result = advantage(Scores.of(scores.members[name], scores.nonmembers[name]), seed=run)
            covered[name] += result.lower <= 0.0
        audit = audited(train, holdout, released, reference, seed=run, check_sides=False)
        largest += audit.comparison.maximum.lower <= 0.0
        alarms += audit.most_exposed[1].alarm
        fails += audit.verdict.word == "fail"
    yield f"| no leak ({runs} runs, {n} rows a table) | covers 0 |"
    yield "| --- | ---: |"
    for name, count in covered.items():
        yield f"| `{name}` | {100 * count / runs:.1f}% |"
    yield f"| the riskiest of all | {100 * largest / runs:.1f}% |"
    yield ""
    yield f"Exposures: {alarms} of {runs}. Fails: {fails} of {runs}."


def learners(share: float) -> Iterator[str]:
    """Which classifiers the score of all columns is learned by: how often the sides are said to differ."""
    runs = max(5, round(20 * share))
    sets = {
        "logistic, boosting": (logistic(), boosting()),
        "quadratic, logistic, boosting": (quadratic(), logistic(), boosting()),
        "all four": DEFAULT_LEARNERS,
    }

    def together(rng: np.random.Generator, n: int, differ: bool) -> Table:
        first, other, same = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.random(n) < 0.25
        return people(rng, n) | {"first": first, "other": np.where(same & differ, first, other)}

    worlds: dict[str, Callable[[np.random.Generator, int, bool], Table]] = {
        "no difference": lambda rng, n, differ: people(rng, n),
        "people a little older": lambda rng, n, differ: people(rng, n, 0.25 * differ),
        "two columns that agree more often": together,
        "24 columns, each shifted by 0.08": lambda rng, n, differ: {
            f"x{place}": rng.normal(0.08 * differ, 1, n) for place in range(24)
        },
    }

    def wide(rng: np.random.Generator, n: int, differ: bool) -> Table:
        numbers = {f"x{place}": rng.normal(size=n) for place in range(100)}
        return numbers | {f"c{place}": rng.choice(list("abcdefghijkl"), n) for place in range(100)}

    worlds["200 columns without a difference"] = wide
    yield f"| sides ({runs} runs; 1 of 200 columns) | rows a side | " + " | ".join(sets) + " |"
    yield "| --- | ---: |" + " ---: |" * len(sets)
    for name, draw in worlds.items():
        for n in (1000, 5000) if draw is not wide else (2000,):
            cells, times = [], 1 if draw is wide else runs
            for chosen in sets.values():
                count, start = 0, time.process_time()
                for run in range(times):
                    rng = np.random.default_rng([8, run, n])
                    sides = draw(rng, n, False), draw(rng, n, True)
                    count += check_split(*sides, seed=run, learners=chosen).differs
                seconds = (time.process_time() - start) / times
                cells.append(f"{count} of {times}, {seconds:.1f} CPU s each")
            yield f"| {name} | {n:,} | " + " | ".join(cells) + " |"


def _share(cases: Any) -> str:
    every = list(cases)
    return f"{sum(every)} of {len(every)}"


TABLES = {
    "cost": cost,
    "copies": copies,
    "unasked": unasked,
    "shifted": shifted,
    "untrained": untrained,
    "learners": learners,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    parser.add_argument("--only", choices=list(TABLES), help="one table")
    options = parser.parse_args()
    for name, table in TABLES.items():
        if options.only in (None, name):
            for line in table(options.runs):
                print(line, flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
