"""Are scores without a fault left alone, what does looking at them cost, and what does a thread limit save?

The CPU of learned adversaries is measured in processes of their own, with as many threads as the machine offers; on a
machine whose cores others use the ratio is larger.
"""

import subprocess
import sys
import time
from collections import Counter
from itertools import product

import numpy as np

from benchmarks.harness import Run, least, table
from benchmarks.worlds import Floats
from estimators import Scores, advantage
from estimators.sample import doubts, unlike_sides
from estimators.sample.counting import finest
from tests.estimators.sample.test_doubts import HONEST

SIZES = ((50, 50), (200, 60), (500, 500), (2000, 400), (5000, 5000), (300, 9000))
CODES = sorted(doubts.DOUBTS - {doubts.CROWDED, doubts.CONSTANT})
LEARN = """
import time
from contextlib import contextmanager
import numpy as np
import estimators.adversary.learned as learned
from estimators import Scores, advantage

if {free}:
    @contextmanager
    def as_many_as_there_are(learners):
        yield
    learned.on_one_thread = as_many_as_there_are
rng = np.random.default_rng(0)
def ask(n):
    scores = Scores.of(rng.normal(0.2, 1, (n, {wide})), rng.normal(0, 1, (n, {wide})))
    advantage(scores)
ask(50)
wall, cpu = time.perf_counter(), time.process_time()
ask({n})
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


@table
def honest(run: Run):
    """Warnings of scores that have no fault, with and without a leak."""
    runs, sizes = run.times(140), SIZES[: 3 if run.quick else None]
    yield f"scores without a fault | samples | {' | '.join(CODES)}"
    for name, draw in HONEST.items():
        rng, count = np.random.default_rng(1), Counter[str]()
        for (n1, n0), leak, _ in product(sizes, (0, 1), range(runs)):
            scores = Scores.of(draw(rng, leak, n1), draw(rng, 0, n0), "continuous")
            count.update(caution.code for caution in finest(scores).doubts)
        yield f"{name} | {2 * runs * len(sizes)} | {' | '.join(str(count[code]) for code in CODES)}"


TIMES = {
    "all twice": (300, 300, lambda rng, n: np.full(n, 2), lambda rng, n: np.full(n, 2)),
    "members 9 to 30 times": (150, 3000, lambda rng, n: rng.integers(9, 31, n), lambda rng, n: np.full(n, 1)),
    "4% 20 to 60 times": (
        2000,
        2000,
        *(lambda rng, n: np.where(rng.random(n) < 0.04, rng.integers(20, 61, n), 1),) * 2,
    ),
    "4% 400 times, others twice": (1000, 1000, *(lambda rng, n: np.where(np.arange(n) < n // 25, 400, 2),) * 2),
    "20 members five times": (20, 3000, lambda rng, n: np.full(n, 5), lambda rng, n: np.full(n, 1)),
    "12 members four times": (12, 400, lambda rng, n: np.full(n, 4), lambda rng, n: np.full(n, 1)),
    "3% of members 100 to 400 times": (
        1000,
        8000,
        lambda rng, n: np.where(rng.random(n) < 0.03, rng.integers(100, 401, n), 1),
        lambda rng, n: np.full(n, 1),
    ),
    "half twice, three decimals": (2000, 2000, *(lambda rng, n: rng.integers(1, 3, n),) * 2),
}


@table
def repeats(run: Run):
    """Rows that stand there more than once: how many samples are warned, and lower ends without and with a leak."""
    yield "rows | samples | warned | lower end above 0, nothing leaks | largest | least lower end, advantage .38 | .68"
    for name, (n1, n0, of_members, of_nonmembers) in TIMES.items():
        lowers: dict[float, list[float]] = {0.0: [], 1.0: [], 2.0: []}
        digits, runs, warned = 3 if "decimals" in name else 17, run.times(100), 0
        for shift, at in product(lowers, range(runs)):
            rng = np.random.default_rng([at, round(shift)])
            members = np.repeat(rng.normal(shift, 1, n1), of_members(rng, n1)).round(digits)
            nonmembers = np.repeat(rng.normal(size=n0), of_nonmembers(rng, n0)).round(digits)
            answer = advantage(Scores.of(members, nonmembers))
            warned += answer.fine.repeats
            lowers[shift].append(answer.lower)
        none, some, much = lowers.values()
        yield (
            f"{name} | {3 * runs} | {warned} | {sum(low > 0 for low in none)} of {runs} | {max(none):.2f} | "
            f"{min(some):.2f} | {min(much):.2f}"
        )


@table
def cost(run: Run):
    """What looking costs, beside counting."""
    yield "records a side | looking, CPU ms | counting with it, CPU ms"
    rng = np.random.default_rng(3)
    for n in (10**3, 10**4, 10**5, 10**6)[: 2 if run.quick else None]:
        a, b = rng.normal(size=n), rng.normal(size=n)
        scores, once = Scores.of(a, b), np.ones(2 * n, dtype=np.int64)
        side = (rng.random(2 * n) < 0.5).astype(np.int64)

        def look(a: Floats = a, b: Floats = b, once: Floats = once, side: Floats = side) -> None:
            unlike_sides.of_sides(a, b)
            if len(a) > 2**16:
                doubts.of_many(a, b)
            else:
                doubts.of_values(side, once - side, ordered=True)

        tasks = look, lambda scores=scores: finest(scores)
        looking, counting = (1e3 * least(task, 15, time.process_time) for task in tasks)
        yield f"{n:,} | {looking:.2f} | {counting:.1f}"


@table
def threads(run: Run):
    """CPU and time of a learned adversary on one thread, and on as many as there are."""
    yield "vectors a side | one thread: wall s, CPU s | no limit: wall s, CPU s | CPU, times"
    for n, wide in ((200, 2), (1000, 10), (10_000, 2))[: 1 if run.quick else None]:
        codes = (LEARN.format(free=free, n=n, wide=wide) for free in (False, True))
        outputs = [subprocess.check_output([sys.executable, "-c", code]) for code in codes]
        (wall, cpu), (free_wall, free_cpu) = (map(float, output.split()) for output in outputs)
        yield f"{n:,} x {wide} | {wall:.2f}, {cpu:.2f} | {free_wall:.2f}, {free_cpu:.2f} | {free_cpu / cpu:.1f}"
