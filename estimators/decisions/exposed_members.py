"""How many members may be found out: the share in one range of the score that makes membership so and so probable.

A member is exposed at a precision if it lies in a range of the score, at either end or anywhere between, and of who
lies there, at the prior, so large a share are members. With odds of the precision that are g times those of the prior,
that is a range whose true positive rate is at least g times its false positive rate, and the share of members that are
exposed is the largest such true positive rate.

*Upper end.* The best range is one range of the score, fixed if unknown. So each rate there has its own exact limit at
half of the error, whatever lies elsewhere, and the largest upper limit of a true positive rate among all ranges whose
limits agree with the odds is not below the truth: no correction for their number. Of ranges with at most so many
nonmembers only the one with most members matters, and more nonmembers go with no fewer members: they are bisected.

*Lower end.* Among tails and windows that nonmembers alone fix and that share the error (``privacy.ranges``), the
largest lower limit of a true positive rate whose range is shown to have the odds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from estimators.clusters.dependent_rows import lone_rows, require_scores
from estimators.clusters.design import Labels
from estimators.decisions.compare import same_order
from estimators.decisions.gate_sample import GateSample, JudgedLimit
from estimators.decisions.verdict import Because, Decision, decide, records_needed, unanswerable
from estimators.errors import OptionError, OutOfRange, TooFewRecords, require_from_zero_to_one, require_open_unit
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy.direction import Direction, direction_of
from estimators.privacy.exposure import Exposure, exposure
from estimators.privacy.ranges import joined_cells, ranges_of, windows_of
from estimators.privacy.share_ratio import ratio_limit
from estimators.python.dataclass import dataclass
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.doubts import CONSTANT, REPEATED
from estimators.sample.scores import Scores
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval

AT_PRECISION = 0.9
"""How probable membership has to be for a member to count as exposed, unless something else is asked for."""

OF_WINDOWS = 0.1
"""The part of the lower end's error that windows share; tails, at the ends of the score, have the rest."""

CLOSE = 32
"""Up to so many, numbers of nonmembers are told apart; of more, within one part of so many all count as the fewest."""

RATE_OF_NONE = 0.83
"""Where nobody is seen to be exposed, the upper end falls nearly as one over the number of records, as this power of
it: of more records some range holds more members by chance."""

OF_SHARE = 0.25
"""The part of a tail's error that its share of members may take; its odds, which are harder to show, have the rest."""


@dataclass(frozen=True, slots=True)
class MaxExposed:
    """The share of members in one range of the score that makes membership at least ``precision`` probable.

    It limits what an average hides, as ``MaxTpr`` does, and needs no false positive rate that is too small for the
    number of nonmembers. The range lies anywhere; of several only the one with most members counts.

    Args:
        maximum: Largest share of members that is acceptable, from 0 to 1. At 0 the limit cannot pass: no number of
            records shows that nobody is exposed.
        precision: How probable membership has to be there, above the prior and below 1.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes the lower end sharper there; the upper end is about every range.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.exposed_members import MaxExposed
        >>> from estimators.decisions.gate import judge
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])  # one training row in twenty, word for word
        >>> judge(release, [MaxExposed(0.01)]).decision.value
        'fail'
    """

    maximum: float
    precision: float = AT_PRECISION
    direction: Direction | str = Direction.EITHER

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By ranges at both ends of the score, or at the one that is known, and between."""
        most = require_from_zero_to_one("max_exposed", self.maximum)
        precision = require_open_unit("at_precision", self.precision)
        if precision <= sample.prior:
            raise OutOfRange.about(
                "at_precision",
                f"got {precision:g}, need more than the prior, {sample.prior:g}: so probable membership "
                "is without any score",
            )
        if not sample.fine.cells.ordered:
            message = "categories have no order, and so no ranges in which members would lie"
            raise OptionError.about("max_exposed", message)
        odds = precision / (1.0 - precision) * (1.0 - sample.prior) / sample.prior
        ends = direction_of(self.direction)
        above, below = (1.0 - sample.confidence) / 2.0, (1.0 - sample.below) / 2.0
        upper = exposed_at_most(sample.fine, odds, above)
        lower = exposed_at_least(sample.fine, odds, below, ends)
        value = exposed_seen(sample.fine, odds, below, ends)
        guarantee = Guarantee(
            f"the largest share of members in one range of this score in which membership is at least "
            f"{precision:g} probable, at a prior of {sample.prior:g}",
            IID,
            finite_sample=True,
        )
        lower = min(lower, upper)
        estimate = Estimate(min(max(value, lower), upper), Interval(lower, upper, sample.confidence, guarantee))
        about = f"the share of members whose score makes membership {precision:g} probable"
        records = records_needed(estimate, most, sample.records, 0.5 if value else RATE_OF_NONE)
        verdict = decide(about, estimate, most, records, sample.records)
        hides = exposed_at_most(sample.fine, odds, above, sample.drift) if sample.drift else None
        return JudgedLimit("exposed", about, estimate, verdict, sample.cautions, beside_drift=hides)


def exposed_at_most(counts: Counts, odds: float, alpha: float, drift: float = 0.0) -> float:
    """The upper end of the share of members that are exposed, in any range.

    Args:
        odds: How many times as often as nonmembers members have to lie in the range.
        drift: By how much more often than fair ones these nonmembers may lie there.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.exposed_members import exposed_at_most
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])
        >>> round(exposed_at_most(release, 9.0, 0.025), 3)
        0.057
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    members, nonmembers = (np.concatenate([[0], side.cumsum(dtype=np.int64)]) for side in joined_cells(counts))

    def most_members(within: int) -> int:
        behind = np.searchsorted(nonmembers, nonmembers + within, side="right") - 1
        return int((members[behind] - members).max())

    def agree(inside: int, within: int) -> bool:
        return not upper_limit(inside, n1, alpha / 2.0) < odds * (lower_limit(within, n0, alpha / 2.0) - drift)

    best, left = 0, [(-1, n0, n1)]
    while left:
        fewer, within, inside = left.pop()  # more nonmembers than the first, no more than the second
        if inside <= best or not agree(inside, fewer + 1):
            continue
        if agree(inside, within) or within - fewer <= within // CLOSE:
            best = inside
            continue
        middle = (fewer + within) // 2
        left += [(fewer, middle, most_members(middle)), (middle, within, inside)]
    return float(upper_limit(best, n1, alpha / 2.0))


def exposed_at_least(counts: Counts, odds: float, alpha: float, ends: Direction) -> float:
    """The lower end of the share of members that are exposed.

    Args:
        ends: Which ends of the score are looked at; between them windows are in any case.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.direction import Direction
        >>> from estimators.decisions.exposed_members import exposed_at_least
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])
        >>> round(exposed_at_least(release, 9.0, 0.025, Direction.EITHER), 3)
        0.041
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    ranges = ranges_of(counts, alpha, (1.0 - OF_WINDOWS, OF_WINDOWS), ends)
    start, lower = float(np.log(odds)), 0.0
    for inside, ended_by, level in zip(
        ranges.members.tolist(), ranges.ended_by.tolist(), ranges.levels.tolist(), strict=True
    ):
        share = float(lower_limit(inside, n1, OF_SHARE * level))
        hopeful = inside > 0 and inside * n0 > odds * ended_by * n1
        of_odds = (1.0 - OF_SHARE) * level
        if share > lower and hopeful and ratio_limit(inside, n1, ended_by, n0, of_odds, start) > start:
            lower = share
    return lower


def exposed_seen(counts: Counts, odds: float, alpha: float, ends: Direction) -> float:
    """The share of members that is seen to be exposed: beyond a cut, or in a window that is shown to leak at all.

    Of many windows some holds many members by chance: without a leak what is seen there would be nobody's share.

    Args:
        alpha: The error at which a window is shown to hold members more often than nonmembers.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.direction import Direction
        >>> from estimators.decisions.exposed_members import exposed_seen
        >>> release = Counts.of([4750, 250, 0], [2500, 0, 2500], edges=[1.0, 2.0])
        >>> exposed_seen(release, 9.0, 0.025, Direction.EITHER)
        0.05
    """
    n1, n0, exposed_share = counts.n_members, counts.n_nonmembers, 0.0
    for members, nonmembers in _beyond(counts, ends):
        clear = members * float(n0) >= odds * np.minimum(nonmembers + 1.0, n0) * n1
        exposed_share = max(exposed_share, float(members[clear].max(initial=0)) / n1)
    windows = windows_of(counts, alpha)
    for inside, ended_by, level in zip(
        windows.members.tolist(), windows.ended_by.tolist(), windows.levels.tolist(), strict=True
    ):
        clear = inside > exposed_share * n1 and inside * float(n0) >= odds * (ended_by + 1.0) * n1
        if clear and ratio_limit(inside, n1, ended_by, n0, level) > 0.0:
            exposed_share = inside / n1
    return exposed_share


def _beyond(counts: Counts, ends: Direction) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Members and nonmembers beyond each cut between cells, nobody first, from the ends that are looked at."""
    sides = [counts.members, counts.nonmembers]
    ways = [[each[::-1] for each in sides]] * (ends is not Direction.LOW) + [sides] * (ends is not Direction.HIGH)
    return [
        (
            np.concatenate([[0], np.cumsum(way[0], dtype=np.int64)]),
            np.concatenate([[0], np.cumsum(way[1], dtype=np.int64)]),
        )
        for way in ways
    ]


# No pass stands beside a severe exposure that the same answer certifies, unless exposure was limited or accepted.
#
# A limit on an average is kept by a score of which a few hundred members are nearly sure to be members. A pass would
# hide them, and a fail would be wrong, for nothing that was limited is exceeded: the decision is open, and only the
# one who decides can close it, by a limit on exposure or by accepting it.

EXPOSED = "exposed"  # why a decision is open: the code of the caution, and of ``undecided_because``

OF_EXPOSURE = frozenset({"tpr", "exposed", "epsilon"})
"""Limits that judge exposure themselves, by the names of their answers."""

WAYS = "limit exposure (max_tpr with at_fpr, max_exposed or max_epsilon, where they are offered)"


@dataclass(frozen=True, slots=True)
class Withheld:
    """Whether a pass is withheld, of whom that speaks, and what is said of it.

    Attributes:
        who: Whom the score exposes so surely that a pass would hide them, in words; empty if nobody.
        accepted: Whether exposure was accepted by name.
        limited: Whether something that judges exposure is among the limits.
        odd: What is odd about the records: by some of it they cannot answer the question.
    """

    who: str = ""
    accepted: bool = False
    limited: bool = False
    odd: tuple[Caution, ...] = ()

    @classmethod
    def by(
        cls,
        exposures: Mapping[str, Exposure],
        limits: Iterable[str] = (),
        *,
        accepted: bool = False,
        one: str = "query",
        odd: Iterable[Caution] = (),
    ) -> Withheld:
        """What the exposures of several queries withhold, which have to hold together, and what is odd about records.

        Args:
            exposures: For each query what it exposes; of a single one the name may be empty.
            one: What each of them is, in a word.
        """
        severe = {name: each for name, each in exposures.items() if each.severe}
        limited = not OF_EXPOSURE.isdisjoint(limits)
        if not severe:
            return cls("", accepted, limited, tuple(odd))
        name = max(severe, key=lambda each: severe[each].members_epsilon)
        who = f"{f'{one} {name!r}: ' if name else ''}{severe[name].surely}"
        return cls(who, accepted, limited, tuple(odd))

    def decide(self, plain: Decision) -> Decision:
        """The decision; not applicable, or open, where no pass stands."""
        if unanswerable(plain, self.odd):
            return Decision.NOT_APPLICABLE
        return Decision.INCONCLUSIVE if self.because(plain) else plain

    def because(self, plain: Decision | None) -> Because | None:
        """Why no pass stands: a code; None where the decision is that of the limits."""
        if (caution := unanswerable(plain, self.odd)) is not None:
            return cast("Because", caution.code)
        hides = plain is Decision.PASS and self.who and not (self.accepted or self.limited)
        return "exposed" if hides else None

    @property
    def reason(self) -> str:
        """Why no pass stands and what to do, without its stop."""
        if (caution := unanswerable(Decision.PASS, self.odd)) is not None:
            return caution.message.removesuffix(".")
        return (
            f"what is limited is kept, but a pass would hide that {self.who}; {WAYS}, or accept it by name "
            "(accept_exposure)"
        )

    @property
    def acceptance(self) -> str:
        """That it was accepted, in a sentence with a space before it; empty where it was not needed."""
        if not (self.who and self.accepted) or self.limited:
            return ""
        return f" Accepted by name (accept_exposure): {self.who}."

    def cautions(self, plain: Decision | None) -> tuple[Caution, ...]:
        """Why no pass stands, or that it stands because exposure was accepted."""
        if (caution := unanswerable(plain, self.odd)) is not None:
            return (caution,)
        if self.because(plain) == EXPOSED:
            return (Caution(EXPOSED, self.reason),)
        if plain is Decision.PASS and self.acceptance:
            return (Caution("exposure_accepted", f"a pass stands beside this, for it was accepted: {self.who}"),)
        return ()


def doubts_of(queries: Mapping[str, Scores | Counts], *, clustered: bool) -> Iterator[Caution]:
    """What is odd about the records of each query, of several with its name.

    Where rows that belong together are known, such rows may repeat; beside others a query may be one score for all.
    """
    doubts = {name: (each if isinstance(each, Counts) else finest(each)).doubts for name, each in queries.items()}
    nothing = all(CONSTANT in {odd.code for odd in each} for each in doubts.values())
    for name, each in doubts.items():
        whose = f"query {name!r}: " if len(queries) > 1 else ""
        for odd in each:
            if not (clustered and odd.code == REPEATED) and (nothing or odd.code != CONSTANT):
                yield Caution(odd.code, f"{whose}{odd.message}")


def exposures_of(
    queries: Mapping[str, Scores | Counts],
    prior: float = 0.5,
    confidence: float = 0.95,
    direction: Direction = Direction.HIGH,
    cluster: Labels | None = None,
    seed: int = 0,
) -> dict[str, Exposure]:
    """For each query whether some members are out of nonmembers' reach; the limits of all queries hold together.

    Args:
        cluster: Whom each row belongs to, if some belong together: rows of which no two share a label are looked at.
    """
    same = same_order(queries)
    together = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / max(1, len(queries) - len(same))
    if cluster is not None:
        try:
            queries = {name: lone_rows(require_scores(each), cluster, seed) for name, each in queries.items()}
        except TooFewRecords:  # too few rows of different people to show anything
            return {}
    exposures = {
        name: exposure(scores, together, prior, direction) for name, scores in queries.items() if name not in same
    }
    return {name: exposures[same[name][0] if name in same else name] for name in queries}
