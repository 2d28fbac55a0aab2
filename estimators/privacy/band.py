"""A band that holds the whole ROC at once: whatever false positive rate is picked after a look, both limits hold.

Limits of one rate each, read as a band, do not: among many rates some are wrong. Here the FPR and the TPR of every cut
have limits that all hold together (``limits.every_cut``), each side at the root of the confidence, as the sides are
independent. The largest TPR of a cut whose FPR is at most f is then at least the lower limit of the TPR of the last
cut whose FPR is surely at most f, and at most the upper limit of that of the last cut whose FPR may be, which may lie
within a cell of counts: only records that are known to have one score are accused together.
"""

from collections.abc import Sequence

import numpy as np

from estimators.arrays import Floats, distinct
from estimators.errors import require_open_unit
from estimators.limits.every_cut import EVERY_RANK, least_shares, local_level, most_shares, records_beyond
from estimators.privacy.roc import Cuts
from estimators.python.dataclass import dataclass
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import IID, Guarantee, percent, percent_at_least, percent_at_most

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
