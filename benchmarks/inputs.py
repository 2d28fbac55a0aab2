"""Are honest scores left alone, and faults seen? What does a thread limit save, and is a null level the mean?

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
from benchmarks.worlds import Floats, Rng
from estimators.density.bandwidth import Scott
from estimators.paper import EqualWidth, Kernel, algorithm_1
from estimators.sample import doubts
from estimators.sample.counting import finest
from estimators.sample.scores import Scores
from tests.estimators.sample.test_doubts import HONEST

SIZES = ((50, 50), (200, 60), (500, 500), (2000, 400), (5000, 5000), (300, 9000))
CODES = sorted(doubts.DOUBTS)
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


def codes(a: Floats, b: Floats) -> list[str]:
    return [caution.code for caution in finest(Scores.of(a, b, "continuous")).doubts]


@table
def honest(run: Run):
    """Warnings of scores that have no fault, with and without a leak."""
    runs, sizes = run.times(140), SIZES[: 3 if run.quick else None]
    yield f"scores without a fault | samples | {' | '.join(CODES)}"
    for name, draw in HONEST.items():
        rng, count = np.random.default_rng(1), Counter[str]()
        for (n1, n0), leak, _ in product(sizes, (0, 1), range(runs)):
            count.update(codes(draw(rng, leak, n1), draw(rng, 0, n0)))
        yield f"{name} | {2 * runs * len(sizes)} | {' | '.join(str(count[code]) for code in CODES)}"


def faults(rng: Rng, n: int) -> dict[str, tuple[Floats, Floats]]:
    a, b = rng.normal(size=n), rng.normal(size=n)
    half = rng.normal(size=n // 2)
    few = max(1, n // 20)
    twice, rounded = np.tile(half, 2), np.tile(np.round(half, 2), 2)
    return {
        "every row twice": (twice, np.tile(rng.normal(size=n // 2), 2)),
        "every row twice, two decimals": (rounded, np.tile(np.round(b[: n // 2], 2), 2)),
        "5% of members' rows twice": (np.append(a[few:], a[-few:]), b),
        "drawn with replacement": (rng.choice(a, n), rng.choice(b, n)),
        "the same scores on both sides": (a, a),
        "5% on both sides": (a, np.append(b[few:], a[:few])),
        "probabilities, logits": (rng.random(n), 3.0 * b),
        "members as 32-bit floats": (a.astype(np.float32).astype(np.float64), b),
        "nonmembers with four decimals": (a, np.round(b, 4)),
        "members sorted": (np.sort(a), b),
    }


@table
def faulty(run: Run):
    """The share of samples with a fault that any warning came with."""
    runs, sizes = run.times(50), (60, 300, 1000, 10_000, 1_000_000)[: 3 if run.quick else None]
    yield f"fault ({runs} samples, at most 5 of the largest) | {' | '.join(f'{n:,} a side' for n in sizes)}"
    rng = np.random.default_rng(2)
    for fault in faults(rng, 60):
        shares = []
        for n in sizes:
            times = min(runs, 5) if n > 10**5 else runs
            shares.append(np.mean([bool(codes(*faults(rng, n)[fault])) for _ in range(times)]))
        yield f"{fault} | {' | '.join(f'{share:.0%}' for share in shares)}"


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
            doubts.of_ranges(a, b)
            doubts.of_precision(a, b)
            doubts.of_order(a, b)
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
        both = []
        for free in (False, True):
            command = [sys.executable, "-c", LEARN.format(free=free, n=n, wide=wide)]
            out = subprocess.run(command, check=True, capture_output=True, text=True)
            both.append([float(word) for word in out.stdout.split()])
        (wall, cpu), (free_wall, free_cpu) = both
        yield f"{n:,} x {wide} | {wall:.2f}, {cpu:.2f} | {free_wall:.2f}, {free_cpu:.2f} | {free_cpu / cpu:.1f}"


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal, sigma 2": lambda rng, n: np.exp(2.0 * rng.normal(size=n)),
    "uniform": lambda rng, n: rng.random(n),
    "an atom of 0.3": lambda rng, n: np.where(rng.random(n) < 0.3, 1.0, rng.random(n)),
}


@table
def null_levels(run: Run):
    """The null level beside the mean of the statistic where nothing leaks."""
    runs = run.times(60, 2)
    yield f"scores ({runs} samples) | n1, n0 | prior | W_N, 100 cells | null level | U_N, Scott | null level"
    sides = ((200, 200, 0.5), (1000, 300, 0.5), (1000, 1000, 0.3), (5000, 5000, 0.5))
    for (name, law), (n1, n0, prior) in product(LAWS.items(), sides[: 2 if run.quick else None]):
        rng = np.random.default_rng(4)
        samples = [Scores.of(law(rng, n1), law(rng, n0), "continuous") for _ in range(runs)]
        means = []
        for reading in (EqualWidth(), Kernel(Scott())):
            results = [algorithm_1(each, prior, reading=reading) for each in samples]
            means += [np.mean([r.value for r in results]), np.mean([r.null_level for r in results])]
        yield f"{name} | {n1}, {n0} | {prior} | {' | '.join(f'{mean:.3f}' for mean in means)}"
