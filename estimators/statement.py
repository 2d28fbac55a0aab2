"""The words of an answer: a point estimate, a bound and what stands behind it never share a type."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_UP, Context, Decimal
from math import floor, inf, isfinite, log10

from estimators.python.dataclass import dataclass

VERSION = "4"
"""Version of the methods: a number in the output that changes moves it (see CHANGELOG.md).

Example:
    >>> from estimators import VERSION, Counts, advantage
    >>> advantage(Counts.of([40, 10], [10, 40])).provenance.version == VERSION
    True
"""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What an interval covers, what it takes for granted, and whether it holds at every sample size.

    Attributes:
        covers: The quantity that lies in the interval with the stated confidence.
        assumes: What has to be true of the records for that.
        finite_sample: True if it is proven for every number of records; False if it was checked by simulation.

    Example:
        >>> from estimators import Counts, advantage
        >>> guarantee = advantage(Counts.of([40, 10], [10, 40])).estimate.interval.guarantee
        >>> print(guarantee.covers)
        the optimal advantage of adversaries that see the score at a resolution of 2 cells
        >>> print(guarantee.assumes)
        records of each side are independent draws from that side's distribution
        >>> guarantee.finite_sample
        False
    """

    covers: str
    assumes: str
    finite_sample: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """Two limits that hold together with probability ``confidence``; each end misses at most half of the rest.

    ``value in interval`` asks whether a number lies in it.

    Attributes:
        lower: The lower end.
        upper: The upper end.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        guarantee: What it covers and assumes.

    Example:
        >>> from estimators import Counts, advantage
        >>> interval = advantage(Counts.of([40, 10], [10, 40])).estimate.interval
        >>> round(interval.lower, 2), round(interval.upper, 2), interval.confidence
        (0.39, 0.75, 0.95)
        >>> 0.6 in interval
        True
    """

    lower: float
    upper: float
    confidence: float
    guarantee: Guarantee

    @property
    def width(self) -> float:
        """Length of the interval; negative when the two ends contradict each other."""
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate with its interval.

    Attributes:
        value: The point estimate; None where there is none to give.
        interval: The interval for the truth. Decide by its ends and not by the point estimate.

    Example:
        >>> from estimators import Counts, advantage
        >>> estimate = advantage(Counts.of([40, 10], [10, 40])).estimate
        >>> round(estimate.lower, 2), round(estimate.value, 2), round(estimate.upper, 2)
        (0.39, 0.6, 0.75)
    """

    value: float | None
    interval: Interval

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        return self.interval.lower

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return self.interval.upper


@dataclass(frozen=True, slots=True)
class Caution:
    """Something the reader should know before using a number; ``code`` is stable, ``message`` is for people.

    Attributes:
        code: A name for programs, such as ``few_records``; it does not change between versions.
        message: The same for people, with the numbers of this sample.

    Example:
        >>> from estimators import Counts, advantage
        >>> for caution in advantage(Counts.of([8, 2], [2, 8])).cautions:
        ...     print(f"{caution.code}: {caution.message}")
        few_records: fewer than 30 records on a side: expect a wide interval
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a number came about, enough to make it again."""

    method: str
    version: str
    n_members: int
    n_nonmembers: int
    prior: float
    seed: int | None


EXACT = Context(prec=400)  # enough for the largest float and what stands after its point
DIGITS = 330  # more digits after the point than any float has that is worth saying

IID = "records of each side are independent draws from that side's distribution"
CLUSTERED = (
    "clusters are independent draws, and how many rows one has says nothing of their scores; "
    "rows that share no label are independent"
)
MLR = IID + "; the likelihood ratio is monotone in the score, so the best adversary is a threshold"
UNIMODAL = IID + "; the likelihood ratio rises and falls once, so the best adversary is an interval or its complement"


def at_least(value: float, digits: int = 3, beyond: float = -inf) -> str:
    """A lower end as it is said: rounded down to three digits, so that what is said holds if the number does.

    Every text and report writes lower ends so, and upper ones by ``at_most``: one number reads alike wherever it
    stands. Digits are added only until it also reads as larger than ``beyond``, which the number is.
    """
    text = _rounded(value, digits, ROUND_FLOOR)
    return text if float(text) > beyond or digits >= DIGITS else at_least(value, digits + 1, beyond)


def at_most(value: float, digits: int = 3, within: float = inf) -> str:
    """An upper end as it is said: rounded up, with digits added until it also reads as no larger than ``within``."""
    text = _rounded(value, digits, ROUND_CEILING)
    return text if float(text) <= within or digits >= DIGITS else at_most(value, digits + 1, within)


def figures_up(value: float) -> str:
    """An upper end of any size: rounded up to four significant digits."""
    return _figures(value, ROUND_CEILING)


def figures_down(value: float) -> str:
    """A lower end of any size, rounded down likewise."""
    return _figures(value, ROUND_FLOOR)


def exactly(value: float) -> str:
    """``4.0`` as ``4``, ``0.03224109`` with all its digits: read back, it is the same float."""
    return repr(float(value)).removesuffix(".0")


def percent_at_least(share: float) -> str:
    """A lower limit as a percentage: at least three figures, rounded down, and never as certain."""
    return f"{at_least(100.0 * share, _digits(share))}%"


def percent_at_most(share: float) -> str:
    """An upper limit likewise, rounded up."""
    return f"{at_most(100.0 * share, _digits(share))}%"


def _digits(share: float) -> int:
    """Digits after the point that leave a small percentage three figures, and tell a large one from 100%."""
    if share <= 0.5:
        return max(1, 2 - floor(log10(100.0 * (share or 1.0))))
    return max(1, 1 - floor(log10(100.0 * ((1.0 - share) or 1.0))))


def roughly(number: int) -> str:
    """A number of records that somebody is to collect, in three figures, rounded up: 11,300 for 11,254."""
    return f"{int(Context(prec=3, rounding=ROUND_CEILING).plus(Decimal(number))):,}"


def _figures(value: float, towards: str) -> str:
    if not isfinite(value):
        return str(value)
    return f"{float(Context(prec=4, rounding=towards).plus(Decimal(repr(float(value))))):z.4g}"


def _rounded(value: float, digits: int, towards: str) -> str:
    if not isfinite(value):
        return str(value)
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), towards, EXACT):zf}"


def baseline(prior: float) -> float:
    """|2p - 1|: the advantage of always guessing the likelier side, without looking at any score."""
    return abs(2.0 * prior - 1.0)


DIVIDED = 14  # digits that nobody writes: a share that has so many comes from a division


def percent(share: float) -> str:
    """``0.95`` as ``95%``, with every digit of it: 0.99999999 is not 100%.

    Fifteen digits are all that a float keeps of what was written; further ones come from arithmetic, as in 1 - 0.95. A
    confidence that was divided, as by twelve queries, is rounded down: 99.791% for 1 - 0.05/24.
    """
    exact = Decimal(repr(float(share)))
    rounded = Context(prec=15).plus(exact).normalize()
    if len(rounded.as_tuple().digits) >= DIVIDED and rounded != 1:
        rounded = 1 - Context(prec=3, rounding=ROUND_UP).plus(1 - exact)
    return f"{(exact if rounded == 1 else rounded).scaleb(2).normalize():f}%"


def one_end(confidence: float) -> str:
    """The confidence of one end of an interval, and why it is another number than that of both ends."""
    return f"{percent((1.0 + confidence) / 2.0)} confidence (one end of a {percent(confidence)} interval)"


NOTICEABLE = 1e-12
"""By how much a lower end has to lie above what guessing gives to say more: arithmetic alone moves it by less."""

BELOW_ONE = 1.0 - 2.0**-53


def both_ends(
    lower: float,
    upper: float,
    attacker: str,
    guessing: float = 0.0,
    what: str = "the advantage",
    reader: str = "this score",
) -> str:
    """Both ends of an advantage, each with whom it holds for: every sentence that states an advantage says it so.

    Args:
        lower: The lower end, which holds for whoever reads the score.
        upper: The upper end, which holds for a class of attackers; 1 limits nothing.
        attacker: That class, in words to put after "attackers who".
        guessing: The advantage of always guessing the likelier side.
        what: What is stated, in words.
        reader: What attackers read.

    Returns:
        words to put after "With 95% confidence".
    """
    has_lower, has_upper = lower - guessing > NOTICEABLE, upper < 1.0
    if not has_lower and not has_upper:
        return f"these records limit {what} neither from below nor from above"
    least, most = at_least(lower, beyond=guessing), at_most(upper, within=BELOW_ONE)
    subject, nothing = f"{what} over a coin toss", f"{what} over a coin toss may be none at all"
    if guessing > 0.0:
        subject = f"{what}, of which always guessing the likelier side already gives {guessing:.3f},"
        nothing = f"{what} may be no more than the {guessing:.3f} of always guessing the likelier side"
        below, above = (100.0 * (end - guessing) / (1.0 - guessing or 1.0) for end in (lower, upper))
        of_that = "% of what that leaves to gain"
        least = f"{least} ({at_least(below, 1)}{of_that})"
        most = f"{most} ({at_most(above, 1)}{'%' if has_lower else of_that})"
    start = f"{subject} is at least {least}, whoever reads {reader}" if has_lower else nothing
    if not has_upper:
        return f"{start}; nothing limits it from above"
    return f"{start}, and {'' if has_lower else 'is '}at most {most} for attackers who {attacker}"


def sorted_into(cells: int) -> str:
    """How finely an attacker reads a score, for readers who have never heard of cells."""
    return f"sorted into {_groups(cells)}"


def rules_along(changes: int, score: str = "the score") -> str:
    """Rules that change their guess at most so often along a score, in words to put after "attackers who"."""
    return {
        0: "guess the same of every record",
        1: "accuse on one side of a cut",
        2: "accuse on one side of a cut, or inside or outside one range",
    }.get(changes, f"change their guess at most {changes} times along {score}")


def rules_covered(changes: int | None, cells: int | None, score: str = "the score") -> str:
    """Those of a class that an upper end covers, in words to put after "attackers who".

    Args:
        changes: How often they may change their guess along the score, at any places; None if only cells are covered.
        cells: Into how many cells the score is sorted for them; None if only changes are covered.
        score: What they read.
    """
    if changes is None:
        return "read the score" if cells is None else f"see which of {_groups(cells)} {score} falls in"
    along = rules_along(changes, score)
    if cells is None:
        return along
    return f"{along}, or who sort {score} into {cells} {'step' if cells == 1 else 'steps'}"


def _groups(cells: int) -> str:
    return f"{cells} {'group' if cells == 1 else 'groups'} of similar values"
