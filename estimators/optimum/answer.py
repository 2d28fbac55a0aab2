"""The optimal membership advantage as an answer: estimate, interval, and what they are worth in words."""

from estimators import statement
from estimators.adversary.insample import FewChanges
from estimators.adversary.targets import Target
from estimators.clusters.ends import ClusterSummary
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.counts import Counts

ASSUMED = {"threshold": 1, "two_sided": 2}
"""How often the best adversary changes their guess by what a target assumes of them."""

MOST_CHANGES = 1000  # up to how many changes a limit is looked at, and attackers may be asked for


@dataclass(frozen=True, slots=True)
class Advantage:
    """The optimal advantage: estimate, certified interval, and what they are worth.

    The advantage is 2 x accuracy - 1 of the best adversary: 1 if it is always right, and 0 at a prior of 0.5 if the
    score tells nothing. ``advantage`` makes it.

    Attributes:
        estimate: The point estimate with its interval and guarantee.
        baseline: The advantage of an adversary who sees no score and always guesses the likelier side, |2 x prior - 1|.
        resolution: How many cells the score was joined to.
        changes: How often an adversary whom the upper end covers may change their guess along the score, at any places;
            None where the upper end covers the cells alone.
        leader: Which family of adversaries set the lower end, such as ``threshold`` or ``cells``.
        class_rejected: Whether the records contradict what ``target`` assumes; the upper end is then 1.
        class_upper: The upper end before such a contradiction was allowed for.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.
        target: The adversaries that were asked about.
        clusters: How many clusters the rows come in and what that costs; None if none were named.
        fine: The counts that the upper end was found on; None of rows in clusters, which are not judged by counts.
        lower_by_order: The least and the largest lower end by one order of the records alone, which the seed draws;
            both are the lower end where nothing is drawn, and of rows in clusters.

    Example:
        >>> from estimators import Counts, advantage
        >>> result = advantage(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), prior=0.2)
        >>> round(result.lower, 3), round(result.value, 3), round(result.upper, 3)
        (0.6, 0.632, 0.743)
        >>> round(result.baseline, 3), result.over
        (0.6, 'where always guessing the likelier side already gives 0.600')
    """

    estimate: statement.Estimate
    baseline: float
    resolution: int
    changes: int | None
    leader: str
    class_rejected: bool
    class_upper: float
    cautions: tuple[statement.Caution, ...]
    provenance: statement.Provenance
    target: Target = field(repr=False)
    clusters: ClusterSummary | None = None
    fine: Counts | None = field(default=None, repr=False, compare=False)
    lower_by_order: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> float:
        """The point estimate."""
        return float(self.estimate.value or 0.0)

    @property
    def lower(self) -> float:
        """Lower end of the certified interval."""
        return self.estimate.lower

    @property
    def upper(self) -> float:
        """Upper end of the certified interval."""
        return self.estimate.upper

    @property
    def mip_eta(self) -> float:
        """Accuracy above the better constant guess: MIP's eta for this one model."""
        return (self.value - self.baseline) / 2.0

    @property
    def mis_delta(self) -> float:
        """Gain over the baseline as a share of what there is to gain: MIS's Delta for this one model."""
        room = 1.0 - self.baseline  # none, if the prior is 1e-17 from certainty
        return (self.value - self.baseline) / room if room else 0.0

    @property
    def security(self) -> float:
        """1 - Delta (MIS, Eq. 5), for this one model."""
        return 1.0 - self.mis_delta

    @property
    def security_limits(self) -> tuple[float, float]:
        """Lower and upper end of ``security``."""
        room = 1.0 - self.baseline
        if not room:
            return 0.0, 1.0
        low, high = ((end - self.baseline) / room for end in (self.lower, self.upper))
        return 1.0 - high, 1.0 - low

    @property
    def over(self) -> str:
        """What the advantage is compared with; every sentence that states an advantage ends with it."""
        if self.baseline == 0:
            return "over a coin toss"
        return f"where always guessing the likelier side already gives {self.baseline:.3f}"

    @property
    def attacker(self) -> str:
        """Whom the upper end covers, in words to put after "attackers who"."""
        assumed = ASSUMED.get(self.target.name)
        if assumed is not None:
            return statement.rules_along(assumed)
        if self.of_values:
            return f"see which of {self.resolution} value{'s' if self.resolution > 1 else ''} the {self.score} has"
        return statement.rules_covered(self.changes, self.resolution, f"the {self.score}")

    @property
    def score(self) -> str:
        """What the upper end is about, in words."""
        return "learned score" if self.target.name == "learned" else "score"

    @property
    def read(self) -> str:
        """What attackers read whom the lower end holds for, in words."""
        return "vector" if self.target.name == "learned" else "score"

    @property
    def reads_every_cell(self) -> bool:
        """Whether the upper end covers every rule there is on the cells that were counted."""
        return self.target.name == "cells" and self.changes is None

    @property
    def of_values(self) -> bool:
        """Whether the cells that the upper end is about are the score's own values: no rule is finer."""
        cells = None if self.fine is None else self.fine.cells.kind
        return self.reads_every_cell and cells in ("categories", "values")

    @property
    def better(self) -> str:
        """Who may do better than the attackers that the upper end covers, in a sentence; nothing if nobody may."""
        if self.upper >= 1.0:
            return ""
        if self.target.name == "learned":
            return "Whoever reads more from the vector may do better."
        if self.reads_every_cell:
            return "" if self.of_values else "A finer rule may do better."
        return "A more intricate rule may do better."

    @property
    def scope(self) -> str:
        """The attackers that the upper end covers, as words to put after "the advantage"."""
        return f" of attackers who {self.attacker}"

    @property
    def sentence(self) -> str:
        """The result in plain words: what is certified, and for whom each end holds."""
        ends = statement.both_ends(self.lower, self.upper, self.attacker, self.baseline, reader=f"this {self.read}")
        parts = (
            f"With {statement.percent(self.estimate.interval.confidence)} confidence {ends}.",
            self.better,
            "" if self.clusters is None else self.clusters.sentence,
        )
        return " ".join(filter(None, parts))

    def holds_up_to(self, maximum: float) -> int | None:
        """How often attackers may change their guess along the score, at any places, and still keep within a maximum.

        Args:
            maximum: The largest advantage that is acceptable.

        Returns:
            the largest number of changes, up to 1,000, at which the upper end at full resolution is not above the
            maximum (beyond 32 one that is smaller by three in a hundred at most); None if the upper end of this answer
            is, without an order, and of rows in clusters.

        Example:
            >>> import numpy as np
            >>> from estimators import Scores, advantage
            >>> rng = np.random.default_rng(0)
            >>> result = advantage(Scores.of(rng.normal(0.5, 1, 1000), rng.normal(0, 1, 1000)))
            >>> result.holds_up_to(0.25), result.holds_up_to(0.3), result.holds_up_to(0.2)
            (4, 14, None)
        """
        fine = self.fine
        if self.upper > maximum or fine is None or not fine.cells.ordered:
            return None
        if self.of_values:
            return MOST_CHANGES  # every rule
        most = MOST_CHANGES if fine.by_value else min(fine.size - 1, MOST_CHANGES)
        if self.reads_every_cell and not fine.by_value:
            return most
        least = min(ASSUMED.get(self.target.name, self.changes or 0), most)
        alpha = (1.0 - self.estimate.interval.confidence) / 2.0
        largest = FewChanges(fine, self.provenance.prior, most).within(alpha, maximum)
        return max(least, largest or 0)


@dataclass(frozen=True, slots=True)
class ChangesLimit:
    """The upper end for attackers who change their guess at most so many times along the score, wherever."""

    changes: int
    upper: float


def times(changes: int) -> str:
    """How often at most, in words."""
    return {0: "never", 1: "at most once", 2: "at most twice"}.get(changes, f"at most {changes} times")


def without_upper(result: Advantage, message: str) -> Advantage:
    """The upper end withdrawn, as something else in the same answer shows more."""
    interval = replace(result.estimate.interval, upper=1.0)
    return replace(
        result,
        estimate=replace(result.estimate, interval=interval),
        class_rejected=True,
        cautions=(statement.Caution("resolution_rejected", message), *result.cautions),
    )
