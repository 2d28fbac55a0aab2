"""Training rows that stand in a release: counted, and held against what the hold-out says chance makes.

The training table is known whole, so that their number is a fact. A column of identifiers, of which nearly every row
has a value of its own, is left out of all distances and so of what is compared here; whether its values were carried
over is looked at by itself: as many hold-out rows would have theirs in the release by chance, and a training row whose
identifier is there by chance would not stand there in every other column, too.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Integers
from estimators.audits.named_rows import rows_by_identifier
from estimators.audits.queries.rows import rows_repeat
from estimators.audits.queries.synthetic import SyntheticScores
from estimators.audits.queries.table import Encoding
from estimators.decisions.riskiest import RiskiestLimit
from estimators.decisions.verdict import Decision
from estimators.errors import OptionError, require_count, require_open_unit
from estimators.limits.binomial import excess_lower
from estimators.python.dataclass import dataclass, replace
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution, Estimate, Guarantee, Interval, one_end

OF_COPIES = Guarantee(
    "how many of these training rows stand in the release and would not by chance; upper end: all that stand in it",
    "training rows that were not copied stand in the release as often by chance as hold-out rows do",
    finite_sample=True,
)

OF_NEAR_COPIES = Guarantee(
    "how many of these training rows have a near copy in the release and would not by chance; upper end: all that have",
    "training rows that were not copied are as often near a released row by chance as hold-out rows are",
    finite_sample=True,
)

COPY, NEAR_COPY = "exact_copy", "near_copy"  # the queries that see copies, and near copies
ALTERED_COPY = "altered_copy"

WORDS = {
    COPY: ("stand in the release", "column for column", "were copied"),
    NEAR_COPY: (
        "have a near copy in the release",
        "alike in every category, and in all numbers together up to 1% of a range",
        "have a near copy",
    ),
    ALTERED_COPY: ("stand in the release", "in every column or in all but one", "stand there"),
}
"""What a row does that counts, in which columns, and what is shown of rows beyond chance."""

UNASKED = 0.1  # the share of the level at which copies are judged that nobody limited

SIDES_APART = 1.628
"""Distance of both sides' distributions in units of chance that one sample in a hundred exceeds, if they are alike."""

CopiesJudged = Literal["asked", "unasked", "accepted"]


@dataclass(frozen=True, slots=True)
class Copies:
    """How many training rows stand in the release, and how many of them chance does not explain.

    Attributes:
        members: Training rows that the release has in every column.
        nonmembers: Hold-out rows that it has: copies that nobody made, as among few categories.
        beyond_chance: How many training rows were copied beyond what the hold-out explains, with an exact interval; the
            upper end is the number of copies itself.
        n_members: Training rows in all.
        n_nonmembers: Hold-out rows in all.
        query: ``exact_copy``, ``near_copy`` where rows count that have a near copy there, or ``altered_copy`` where
            those do that stand there in all columns but one.

    Example:
        >>> from estimators.audits.queries import encode
        >>> from estimators.audits.copies import count_copies
        >>> train, holdout = {"age": list(range(20, 60))}, {"age": list(range(120, 160))}
        >>> copies = count_copies(encode(train, holdout, {"age": [*range(20, 40), *range(80, 100)]}))
        >>> copies.members, copies.nonmembers, copies.beyond_chance.lower
        (20, 0, 15.0)
    """

    members: int
    nonmembers: int
    beyond_chance: Estimate
    n_members: int
    n_nonmembers: int
    query: str = COPY

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        ends = self.beyond_chance.interval
        stand = (
            f"{self.members:,} of {self.n_members:,} training rows and {self.nonmembers:,} of {self.n_nonmembers:,} "
            f"hold-out rows {self.verb}, {WORDS[self.query][1]}"
        )
        if not ends.lower:
            return f"{stand}; chance may explain them all." if self.members else f"{stand}."
        return (
            f"{stand}: with {one_end(ends.confidence)} at least {ends.lower:,.0f} training rows {self.what_happened} "
            "beyond what chance explains."
        )

    @property
    def more_than_chance(self) -> bool:
        """Whether more stand there than the hold-out's share, however few they are."""
        return self.members * self.n_nonmembers > self.nonmembers * self.n_members

    @property
    def verb(self) -> str:
        """What a row does that counts."""
        return WORDS[self.query][0]

    @property
    def what_happened(self) -> str:
        """What is shown of rows beyond chance."""
        return WORDS[self.query][2]


@dataclass(frozen=True, slots=True)
class CopiedIdentifiers:
    """How many training rows a column that was left out as an identifier shows to be copied, and what shows it."""

    beyond_chance: Estimate
    sentence: str


def count_copies(tables: Encoding, confidence: float = 0.95) -> Copies:
    """Rows of both sides that stand in the release as they are.

    The lower end of those that chance does not explain is exact; twice its error is 1 less ``confidence``.
    """
    released = tables.synthetic.records
    hits = [np.isin(side.records, released) for side in (tables.members, tables.nonmembers)]
    return _copies(hits[0], hits[1], tables, confidence, COPY)


def count_near_copies(of_queries: SyntheticScores, tables: Encoding, confidence: float = 0.95) -> Copies:
    """Rows of both sides that have a near copy in the release, likewise; ``near_copy`` is among the queries."""
    hits = [side[NEAR_COPY] > 0.0 for side in (of_queries.members, of_queries.nonmembers)]
    return _copies(hits[0], hits[1], tables, confidence, NEAR_COPY)


def count_altered_copies(tables: Encoding, confidence: float = 0.95) -> Copies:
    """Rows of both sides that stand in the release in every column or in all but one, likewise."""
    return _copies(tables.members.but_one, tables.nonmembers.but_one, tables, confidence, ALTERED_COPY)


def among_all_rows(copies: Copies, of_all: Copies | None) -> Copies:
    """All rows counted, if there are more; one of each person, or of rows that repeat, shows the lower end, too."""
    if of_all is None:
        return copies
    lower, upper = min(copies.beyond_chance.lower, of_all.beyond_chance.lower), of_all.beyond_chance.upper
    value = float(of_all.beyond_chance.value or 0.0)
    interval = replace(of_all.beyond_chance.interval, lower=lower, upper=upper)
    return replace(of_all, beyond_chance=Estimate(min(max(value, lower), upper), interval))


def _copies(
    members: NDArray[np.bool_], nonmembers: NDArray[np.bool_], tables: Encoding, confidence: float, query: str
) -> Copies:
    """Rows of both sides that count, and how many of the training side chance does not explain.

    Where rows repeat far more often than chance makes, they have to be shown by rows that count once, too.
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    hits, by_chance = int(members.sum()), int(nonmembers.sum())
    lower = float(excess_lower(hits, len(members), by_chance, len(nonmembers), alpha))
    if lower and rows_repeat(tables.members, tables.nonmembers):
        sides = (tables.members, members), (tables.nonmembers, nonmembers)
        ones, others = (hit[np.unique(rows.records, return_index=True)[1]] for rows, hit in sides)
        lower = min(lower, float(excess_lower(int(ones.sum()), len(ones), int(others.sum()), len(others), alpha)))
    chance = by_chance / len(nonmembers)
    value = hits - len(members) * chance
    guarantee = OF_NEAR_COPIES if query == NEAR_COPY else OF_COPIES
    estimate = Estimate(min(max(value, lower), float(hits)), Interval(lower, float(hits), confidence, guarantee))
    return Copies(hits, by_chance, estimate, len(members), len(nonmembers), query)


def require_copies(most: int | None, most_near: int | None, accept: bool) -> int:
    """How many limits of copies there are, their numbers in range; limited copies cannot be accepted, too."""
    limits = (("max_copies_over_holdout", most), ("max_near_copies_over_holdout", most_near))
    for name, limit in limits:
        if limit is not None:
            require_count(name, limit, 0)
    if accept and most is not None:
        message = "max_copies_over_holdout limits the copies already; give one of the two"
        raise OptionError.about("accept_copies", message)
    return sum(limit is not None for _, limit in limits)


def how_judged(limited: bool, most: int | None, accept: bool) -> CopiesJudged | None:
    """Whether copies are limited, judged unasked, or accepted; None if nothing is limited."""
    if accept:
        return "accepted"
    if most is not None:
        return "asked"
    return "unasked" if limited else None


def judge_copies(copies: Copies, most: int, identifiers: CopiedIdentifiers | None = None) -> RiskiestLimit:
    """By the count where it is a fact, by its lower limit where chance has to be left out; identifiers only fail it.

    They are counted at the confidence at which a fail is to be decided.
    """
    estimate, stand = copies.beyond_chance, f"{copies.members:,} training rows {copies.verb}"
    if copies.members <= most:
        decision, reason = Decision.PASS, f"{stand}, not more than {most:,}"
    elif estimate.lower > most:
        decision = Decision.FAIL
        reason = (
            f"with {one_end(estimate.interval.confidence)} at least {estimate.lower:,.0f} "
            f"training rows {copies.what_happened} beyond what chance explains, above {most:,}"
        )
    else:
        decision = Decision.INCONCLUSIVE
        also = "do" if copies.query == COPY else "have"
        reason = (
            f"{stand}, more than {most:,}, and so {also} {copies.nonmembers:,} of {copies.n_nonmembers:,} hold-out "
            f"rows: chance may explain all but {estimate.lower:,.0f}"
        )
    name = "copies" if copies.query == COPY else "near_copies"
    if decision is not Decision.FAIL and identifiers is not None and identifiers.beyond_chance.lower > most:
        decision, estimate = Decision.FAIL, identifiers.beyond_chance
        reason = f"{identifiers.sentence}, above {most:,}"
    return RiskiestLimit(name, float(most), decision, copies.query, estimate, reason)


def unasked_fail(tables: Encoding, confidence: float, shares: int = 1) -> list[RiskiestLimit]:
    """That training rows are shown to be copied although nobody limited that; nothing if they are not.

    ``confidence`` is that of the audit; of what may go wrong a tenth comes on top, which so many releases share.
    """
    own = 1.0 - _unasked(confidence, shares) / (2 if tables.identifiers else 1)
    limit = judge_copies(count_copies(tables, own), 0, copied_identifiers(tables, own))
    if limit.decision is not Decision.FAIL:
        return []
    reason = f"{limit.reason}, which is judged unless copies are limited otherwise or accepted (accept_copies)"
    return [replace(limit, reason=reason)]


def judge_all(tables: Encoding, copies: Copies, most: int, confidence: float, shares: int = 1) -> RiskiestLimit:
    """A limit on copies that was asked for; what identifiers show may make it fail, at a tenth of the level on top."""
    return judge_copies(copies, most, copied_identifiers(tables, 1.0 - _unasked(confidence, shares)))


def _unasked(confidence: float, shares: int) -> float:
    return UNASKED * (1.0 - confidence) / shares


def copied_identifiers(tables: Encoding, confidence: float) -> CopiedIdentifiers | None:
    """The column of identifiers that shows most training rows to be copied; None if none shows any.

    By its values, if they do not tell the sides apart without the release, as numbers in the order of the rows would;
    and by rows: those whose identifier is released are compared with the released rows whose identifiers are near, and
    with hold-out rows whose identifier is released.
    """
    alpha = (1.0 - confidence) / (4.0 * max(len(tables.identifiers), 1))
    signs: list[CopiedIdentifiers] = []
    for at, name in enumerate(tables.identifiers):
        ones, others, released = (
            rows.identifiers[:, at] for rows in (tables.members, tables.nonmembers, tables.synthetic)
        )
        if _come_alike(ones, others):
            hits, by_chance = (int(np.isin(side[side >= 0], released).sum()) for side in (ones, others))
            lower = excess_lower(hits, len(ones), by_chance, len(others), alpha)
            what = (
                f"the {name!r} of {hits:,} of {len(ones):,} training rows and of {by_chance:,} of {len(others):,} "
                "hold-out rows stands in the release"
            )
            signs.append(_sign_of_copies(lower, hits, confidence, what))
        of_members = rows_by_identifier(tables.members, tables.synthetic, at)
        equal, same, (nearby, beside) = of_members.equal, of_members.rows, of_members.beside_near()
        if beside:
            lower = excess_lower(equal, same, nearby, beside, alpha)
            of_others = rows_by_identifier(tables.nonmembers, tables.synthetic, at)
            if of_others.rows >= MIN_RECORDS:  # a column may follow from the identifier, which the hold-out's says, too
                lower = min(lower, excess_lower(equal, same, of_others.equal, of_others.rows, alpha))
            if lower:
                nearby, beside = max((nearby, beside), of_members.beside_in_turns(), key=lambda each: each[0] / each[1])
                lower = min(lower, excess_lower(equal, same, nearby, beside, alpha))
            what = (
                f"of {same:,} training rows whose {name!r} is released {equal:,} stand beside it in every column that "
                f"is compared, and of {beside:,} beside others {nearby:,} would"
            )
            signs.append(_sign_of_copies(lower, equal, confidence, what))
    best = max(signs, key=lambda each: each.beyond_chance.lower, default=None)
    return best if best is not None and best.beyond_chance.lower > 0.0 else None


def _sign_of_copies(lower: int, hits: int, confidence: float, what: str) -> CopiedIdentifiers:
    interval = Interval(float(lower), float(hits), confidence, OF_COPIES)
    sure = f"with {one_end(confidence)} at least {lower:,} training rows were copied beyond what chance explains"
    sentence = f"{what}: {sure}"
    return CopiedIdentifiers(Estimate(float(hits), interval), sentence)


def _come_alike(ones: Integers, others: Integers) -> bool:
    """Whether the values of both sides lie alike in their order, as random ones do, by Kolmogorov and Smirnov."""
    ones, others = np.sort(ones[ones >= 0]), np.sort(others[others >= 0])
    both = np.concatenate([ones, others])
    below = [side.searchsorted(both, "right") / max(len(side), 1) for side in (ones, others)]
    apart = float(np.abs(below[0] - below[1]).max(initial=0.0))
    room = np.sqrt(len(ones) * len(others) / max(len(both), 1))
    return bool(apart * room <= SIDES_APART)


def copies_cautions(
    copies: Copies,
    near_copies: Copies,
    judgement: CopiesJudged | None,
    limits: Sequence[RiskiestLimit],
    rows: str = "",
    identifiers: CopiedIdentifiers | None = None,
    altered: Copies | None = None,
) -> Iterator[Caution]:
    """Copies, near and altered ones that no limit fails, and that those which nobody limited were accepted.

    ``rows`` says which released rows these are, where they are not all: words that end in a colon.
    """
    fails = {limit.name for limit in limits if limit.decision is Decision.FAIL}
    if judgement == "accepted":
        yield Caution(
            "copies_accepted",
            "copies of training rows are no reason to fail here, for they were accepted (accept_copies): "
            f"{rows}{copies.sentence}",
        )
    elif "copies" not in fails and copies.beyond_chance.lower > 0.0:
        yield Caution("copies_released", f"{rows}{copies.sentence}")
    elif "copies" not in fails and copies.members and not copies.nonmembers:
        yield Caution("training_rows_released", f"{rows}{copies.sentence} Look at them before they go out.")
    if identifiers is not None and "copies" not in fails:
        yield Caution("copies_released", f"{rows}{identifiers.sentence}.")
    more = near_copies.members > copies.members and near_copies.beyond_chance.lower > 0.0
    if more and "near_copies" not in fails:
        yield Caution("near_copies_released", f"{rows}{near_copies.sentence}")
    other = max(copies.beyond_chance.lower, near_copies.beyond_chance.lower)
    if altered is not None and altered.beyond_chance.lower > other:
        yield Caution("altered_copies_released", f"{rows}{altered.sentence}")
