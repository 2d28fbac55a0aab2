"""What a metric is: a ratio of two linear forms in TP, FP, FN and TN (MACE, Eq. 8; Koyejo et al. 2014).

TP = p TPR, FP = (1-p) FPR, FN = p - TP, TN = 1-p - FP with p the prior, never the sample's member share
(erratum E21). A metric becomes a number at rates (TPR, FPR) and a prior; it also says which adversary
is optimal for it, and what one record's risk under it is.
"""

from enum import Enum
from math import isclose, isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import MetricError, require_open_unit
from estimators.limits.fieller import Linear
from estimators.python.dataclass import dataclass, field, fields

ZERO = 1e-12


class Degeneracy(Enum):
    """Why an optimum says nothing about leakage."""

    CONSTANT = "a constant guess is optimal whatever the data, as for recall and specificity"
    NO_MEMBER_GUESSES = (
        "0/0 if no record is guessed a member: without a least share the optimum lies in a vanishing tail"
    )
    NO_NONMEMBER_GUESSES = "0/0 if every record is guessed a member: the optimum lies in a vanishing tail"


@dataclass(frozen=True, slots=True)
class Cut:
    """Guess member where the posterior is above ``threshold``, or below it; constant if there is none."""

    threshold: float | None
    above: bool

    def guesses(self, posterior: ArrayLike) -> NDArray[np.bool_]:
        """Whether each posterior is guessed a member."""
        eta = np.asarray(posterior, dtype=np.float64)
        if self.threshold is None:
            return np.full(eta.shape, self.above)
        return eta > self.threshold if self.above else eta < self.threshold


@dataclass(frozen=True, slots=True)
class Constants:
    """(e0 + e1 TP + e2 gamma) / (h0 + h1 TP + h2 gamma), gamma the share guessed a member (MACE, Eq. 20)."""

    e0: float
    e1: float
    e2: float
    h0: float
    h1: float
    h2: float


LARGEST = 1e100  # largest coefficient whose products with others stay finite


@dataclass(frozen=True, slots=True)
class Metric:
    """(a0 + a11 TP + a10 FP + a01 FN + a00 TN) / (b0 + b11 TP + b10 FP + b01 FN + b00 TN).

    TP, FP, FN and TN are shares of all records and sum to 1. The larger the metric, the more leaks. One metric can have
    several representations with the same value: TP/(TP+FN) and TP/p are both recall, yet differ in individual risk
    (erratum E10). The presets say which one is meant.

    Args:
        name: What sentences call the metric.
        a0: Constant of the numerator.
        a11, a10, a01, a00: Weights of true positives, false positives, false negatives and true negatives in it.
        b0: Constant of the denominator.
        b11, b10, b01, b00: The same weights in the denominator.
        at_prior: The only prior at which these coefficients hold, as for balanced accuracy. None: they hold at any.

    Raises:
        MetricError: a coefficient that is no finite number, or beyond 1e100.

    Example:
        >>> from estimators import Metric
        >>> benefit = Metric("benefit", a11=1.0, a10=-5.0, b0=1.0)  # a false accusation costs 5 right ones
        >>> round(float(benefit.value(tpr=0.5, fpr=0.02, prior=0.5)), 3)
        0.2
    """

    name: str
    a0: float = 0.0
    a11: float = 0.0
    a10: float = 0.0
    a01: float = 0.0
    a00: float = 0.0
    b0: float = 0.0
    b11: float = 0.0
    b10: float = 0.0
    b01: float = 0.0
    b00: float = 0.0
    at_prior: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, value in self.coefficients.items():
            if not _is_finite(value):
                message = f"metric {self.name}: coefficient {name} is not a finite number"
                raise MetricError(message, field="metric")
            if abs(value) > LARGEST:
                raise MetricError(
                    f"metric {self.name}: coefficient {name} is too large to compute with; "
                    "scale all of them, the ratio stays the same",
                    field="metric",
                )

    @property
    def coefficients(self) -> dict[str, float]:
        """The ten coefficients by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name[0] in "ab" and f.name[1:].isdigit()}

    def constants(self, prior: float) -> Constants:
        """Koyejo's form in TP and gamma = p TPR + (1-p) FPR (MACE, Eq. 20).

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        if self.at_prior is not None and not isclose(self.at_prior, prior, rel_tol=1e-9):
            message = f"metric {self.name}: its coefficients are for prior {self.at_prior}, got {prior}"
            raise MetricError(message, field="prior")
        return Constants(
            self.a01 * prior + self.a00 * (1.0 - prior) + self.a0,
            self.a11 - self.a10 - self.a01 + self.a00,
            self.a10 - self.a00,
            self.b01 * prior + self.b00 * (1.0 - prior) + self.b0,
            self.b11 - self.b10 - self.b01 + self.b00,
            self.b10 - self.b00,
        )

    def line_in_accuracy(self, prior: float) -> tuple[float, float] | None:
        """Intercept and slope if the metric is a rising line in accuracy: then its optimum is the advantage's.

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        flat = self.b11 == self.b10 == self.b01 == self.b00
        slope = self.a11 - self.a01
        if not flat or slope <= 0.0 or slope != self.a00 - self.a10 or self.b0 + self.b11 <= 0.0:
            return None
        scale = self.b0 + self.b11
        return (self.a0 + self.a01 * prior + self.a10 * (1.0 - prior)) / scale, slope / scale

    def linear(self, prior: float) -> tuple[Linear, Linear]:
        """Numerator and denominator as (constant, slope in TPR, slope in FPR), the denominator positive.

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        k, p, q = self.constants(prior), prior, 1.0 - prior
        top, bottom = (k.e0, p * (k.e1 + k.e2), q * k.e2), (k.h0, p * (k.h1 + k.h2), q * k.h2)
        sign = -1.0 if bottom[0] + (bottom[1] + bottom[2]) / 2.0 < 0.0 else 1.0
        return (sign * top[0], sign * top[1], sign * top[2]), (sign * bottom[0], sign * bottom[1], sign * bottom[2])

    def value(self, tpr: ArrayLike, fpr: ArrayLike, prior: float) -> Floats:
        """The metric at these rates; NaN where it is 0/0.

        Args:
            tpr: True positive rates: shares of members that are guessed member, from 0 to 1.
            fpr: False positive rates: shares of nonmembers that are guessed member, from 0 to 1.
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        (e0, ea, ec), (h0, ha, hc) = self.linear(prior)
        a, c = np.asarray(tpr, dtype=np.float64), np.asarray(fpr, dtype=np.float64)
        top, bottom = e0 + ea * a + ec * c, h0 + ha * a + hc * c
        zero = np.abs(bottom) <= ZERO * (abs(h0) + abs(ha) + abs(hc))
        return np.where(zero, np.nan, top / np.where(zero, 1.0, bottom))

    def degeneracy(self, prior: float) -> Degeneracy | None:
        """Refuse what is no metric at this prior; name an optimum that says nothing.

        Both forms are linear in the rates, so the four corners of the unit square decide.

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.

        Raises:
            MetricError: the denominator is 0 or changes sign, or every adversary has the same value.
        """
        (e0, ea, ec), (h0, ha, hc) = self.linear(prior)
        require_open_unit("prior", prior)
        corners = [(0, 0), (1, 1), (0, 1), (1, 0)]
        tops, bottoms = ([k + s * i + t * j for i, j in corners] for k, s, t in ((e0, ea, ec), (h0, ha, hc)))
        slack, top_slack = ZERO * (abs(h0) + abs(ha) + abs(hc)), ZERO * (abs(e0) + abs(ea) + abs(ec))
        zeros = [k for k in range(4) if abs(bottoms[k]) <= slack]
        for k in range(4):
            where = f"at TPR = {corners[k][0]}, FPR = {corners[k][1]}"
            if k not in zeros and bottoms[k] < 0.0:
                message = f"metric {self.name}: the denominator changes sign, {where}"
                raise MetricError(message, field="metric")
            if k in zeros and (k > 1 or len(zeros) > 1 or abs(tops[k]) > top_slack):
                raise MetricError(f"metric {self.name}: the denominator is 0 {where}", field="metric")
        values = {k: tops[k] / bottoms[k] for k in range(4) if k not in zeros}
        best, spread = max(values.values()), max(values.values()) - min(values.values())
        if spread <= ZERO * max(1.0, abs(best)):
            raise MetricError(f"metric {self.name}: every adversary has the same value", field="metric")
        if zeros:
            return Degeneracy.NO_NONMEMBER_GUESSES if zeros[0] else Degeneracy.NO_MEMBER_GUESSES
        constant = max(values[0], values[1]) >= best - ZERO * max(1.0, abs(best))
        return Degeneracy.CONSTANT if constant else None

    @property
    def has_known_threshold(self) -> bool:
        """Whether the denominator is the same for every adversary (condition of MACE, Lemma 2)."""
        return self.b11 == self.b01 and self.b10 == self.b00

    def known_cut(self, prior: float) -> Cut:
        """The optimal rule where it needs no data: t = (a00 - a10)/(a11 - a10 - a01 + a00) (MACE, Lemma 2).

        The lemma leaves out a sign condition: member lies above t only if a11 - a10 - a01 + a00 and the
        denominator b0 + b11 p + b00 (1-p) have one sign, else below (erratum E7).

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.

        Raises:
            MetricError: the threshold of this metric depends on the data.
        """
        if not self.has_known_threshold:
            message = f"metric {self.name}: its threshold depends on the data (MACE, Lemma 3)"
            raise MetricError(message, field="metric")
        return self.cut_at(0.0, prior)  # h1 = h2 = 0: the value drops out

    def cut_at(self, value: float, prior: float) -> Cut:
        """The optimal rule once the optimum is known: t* = (h2 V - e2)/(e1 - h1 V) (MACE, Lemma 3).

        Guessing member at posterior eta changes numerator - V denominator by (e1 - h1 V) eta + e2 - h2 V,
        and should where that is positive: above t* if e1 > h1 V, below if e1 < h1 V. With equality, which the
        lemma leaves out, the guess is constant; a negative denominator turns the sign (erratum E18).

        Args:
            value: The metric at its optimum.
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        k = self.constants(prior)
        sign = -1.0 if k.h0 + k.h1 * prior / 2.0 + k.h2 / 2.0 < 0.0 else 1.0  # the denominator of a coin toss
        slope, offset = sign * (k.e1 - k.h1 * value), sign * (k.h2 * value - k.e2)
        if abs(slope) <= ZERO * (abs(k.e1) + abs(k.h1 * value)):
            return Cut(None, above=offset < 0.0)
        return Cut(offset / slope + 0.0, above=slope > 0.0)

    def individual_value(self, posterior: ArrayLike, cut: Cut) -> Floats:
        """One record's metric at its posterior eta, under the rule ``cut`` (MACE, Definition 6, Eq. 18).

        It depends on r and q only through rho = p r/((1-p) q) = eta/(1-eta); NaN where it is 0/0.

        Args:
            posterior: Probabilities that a record with its score is a member, from 0 to 1.
            cut: The rule that guesses, from ``known_cut`` or ``cut_at``.
        """
        eta = np.asarray(posterior, dtype=np.float64)
        return np.where(cut.guesses(eta), self._branch(eta, True), self._branch(eta, False))

    def individual_range(self, low: ArrayLike, high: ArrayLike, cut: Cut) -> tuple[Floats, Floats]:
        """Exact range of the individual value while the posterior runs from ``low`` to ``high``.

        Each side of the threshold is fractional linear, hence monotone: the ends and, if the threshold lies
        inside, both limits there decide. The paper's end points alone are too narrow (erratum E9).

        Args:
            low: Lower ends of the posteriors, from 0 to 1.
            high: Upper ends of the posteriors, from 0 to 1.
            cut: The rule that guesses, from ``known_cut`` or ``cut_at``.

        Raises:
            MetricError: the denominator changes sign for one record.
        """
        lo, hi = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
        t = -np.inf if cut.threshold is None else cut.threshold
        below, beyond = (lo <= t, hi > t) if cut.above else (lo < t, hi >= t)
        values: list[Floats] = []
        for present, start, end, member in (
            (below, lo, np.minimum(hi, t), not cut.above),
            (beyond, np.maximum(lo, t), hi, cut.above),
        ):
            ends = [np.where(present, side, 0.5) for side in (start, end)]
            bottoms = [self._forms(side, member)[1] for side in ends]
            if np.any(present & (bottoms[0] * bottoms[1] < 0.0)):
                message = f"metric {self.name}: its denominator changes sign for one record"
                raise MetricError(message, field="metric")
            values += [np.where(present, self._branch(side, member), np.nan) for side in ends]
        stacked = np.stack(values)
        missing = np.isnan(stacked)
        least, most = (np.where(missing, fill, stacked) for fill in (np.inf, -np.inf))
        none = missing.all(axis=0)
        return np.where(none, np.nan, least.min(axis=0)), np.where(none, np.nan, most.max(axis=0))

    def _forms(self, eta: Floats, member: bool) -> tuple[Floats, Floats]:
        a, b = ((self.a11, self.a10), (self.b11, self.b10)) if member else ((self.a01, self.a00), (self.b01, self.b00))
        return self.a0 + a[0] * eta + a[1] * (1.0 - eta), self.b0 + b[0] * eta + b[1] * (1.0 - eta)

    def _branch(self, eta: Floats, member: bool) -> Floats:
        top, bottom = self._forms(eta, member)
        return np.where(bottom == 0.0, np.nan, top / np.where(bottom == 0.0, 1.0, bottom))


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and isfinite(value)
