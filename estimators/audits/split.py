"""Whether two sides of a split differ before any model has seen them: is the hold-out fair?

Whatever tells training rows from hold-out rows by their columns alone is not leakage, and every score that depends on
these columns inherits it. If both sides were drawn from one table at random, the advantage of the best attacker who
reads nothing but the columns is 0. Lower limits of it, one by a score that was learned from all columns and one by each
column, say by how much the sides are shown to differ. They share the error: half of it belongs to the learned score,
and the other half is shared by the columns equally, so that a fair split is said to differ with probability 2.5% at
most, at a confidence of 95%.

A model that saw neither side has a score, too. What that score's own advantage is, is how much of the difference
reaches scores of its kind: `control`.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.learned import Learner, boosting, logistic
from estimators.adversary.targets import LearnedTarget
from estimators.audits.queries.column import Column
from estimators.audits.queries.rows import firsts, rows_repeat
from estimators.audits.queries.table import Sides, Table, encode_sides
from estimators.decisions.difference import sound_upper
from estimators.errors import OptionError, TooFewRecords, TooManyCells, require_count, require_open_unit
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import ends_of
from estimators.python.dataclass import dataclass, field
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import MIN_RECORDS, Query, Scores
from estimators.statement import IID, Caution, Guarantee, Interval, at_least, at_most, percent

MOST_COLUMNS = 3  # columns that a sentence names

SPLIT_LEARNERS = (logistic(), boosting())
"""What the score of all columns is learned by: sums of small differences, and what several columns make together.

The other two of ``DEFAULT_LEARNERS`` cost as much again in wide tables (``benchmarks/synthetic.py``, learners).
"""

OF_COLUMN = Guarantee(
    "the advantage of who reads this column and nothing else; the lower ends of all columns hold together, the upper "
    "end by itself",
    IID,
    finite_sample=False,
)
OF_COLUMNS = Guarantee(
    "lower end: the advantage of the best attacker who reads these columns; upper end: that of attackers who read the "
    "score that was learned here, or the one column that is clearer",
    IID,
    finite_sample=False,
)


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """The advantage of who reads nothing but this column; the lower ends of all columns hold together."""

    name: str
    kind: str
    value: float
    interval: Interval

    @property
    def differs(self) -> bool:
        """Whether the two sides are shown to differ in it."""
        return self.interval.lower > 0.0


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """How far the two sides of a split differ without any model; ``check_split`` makes it.

    Attributes:
        value: The estimated advantage of who reads the columns, at a prior of one half.
        interval: Its interval. The lower end is the largest of the learned score's and of all columns', which hold
            together; it holds whatever tells the sides apart. The upper end is that of attackers who read the learned
            score, or of those who read one column if that is shown to tell more.
        learned: The interval of the score that was learned from all columns together.
        columns: Every column by itself: first those that differ, the clearest first.
        confidence: Probability that both ends of an interval hold.
        n_members: Rows of the one side that were compared.
        n_nonmembers: Rows of the other.
        cautions: Rows on both sides, repeated rows, columns that were left out.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.split import check_split
        >>> rng = np.random.default_rng(0)
        >>> old, young = {"age": rng.normal(50, 9, 400)}, {"age": rng.normal(40, 9, 400)}
        >>> check_split(old, young).differs, check_split(old, {"age": rng.normal(50, 9, 400)}).differs
        (True, False)
    """

    value: float
    interval: Interval
    learned: Interval
    columns: tuple[ColumnDifference, ...]
    confidence: float
    n_members: int
    n_nonmembers: int
    cautions: tuple[Caution, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides are shown to differ without any model."""
        return self.interval.lower > 0.0

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        sure, ends = percent(self.confidence), self.interval
        between = f"between {at_least(ends.lower)} and {at_most(ends.upper)}"
        if not self.differs:
            return (
                f"Nothing shows that the two sides differ without the model: with {sure} confidence their columns tell "
                f"them apart with an advantage {between}."
            )
        different = [column.name for column in self.columns if column.differs]
        which = ", in no column by itself but in several together"
        if different:
            more = f" and {len(different) - MOST_COLUMNS} more" if len(different) > MOST_COLUMNS else ""
            names = ", ".join(repr(name)[:60] for name in different[:MOST_COLUMNS])
            which = f", first of all in {names}{more}"
        return (
            f"The two sides differ without any model{which}: with {sure} confidence their columns alone tell them "
            f"apart with an advantage {between}. A score that reads these columns may fail without leaking anything: "
            "shuffle all rows before you split them; if that is too late, hold the audit on matched sides, or give the "
            "scores of a model that saw neither side."
        )

    @property
    def caution(self) -> Caution | None:
        """That the sides differ, for an audit that is told so; None if they are not shown to."""
        return Caution("sides_differ", self.sentence) if self.differs else None


def check_split(
    members: Table,
    nonmembers: Table,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    learners: Sequence[Learner] = SPLIT_LEARNERS,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
) -> SplitCheck:
    """Look for what tells the two sides of a split apart without any model.

    Args:
        members: Columns by name of the rows that a model was trained on: numbers, booleans, texts, dates, missing
            values.
        nonmembers: The same columns of the rows that were held out.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. A fair split is said to
            differ with half of the rest at most.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        learners: Classifiers that compete for telling the sides apart by all columns together.
        categories: Columns of numbers that are names of something, such as codes.
        leave_out: Columns that are not to be used.
        use: Columns that are to be used although they look like identifiers.

    Returns:
        a ``SplitCheck``: whether the sides differ, by how much, and in which columns. Rows that repeat within a side
        far more often than chance makes count once: that a row is recognised is no difference of the sides.

    Raises:
        InputError: tables that cannot be read together, or fewer than 8 rows; the text says which column and what to
            do.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.split import check_split
        >>> age = np.arange(800.0) / 7
        >>> check = check_split({"age": age[:400]}, {"age": age[400:]})  # sorted, and split in the middle
        >>> check.differs, check.interval.lower > 0.95
        (True, True)
    """
    sides = encode_sides(members, nonmembers, categories=categories, leave_out=leave_out, use=use)
    return check_rows(sides, confidence=confidence, seed=seed, learners=learners)


def check_rows(
    sides: Sides, *, confidence: float = 0.95, seed: int = 0, learners: Sequence[Learner] = SPLIT_LEARNERS
) -> SplitCheck:
    """``check_split`` of rows that are encoded already."""
    confidence = require_open_unit("confidence", confidence)
    require_count("seed", seed, 0)
    if not learners:
        raise OptionError.about("learners", "got none, need at least 1")
    if tuple(learners) != SPLIT_LEARNERS:
        return _check(sides, confidence, seed, learners)
    return REMEMBERED.answer(_digest(sides, confidence, seed), lambda: _check(sides, confidence, seed, learners))


@dataclass(frozen=True, slots=True)
class Remembered:
    """The last checks by what they were asked about: models, and releases, of one split are audited one by one."""

    checks: dict[bytes, SplitCheck] = field(default_factory=dict)

    def answer(self, question: bytes, check: Callable[[], SplitCheck]) -> SplitCheck:
        """What was found before, or is found now."""
        answer = self.checks.pop(question, None) or check()
        self.checks[question] = answer
        if len(self.checks) > MOST_REMEMBERED:
            self.checks.pop(next(iter(self.checks)), None)
        return answer


MOST_REMEMBERED = 8
REMEMBERED = Remembered()
"""Who answers strangers empties it: by the time it takes one could tell what others asked."""


def _digest(sides: Sides, confidence: float, seed: int) -> bytes:
    """Of everything that a check hangs on."""
    columns = [(column.name, column.kind) for column in sides.columns]
    digest = sha256(repr((confidence, seed, columns, sides.n_columns, sides.cautions)).encode())
    for side in (sides.members, sides.nonmembers):
        for array in (side.points, side.values, side.records):
            digest.update(f"{array.shape} {array.dtype}".encode() + array.tobytes())
    return digest.digest()


def _check(sides: Sides, confidence: float, seed: int, learners: Sequence[Learner]) -> SplitCheck:
    members, nonmembers = sides.members, sides.nonmembers
    if rows_repeat(members, nonmembers):
        members, nonmembers = members.part(firsts(members)), nonmembers.part(firsts(nonmembers))
    for side, name in ((members, "members"), (nonmembers, "nonmembers")):
        if len(side) < MIN_RECORDS:
            raise TooFewRecords.about(name, f"got {len(side)} different rows, need at least {MIN_RECORDS}")
    alpha = (1.0 - confidence) / 2.0
    vectors = Scores(members.points, nonmembers.points, Query.CONTINUOUS, "the columns of a table")
    whole = ends_of(vectors, 0.5, LearnedTarget(tuple(learners)), seed)
    learned = Interval(whole.lower(alpha / 2.0), sound_upper(whole, alpha), confidence, OF_COLUMNS)
    columns = [
        _by_itself(
            column, members.values[:, place], nonmembers.values[:, place], alpha, alpha / 2.0 / sides.n_columns, seed
        )
        for place, column in enumerate(sides.columns)
    ]
    columns.sort(key=lambda each: (-each.interval.lower, -each.value))
    clearest = columns[0]
    lower = max(learned.lower, clearest.interval.lower)
    value, upper = max(lower, whole.at(confidence).value), learned.upper
    if lower > upper:  # what was learned is far from all there is
        value, upper = clearest.value, clearest.interval.upper
    return SplitCheck(
        min(value, upper),
        Interval(lower, upper, confidence, OF_COLUMNS),
        learned,
        tuple(columns),
        confidence,
        len(members),
        len(nonmembers),
        sides.cautions,
    )


def _by_itself(
    column: Column, members: NDArray[np.int64], nonmembers: NDArray[np.int64], alpha: float, shared: float, seed: int
) -> ColumnDifference:
    """One column: its lower end at its part of the error, its upper end at all of it."""
    kind = Query.DISCRETE if column.kind == "category" else Query.AUTO
    try:
        ends = ends_of(Scores.of(members, nonmembers, kind), 0.5, None, seed)
    except TooManyCells:  # names of which no two are alike tell nothing by themselves
        return ColumnDifference(column.name, column.kind, 0.0, Interval(0.0, 1.0, 1.0 - 2.0 * alpha, OF_COLUMN))
    answer = ends.at(1.0 - 2.0 * shared)
    interval = Interval(answer.lower, max(answer.lower, sound_upper(ends, alpha)), 1.0 - 2.0 * alpha, OF_COLUMN)
    return ColumnDifference(column.name, column.kind, min(answer.value, interval.upper), interval)


@dataclass(frozen=True, slots=True)
class Control:
    """The advantage that a score has although its model saw neither side; ``control`` makes it.

    Attributes:
        advantage: The control score's own advantage with its interval: no leak is in it.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.split import control
        >>> rng = np.random.default_rng(0)
        >>> print(control(rng.normal(0.5, 1, 900), rng.normal(0, 1, 900)).sentence)
        A model that saw neither side tells them apart, with 95% confidence by an advantage between 0.113 and 0.245: so
        much of the sides' own difference reaches such a score. Do not subtract it from the audited score's advantage,
        for the two need not add up: match the sides, or draw them again.
    """

    advantage: Advantage

    @property
    def differs(self) -> bool:
        """Whether the sides are shown to differ in this score, without any leak."""
        return self.advantage.lower > 0.0

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        ends = self.advantage.estimate.interval
        sure, low, high = percent(ends.confidence), at_least(ends.lower), at_most(ends.upper)
        if not self.differs:
            return (
                "Nothing shows that the sides' own difference reaches this score: that of a model that saw neither "
                f"side has, with {sure} confidence, an advantage between {low} and {high}."
            )
        return (
            f"A model that saw neither side tells them apart, with {sure} confidence by an advantage between {low} and "
            f"{high}: so much of the sides' own difference reaches such a score. Do not subtract it from the audited "
            "score's advantage, for the two need not add up: match the sides, or draw them again."
        )

    @property
    def caution(self) -> Caution | None:
        """That the control score differs, for an audit that is told so; None if it is not shown to."""
        return Caution("control_differs", self.sentence) if self.differs else None


def control(
    members: ArgumentScores, nonmembers: ArgumentScores, *, prior: float = 0.5, confidence: float = 0.95, seed: int = 0
) -> Control:
    """How much of the sides' own difference reaches a score: the advantage of a model that saw neither of them.

    Train a model of the same kind on other rows, or make another release from them, and score both sides with it in the
    same way. Whatever advantage that score has is no leak.

    Args:
        members: The control score of each row of the one side.
        nonmembers: The control score of each row of the other.
        prior, confidence, seed: As for ``advantage``.

    Raises:
        InputError: scores that are none, or fewer than 8 on a side.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.split import control
        >>> rng = np.random.default_rng(0)
        >>> control(rng.normal(size=500), rng.normal(size=500)).differs
        False
    """
    scores = Scores.of(members, nonmembers)
    return Control(advantage(scores, prior, confidence=confidence, seed=seed))
