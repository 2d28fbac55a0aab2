"""A run's batches that come again: how often one is refused that never came, and how often one that did is taken.

    python -m benchmarks.repeats             # the table of docs/gate.md, five minutes on one core
    python -m benchmarks.repeats --runs 0.1

Batches of equal size of both sides. "New": batches of records that never came, each beside all before it in its run.
"Again": each tenth batch of a run, changed, with the state of the run's end: refused, or taken with a caution.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators import Scores
from estimators.sequential.repeats import DOUBTED, REFUSE_BELOW, Marks, Repeat, Sketch, sides_of, with_batch

Values = NDArray[Any]
Draw = Callable[[np.random.Generator, int], Values]
Change = Callable[[Values, Values, np.random.Generator], Values]

RUNS = 20
PLANS = ((20, 500), (50, 50), (200, 25))
"""Batches of a run, and records a side in each."""

LEAVES = np.linspace(0.013, 0.987, 12)

LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "normal, 3 digits behind the point": lambda rng, n: rng.normal(0.0, 1.0, n).round(3),
    "normal, 2 digits behind the point": lambda rng, n: rng.normal(0.0, 1.0, n).round(2),
    "half of them 0": lambda rng, n: rng.normal(0.0, 1.0, n) * rng.integers(0, 2, n),
    "12 leaves of a tree": lambda rng, n: rng.choice(LEAVES, n),
    "8 labels": lambda rng, n: rng.choice(list("abcdefgh"), n),
}

CHANGES: dict[str, Change] = {
    "in another order": lambda side, _, rng: rng.permutation(side),
    "one record less": lambda side, _new, _rng: side[1:],
    "1e-12 higher": lambda side, _new, _rng: side + 1e-12 if side.dtype.kind == "f" else side,
    "3/4 of it": lambda side, new, _: np.concatenate([side[: 3 * len(side) // 4], new[3 * len(side) // 4 :]]),
}


def outcome_of(repeat: Repeat | None) -> str:
    """What becomes of a batch."""
    if repeat is None or repeat.chance > DOUBTED:
        return "taken"
    return "refused" if repeat.chance <= REFUSE_BELOW else "caution"


def one(draw: Draw, n_batches: int, n: int, seed: int) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Of one run: what became of new batches, and of those that came again."""
    rng = np.random.default_rng([23, n, seed])
    batches = [(draw(rng, n), draw(rng, n)) for _ in range(n_batches)]
    marks: Marks = ()
    sketch, of_new = Sketch(), Counter[str]()
    for batch in batches:
        marks, sketch, repeat = with_batch(marks, sketch, sides_of(Scores.of(*batch)), str(seed))
        of_new[outcome_of(repeat)] += 1
    of_changes = {name: Counter[str]() for name in CHANGES}
    for batch in batches[::10]:
        for name, change in CHANGES.items():
            again = Scores.of(*(change(side, draw(rng, n), rng) for side in batch))
            _, _, repeat = with_batch(marks, sketch, sides_of(again), str(seed))
            of_changes[name][outcome_of(repeat)] += 1
    return of_new, of_changes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    arguments = parser.parse_args()
    runs = max(1, round(arguments.runs * RUNS))
    print(f"| scores | batches, records a side | new | refused | cautions | {' | '.join(CHANGES)} |")
    print(f"| --- | ---: | ---: | ---: | ---: |{' ---: |' * len(CHANGES)}")
    total: Counter[str] = Counter()
    for law, draw in LAWS.items():
        for n_batches, n in PLANS:
            of_new, of_changes = Counter[str](), {name: Counter[str]() for name in CHANGES}
            for seed in range(runs):
                new, changes = one(draw, n_batches, n, seed)
                of_new += new
                for name in CHANGES:
                    of_changes[name] += changes[name]
            cells = [
                f"{each['refused'] / each.total():.0%}, {each['caution'] / each.total():.0%}"
                for each in of_changes.values()
            ]
            print(
                f"| {law} | {n_batches}, {n} | {of_new.total():,} | {of_new['refused']} | {of_new['caution']} | "
                f"{' | '.join(cells)} |",
                flush=True,
            )
            total += of_new
    print(f"| all | | {total.total():,} | {total['refused']} | {total['caution']} |{' |' * len(CHANGES)}")


if __name__ == "__main__":
    main()
