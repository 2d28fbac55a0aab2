"""The best candidate that may go out: how often one that breaks the limit passes, and how far each way of asking gets.

"each by itself" takes every candidate whose own upper end keeps the limit, as one does without this question; a wrong
pass may be 2.5%. Three minutes on two cores.
"""

import numpy as np

from benchmarks.harness import Run, table
from estimators import Decision, Scores, advantage
from estimators.decisions.plan import shift_for
from estimators.runs.frontier import frontier

RUNS = 200
RECORDS = 1000
LIMIT = 0.2
HAIR = 1e-6
WORLDS = {
    "rising from .02 to .29": tuple(0.02 + 0.03 * at for at in range(10)),
    "all a hair above": (LIMIT + HAIR,) * 10,
    "two in the middle above": (0.05, 0.06, 0.07, 0.08, 0.3, 0.3, 0.09, 0.1, 0.11, 0.12),
}
WAYS = {
    "in the declared order": {},
    "from four starts": {"starts": 4},
    "without an order (Holm)": {"is_ordered": False},
}


def one(task: tuple[str, int]) -> list[tuple[bool, float]]:
    """For each way, and each by itself: whether one passes that is above, and the place of the best that passes."""
    name, run = task
    truths, rng = WORLDS[name], np.random.default_rng((3, run))
    candidates = {
        f"{at}": Scores.of(rng.normal(shift_for(truth, 0.5), 1, RECORDS), rng.normal(size=RECORDS))
        for at, truth in enumerate(truths)
    }
    answers = [frontier(candidates, range(10), LIMIT, seed=run, **way) for way in WAYS.values()]
    passes = [[step.decision is Decision.PASS for step in each.steps] for each in answers]
    passes.append([advantage(each, seed=run).upper <= LIMIT for each in candidates.values()])
    allowed = np.array(truths) <= LIMIT
    return [
        (bool((own & ~allowed).any()), int((np.arange(1, 11) * (own & allowed)).max())) for own in map(np.array, passes)
    ]


@table
def best(run: Run):
    """Wrong passes, and the mean place of the most useful candidate that passes and keeps the limit."""
    yield "candidates' advantages | way | runs | a wrong pass | place, mean | of the best allowed"
    runs = run.times(RUNS, 4)
    for name in run.few(WORLDS, 2):
        results = run.map(one, [(name, each) for each in range(runs)])
        allowed = max((at + 1 for at, truth in enumerate(WORLDS[name]) if truth <= LIMIT), default=0)
        for at, way in enumerate([*WAYS, "each by itself"]):
            wrong, places = sum(each[at][0] for each in results), np.mean([each[at][1] for each in results])
            rate = run.rate(wrong, runs, 0.025 if way in WAYS else 1.0)
            yield f"{name} | {way} | {runs} | {rate} | {places:.2f} | {allowed}"
