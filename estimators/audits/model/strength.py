"""How strong the queries of an audit are: what they see of a leak that is known to be there.

A pass says that no query saw more than so much, which is worth what the queries can see: one nearest neighbour *is* its
training set, and hardly shows it in its own answers. So other models are trained as the audited one was, *twins*: on
the same rows, and on some more that are *planted*, each repeated a declared number of times. Others, drawn with them
and left out, are *spared*. An own draw, made before anything is asked, decides which record is which, so nothing but
the twin's training tells the two apart, and the same queries and the same interval are asked what they tell as of
members and nonmembers. Whoever could look into a twin's training rows would be right about each of them, an advantage
of 1: that is the leak that is known.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from estimators.adversary.learned import DEFAULT_LEARNERS, Learner, learn_score
from estimators.arrays import Floats, Integers
from estimators.audits.model.answers import (
    TOGETHER,
    Outputs,
    Shadows,
    Side,
    as_vectors,
    ask_queries,
    floor_of,
    shadow_signals,
    side_of,
    with_shadows,
)
from estimators.audits.queries import models
from estimators.decisions.compare import Comparison
from estimators.decisions.riskiest import compare_queries
from estimators.errors import TooFewRecords, require_count
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.python.dataclass import dataclass
from estimators.sample.scores import MIN_RECORDS, Query, Scores
from estimators.statement import Caution, Estimate, at_least, at_most, exactly

MOST_PLANTED = 0.1
"""Planted records of a twin, as a share of the rows that the audited model was trained on, at most."""

UNMEASURED = (
    "How strong these queries are was not measured: whether they would have seen a leak that is known to be there is "
    "open."
)
"""Stands under a pass without planted records."""

SHADOWED = "queries of shadow models"
ALTERED = "the labels of altered copies of the rows (label-only attacks by perturbation)"
NEAREST = "the distance to the nearest row that the model holds, if it can be read"

WEAK = "It is a pass of these queries, which are weak here."
OPEN = "It is a pass of these queries, and whether they are weak is open."
HALF = 0.5
"""Queries that see no more of a known leak than this are weak, unless that is shown to be more than the limit."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strength:
    """What queries see of records that are known to be in training; ``query_strength`` makes it.

    Attributes:
        comparison: Every query's advantage on planted against spared records; the interval of its maximum holds alone.
        beside: That of what a twin answers less what the audited model does, which has seen neither: an attacker who
            holds a model of the same rows without the planted ones; None if that was not looked at.
        planted: How many records were planted, in all twins.
        spared: How many were drawn with them, and left out.
        copies: How many times each planted record stands in its twin's training rows.
        limit: The largest advantage that the audit accepts; without one the baseline, which shows no leak.
        remedies: Queries that could be added, in words.
    """

    comparison: Comparison
    beside: Advantage | None
    planted: int
    spared: int
    copies: int
    limit: float
    remedies: tuple[str, ...]

    @property
    def interval(self) -> Estimate:
        """The advantage of the riskiest query, of 1 that is known to be there."""
        return self.comparison.maximum

    @property
    def strong(self) -> bool:
        """Whether the queries are shown to see more of the known leak than the limit allows."""
        return self.interval.lower > self.limit

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        times = "once" if self.copies == 1 else f"{self.copies:,} times"
        ends = self.interval
        beside = ""
        if self.beside is not None:
            beside = (
                f" Who holds the audited model beside a twin, which was trained without them, has between "
                f"{at_least(self.beside.lower)} and {at_most(self.beside.upper)}."
            )
        return (
            f"Of {self.planted:,} records that twins of the model were trained on {times} each, and {self.spared:,} "
            f"drawn like them that they were not, these queries see an advantage between {at_least(ends.lower)} and "
            f"{at_most(ends.upper)}, where one who sees the training rows has 1.{beside}"
        )

    @property
    def weak(self) -> bool:
        """Whether they are shown to miss most of it, or all that the limit allows."""
        return not self.strong and self.interval.upper <= max(HALF, self.limit)

    @property
    def of_a_pass(self) -> str:
        """What it makes of a pass, a sentence; empty if the queries are shown to be strong enough."""
        return "" if self.strong else WEAK if self.weak else OPEN

    @property
    def caution(self) -> Caution | None:
        """That the queries are weak, or may be, and which to add; None if they are shown to be strong enough."""
        if self.strong:
            return None
        ends, add = self.interval, f"add {'; '.join(self.remedies)}"
        verdict = "pass" if ends.upper <= self.limit else "not fail"
        why = (
            f"a known leak would {verdict} a limit of {exactly(self.limit)}: by them, records known to be in training "
            f"have an advantage between {at_least(ends.lower)} and {at_most(ends.upper)}"
        )
        if self.weak:
            return Caution("weak_queries", f"these queries are weak here, {why}; {add}")
        more = f"take more twins or a larger hold-out, or {add}"
        return Caution("strength_open", f"whether these queries are weak is open, {why}; {more}")

    def __repr__(self) -> str:
        return f"<Strength: {self.sentence}>"


def query_strength(
    planted: ArrayLike,
    spared: ArrayLike,
    planted_labels: ArrayLike,
    spared_labels: ArrayLike,
    *,
    outputs: Outputs = "probabilities",
    classes: ArrayLike | None = None,
    shadows: Shadows | None = None,
    beside: tuple[ArrayLike, ArrayLike] | None = None,
    queries: Sequence[str] | None = None,
    together: bool = False,
    copies: int = 1,
    limit: float | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    learners: Sequence[Learner] = DEFAULT_LEARNERS,
) -> Strength:
    """Ask the queries of an audit of records that are known to be in training, and of others drawn with them.

    Args:
        planted: What twins answer about records that they were trained on beside the audited model's rows.
        spared: What they answer about records that were drawn with those and left out, by an own draw for each twin;
            every record is asked of one twin.
        planted_labels: What is true of each planted record.
        spared_labels: The same of the others.
        outputs, classes: As for ``audit_model``.
        shadows: What shadow models answer about these records, planted ones first.
        beside: What the audited model, which was trained on none of them, answers about the planted and the spared.
        queries, together: As for ``audit_model``, whose queries are to be measured.
        copies: How many times each planted record stands in its twin's training rows.
        limit: The largest advantage that the audit accepts; None for none.
        prior, confidence, seed, learners: As for ``audit_model``. The interval holds by itself.

    Raises:
        TooFewRecords: fewer than 8 planted records, or spared ones.
        InputError: as of ``audit_model``.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.model import query_strength
        >>> rng = np.random.default_rng(0)
        >>> ones, same = np.ones(200, int), rng.beta(9, 1, (2, 200))  # answers that do not depend on training
        >>> print(query_strength(*same, ones, ones, copies=4, limit=0.1).caution.code)
        weak_queries
    """
    require_count("copies", copies)
    sides: tuple[Side, ...] = tuple(
        side_of(name, answers, labels, outputs, classes)
        for name, answers, labels in (("planted", planted, planted_labels), ("spared", spared, spared_labels))
    )
    for side in sides:
        if len(side.labels) < MIN_RECORDS:
            message = f"got {len(side.labels)} records, need at least {MIN_RECORDS}"
            raise TooFewRecords.about(side.name, message)
    signals: tuple[Floats, Floats] | None = None
    if beside is not None and outputs != "labels":
        signals = _less_the_model(sides, beside)
    n_planted, n_spared = (len(side.labels) for side in sides)
    if shadows is not None:
        sides, shadows, _ = with_shadows(sides, shadows)
    scores, _ = ask_queries(sides, shadows, queries)
    if together and len(scores) > 1:
        scores[TOGETHER] = learn_score(as_vectors(scores), prior, seed, learners).scores
    comparison = compare_queries(scores, prior, confidence, seed)
    of_beside = None
    if signals is not None:
        of_beside = advantage(Scores.of(*signals, Query.CONTINUOUS), prior, confidence=confidence, seed=seed)
    least = comparison.ranking[0].advantage.baseline
    most = least if limit is None else max(least, limit)
    remedies: tuple[str, ...] = (ALTERED, NEAREST)
    if shadows is None and outputs != "labels" and (of_beside is None or of_beside.upper > most):
        remedies = (SHADOWED, *remedies)
    return Strength(comparison, of_beside, n_planted, n_spared, copies, most, remedies)


def planting(twins: int, records: int, most: int, seed: int = 0) -> list[tuple[Integers, Integers]]:
    """Which records to plant in each twin, and which to spare: an own random split of records drawn for it alone.

    Args:
        twins: How many twins, at least 1.
        records: How many records there are to draw from, of which the audited model was trained on none.
        most: Records to plant in one twin at most.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        the places of planted and of spared records, as many of each, for each twin.

    Raises:
        TooFewRecords: fewer than 8 are left to be planted.

    Example:
        >>> from estimators.audits.model import planting
        >>> [(planted.size, spared.size) for planted, spared in planting(2, 100, 20)]
        [(20, 20), (20, 20)]
    """
    each = min(records // (2 * require_count("twins", twins)), require_count("most", most))
    if each * twins < MIN_RECORDS:
        raise TooFewRecords.about(
            "twins",
            f"{each * twins} records could be planted and as many spared, need at least {MIN_RECORDS} of each; "
            "a twin takes 1 record for 10 training rows at most, so take more twins, or more rows",
        )
    order = np.random.default_rng([require_count("seed", seed, 0), twins]).permutation(records)
    return [(part[:each], part[each:]) for part in order[: 2 * each * twins].reshape(twins, -1)]


def _less_the_model(sides: Sequence[Side], beside: tuple[ArrayLike, ArrayLike]) -> tuple[Floats, Floats]:
    """What twins say of the planted and the spared, less what the audited model says of the same."""
    floor = models.FLOOR
    if sides[0].outputs == "probabilities":
        floor = floor_of(np.concatenate([np.asarray(each) for each in (sides[0].answers, *beside)]))

    def difference(side: Side, model: ArrayLike) -> Floats:
        own = shadow_signals(model, side.labels, outputs=side.outputs, classes=side.classes, floor=floor)
        return side.signals(floor) - own

    return difference(sides[0], beside[0]), difference(sides[1], beside[1])
