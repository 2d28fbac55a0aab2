"""Are members found who stand in a spike inside the score, does a limit on them pass, and what is said without one?

Members are Gaussian, as nonmembers are, but for a share of them in a window; its width is a share of the range from -4
to 4, and it is put at the mode or in a tail, low or high by turns. Some five minutes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.harness import Run, table
from benchmarks.worlds import Rng
from estimators import Decision, Scores, exposure, individual_risk
from estimators.audit.exposure import CERTAIN, CLEAR, OF_MEMBERS, ratio_limit
from estimators.gate import Judgement, judge
from estimators.maxima import MaxTpr

RUNS = {500: 200, 2000: 200, 10_000: 80, 100_000: 12}
CLEAN_RUNS = {500: 1000, 2000: 500, 10_000: 300, 100_000: 30}
SHIFT_RUNS = {1000: 100, 10_000: 60, 100_000: 10}
FLAG_RUNS = {1000: 400, 10_000: 60}
RANGE = 8.0
PLACES = {"mode": 0.0, "tail": 2.5}
RATES = (0.001, 0.01)
Floats = NDArray[np.float64]
Law = Callable[[Rng, int], Floats]
Density = Callable[[Floats], Floats]
SCAN = OF_MEMBERS[1] * 0.025
"""The level that all windows share: the test that knows the place has it for one."""


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

    def draw(self, rng: Rng, n: int) -> tuple[Scores, tuple[int, int]]:
        """Scores of both sides, and how many of either stand in the window; low and high by turns."""
        low, high = PLACES[self.place], PLACES[self.place] + RANGE * self.width
        members = np.where(rng.random(n) < self.share, rng.uniform(low, high, n), rng.normal(size=n))
        nonmembers = rng.normal(size=n)
        m, k = (int(((side >= low) & (side < high)).sum()) for side in (members, nonmembers))
        turn = -1.0 if rng.random() < 0.5 else 1.0
        return Scores.of(turn * members, turn * nonmembers), (m, k)


def knows_the_place(n: int, m: int, k: int) -> bool:
    """Whether the window alone would be an alarm at the level that all windows share."""
    least = float(np.log(CERTAIN)) if k else 0.0
    return m >= CLEAR * k and m > 0 and ratio_limit(m, n, k, n, SCAN, least) > least


def percent(hits: float | np.floating) -> str:
    return f"{100 * float(hits):.3g}%"


def decided(results: list[Judgement], at: int) -> str:
    """How often a limit passes, and how often it fails."""
    words = [each.limits[at].verdict.decision for each in results]
    return " / ".join(
        percent(np.mean([word is one for word in words])) for one in (Decision.PASS, Decision.FAIL)
    )


@table
def spikes(run: Run) -> Iterator[str]:
    """Spikes by size, share, width and place; the limit on the true positive rate is half of the spike's share."""
    limits = " | ".join(f"truth at {rate:g} | pass / fail" for rate in RATES)
    yield f"a side | share | width | place | runs | place known | warned | severe | {limits}"
    cases = product(RUNS, (0.02, 0.05, 0.1), (0.001, 0.01), PLACES)
    for n, share, width, place in run.few(cases, 6):
        spike, rng, runs = Spike(share, width, place), np.random.default_rng(3), run.times(RUNS[n], 2)
        known, results = 0, []
        for _ in range(runs):
            data, inside = spike.draw(rng, n)
            known += knows_the_place(n, *inside)
            results.append(judge(data, [MaxTpr(share / 2.0, rate) for rate in RATES]))
        seen = [each.exposure for each in results]
        rates = " | ".join(
            f"{spike.rate(rate):.3f} | {decided(results, at)}" for at, rate in enumerate(RATES)
        )
        found = [percent(np.mean([getattr(each, what) for each in seen])) for what in ("alarm", "severe")]
        case = f"{n} | {share:g} | {width:g} | {place} | {runs} | {percent(known / runs)}"
        yield f"{case} | {' | '.join(found)} | {rates}"


@table
def clean(run: Run) -> Iterator[str]:
    """Without a leak: who is warned of, and what a limit of 0.02 at a rate of 0.001 says."""
    yield "a side | runs | warned | severe | TPR at most 0.02 at FPR 0.001: pass / fail | mean upper end"
    for n, full in CLEAN_RUNS.items():
        rng, runs = np.random.default_rng(4), run.times(full, 2)
        results = [judge(Scores.of(*rng.normal(size=(2, n))), [MaxTpr(0.02, 0.001)]) for _ in range(runs)]
        seen = [
            percent(np.mean([getattr(each.exposure, what) for each in results]))
            for what in ("alarm", "severe")
        ]
        upper = np.mean([each.limits[0].estimate.upper for each in results])
        yield f"{n} | {runs} | {' | '.join(seen)} | {decided(results, 0)} | {upper:.4f}"


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
        rates = [percent(np.mean([getattr(each, what) for each in results])) for what in ("alarm", "severe")]
        yield f"{n} | {by:g} | {2 * norm.cdf(by / 2) - 1:.3f} | {runs} | {' | '.join(rates)} | {size}"


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


FLAGGED: dict[str, tuple[Law, Density]] = {
    "no leak": with_normals((1.0, 0.0)),
    **{f"shift of {by:g}": with_normals((1.0, by)) for by in (0.3, 0.5, 1.0, 2.0)},
    "10% shifted by 6": with_normals((0.9, 0.0), (0.1, 6.0)),
    **{
        f"{share:.0%} in {low:g} to {low + width:g}": with_windows((share, low, width))
        for share, width, low in product((0.02, 0.05, 0.1), (0.001, 0.01), (0.3, 1.5))
    },
    **{
        f"{share:.0%} in {low:g} to {low + RANGE / 100:g}": with_windows((share, low, RANGE / 100))
        for share, low in product((0.02, 0.05, 0.1), (0.0, 0.3, 1.5))
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
