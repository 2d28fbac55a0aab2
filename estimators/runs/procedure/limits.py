"""Limits over trainings: of their mean, of the next one, of how much they vary.

Each model gives a value that is on average at most its advantage, and one that is on average at least that. Models are
independent, so the mean of either is limited from its own side by Student's t, and by Hall's version of it, which
allows for skewness; the wider counts. Where models hardly vary, the exact limit of all their records together is wider
still. The next model's limits allow for skewness, too. All of it is simulated (docs/procedure.md) but
``whatever_they_do``, which is proven.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cached_property
from math import expm1, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, stdtrit

from estimators.adversary.changes import best_by_changes
from estimators.adversary.holdout import ORDERS, GuessRecord, Way, together, validate, validate_anywhere
from estimators.adversary.lower_end import FEWEST_RECORDS
from estimators.adversary.many_changes import sign_of
from estimators.adversary.targets import CellsTarget
from estimators.arrays import Floats
from estimators.clusters.betting import Shares
from estimators.errors import TooFewRecords, TooManyCells
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.optimum.answer import MOST_CHANGES
from estimators.optimum.ends import Ends, cells_for
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import without_repeats
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a model's records show, without any limit.

    Attributes:
        unseen: The advantage of rules on records that they had not seen: on average at most the best attacker's.
        best: That of the best rule of the class on the records it was chosen on: on average at least the class's.
        noise: Variance of a rule's advantage that comes from the choice of the records.
        unseen_records: So many records of equal weight, at least, are behind ``unseen``.
        records: Likewise behind ``best``.
    """

    unseen: float
    best: float
    noise: float
    unseen_records: float
    records: float


def evidence_by(ends: Ends) -> Evidence:
    """What both ends of one model rest on."""
    return _evidence(ends.fine, ends.counts, ends.changes, ends.prior, ends.source.seed or 0)


def evidence_in(fine: Counts, prior: float, seed: int) -> Evidence:
    """The same of one model's counts along a score; its own ends, which take as long again, are not asked for."""
    evident = sign_of(fine)[1] if fine.n_records >= FEWEST_RECORDS else None
    counts = cells_for(fine, target := CellsTarget())
    return _evidence(fine, counts, max(target.changes, evident or 0), prior, seed)


def evidence_without_repeats(
    samples: Mapping[str, Scores], seeds: Mapping[str, int], prior: float, times: int
) -> list[Evidence] | None:
    """What each model shows without repeats; None if one has too few records left."""
    try:
        alone = {name: without_repeats(each, wide=True, times=times) for name, each in samples.items()}
    except (TooFewRecords, TooManyCells):
        return None
    return [evidence_in(each, prior, seeds[name]) for name, each in alone.items() if isinstance(each, Counts)]


def _evidence(fine: Counts, counts: Counts, changes: int | None, prior: float, seed: int) -> Evidence:
    """Of counts at full resolution, and of the cells that rules read; ``changes`` as ``Ends`` has them."""
    outcome = _seen_every_way(fine, counts, prior, seed)
    unseen = float(outcome.n_members.mean()), float(outcome.n_nonmembers.mean())
    whole = float(fine.n_members), float(fine.n_nonmembers)
    rates = outcome.true_positives.mean() / unseen[0], outcome.true_negatives.mean() / unseen[1]
    weights = prior, 1.0 - prior
    spread = [w**2 * rate * (1.0 - rate) / n for w, rate, n in zip(weights, rates, whole, strict=True)]
    best = float(np.abs(counts.weights(prior)).sum())
    if changes is not None:
        best = max(best, float(best_by_changes(fine.weights(prior), changes)[-1]))
    return Evidence(
        float(2.0 * (weights[0] * rates[0] + weights[1] * rates[1]) - 1.0),
        best,
        float(4.0 * sum(spread)),
        min(n / w for n, w in zip(unseen, weights, strict=True)),
        min(n / w for n, w in zip(whole, weights, strict=True)),
    )


def _seen_every_way(fine: Counts, counts: Counts, prior: float, seed: int) -> GuessRecord:
    """Right guesses about unseen records, looked at in every way: of many models, what one way adds would add up."""
    ways = Way.every(fine, prior)
    orders = max(1, ORDERS // len(ways))
    if counts is fine or not fine.cells.ordered:
        looks = [validate(counts, prior, seed, orders, way) for way in ways]
    else:
        looks = [validate_anywhere(fine, prior, counts.size, seed, orders, way) for way in ways]
    return together([each.outcome for each in looks])


def best_of_changes(ends: Ends) -> Floats:
    """What the best rule of at most 0, 1, ... changes along one model's score has on the records it was chosen on."""
    if not ends.fine.cells.ordered:
        return np.zeros(MOST_CHANGES + 1)
    return best_by_changes(ends.fine.weights(ends.prior), MOST_CHANGES)


def _of_mean(records: list[float]) -> float:
    """So many records vary as much as the mean over models that have so many each: the smallest count for most."""
    return len(records) ** 2 / sum(1.0 / each for each in records)


HALVINGS = 40


@dataclass(frozen=True)
class Trainings:
    """What the records of each model show, and limits of level 1 - alpha at either end."""

    unseen: Floats
    best: Floats
    noise: float
    unseen_records: float
    records: float

    @classmethod
    def of(cls, models: list[Evidence]) -> Trainings:
        """Of several models."""
        return cls(
            np.array([each.unseen for each in models]),
            np.array([each.best for each in models]),
            float(np.mean([each.noise for each in models])),
            _of_mean([each.unseen_records for each in models]),
            _of_mean([each.records for each in models]),
        )

    def some(self, models: NDArray[np.int64]) -> Trainings:
        """Of these models alone, each of which may be taken more than once."""
        part = len(models) / self.number
        return Trainings(
            self.unseen[models], self.best[models], self.noise, part * self.unseen_records, part * self.records
        )

    def of_class(self, best: Floats) -> Trainings:
        """The same for a larger class of rules, of which these are the best on the records they were chosen on."""
        return replace(self, best=np.maximum(self.best, best))

    def without_repeats(self, models: list[Evidence] | None, least: float) -> Trainings:
        """The same with what these show on unseen records, for lower ends; ``least`` if they show nothing."""
        if models is None:
            return replace(self, unseen=np.full(self.number, least), noise=inf)
        once = Trainings.of(models)
        return replace(once, best=self.best, records=self.records)

    @property
    def number(self) -> int:
        """How many models."""
        return len(self.unseen)

    def mean(self, alpha: float) -> Range:
        """Limits of the mean over trainings."""
        sure = [2.0 * limit - 1.0 for limit in self._alike(alpha)]
        below, above = _mean_ends(self.unseen, alpha)[0], _mean_ends(self.best, alpha)[1]
        return min(below, sure[0]), max(above, sure[1])

    def _alike(self, alpha: float) -> Range:
        """Exact limits of the accuracy if no model differed from another."""
        hits = ((1.0 + self.unseen.mean()) / 2.0 * self.unseen_records, (1.0 + self.best.mean()) / 2.0 * self.records)
        return (
            float(lower_limit(hits[0], self.unseen_records, alpha)),
            float(upper_limit(min(hits[1], self.records), self.records, alpha)),
        )

    def next_one(self, alpha: float) -> Range:
        """Limits between which the advantage of the next model lies.

        Where there are so many models that the next is beyond the least or the most of them with probability alpha at
        most, whatever their law, these count, too.
        """
        lower, upper = self.mean(alpha)
        lower, upper = (min(lower, _next_end(self.unseen, alpha, -1)), max(upper, _next_end(self.best, alpha, 1)))
        if self.number + 1 >= 1.0 / alpha - 1e-9:
            lower, upper = min(lower, float(self.unseen.min())), max(upper, float(self.best.max()))
        return lower, upper

    def whatever_they_do(self, alpha: float) -> Range:
        """Limits of the mean by betting (Waudby-Smith and Ramdas 2023): proven, however trainings vary."""
        rates = (1.0 + self.unseen) / 2.0, (1.0 - self.best) / 2.0
        least_right, least_wrong = (_least_mean(each, alpha) for each in rates)
        return 2.0 * least_right - 1.0, 1.0 - 2.0 * least_wrong

    @cached_property
    def variance(self) -> float:
        """Variance of what models show: between trainings and from the choice of records.

        Learning a rule adds to the variance of ``unseen``, choosing the best takes from that of ``best``; between the
        first and their mean lies about that of a rule which needs neither (simulated).
        """
        middle = (self.unseen + self.best) / 2.0
        return float(self.unseen.var(ddof=1) + middle.var(ddof=1)) / 2.0

    def _variance_limits(self, alpha: float) -> Range:
        freedom = self.number - 1
        below, above = chdtri(freedom, alpha), chdtri(freedom, 1.0 - alpha)
        return freedom * self.variance / float(below), freedom * self.variance / float(above)

    def spread(self, alpha: float) -> tuple[float, Range]:
        """Standard deviation of the advantage between trainings, beyond what the choice of records makes."""
        value, lower, upper = (
            sqrt(max(0.0, each - self.noise)) for each in (self.variance, *self._variance_limits(alpha))
        )
        return value, (lower, upper)

    def share(self, alpha: float) -> tuple[float, Range]:
        """Share of that variance which is between trainings: more records of these models cannot remove it.

        The mean of 1/variance is (k-1)/(k-3) of what it should be, which the point allows for.
        """
        k = self.number
        noise = self.noise * (k - 3) / (k - 1)
        lower, upper = (_left(self.noise, each) for each in self._variance_limits(alpha))
        return _left(noise, self.variance), (lower, upper)

    def models_for(self, threshold: float, value: float, alpha: float, most: int) -> int | None:
        """So many models, with as many records each, are expected to bring the near end across the threshold."""
        above = value < threshold
        room = threshold - self.best.mean() if above else self.unseen.mean() - threshold
        deviation = (self.best if above else self.unseen).std(ddof=1)
        if room <= 0.0:
            return None

        def enough(number: int) -> bool:
            return bool(_student(number, alpha) * deviation / sqrt(number) <= room)

        return _fewest(enough, self.number + 1, most)

    def models_for_any_variation(self, threshold: float, alpha: float, most: int) -> int | None:
        """Likewise, if the proven limits of the mean decide, and more models show what these do."""
        is_below = float(self.best.mean()) < threshold
        rates = (1.0 - self.best) / 2.0 if is_below else (1.0 + self.unseen) / 2.0
        claim = (1.0 - threshold) / 2.0 if is_below else (1.0 + threshold) / 2.0

        def enough(number: int) -> bool:
            likely = np.quantile(rates, (np.arange(number) + 0.5) / number, method="inverted_cdf")
            return _least_mean(likely, alpha, claim) > claim

        return _fewest(enough, self.number + 1, most)

    def times_for(self, threshold: float, value: float, alpha: float, most: int) -> int | None:
        """So many times the records of each of these models, likewise; None if the models alone vary too much."""
        above = value < threshold
        room = abs(threshold - value)
        bias = float(self.best.mean() - value if above else value - self.unseen.mean())
        between = self.spread(alpha)[0] ** 2
        quantile = _student(self.number, alpha)

        def enough(times: int) -> bool:
            deviation = sqrt((between + self.noise / times) / self.number)
            return max(0.0, bias) / sqrt(times) + quantile * deviation <= room

        return _fewest(enough, 2, most)


def _student(number: int, alpha: float) -> float:
    return float(stdtrit(number - 1, 1.0 - alpha))


def _mean_ends(values: Floats, alpha: float) -> Range:
    """The wider of Student's interval of a mean and of Hall's (1992), which allows for skewness."""
    k, mean, deviation = len(values), float(values.mean()), float(values.std(ddof=1))
    plain, error, skewness = _student(k, alpha), deviation / sqrt(k), _skewness(values) / sqrt(k)
    below, above = (max(plain, abs(_hall(end, skewness))) for end in (plain, -plain))
    return mean - below * error, mean + above * error


def _next_end(values: Floats, alpha: float, side: int) -> float:
    """Student's limit of the next value, moved outward on the side of the longer tail (Cornish and Fisher 1938)."""
    k, quantile = len(values), _student(len(values), alpha)
    reach = quantile * sqrt(1.0 + 1.0 / k) + max(0.0, side * _skewness(values)) * (quantile**2 - 1.0) / 6.0
    return float(values.mean() + side * reach * values.std(ddof=1))


def _skewness(values: Floats) -> float:
    """The third moment by the 3/2th power of the second, with neither biased by the small number."""
    k, deviation = len(values), float(values.std(ddof=1))
    third = float(((values - values.mean()) ** 3).sum()) * k / ((k - 1) * (k - 2))
    return third / deviation**3 if deviation > 0.0 else 0.0


def _hall(quantile: float, skewness: float) -> float:
    """Where Hall's polynomial, the skewness divided by the root of the number, reaches a quantile."""
    if not skewness:
        return quantile
    argument = skewness * (quantile - skewness / 6.0)
    if abs(argument) > 0.5:
        return 3.0 / skewness * (float(np.cbrt(1.0 + argument)) - 1.0)
    return 3.0 / skewness * expm1(log1p(argument) / 3.0)  # as above, where a difference would lose digits


def _least_mean(rates: Floats, alpha: float, than: float | None = None) -> float:
    """The largest claim "the mean is at most so much" against which a fortune of 1/alpha is made.

    Where it is asked whether that is more ``than`` a number, nothing is looked at beyond the answer.
    """
    shares = Shares(np.maximum(rates, 0.0)[None, :], np.ones(len(rates)))
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        is_won = shares.log_fortune(np.array([middle]))[0] >= -log(alpha)
        low, high = (middle, high) if is_won else (low, middle)
        if than is not None and not low <= than < high:
            break
    return low


def _left(noise: float, variance: float) -> float:
    return max(0.0, 1.0 - noise / variance) if variance > 0.0 else 0.0


def _fewest(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """The least number from ``low`` to ``most`` that is enough; more never are too few."""
    if low > most or not enough(most):
        return None
    return low + bisect_left(range(low, most), True, key=enough)
