"""Are members whom no nonmember is like reported, and how often is anybody where nothing leaks? By simulation.

Every "too high" may be 2.5%: the lower limit on the score's epsilon lies above its truth, which without a leak is 0.
Some five minutes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from operator import attrgetter

import numpy as np

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Integers, Rng
from estimators import Counts, Exposure, Scores, exposure
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.tpr_limit import MaxTpr
from estimators.sample.cells import Categories, Intervals, Values

RUNS = 2000
LARGE_RUNS = 400  # of samples of 10,000 and more a side
SEEDS = 50
SIDES = (*((8, 8), (30, 30), (100, 100), (1000, 1000), (10_000, 10_000)), *((100, 10_000), (10_000, 100), (15, 1000)))
OF_LEAKS = ((100, 100), (1000, 1000), (10_000, 10_000), (100, 10_000))
ENDLESS = float("inf")


def ranks(members: Floats, nonmembers: Floats) -> Counts:
    """Every record a cell: continuous scores have no ties."""
    side = (np.argsort(np.concatenate([members, nonmembers])) < len(members)).astype(np.int64)
    return Counts.trusted(side, 1 - side, Intervals(np.arange(len(side) - 1.0)))


def tied(members: Integers, nonmembers: Integers, cells: type = Categories) -> Counts:
    """A cell for each value from 0 on."""
    size = int(max(members.max(), nonmembers.max())) + 1
    columns = [np.bincount(side, minlength=size) for side in (members, nonmembers)]
    return Counts.trusted(columns[0], columns[1], cells(np.arange(size)))


@dataclass(frozen=True)
class Law:
    """How samples are drawn, and the epsilon of the score's two distributions, or of what else ``limit`` looks at."""

    name: str
    draw: Callable[[Rng, int, int], Counts]
    epsilon: float = 0.0
    limit: Callable[[Exposure], float] = attrgetter("score_epsilon")


def zipf(rng: Rng, records: int) -> Integers:
    return (np.minimum(rng.zipf(1.5, records), 2000) - 1).astype(np.intp)


def apart(rng: Rng, records: int, share: float) -> Floats:
    """Uniform scores, a share of them beyond all others."""
    return rng.random(records) + 2.0 * (rng.random(records) < share)


def steep(ratio: float) -> Law:
    """Members lie in the top 1/ratio of nonmembers alone: each tail has the largest ratio there is."""
    return Law(
        f"members {ratio:g} times as often in every tail, no nonmember below (limit: members' tails)",
        lambda rng, n1, n0: ranks(-rng.random(n1) / ratio, -rng.random(n0)),
        float(np.log(ratio)),
        attrgetter("members_epsilon"),
    )


def answers(ratio: float) -> Law:
    """Blurred randomised response on membership: at its own end each side has the largest ratio in every tail."""
    honest = ratio / (1.0 + ratio)

    def draw(rng: Rng, n1: int, n0: int) -> Counts:
        shares = (n1, honest), (n0, 1 - honest)
        return ranks(*((rng.random(n) < share) + 0.5 * rng.random(n) for n, share in shares))

    return Law(f"either side {ratio:g} times as often in every tail of its end", draw, float(np.log(ratio)))


def labels(ratio: float) -> Law:
    """One label of 51 is so many times as frequent among members."""
    q = np.array([0.04] + [0.96 / 50] * 50)
    r = np.array([0.04 * ratio] + [(1 - 0.04 * ratio) / 50] * 50)
    return Law(
        f"one label of 51, {ratio:g} times as often",
        lambda rng, n1, n0: tied(rng.choice(51, n1, p=r), rng.choice(51, n0, p=q)),
        float(np.log(ratio)),
    )


NOTHING = (
    Law("no leak, continuous", lambda rng, n1, n0: ranks(rng.random(n1), rng.random(n0))),
    Law("no leak, ties", lambda rng, n1, n0: tied(zipf(rng, n1), zipf(rng, n0), Values)),
    Law("no leak, labels with a long tail", lambda rng, n1, n0: tied(zipf(rng, n1), zipf(rng, n0))),
    Law("no leak, 5 labels", lambda rng, n1, n0: tied(rng.integers(0, 5, n1), rng.integers(0, 5, n0))),
)
LEAKS = (
    *(steep(2.0), steep(20.0), answers(2.0), answers(20.0), labels(3.0), labels(20.0)),
    Law(
        "2% of members where no nonmember is", lambda rng, n1, n0: ranks(apart(rng, n1, 0.02), rng.random(n0)), ENDLESS
    ),
    Law(
        "2% of nonmembers where no member is",
        lambda rng, n1, n0: ranks(rng.random(n1), rng.random(n0) - 2.0 * (rng.random(n0) < 0.02)),
        ENDLESS,
    ),
    Law(
        "2% of members and 0.1% of nonmembers at the top",
        lambda rng, n1, n0: ranks(apart(rng, n1, 0.02), apart(rng, n0, 0.001)),
        float(np.log(20.0)),
    ),
    Law(
        "Gaussian shift 0.25 (advantage 0.1)",
        lambda rng, n1, n0: ranks(rng.normal(0.25, 1, n1), rng.normal(0, 1, n0)),
        ENDLESS,
    ),
)


def release(copies: int, seed: int, rows: int = 5000) -> Scores:
    """Closeness of the rows of either side to the nearest synthetic row, some of which are copies of members."""
    closeness = -np.random.default_rng(seed).gamma(4.0, 0.1, (2, rows))
    closeness[0, :copies] = 0.0
    return Scores.of(*closeness)


def decided(judgements: list[Judgement]) -> str:
    words = [each.decision.value for each in judgements]
    every = {"pass": "pass", "fail": "fail", "inconclusive": "undecided"}
    return ", ".join(f"{words.count(word)} {shown}" for word, shown in every.items() if word in words)


@table
def releases(run: Run):
    """What a gate makes of a release that holds some training rows word for word."""
    yield (
        "copies among 5,000 rows | releases | advantage at most 0.1 | warned | mean limit on the score's epsilon | "
        "TPR at most 0.01 at FPR 0.001"
    )
    seeds = run.times(SEEDS)
    for copies in (0, 10, 25, 50, 250):
        every = [release(copies, seed) for seed in range(seeds)]
        maxima = MaxAdvantage(0.1), MaxTpr(0.01, 0.001)
        averages, rates = ([judge(data, [limit]) for data in every] for limit in maxima)
        warned = sum(bool(each.cautions) and each.cautions[0].code == "rare_exposure" for each in averages)
        lower = f"{np.mean([each.exposure.score_epsilon for each in averages]):.2f}"
        share = f"{100 * warned / seeds:.3g}%"
        yield f"{copies} | {seeds} | {decided(averages)} | {share} | {lower} | {decided(rates)}"


@table
def operating_points(run: Run):
    """How often a gate on the true positive rate is wrong, with the maximum a hair beside the truth."""
    yield "law | n1, n0 | runs | TPR at FPR 0.01 | wrong fail | wrong pass"
    runs, laws = run.times(LARGE_RUNS), {"no leak": 0.0, "5% of members below every nonmember": 0.05}
    for (name, low), (n1, n0) in product(laws.items(), ((1000, 1000), (10_000, 10_000), (200, 10_000))):
        truth, rng, wrong = low + (1.0 - low) * 0.01, np.random.default_rng(7), {"fail": 0, "pass": 0}
        for _ in range(runs):
            counts = ranks(rng.random(n1) - 2.0 * (rng.random(n1) < low), rng.random(n0))
            for decision, off in (("fail", 1e-9), ("pass", -1e-9)):
                wrong[decision] += judge(counts, [MaxTpr(truth + off, 0.01)]).decision.value == decision
        rates = " | ".join(f"{100 * each / runs:.2g}%" for each in wrong.values())
        yield f"{name} | {n1}, {n0} | {runs} | {truth:g} | {rates}"


@table
def limits(run: Run):
    yield "law | n1, n0 | runs | truth | mean limit | too high | alarms"
    for law, (n1, n0) in run.few([*product(NOTHING, SIDES), *product(LEAKS, OF_LEAKS)], 12):
        runs, rng = run.times(LARGE_RUNS if max(n1, n0) >= 10_000 else RUNS), np.random.default_rng(7)
        results = [exposure(law.draw(rng, n1, n0)) for _ in range(runs)]
        lower = np.array([law.limit(each) for each in results])
        alarms = np.mean([each.alarm for each in results])
        truth = "none" if law.epsilon == ENDLESS else f"{law.epsilon:.3f}"
        rates = f"{100 * np.mean(lower > law.epsilon):.2g}% | {100 * alarms:.3g}%"
        yield f"{law.name} | {n1}, {n0} | {runs} | {truth} | {lower.mean():.3f} | {rates}"
