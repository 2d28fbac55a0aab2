"""How long everything takes, as a multiple of np.sum over the same scores, beside the peers that install.

Only ratios inside one run mean anything: machines differ and are shared. "peak" is the most memory NumPy and Python
held beyond the scores themselves (tracemalloc, in a run of its own). A peer that would take more than a minute is left
out at that size.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from fast_histogram import histogram1d
from KDEpy import FFTKDE
from KDEpy.bw_selection import improved_sheather_jones
from scipy.stats import beta, gaussian_kde
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import KernelDensity
from statsmodels.stats.proportion import proportion_confint

from benchmarks.harness import DOCS, Note, Run, Title, of_rounds, table
from benchmarks.worlds import Floats
from estimators import AssessOptions, Query, Scores, ThresholdTarget, advantage, assess, individual_risk
from estimators.density.bandwidth import ImprovedSheatherJones, LeastSquaresCV, Sample, Silverman
from estimators.density.kernel import LineDensities
from estimators.density.space import PlaneDensities
from estimators.limits.binomial import clopper_pearson
from estimators.paper import discrete_advantage
from estimators.privacy.auc import auc
from estimators.privacy.roc import roc
from estimators.sample import counting
from examples.theory.drawing import line_chart, write_svg

OPTIONS = {"smallest": (3, 3), "largest": (6, 3), "budget": (1.5, 0.01), "rounds": (3, 1), "growth_to": (8, 4)}
"""Powers of ten, seconds for each call, and how often what was wanted is measured."""
Call = Callable[[], object]


@dataclass(frozen=True)
class Stage:
    """One thing we do, and those who do it too, up to the size they can bear."""

    name: str
    ours: Call
    peers: tuple[tuple[str, Call, int], ...] = ()


def listed(n: int) -> Iterator[Stage]:
    """Every stage on Gaussian scores, n a side, and on a hundred categories."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.5, size=n), rng.normal(size=n)
    i, j = rng.integers(0, 100, n), rng.integers(0, 100, n)
    text = np.array([f"c{k:02d}" for k in range(100)])
    s, t = text[i], text[j]
    pair = rng.normal(size=(n, 2)), rng.normal(0.3, size=(n, 2))
    scores, labels = Scores.of(a, b), Scores.of(i, j, Query.DISCRETE)
    low, high = min(a.min(), b.min()), max(a.max(), b.max())
    edges = np.linspace(low, high, 101)
    hits = rng.binomial(500, 0.3, size=n)

    def both(call: Callable[[Floats], object]) -> Call:
        return lambda: [call(side) for side in (a, b)]

    yield Stage("check the scores", lambda: Scores.of(a, b))
    cells = (
        ("fast-histogram", both(lambda x: histogram1d(x, 100, (low, high))), 7),
        ("np.histogram", both(lambda x: np.histogram(x, 100, (low, high))), 7),
        ("np.histogram(edges)", both(lambda x: np.histogram(x, edges)), 7),
    )
    yield Stage("100 equal cells", lambda: counting.by_lattice(scores, 100), cells)
    yield Stage("cells by rank", lambda: counting.by_rank(scores), (("np.sort", both(np.sort), 7),))
    yield Stage("mergeable grid", lambda: counting.by_grid(scores))
    unique = ("np.unique", lambda: np.unique(np.concatenate([i, j]), return_inverse=True), 7)
    yield Stage("categories, integers", lambda: counting.by_category(labels), (unique,))
    unique = ("np.unique", lambda: np.unique(np.concatenate([s, t]), return_inverse=True), 6)
    yield Stage("categories, text", lambda: counting.by_category(Scores.of(s, t)), (unique,))

    def discrete() -> object:
        counts = counting.by_category(Scores.of(i, j))
        return discrete_advantage(counts, 0.5), advantage(counts, 0.5)

    yield Stage("discrete: W_N and certified interval", discrete)
    yield Stage("certified interval", lambda: advantage(scores, 0.5))
    yield Stage("certified interval, prior 0.1", lambda: advantage(scores, 0.1))
    yield Stage("certified interval, threshold", lambda: advantage(scores, 0.5, ThresholdTarget()))

    def audit() -> object:
        counts = counting.by_rank(Scores.of(a, b))
        return advantage(counts, 0.5), roc(counts), auc(counts)

    def sklearn_roc() -> object:
        labels_, values = np.repeat([1, 0], [n, n]), np.concatenate([a, b])
        return roc_curve(labels_, values), roc_auc_score(labels_, values)

    peer = ("scikit-learn ROC and AUC, no interval", sklearn_roc, 6)
    yield Stage("certified interval, ROC, AUC", audit, (peer,))

    def quantiles() -> object:
        return beta.ppf(0.025, hits, 501 - hits), beta.ppf(0.975, hits + 1, 500 - hits)

    limits = (
        ("scipy beta.ppf", quantiles, 5),
        ("statsmodels proportion_confint", lambda: proportion_confint(hits, 500, method="beta"), 5),
    )
    yield Stage("Clopper-Pearson for every record", lambda: clopper_pearson(hits, 500, 0.025), limits)
    yield Stage("individual risk of every record", lambda: individual_risk(scores, 0.5))
    silverman = Silverman()

    def kernel() -> object:
        densities = LineDensities.of(a, b, silverman)
        return densities.advantage(0.5), densities.at(np.concatenate([a, b])).signed_risk(0.5)

    def kdepy() -> object:
        out = []
        grid = np.linspace(low - 1, high + 1, 2**12)
        for x in (a, b):
            width = float(silverman.choose(Sample.of(x)))
            density = FFTKDE(kernel="gaussian", bw=width).fit(x).evaluate(grid)
            out.append([np.interp(z, grid, density) for z in (a, b)])
        return out

    def scipy_kde() -> object:
        return [gaussian_kde(x, "silverman")(np.concatenate([a, b])) for x in (a, b)]

    def sklearn_kde() -> object:
        every = np.concatenate([a, b])[:, None]
        return [KernelDensity(bandwidth=0.2).fit(x[:, None]).score_samples(every) for x in (a, b)]

    kernels = (
        ("KDEpy and np.interp", kdepy, 6),
        ("scipy gaussian_kde", scipy_kde, 4),
        ("scikit-learn KernelDensity", sklearn_kde, 4),
    )
    yield Stage("U_N and kernel risk at every record", kernel, kernels)
    isj = ("KDEpy ISJ", lambda: improved_sheather_jones(a[:, None]), 6)
    yield Stage("bandwidth, ISJ", lambda: ImprovedSheatherJones().choose(Sample.of(a)), (isj,))
    yield Stage("bandwidth, least-squares CV", lambda: LeastSquaresCV().choose(Sample.of(a)))
    if n <= 10**5:
        plane = np.stack(np.meshgrid(np.linspace(-3, 3, 64), np.linspace(-3, 3, 64)), axis=-1).reshape(-1, 2)

        def scipy_plane() -> object:
            return [gaussian_kde(x.T, "silverman")(plane.T) for x in pair]

        def ours() -> object:
            return (PlaneDensities.of(*pair, silverman) or LineDensities.of(a, b, silverman)).advantage(0.5)

        peer = ("scipy gaussian_kde", scipy_plane, 4)
        yield Stage("2-d U_N on a grid (scipy: 64 x 64 points)", ours, (peer,))
    everything = "everything: assess, and risk of every record"
    yield Stage(everything, lambda: (assess(scores), individual_risk(scores, 0.5)))


def best_of(call: Call, budget: float) -> float:
    """Least seconds of a few calls: the least is what the machine's other users could not spoil."""
    call()
    least, elapsed, calls = np.inf, 0.0, 0
    while elapsed < budget and calls < 50:
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        least, elapsed, calls = min(least, took), elapsed + took, calls + 1
    return float(least)


def peak(call: Call) -> float:
    """Most memory held during one call, in MiB."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


@table
def stages(run: Run):
    for power in range(run.smallest, run.largest + 1):
        n, rng = 10**power, np.random.default_rng(0)
        a, b = rng.normal(size=n), rng.normal(size=n)
        unit = best_of(lambda a=a, b=b: (np.sum(a), np.sum(b)), run.budget / 3)
        yield Title(f"10^{power}", f"10^{power} a side; np.sum of both sides: {1e3 * unit:.3f} ms")
        yield "stage | x np.sum | peak MiB | peers: time / ours"
        for stage in listed(n):
            ours = best_of(stage.ours, run.budget)
            peers = [(name, call) for name, call, largest in stage.peers if power <= largest]
            others = "; ".join(f"{name} {best_of(call, run.budget) / ours:.3g}" for name, call in peers)
            yield f"{stage.name} | {ours / unit:.1f} | {peak(stage.ours):.1f} | {others or '–'}"


@table
def targets(run: Run):
    """What was wanted of answers in one process, several times over."""
    yield from of_rounds(run.rounds, lambda: wanted(run))


def wanted(run: Run) -> Iterator[str]:
    rng = np.random.default_rng(0)

    def of(n: int, m: int | None = None) -> tuple[Floats, Floats]:
        return rng.normal(0.5, size=n), rng.normal(size=n if m is None else m)

    def against(what: str, most: int, ours: Call, theirs: Call) -> str:
        mine, other = best_of(ours, run.budget), best_of(theirs, run.budget)
        return f"{what} | <= {most}x | {mine / other:.1f}x | {1e3 * mine:.2f} ms against {1e3 * other:.2f} ms"

    def alone(what: str, most: int, ours: Call) -> str:
        return f"{what} | <= {most} ms | {1e3 * best_of(ours, run.budget):.2f} ms | "

    a, b = of(10**5)
    sorts = lambda: (np.sort(a), np.sort(b))  # noqa: E731
    yield against("`assess`, 10^5 a side, against two np.sort", 6, lambda: assess(Scores.of(a, b)), sorts)
    few, rare = of(200), of(30_000, 100_000)
    yield alone("`assess`, 200 a side", 2, lambda: assess(Scores.of(*few)))
    rarely = AssessOptions(prior=0.1)
    what = "`assess`, prior 0.1, 30,000 members and 100,000 nonmembers"
    yield alone(what, 20, lambda: assess(Scores.of(*rare), rarely))
    members, nonmembers = of(10**6)
    scores = Scores.of(members, nonmembers)
    counts = counting.finest(scores)
    sums, sort = lambda: (np.sum(members), np.sum(nonmembers)), lambda: np.sort(members)
    risks = lambda: individual_risk(scores, 0.5)  # noqa: E731
    what = "certified answer from counts, 10^6 a side, against np.sum"
    yield against(what, 10, lambda: advantage(counts), sums)
    yield against("everything, 10^6 a side, against np.sum", 60, lambda: (assess(scores), risks()), sums)
    yield against("risk of every record, 10^6 a side, against np.sort of one side", 3, risks, sort)
    rows, person = Scores.of(*of(5 * 10**6)), np.repeat(np.arange(10**6), 10)
    people = lambda: advantage(rows, cluster=person)  # noqa: E731
    yield f"{alone('the advantage of 10^7 rows, ten of a person', 20_000, people)}{peak(people):.0f} MiB"


@table
def growth(run: Run):
    """How time grows with records, and a drawing of it in docs."""
    sizes, took = [10**power for power in range(3, run.growth_to + 1)], []
    yield "records a side | everything, ms | ns a record | exponent since the line above"
    for n in sizes:
        rng = np.random.default_rng(0)
        scores = Scores.of(rng.normal(0.5, size=n), rng.normal(size=n))
        took.append(best_of(lambda scores=scores: (assess(scores), individual_risk(scores, 0.5)), run.budget))
        since = "" if len(took) == 1 else f"{np.log10(took[-1] / took[-2]):.2f}"
        yield f"{n:,} | {1e3 * took[-1]:.1f} | {1e9 * took[-1] / (2 * n):.0f} | {since}"
    slope = np.polyfit(np.log10(sizes), np.log10(took), 1)[0]
    yield Note(f"Exponent of all: {slope:.2f}; wanted: at most 1.05.")
    if not run.quick:
        proportion = [took[-1] * n / sizes[-1] for n in sizes]
        lines = {"everything": (sizes, took), "in proportion": (sizes, proportion)}
        about = ("Seconds of everything by records of a side", "records of a side", "seconds")
        chart = line_chart(*about, lines, log_x=True, log_y=True, dashed=("in proportion",))
        write_svg(chart, DOCS / "growth.svg")
