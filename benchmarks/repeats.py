"""A run's batches that come again: how often one is refused that never came, and how often one that did is taken.

Batches of equal size of both sides. "New": batches of records that never came, each beside all before it in its run.
The last columns: each tenth batch of a run, changed, with the state of the run's end: how many are refused, and how
many taken with a caution. Half a minute on one core.
"""

from collections import Counter
from itertools import product

import numpy as np

from benchmarks.harness import Run, table
from estimators import Scores
from estimators.runs.sequential.repeats import DOUBTED, REFUSE_BELOW, Repeat, Sketch, sides_of, with_batch

QUICK = 0.05
RUNS = 20
PLANS = ((20, 500), (50, 50), (200, 25))  # batches of a run, and records a side in each
LEAVES = np.linspace(0.013, 0.987, 12)
LAWS = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "normal, 3 digits behind the point": lambda rng, n: rng.normal(0.0, 1.0, n).round(3),
    "normal, 2 digits behind the point": lambda rng, n: rng.normal(0.0, 1.0, n).round(2),
    "half of them 0": lambda rng, n: rng.normal(0.0, 1.0, n) * rng.integers(0, 2, n),
    "12 leaves of a tree": lambda rng, n: rng.choice(LEAVES, n),
    "8 labels": lambda rng, n: rng.choice(list("abcdefgh"), n),
}
CHANGES = {
    "in another order": lambda side, _, rng: rng.permutation(side),
    "one record less": lambda side, _new, _rng: side[1:],
    "1e-12 higher": lambda side, _new, _rng: side + 1e-12 if side.dtype.kind == "f" else side,
    "3/4 of it": lambda side, new, _: np.concatenate([side[: 3 * len(side) // 4], new[3 * len(side) // 4 :]]),
}


def outcome_of(repeat: Repeat | None) -> str:
    if repeat is None or repeat.chance > DOUBTED:
        return "taken"
    return "refused" if repeat.chance <= REFUSE_BELOW else "caution"


def count(law: str, n_batches: int, n: int, seed: int, seen: dict[str, Counter[str]]) -> None:
    """Of one run: what became of new batches, and of those that came again."""
    rng, draw = np.random.default_rng([23, n, seed]), LAWS[law]
    batches = [(draw(rng, n), draw(rng, n)) for _ in range(n_batches)]
    marks, sketch = (), Sketch()
    for batch in batches:
        marks, sketch, repeat = with_batch(marks, sketch, sides_of(Scores.of(*batch)), str(seed))
        seen["new"][outcome_of(repeat)] += 1
    for batch, (name, change) in product(batches[::10], CHANGES.items()):
        again = Scores.of(*(change(side, draw(rng, n), rng) for side in batch))
        _, _, repeat = with_batch(marks, sketch, sides_of(again), str(seed))
        seen[name][outcome_of(repeat)] += 1


@table
def batches(run: Run):
    yield f"scores | batches, records a side | new | refused | cautions | {' | '.join(CHANGES)}"
    total: Counter[str] = Counter()
    for law, (n_batches, n) in run.few(product(LAWS, PLANS[:2] if run.quick else PLANS), 4):
        seen = {name: Counter[str]() for name in ("new", *CHANGES)}
        for seed in range(run.times(RUNS)):
            count(law, n_batches, n, seed, seen)
        new, *changed = seen.values()
        rates = [[each[what] / each.total() for what in ("refused", "caution")] for each in changed]
        cells = " | ".join(f"{refused:.0%}, {caution:.0%}" for refused, caution in rates)
        yield f"{law} | {n_batches}, {n} | {new.total():,} | {new['refused']} | {new['caution']} | {cells}"
        total += new
    yield f"all | | {total.total():,} | {total['refused']} | {total['caution']}{' |' * len(CHANGES)}"
