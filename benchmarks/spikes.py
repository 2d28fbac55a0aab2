"""Are members found who stand in a spike inside the score, does a limit on them pass, and what is said without one?

Members are Gaussian, as nonmembers are, but for a share of them in a window; its width is a share of the range from -4
to 4, and it is put at the mode or in a tail, low or high by turns. Some fifteen minutes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.stats import binom, norm

from benchmarks.harness import Run, most_misses, table
from benchmarks.worlds import Floats, Rng
from estimators import Counts, Decision, Exposure, Scores, exposure, individual_risk
from estimators.decisions.exposed_members import MaxExposed
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.tpr_limit import MaxTpr
from estimators.privacy.closeness import fullest_windows
from estimators.privacy.exposure import CERTAIN_INSIDE, CLEAR, OF_MEMBERS
from estimators.privacy.share_ratio import ratio_limit

RUNS = {500: 1000, 2000: 1000, 10_000: 200, 100_000: 12}
CLEAN_RUNS = {500: 1000, 2000: 500, 10_000: 300, 100_000: 30}
SHIFT_RUNS = {1000: 100, 10_000: 60, 100_000: 10}
EXPOSED_RUNS = {1000: 400, 10_000: 200, 100_000: 40}
FLAG_RUNS = {1000: 400, 10_000: 60}
RANGE = 8.0
PLACES = {"mode": 0.0, "tail": 2.5}
RATES = (0.001, 0.01)
Law = Callable[[Rng, int], Floats]
Density = Callable[[Floats], Floats]
SCAN = OF_MEMBERS[1] * 0.025
"""The level that all windows share."""
SURE, WARNED = 0.999, 0.99
"""The power of a test that knows the place, from which on so many samples are to be warned of."""
OUTSIDE = 1e-7
"""Probability of how many nonmembers lie in a window that is left out at either end."""


@dataclass(frozen=True)
class Spike:
    """Which share of members stands in a window of which width, and where it begins."""

    share: float
    width: float
    place: str

    @property
    def mass(self) -> float:
        """The share of nonmembers there."""
        return float(norm.cdf(PLACES[self.place] + RANGE * self.width) - norm.cdf(PLACES[self.place]))

    def rate(self, fpr: float) -> float:
        """The TPR of the best set at this FPR: the window, or a part of it, and others for what it leaves."""
        inside = self.share + (1.0 - self.share) * self.mass
        return min(1.0, fpr / self.mass) * inside + (1.0 - self.share) * max(0.0, fpr - self.mass)

    def exposed(self, odds: float) -> float:
        """The share of members in the best range with these odds: the window, and as much around it as leaves them."""
        around = self.share / (odds - 1.0 + self.share)
        return odds * around if around >= self.mass else 0.0

    def draw(self, rng: Rng, n: int) -> Scores:
        low, high = PLACES[self.place], PLACES[self.place] + RANGE * self.width
        members = np.where(rng.random(n) < self.share, rng.uniform(low, high, n), rng.normal(size=n))
        turn = -1.0 if rng.random() < 0.5 else 1.0
        return Scores.of(turn * members, turn * rng.normal(size=n))

    def known(self, n: int) -> tuple[float, float]:
        """How often the window by itself would be an alarm to who knows its place: the exact power of two tests.

        The first has the level of all windows for this one, the second what one window with as many nonmembers has.
        """
        inside = self.share + (1.0 - self.share) * self.mass
        few, many = (int(each) for each in binom.ppf((OUTSIDE, 1.0 - OUTSIDE), n, self.mass))
        windows = fullest_windows(Counts.of([n - 1, 1], [n - 1, 1], edges=[0.0]))  # there are of so many
        power, fewest = np.zeros(2), [1, 1]
        for k in range(few, many + 1):
            own = int(np.searchsorted(windows.within, k))
            tests = (k, SCAN), (int(windows.within[own]), SCAN * float(windows.shares[own]))
            fewest = [_fewest(n, k, *test, at) for test, at in zip(tests, fewest, strict=True)]
            power += binom.pmf(k, n, self.mass) * binom.sf(np.array(fewest) - 1, n, inside)
        return float(power[0]), float(power[1])


def _fewest(n: int, k: int, within: int, level: float, start: int) -> int:
    """Fewest members beside k nonmembers, from ``start`` on, at which a window that may hold so many is an alarm."""
    least = float(np.log(CERTAIN_INSIDE)) if k else 0.0

    def alarms(m: int) -> bool:
        return ratio_limit(m, n, within, n, level, least) > least

    high, step = max(start, int(np.ceil(CLEAR * k))), 1
    low = high - 1
    while high < n and not alarms(high):
        low, high, step = high, min(n, high + step), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if alarms(middle) else (middle, high)
    return high if alarms(high) else n + 1


def percent(hits: float | np.floating) -> str:
    return f"{100 * float(hits):.3g}%"


def decided(results: list[Judgement], at: int) -> str:
    """How often a limit passes, and how often it fails."""
    words = [each.limits[at].verdict.decision for each in results]
    return " / ".join(percent(words.count(one) / len(words)) for one in (Decision.PASS, Decision.FAIL))


def said(results: Sequence[Exposure]) -> str:
    """How often there is a warning, and a severe one."""
    kinds = [each.alarm for each in results], [each.severe for each in results]
    return " | ".join(percent(np.mean(each)) for each in kinds)


@table
def spikes(run: Run) -> Iterator[str]:
    """Spikes by size, share, width and place; the limit on the true positive rate is half of the spike's share."""
    limits = " | ".join(f"truth at {rate:g} | pass / fail" for rate in RATES)
    yield f"a side | share | width | place | runs | place known | at a window's level | warned | severe | {limits}"
    cases = product(RUNS, (0.02, 0.05, 0.1), (0.001, 0.01), PLACES)
    for n, share, width, place in run.few(cases, 6):
        spike, rng, runs = Spike(share, width, place), np.random.default_rng(3), run.times(RUNS[n], 2)
        known, maxima = spike.known(n), [MaxTpr(share / 2.0, rate) for rate in RATES]
        results = [judge(spike.draw(rng, n), maxima) for _ in range(runs)]
        seen = [each.exposure for each in results]
        missed = sum(not each.alarm for each in seen)
        run.faults += known[0] >= SURE and missed > most_misses(runs, 1.0 - WARNED)
        rates = [f"{spike.rate(rate):.3f} | {decided(results, at)}" for at, rate in enumerate(RATES)]
        case = f"{n} | {share:g} | {width:g} | {place} | {runs} | {known[0]:.2%} | {known[1]:.2%}"
        yield f"{case} | {said(seen)} | {' | '.join(rates)}"


@table
def clean(run: Run) -> Iterator[str]:
    """Without a leak: who is warned of, and what a limit of 0.02 at a rate of 0.001 says."""
    yield "a side | runs | warned | severe | TPR at most 0.02 at FPR 0.001: pass / fail | mean upper end"
    for n, full in CLEAN_RUNS.items():
        rng, runs = np.random.default_rng(4), run.times(full, 2)
        results = [judge(Scores.of(*rng.normal(size=(2, n))), [MaxTpr(0.02, 0.001)]) for _ in range(runs)]
        seen = said([each.exposure for each in results])
        upper = np.mean([each.limits[0].estimate.upper for each in results])
        yield f"{n} | {runs} | {seen} | {decided(results, 0)} | {upper:.4f}"


@table
def shifts(run: Run) -> Iterator[str]:
    """Members whose scores are shifted: how often a severe exposure is certified, and its median size."""
    yield "a side | shift | advantage | runs | warned | severe | ratio at least | share of members at least"
    for n, by in product(SHIFT_RUNS, (0.1, 0.3, 0.5, 1.0, 2.0)):
        rng, runs = np.random.default_rng(5), run.times(SHIFT_RUNS[n], 2)
        results = [exposure(Scores.of(rng.normal(by, 1.0, n), rng.normal(size=n))) for _ in range(runs)]
        tails = [each.tail for each in results if each.severe and each.tail is not None]
        size = "- | -"
        if tails:
            ratio = np.exp(np.median([tail.score_epsilon for tail in tails]))
            size = f"{ratio:.1f} | {np.median([tail.tpr_lower for tail in tails]):.3f}"
        yield f"{n} | {by:g} | {2 * norm.cdf(by / 2) - 1:.3f} | {runs} | {said(results)} | {size}"


@table
def exposed(run: Run) -> Iterator[str]:
    """The share of members in a range that makes membership 0.9 probable: both ends, and a limit of 0.02."""
    about = "truth | mean interval | above, below the truth | at most 0.02: pass / fail"
    yield f"a side | share | width | place | runs | {about}"
    spiked = [(0.05, 0.001, "mode"), (0.05, 0.001, "tail"), (0.1, 0.001, "mode"), (0.1, 0.01, "tail")]
    for n, (share, width, place) in product(EXPOSED_RUNS, [(0.0, 0.001, "mode"), *spiked]):
        spike, rng, runs = Spike(share, width, place), np.random.default_rng(8), run.times(EXPOSED_RUNS[n], 2)
        truth = spike.exposed(9.0)
        results = [judge(spike.draw(rng, n), [MaxExposed(0.02)]) for _ in range(runs)]
        ends = np.array([(each.limits[0].estimate.lower, each.limits[0].estimate.upper) for each in results])
        above, below = int((ends[:, 0] > truth).sum()), int((ends[:, 1] < truth).sum())
        run.faults += max(above, below) > most_misses(runs, 0.025)
        where = f"{share:g} | {width:g} | {place}" if share else "0 | - | -"
        interval = "[{:.4f}, {:.4f}]".format(*ends.mean(axis=0))
        rates = f"{percent(above / runs)}, {percent(below / runs)} | {decided(results, 0)}"
        yield f"{n} | {where} | {runs} | {truth:.4f} | {interval} | {rates}"


def with_windows(*windows: tuple[float, float, float]) -> tuple[Law, Density]:
    """Gaussian members but for these shares of them, each even in a window that begins somewhere and is so wide."""

    def draw(rng: Rng, n: int) -> Floats:
        scores, which, below = rng.normal(size=n), rng.random(n), 0.0
        for share, low, width in windows:
            inside = (which >= below) & (which < below + share)
            scores, below = np.where(inside, rng.uniform(low, low + width, n), scores), below + share
        return scores

    def density(at: Floats) -> Floats:
        inside = sum(share * ((at >= low) & (at < low + width)) / width for share, low, width in windows)
        return np.asarray((1.0 - sum(share for share, _, _ in windows)) * norm.pdf(at) + inside)

    return draw, density


def with_normals(*parts: tuple[float, float]) -> tuple[Law, Density]:
    """Members of Gaussian parts: the share and the mean of each."""
    shares, means = np.array(parts).T

    def density(at: Floats) -> Floats:
        return np.asarray(sum(share * norm.pdf(at, mean) for share, mean in parts))

    return lambda rng, n: rng.normal(rng.choice(means, n, p=shares), 1.0), density


SHARES = (0.02, 0.05, 0.1)
FLAGGED: dict[str, tuple[Law, Density]] = {
    "no leak": with_normals((1.0, 0.0)),
    **{f"shift of {by:g}": with_normals((1.0, by)) for by in (0.3, 0.5, 1.0, 2.0)},
    "10% shifted by 6": with_normals((0.9, 0.0), (0.1, 6.0)),
    **{
        f"{share:.0%} in {low:g} to {low + width:g}": with_windows((share, low, width))
        for share, width, low in (
            *product(SHARES, (0.001, 0.01), (0.3, 1.5)),
            *product(SHARES, (RANGE / 100,), (0.0, 0.3, 1.5)),
        )
    },
    "5% in 0.3 to 0.301, 5% in 1.5 to 1.501": with_windows((0.05, 0.3, 0.001), (0.05, 1.5, 0.001)),
}


@table
def flags(run: Run) -> Iterator[str]:
    """Of the records that are flagged those whose own score does not speak for membership, and how often any is."""
    yield "a side | members | runs | false among flagged | s.e. | flagged, mean | any flagged"
    for n, (name, (draw, density)) in product(FLAG_RUNS, FLAGGED.items()):
        rng, runs, false, flagged = np.random.default_rng(6), run.times(FLAG_RUNS[n], 2), [], []
        for _ in range(runs):
            sides = draw(rng, n), rng.normal(size=n)
            at = np.concatenate(sides)[individual_risk(Scores.of(*sides)).flagged]
            false.append(float(np.sum(density(at) <= norm.pdf(at)) / max(1, len(at))))
            flagged.append(len(at))
        error, some = np.std(false) / np.sqrt(runs), percent(np.mean(np.array(flagged) > 0))
        yield f"{n} | {name} | {runs} | {np.mean(false):.3f} | {error:.3f} | {np.mean(flagged):.0f} | {some}"
