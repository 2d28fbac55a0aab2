"""Every cut at once: a band that holds the whole ROC, and how sure the surest accusation is.

*The band.* Whatever false positive rate is picked after a look, both limits hold. Limits of one rate each, read as a
band, do not: among many rates some are wrong. Here the FPR and the TPR of every cut have limits that all hold together
(``limits.every_cut``), each side at the root of the confidence, as the sides are independent. The largest TPR of a cut
whose FPR is at most f is then at least the lower limit of the TPR of the last cut whose FPR is surely at most f, and at
most the upper limit of that of the last cut whose FPR may be, which may lie within a cell of counts: only records that
are known to have one score are accused together.

*The best precision of a cut that accuses at least a share of the members.* Of all cuts the best precision has no upper
limit below 1: an epsilon of members beyond all scores would make it 1, and no sample shows that there is none. So the
share is named beforehand. The lower end looks at cuts at a few members of ranks named beforehand. Above the k-th of n
members lies a share that is at least U ~ Beta(k, n + 1 - k), ties or not; if every cut that accuses a share q of the
members and more had an FPR of r times its TPR or more, then at least Binomial(m, r U) of m nonmembers lay above it, or
U is below q. So few nonmembers refute r. The upper end is that of limits of both rates that hold at every cut at once
(``limits.every_cut``), those within a cell of counts included.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, betainc, betaincinv

from estimators.arrays import Floats, Integers, distinct
from estimators.errors import require_open_unit, require_up_to_one
from estimators.limits.every_cut import EVERY_RANK, least_shares, local_level, most_shares, records_beyond
from estimators.privacy.roc import Cuts
from estimators.python.dataclass import dataclass
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import IID, Estimate, Guarantee, Interval, percent, percent_at_least, percent_at_most

RATES = 30  # rates of a band below 1/10, in equal ratios, and as many above, in equal steps
RAREST = 1e-4  # the lowest rate that is looked at unasked

COVERS = "the TPR at every FPR, all of them together"


@dataclass(frozen=True, slots=True, eq=False)
class RocBand:
    """Limits of the true positive rate at false positive rates, all of which hold together.

    Between two of these rates the lower limit is that of the lower one, the upper limit that of the higher one.

    Attributes:
        fpr: False positive rates, ascending.
        tpr: The true positive rate at each on these records.
        lower: Lower limits of the true positive rate.
        upper: Upper limits.
        rarest: The FPR below which no record of these nonmembers can show anything: lower limits are 0 there.
        confidence: Probability that the whole curve lies within.
        guarantee: What is covered.

    Example:
        >>> from estimators import Counts, roc_band
        >>> band = roc_band(Counts.of([2000, 3000, 5000], [5000, 4000, 1000], edges=[0.2, 0.7]), rates=[0.15])
        >>> print(band.sentence(0.15))
        With 95% confidence, for this and every other rate at once: who accuses at most 15% of nonmembers may find
        between 48.1% and 81.5% of members.
    """

    fpr: Floats
    tpr: Floats
    lower: Floats
    upper: Floats
    rarest: float
    confidence: float
    guarantee: Guarantee

    def sentence(self, fpr: float) -> str:
        """The limits at the last of the rates up to this one in plain words.

        Args:
            fpr: A false positive rate, not below the first that is stated.
        """
        at = int(self.fpr.searchsorted(fpr, side="right")) - 1
        return (
            f"With {percent(self.confidence)} confidence, for this and every other rate at once: who accuses at most "
            f"{percent(float(self.fpr[at]))} of nonmembers may find between "
            f"{percent_at_least(float(self.lower[at]))} and {percent_at_most(float(self.upper[at]))} of members."
        )


def roc_band(data: Scores | Counts, confidence: float = 0.95, rates: Sequence[float] | None = None) -> RocBand:
    """Limits of the true positive rate at every false positive rate at once.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``), with an order; a higher score means
            member.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of all rates
            together: the whole curve lies within.
        rates: The false positive rates to state, each strictly between 0 and 1. None: sixty along the curve, from
            1/10,000 on.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, roc_band
        >>> rng = np.random.default_rng(0)
        >>> band = roc_band(Scores.of(rng.normal(2, 1, 2000), rng.normal(0, 1, 2000)), rates=[0.001, 0.01, 0.1])
        >>> band.lower.round(2).tolist(), band.upper.round(2).tolist(), round(band.rarest, 4)
        ([0.0, 0.22, 0.64], [0.32, 0.49, 0.82], 0.0042)
    """
    require_data(data, Scores, Counts)
    counts = data if isinstance(data, Counts) else finest(data)
    cuts = Cuts.of(counts)
    hits, alarms, _ = cuts
    n1, n0 = counts.n_members, counts.n_nonmembers
    alpha = 1.0 - require_open_unit("confidence", confidence) ** 0.5
    if rates is None:
        rates = [*np.geomspace(RAREST, 0.1, RATES), *np.linspace(0.1, 0.99, RATES + 1)]
    fpr = distinct(np.array([require_open_unit("fpr", float(rate)) for rate in rates]))
    surely, maybe = records_beyond(fpr, n0, alpha)
    first, last = (alarms.searchsorted(most, side="right") - 1 for most in (surely, maybe))
    most_with_tie, alarms_with_tie = (each[last] for each in cuts.with_tie)
    most = np.where(alarms_with_tie > maybe, cuts.most_before_tie[last], most_with_tie)
    lower = np.where(first >= 0, least_shares(hits[first], n1, alpha), 0.0)
    upper = most_shares(most, n1, alpha)
    tpr = hits[alarms.searchsorted(np.floor(fpr * n0 * (1.0 + 1e-12)), side="right") - 1] / n1
    rarest = float(-np.expm1(np.log(local_level(n0, alpha) / 2.0) / n0))
    guarantee = Guarantee(COVERS, IID, finite_sample=max(n1, n0) <= EVERY_RANK)
    return RocBand(fpr, tpr, lower, upper, rarest, confidence, guarantee)


SHARES = (0.01, 0.05, 0.1, 0.25)  # the shares of members that are looked at unasked
RANKS = 8  # members at whom the lower end looks, each with its part of the error
PARTS = 32  # parts of the law of U; in each its least value stands for all, which only raises the chance

HALVINGS = 20

EVERY_CUT = 2048
"""Cuts of which each has its limits; of more, a few that follow each other share the looser one, a quarter of a
standard deviation wide."""


@dataclass(frozen=True, slots=True)
class BestPrecision:
    """How often the surest accusation is right, among those that find at least a share of the members.

    Attributes:
        share: The least share of the members that a cut accuses.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        estimate: The best precision on these records, with the interval for the truth.

    Example:
        >>> from estimators import Counts, best_precision
        >>> counts = Counts.of([2000, 3000, 5000], [5000, 4000, 1000], edges=[0.2, 0.7])
        >>> (found,) = best_precision(counts, shares=[0.25])
        >>> print(found.sentence)
        With 95% confidence: the best cut that finds at least 25% of members is right in between 79.7% and 100.0% of its
        accusations, if a record is a member with a probability of 0.5.
    """

    share: float
    prior: float
    estimate: Estimate

    @property
    def sentence(self) -> str:
        """The interval in plain words."""
        interval = self.estimate.interval
        return (
            f"With {percent(interval.confidence)} confidence: the best cut that finds at least {percent(self.share)} "
            f"of members is right in between {percent_at_least(interval.lower)} and "
            f"{percent_at_most(interval.upper)} of its accusations, if a record is a member with a "
            f"probability of {self.prior:g}."
        )


def best_precision(
    data: Scores | Counts, prior: float = 0.5, confidence: float = 0.95, shares: Sequence[float] = SHARES
) -> list[BestPrecision]:
    """The best precision of a cut that accuses at least a share of the members.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``), with an order; a higher score means
            member.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. Each share has its own:
            decide before a look which one counts.
        shares: The least shares of the members that a cut accuses, each above 0 and at most 1.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, best_precision
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> few, many = (each.estimate for each in best_precision(scores, prior=0.1, shares=[0.05, 0.25]))
        >>> round(few.lower, 2), round(few.upper, 2)  # the truth is .576
        (0.32, 0.99)
        >>> round(many.lower, 2), round(many.upper, 2)  # the truth is .371
        (0.27, 0.5)
    """
    require_data(data, Scores, Counts)
    p = require_open_unit("prior", prior)
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    counts = data if isinstance(data, Counts) else finest(data)
    cuts = Cuts.of(counts)
    hits, alarms, _ = cuts
    most_found, fewest_accused = _limits_of_cuts(cuts, 1.0 - (1.0 - alpha) ** 0.5)
    n1, n0 = counts.n_members, counts.n_nonmembers

    def of_ratio(ratio: float) -> float:
        """The precision of who accuses so many nonmembers for a member, as shares of each."""
        return float(p / (p + (1.0 - p) * ratio))

    answers = []
    for share in shares:
        q = require_up_to_one("share", float(share))
        enough, able = hits >= q * n1 * (1.0 - 1e-12), most_found >= q
        value = of_ratio(((alarms[enough] / n0) / (hits[enough] / n1)).min())
        lower = of_ratio(_least_ratio(hits, alarms, q, alpha))
        upper = of_ratio((fewest_accused[able] / most_found[able]).min())
        covers = f"the best precision of a cut that accuses at least {percent(q)} of members"
        guarantee = Guarantee(covers, IID, finite_sample=max(n1, n0) <= EVERY_RANK)
        answers.append(BestPrecision(q, p, Estimate(value, Interval(lower, upper, confidence, guarantee))))
    return answers


def _limits_of_cuts(cuts: Cuts, alpha: float) -> tuple[Floats, Floats]:
    """Upper limits of the TPR and lower limits of the FPR, of all cuts at once; of many cuts, for a few together.

    Cuts may lie within a cell of counts, before the records there that are known to have one score, or after these.
    """
    hits, alarms, alike = cuts
    first = last = np.arange(len(hits))
    if len(hits) > EVERY_CUT:
        steps = np.arange(8.0 * np.sqrt(len(hits)))
        first = distinct(np.minimum((steps / 8.0) ** 2, len(hits) - 1).astype(np.int64))
        last = np.append(first[1:] - 1, len(hits) - 1)
    in_part = np.flatnonzero(alike.any(axis=0) & (alike.sum(axis=0) < np.diff(hits + alarms)))
    with_tie, alarms_with_tie = (each[in_part] for each in cuts.with_tie)
    found, accused = np.append(cuts.most_before_tie[last], with_tie), np.append(alarms[first], alarms_with_tie)
    return most_shares(found, int(hits[-1]), alpha), least_shares(accused, int(alarms[-1]), alpha)


def _least_ratio(hits: Integers, alarms: Integers, share: float, alpha: float) -> float:
    """Upper limit of the least FPR / TPR of a cut that accuses so many members; 1 is had by accusing everybody."""
    n1, n0, level = int(hits[-1]), int(alarms[-1]), alpha / RANKS
    ranks, below, shares, weights = _ranks(n1, share, level)
    accused = alarms[hits.searchsorted(ranks)]

    def is_refuted(ratio: float, at: int) -> bool:
        few = (weights[at] * bdtr(accused[at], n0, ratio * shares[at])).sum()
        return bool(below[at, 0] + few <= level)

    least = 1.0
    # the likely smallest first
    for at in np.argsort(((accused + 3.0 * np.sqrt(accused) + 6.0) / ranks)[:, 0]):
        if not is_refuted(least, at):
            continue
        low, high = 0.0, 1.0  # what is not refuted, and what is
        for _ in range(HALVINGS):
            middle = float(np.sqrt(low * high)) if low > 0.0 else high / 4.0
            low, high = (low, middle) if is_refuted(middle, at) else (middle, high)
        least = high
    return least


@lru_cache(maxsize=64)
def _ranks(n1: int, share: float, level: float) -> tuple[Integers, Floats, Floats, Floats]:
    """Ranks of members, (ranks, 1), the chance that fewer than ``share`` lie above each, and its law in parts.

    Labels and scores have no say in it, so it is kept for the next sample of so many members: RANKS x PARTS numbers.
    """
    first = _first_rank(n1, share, level / 8.0)  # an eighth of the error at most is lost on U < q
    spread = np.geomspace(first, n1, RANKS, endpoint=False) if first <= n1 else np.zeros(0)
    ranks: Integers = distinct(spread.round().astype(np.int64))[:, None]
    below = betainc(ranks, n1 + 1.0 - ranks, share)
    levels = below + (1.0 - below) * (1.0 - np.cos(np.linspace(0.0, np.pi, PARTS + 1))) / 2.0
    return ranks, below, betaincinv(ranks, n1 + 1.0 - ranks, levels[:, :-1]), np.diff(levels, axis=1)


def _first_rank(records: int, share: float, chance: float) -> int:
    """The first rank above whose member a smaller share than this lies with no more than this chance."""
    ranks = range(1, records + 1)
    return 1 + bisect_left(ranks, True, key=lambda rank: betainc(rank, records + 1.0 - rank, share) <= chance)
