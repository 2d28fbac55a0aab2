"""Audits of a released table: how often they see a copy, a leak that is none, and sides that were not shuffled.

Tables have 12 mixed columns that hang together: numbers, money, dates, booleans, few and many levels, missing values.
"""

import time
from collections.abc import Callable
from itertools import product

import numpy as np

from benchmarks.harness import Note, Run, table
from benchmarks.worlds import Integers, Rng, Table, adults, part, stacked
from estimators import Scores, SyntheticAudit, advantage, audit_synthetic, check_split
from estimators.adversary.learned import DEFAULT_LEARNERS, boosting, logistic, quadratic
from estimators.audits.copies import copied_identifiers
from estimators.audits.queries import SYNTHETIC, encode, synthetic_scores
from estimators.decisions.riskiest import drift_beside

OPTIONS = {"rows": (5000, 300)}  # rows of the large tables
LIMITS = {"max_advantage": 0.1, "max_tpr": 0.01, "at_fpr": 0.001, "max_copies_over_holdout": 0}
"""The limits of every audit here, but for those that nobody limited."""
TWO_QUERIES = ["closeness", "exact_copy"]


def audited(train: Table, holdout: Table, released: Table, *reference: Table, **options) -> SyntheticAudit:
    return audit_synthetic(train, holdout, released, *reference, **LIMITS, **options)


def how_many(cases) -> str:
    every = list(cases)
    return f"{sum(every)} of {len(every)}"


@table
def cost(run: Run):
    yield "rows a table | audit | CPU s"
    rng = np.random.default_rng(0)
    train, holdout, released, reference = (adults(rng, run.rows) for _ in range(4))
    check_split(part(train, slice(200)), part(holdout, slice(200)))  # imports
    cases = {
        "12 queries, a reference, the sides": lambda: audited(train, holdout, released, reference),
        "6 queries, no reference, the sides": lambda: audited(train, holdout, released),
        "the sides alone": lambda: check_split(train, holdout),
    }
    for name, call in cases.items():
        start = time.process_time()
        call()
        yield f"{run.rows:,} | {name} | {time.process_time() - start:.1f}"


@table
def copies(run: Run):
    """1% of the training rows in the release, word for word, and the same release without them."""
    runs, n = run.times(50, 1 if run.quick else 5), run.rows
    yield (
        f"release ({runs} runs, {n:,} rows a table, no reference) | fails | by copies | an exposure | "
        "fewest shown to be copied"
    )
    for name, number in (("1% of the training rows, word for word", n // 100), ("drawn without them", 0)):
        audits = []
        for seed in range(runs):
            rng = np.random.default_rng([5, seed])
            train, holdout, released = (adults(rng, n) for _ in range(3))
            released = stacked(part(train, slice(number)), part(released, slice(n - number)))
            audits.append(audited(train, holdout, released, seed=seed, check_sides=False))
        said = [
            how_many(each.verdict.word.startswith("fail") for each in audits),
            how_many(each.limits[2].decision.value == "fail" for each in audits),
            how_many(each.most_exposed[1].alarm for each in audits),
        ]
        fewest = min(each.copies.beyond_chance.lower for each in audits)
        yield f"{name} | {' | '.join(said)} | {fewest:.0f}"


def numbers(rng: Rng, n: int) -> Table:
    """Three columns of numbers that were measured with many digits."""
    level = rng.normal(0, 1, n)
    return {
        "rate": 50 + 8 * level + rng.normal(0, 5, n),
        "share": rng.beta(2, 5, n),
        "sum": rng.lognormal(3 + level / 3, 1, n),
    }


def few_levels(rng: Rng, n: int) -> Table:
    return {name: rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]) for name in "wxyz"}


WRITERS = {
    "whole numbers": lambda column: column.round(),
    "1 decimal": lambda column: column.round(1),
    "2 significant digits": lambda column: np.array([float(f"{value:.2g}") for value in column]),
    "float16": lambda column: column.astype(np.float16),
    "float32": lambda column: column.astype(np.float32),
}
"""How the numbers of a release are written, those of the sides having all their digits."""


@table
def unasked(run: Run):
    """Copies that nobody limited, of releases that were made of neither side, and of some rows word for word."""
    runs, n = run.times(400, 2 if run.quick else 20), 100
    options = {"max_advantage": 0.4, "queries": TWO_QUERIES, "check_sides": False}
    yield (
        f"the release ({n} rows a table) is written in | copied rows | runs | hold-out rows in it, on average | "
        "pass, copies accepted | of these failed unasked | other decisions changed"
    )
    names = (*WRITERS, "few categories", "few categories, twice as many training rows")
    for name, (number, times) in product(names, ((0, runs), (10, max(2 if run.quick else 5, runs // 10)))):
        write, seen, decisions = WRITERS.get(name), [], []
        for seed in range(times):
            rng = np.random.default_rng([9, seed, number])
            draw = few_levels if write is None else numbers
            train = draw(rng, 2 * n if "twice" in name else n)
            holdout, released = (draw(rng, n) for _ in range(2))
            if number:
                released = stacked(part(train, slice(number)), part(released, slice(number, None)))
            if write is not None:
                released = {column: write(values) for column, values in released.items()}
            tables = train, holdout, released
            accepted = audit_synthetic(*tables, accept_copies=True, seed=seed, **options)
            audit = audit_synthetic(*tables, accept_copies=False, seed=seed, **options)
            seen.append(audit.copies.nonmembers)
            decisions.append((accepted.verdict.word, audit.verdict.word))
        passes = [other for one, other in decisions if one == "pass"]
        changed = sum(one != other for one, other in decisions if one != "pass")
        changed += sum(other not in ("pass", "fail") for other in passes)
        counts = f"{len(passes)} | {passes.count('fail')} | {changed}"
        yield f"{name} | {number} | {times} | {np.mean(seen):.1f} | {counts}"


def rows_with(rng: Rng, identifiers: Integers, law: str) -> Table:
    """Rows of few levels with identifiers: at random, sorted by month, or the same for every two."""
    n = len(identifiers)
    if law == "sorted":
        rest: Table = {"month": np.sort(rng.integers(1, 13, n)), "region": rng.choice(list("xyz"), n)}
    elif law == "in twos":
        rest = {"region": np.repeat(rng.integers(0, 6, n // 2), 2), "job": rng.choice(list("abc"), n)}
    else:
        rest = {"age": rng.integers(18, 90, n), "job": rng.choice(list("abc"), n)}
    return rest | {"id": identifiers}


def amounts(rng: Rng, n: int) -> Integers:
    return np.round(rng.lognormal(14.0, 1.0, n)).astype(np.int64)


IDENTIFIERS: dict[str, Callable[[Rng, int], tuple[Integers, ...]]] = {
    "amounts": lambda rng, n: tuple(amounts(rng, n) for _ in range(3)),
    "row numbers: 0, 1, ...; n, n + 1, ...; 0, 1, ...": lambda rng, n: (
        np.arange(n),
        np.arange(n, 2 * n),
        np.arange(n),
    ),
    "numbers of all rows, shuffled; 0, 1, ...": lambda rng, n: (*np.split(rng.permutation(2 * n), 2), np.arange(n)),
}
"""Those of training, hold-out and released rows."""


@table
def identifiers(run: Run):
    """Columns that are left out: copies shown by them without any, with a tenth of the rows, and with values alone."""
    yield "identifiers | rows | rows a table | runs | without a copy | a tenth of the rows | all identifiers alone"
    for (name, draw), law, n in product(IDENTIFIERS.items(), ("at random", "sorted", "in twos"), (100, 1000)):
        runs, shown = run.times(400 if n == 100 else 100, 5), np.zeros(3, dtype=int)
        for seed in range(runs):
            rng = np.random.default_rng([11, seed, n])
            train, holdout, honest = (rows_with(rng, own, law) for own in draw(rng, n))
            tenth = stacked(part(train, slice(n // 10)), part(honest, slice(n // 10, None)))
            for place, released in enumerate((honest, tenth, honest | {"id": train["id"]})):
                shown[place] += copied_identifiers(encode(train, holdout, released), 0.95) is not None
        yield f"{name} | {law} | {n} | {runs} | " + " | ".join(f"{100 * each / runs:.3g}%" for each in shown)


@table
def shifted(run: Run):
    """Rows sorted by age and split in the middle; a release like the older half, made without looking at it."""
    runs, n = run.times(50, 1 if run.quick else 5), round(0.4 * run.rows)
    verdicts = ("fail, or drift", "fail", "inconclusive", "pass")
    yield (
        f"sides ({runs} runs, {n:,} rows a table, no leak) | sides said to differ | fail, or drift | plain fail | "
        "undecided | pass"
    )
    for name, sort in (("sorted by age, split in the middle", True), ("shuffled", False)):
        audits = []
        for seed in range(runs):
            rng = np.random.default_rng([6, seed])
            everybody, others = adults(rng, 2 * n), adults(rng, 2 * n)
            order, other = (
                np.argsort(-each["age"], kind="stable") if sort else rng.permutation(2 * n)
                for each in (everybody, others)
            )
            train, holdout = part(everybody, order[:n]), part(everybody, order[n:])
            audits.append(audited(train, holdout, part(others, other[:n]), seed=seed))
        differ = how_many(each.split is not None and each.split.differs for each in audits)
        shares = [how_many(each.verdict.word == verdict for each in audits) for verdict in verdicts]
        yield f"{name} | {differ} | {' | '.join(shares)}"


@table
def drift(run: Run):
    """How often sides that differ a little keep a release without a leak from passing."""
    runs, n, most = run.times(40, 1 if run.quick else 5), round(0.4 * run.rows), (0.15, 0.2, 0.3)
    heads = " | ".join(f"at most {each}: pass, not applicable" for each in most)
    yield f"training rows older by ({runs} runs, {n:,} rows a table, no leak) | sides said to differ | {heads}"
    for older in (0.0, 0.2, 0.4, 0.8):
        sides, uppers = [], []
        for seed in range(runs):
            rng = np.random.default_rng([9, seed, round(100 * older)])
            tables = adults(rng, n, older), adults(rng, n), adults(rng, n)
            audit = audit_synthetic(*tables, seed=seed, max_advantage=1.0, queries=TWO_QUERIES)
            sides.append(audit.split.interval.lower if audit.split and audit.split.differs else 0.0)
            uppers.append(audit.limits[0].estimate.upper)
        cells = []
        for each in most:
            kept = [(gap, upper) for gap, upper in zip(sides, uppers, strict=True) if upper <= each]
            hidden = sum(bool([*drift_beside(upper, each, gap, 0.5)]) for gap, upper in kept)
            cells.append(f"{len(kept) - hidden}, {hidden}")
        yield f"{6 * older:g} years | {how_many(gap > 0.0 for gap in sides)} | {' | '.join(cells)}"


@table
def untrained(run: Run):
    """Both sides unused: how often the interval of each query covers 0, and the largest of all."""
    runs, n = run.times(200, 2 if run.quick else 10), 500
    covered, audits = dict.fromkeys(SYNTHETIC, 0), []
    for seed in range(runs):
        rng = np.random.default_rng([7, seed])
        train, holdout, released, reference = (adults(rng, n) for _ in range(4))
        released = stacked(released, part(released, slice(n // 6)))  # a generator that repeats itself
        scores = synthetic_scores(encode(train, holdout, released, reference))
        for name in SYNTHETIC:
            result = advantage(Scores.of(scores.members[name], scores.nonmembers[name]), seed=seed)
            covered[name] += result.lower <= 0.0
        audits.append(audited(train, holdout, released, reference, seed=seed, check_sides=False))
    largest = sum(audit.comparison.maximum.lower <= 0.0 for audit in audits)
    yield f"no leak ({runs} runs, {n} rows a table) | covers 0"
    for name, count in covered.items():
        yield f"`{name}` | {100 * count / runs:.1f}%"
    yield f"the riskiest of all | {100 * largest / runs:.1f}%"
    alarms = sum(audit.most_exposed[1].alarm for audit in audits)
    fails = sum(audit.verdict.word == "fail" for audit in audits)
    yield Note(f"Exposures: {alarms} of {runs}. Fails: {fails} of {runs}.")


def agreeing(rng: Rng, n: int, differ: bool) -> Table:
    first, other, same = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.random(n) < 0.25
    return adults(rng, n) | {"first": first, "other": np.where(same & differ, first, other)}


def wide(rng: Rng, n: int, differ: bool) -> Table:
    columns = {f"x{place}": rng.normal(size=n) for place in range(100)}
    return columns | {f"c{place}": rng.choice(list("abcdefghijkl"), n) for place in range(100)}


SIDES = {
    "no difference": lambda rng, n, differ: adults(rng, n),
    "people a little older": lambda rng, n, differ: adults(rng, n, 0.25 * differ),
    "two columns that agree more often": agreeing,
    "24 columns, each shifted by 0.08": lambda rng, n, differ: {
        f"x{place}": rng.normal(0.08 * differ, 1, n) for place in range(24)
    },
    "200 columns without a difference": wide,
}
LEARNERS = {
    "logistic, boosting": (logistic(), boosting()),
    "quadratic, logistic, boosting": (quadratic(), logistic(), boosting()),
    "all four": DEFAULT_LEARNERS,
}


@table
def learners(run: Run):
    """Which classifiers the score of all columns is learned by: how often the sides are said to differ."""
    runs = run.times(20, 1 if run.quick else 5)
    yield f"sides ({runs} runs; 1 of 200 columns) | rows a side | {' | '.join(LEARNERS)}"
    cases = [(name, n) for name in SIDES for n in ((2000,) if SIDES[name] is wide else (1000, 5000))]
    for name, n in cases[: 1 if run.quick else None]:
        cells, times = [], 1 if SIDES[name] is wide else runs
        for chosen in LEARNERS.values():
            count, start = 0, time.process_time()
            for seed in range(times):
                rng = np.random.default_rng([8, seed, n])
                sides = SIDES[name](rng, n, False), SIDES[name](rng, n, True)
                count += check_split(*sides, seed=seed, learners=chosen).differs
            seconds = (time.process_time() - start) / times
            cells.append(f"{count} of {times}, {seconds:.1f} CPU s each")
        yield f"{name} | {n:,} | {' | '.join(cells)}"
