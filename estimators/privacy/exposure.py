"""Whether members have scores that no nonmember, or almost none, has; and the epsilon of the score.

An advantage is an average: one training row in a hundred that a release prints word for word moves it by 0.01. This
looks at the ends of the score, at tails fixed in advance by how many nonmembers may lie in them (0, 1, 2, 4, ...), and
everywhere between, at windows that hold so many (``privacy.closeness``).

Let the tail end at the (k+1)-th nonmember from outside. What share of nonmembers it truly holds is at most U, the
(k+1)-th smallest of n0 uniform numbers; if the share of members is at most g times that, its members are no more than
those of n1 uniform numbers V that are smaller than g U. So m of them or more have probability at most

    P(V_(m) <= g U_(k+1)),   V_(m) ~ Beta(m, n1 - m + 1),  U_(k+1) ~ Beta(k + 1, n0 - k) independent,

exactly so for a score without ties; at g = 1 it is the hypergeometric law of the pooled ranks. The largest g at which
that is at most the level is the limit. Levels are shared by directions, equally, and by tails, of which the j-th gets
1/(j(j+1)): the purest tail gets half, and no number of further tails takes anything away from it. Windows have a small
share of the level: those that hold as many nonmembers share it equally, and as the limit rises with the members inside,
only the fullest of them needs one (docs/methods.md, section 5).

Two distributions are as far apart as either is from the other, so the epsilon of the score looks at the tails of
nonmembers that almost no member reaches, too, with a small share of the level.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from math import inf, lgamma, log, sqrt
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincc, betaincinv, expit, logit, ndtri, polygamma

from estimators.arrays import Floats, Integers, dot
from estimators.errors import require_open_unit
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.limits.root import brentq
from estimators.privacy.closeness import fullest_windows
from estimators.privacy.epsilon import Direction, direction_of
from estimators.python.caches import cache_of_records
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Categories, Values
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import IID, Caution, Guarantee, at_least, one_end, percent, percent_at_least

__all__ = ["Exposure", "Tail", "exposure"]


End = Literal["high", "low", "window", "label", "cell"]

ONE_OF: dict[End, str] = {
    "high": "score",
    "low": "score",
    "window": "score",
    "label": "label",
    "cell": "vector",
}
"""What a record in a tail has, by the direction of the tail."""

OPPOSITE = {
    Direction.HIGH: Direction.LOW,
    Direction.LOW: Direction.HIGH,
    Direction.EITHER: Direction.EITHER,
}
"""Where nonmembers stand out, if members do so at the other end."""

CLEAR = 4.0
"""A tail with nonmembers exposes its members if these are seen in it so many times as often as nonmembers are, """
CERTAIN = 2.0
"""and are shown to be so many times as often in it. One without any exposes them if it shows anything at all."""

CERTAIN_INSIDE = 1.25
"""The same of a window. Thousands of them share a small part of the error: as many records of either side at an end of
the score, where so few tails share so much of it, would be shown to be there about twice as often or more."""

SEVERE = 10.0
"""So many times as often as nonmembers members are shown to lie in a severe tail, which multiplies the odds of
membership by as much: at even odds an attacker is then right ten times in eleven at least, """
SEVERE_SHARE = 0.005
"""and it is shown to hold this share of members, so that it is not about one or two of them."""

NODES = 40
"""Points at which a law is summed over, if it is the wider one; smooth as it is there, thirty give nine digits."""

OUTSIDE = 1e-6
"""Probability of the law that lies beyond those points, at either end, as a share of the level."""

NORMAL = 100.0
"""From so many records on either side of a cut its law is normal enough to say where those points are."""

SKEW = 4.0
"""With fewer records on one side of the cut the law has one long end, and takes more points."""

HOPEFUL = 0.6
"""Share of a normal limit's reach that no exact limit falls short of: what is not above even so is passed over."""

SURE = (0.95, 0.99)
"""The same, of the limit that endless sides would have; and with more than a thousand on either side of a ratio."""

FEW = 100
"""Nonmembers below which it is no guide."""

NEAR = 1e-5
"""How closely the logarithm of a ratio is found."""

STEPS = tuple(0.01 * 4.0**place for place in range(12))
"""Steps beyond a first guess by which that logarithm is enclosed: they end where no float has it."""

LONGEST_LABEL = 60
"""Characters of a label that a sentence repeats."""

OF_MEMBERS = (0.9, 0.04)
"""Share of the level that tails of members have, and windows. Thousands of windows share it, so that their limits
hardly depend on it; those of the purest tail do."""

OF_NONMEMBERS = (0.05, 0.01)
"""The same of nonmembers, of which epsilon alone speaks."""

ROUNDING = 0.05
"""How far off a bound of a window may be in words, as a share of the window's width."""


def _guarantee(what: str, place: str, which: str, *, finite_sample: bool) -> Guarantee:
    return Guarantee(
        "the epsilon of this score's two distributions, not of the mechanism: the log of how many times as often as "
        f"the other side either side {what} the best {place}, from below; the share of members, the share of "
        f"nonmembers and the probability each by itself, whichever {which} is named",
        IID,
        finite_sample,
    )


OF_SCORES = _guarantee("has", "range of this score, at either end or between", "one", finite_sample=True)
OF_LABELS = _guarantee("has", "label", "label", finite_sample=False)
OF_CELLS = _guarantee("lies in", "cell of these vectors", "cell", finite_sample=False)
"""What the limits cover. Of labels and cells false alarms without a leak are proven, the rest was simulated."""


@dataclass(frozen=True, slots=True)
class Tail:
    """A range of the score, or a label, or a cell of vectors, and what is shown of it.

    Attributes:
        direction: ``"high"`` or ``"low"``: which end of the score it is; ``"window"`` between them; ``"label"`` where
            scores have no order, ``"cell"`` where they are vectors.
        label: The label; of vectors the cell's place among the cells, from 0; None where scores have an order.
        members: How many of the members lie in it.
        nonmembers: How many of the nonmembers do.
        tpr_lower: Lower limit of the share of members in it: the true positive rate of accusing it.
        fpr_upper: Upper limit of the share of nonmembers in it: the false positive rate.
        precision_lower: Lower limit of the probability that a record in it is a member, at the prior.
        score_epsilon: Lower limit of log(TPR/FPR): what this tail shows of the epsilon of the score.
        low: Of a window, where it begins; None else.
        high: Where it ends: no score in it is above.

    Example:
        >>> from estimators import Counts, exposure
        >>> tail = exposure(Counts.of([4950, 50], [5000, 0], edges=[1.0])).tail
        >>> tail.direction, tail.members, tail.nonmembers
        ('high', 50, 0)
        >>> round(tail.tpr_lower, 4), round(tail.fpr_upper, 4), round(tail.precision_lower, 2)
        (0.0068, 0.001, 0.9)
    """

    direction: End
    label: str | float | bool | None
    members: int
    nonmembers: int
    tpr_lower: float
    fpr_upper: float
    precision_lower: float
    score_epsilon: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class NonmemberTail:
    """A range of the score, or a label, or a cell of vectors, that nonmembers have and no member, or almost none.

    It exposes nobody as a member, but sets the score's two distributions as far apart.

    Attributes:
        direction, label: As in ``Tail``.
        score_epsilon: Lower limit of the log of how many times as often nonmembers lie in it as members do.
        low, high: As in ``Tail``.
    """

    direction: End
    label: str | float | bool | None
    members: int
    nonmembers: int
    score_epsilon: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Exposure:
    """Whether some members have scores that no nonmember has, or almost none; ``exposure`` makes it.

    Attributes:
        tail: The tail, window or label of members that shows most, a severe one before all others and then one that
            exposes its members; None if none is shown to hold more than nothing leaking explains.
        nonmember_tail: That of nonmembers that shows most, likewise.
        alarm: True if the tail exposes its members: no nonmember is in it; or they are seen in it at least four times
            as often as nonmembers, and shown to be twice as often (in a window 1.25 times, as so many share the error).
        severe: True if it is shown to hold at least 0.5% of members and to make the odds of membership ten times those
            of the prior, or more. Beside a severe exposure nothing passes unless exposure is limited or accepted.
        members_epsilon: What tails and windows of members alone show of the score's epsilon, which need not be the tail
            that is named; 0 if none shows anything.
        least: Fewest members beyond every nonmember that these records could show; None if not even all of them.
        in_one_cell: Of counts of a score, the most members that a cell has beside nonmembers, which it does not tell
            apart; None of scores.
        n_members: Member records in all.
        n_nonmembers: Nonmember records in all.
        prior: Probability that a record is a member before its score is seen.
        confidence: Twice the error of each limit is 1 less this, over all tails, both directions and both sides.
        guarantee: What the limits cover and assume.

    Example:
        >>> from estimators import Counts, exposure
        >>> print(exposure(Counts.of([4950, 50], [5000, 0], edges=[1.0])).sentence)
        50 of 5,000 members score higher than every nonmember. Such a score makes an attacker at least 90.1% sure of
        membership, in place of 50%, with 97.5% confidence (one end of a 95% interval).
    """

    tail: Tail | None
    nonmember_tail: NonmemberTail | None
    alarm: bool
    severe: bool
    members_epsilon: float
    least: int | None
    in_one_cell: int | None
    n_members: int
    n_nonmembers: int
    prior: float
    confidence: float
    guarantee: Guarantee

    @property
    def score_epsilon(self) -> float:
        """What the epsilon of the score's two distributions is at least, at delta 0; not that of the mechanism."""
        return max(self.members_epsilon, 0.0 if self.nonmember_tail is None else self.nonmember_tail.score_epsilon)

    @property
    def finding(self) -> str:
        """Who is exposed, in one sentence without its stop."""
        tail = self.tail
        if tail is None:
            return "no members are shown to have scores that no nonmember has, or almost none"
        members = (tail.members, self.n_members, "member")
        return _who(tail, members, (tail.nonmembers, self.n_nonmembers, "nonmember"))

    @property
    def surely(self) -> str:
        """Who is exposed and how surely, to go on with; the finding alone if nobody is."""
        return self.finding if self.tail is None else f"{self.finding}: {self._how_sure(self.tail)}"

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        tail, other = self.tail, self.nonmember_tail
        if tail is None:
            blind = (
                "too few records for that, however they fall"
                if self.least is None
                else f"fewer than {self.least:,} beyond every nonmember would not show"
            )
            if self.in_one_cell is not None and self.least is not None and self.in_one_cell >= self.least:
                blind += f", nor would any of the {self.in_one_cell:,} in one cell of the counts"
            sentences = [f"{self.finding[0].upper()}{self.finding[1:]}: {blind}."]
        else:
            sentences = [f"{self.finding}. S{self._how_sure(tail)[1:]}, with {one_end(self.confidence)}."]
        if other is not None and other.score_epsilon > self.members_epsilon:
            nonmembers = (other.nonmembers, self.n_nonmembers, "nonmember")
            who = _who(other, nonmembers, (other.members, self.n_members, "member"))
            sentences.append(
                f"But {who}: with {one_end(self.confidence)} the epsilon of this score's two distributions is at least "
                f"{at_least(self.score_epsilon)}; it is not that of the mechanism."
            )
        return " ".join(sentences)

    def _how_sure(self, tail: Tail) -> str:
        """What a score in the tail tells an attacker, in words to go on with."""
        return (
            f"such a {ONE_OF[tail.direction]} makes an attacker at least {percent_at_least(tail.precision_lower)} sure "
            f"of membership, in place of {percent(self.prior)}"
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """That members are exposed, whatever is true on average."""
        if not self.alarm or self.tail is None:
            return ()
        return (Caution("rare_exposure", f"{self.surely}, which an advantage, being an average, hides"),)


def exposure(
    data: Scores | Counts,
    confidence: float = 0.95,
    prior: float = 0.5,
    direction: Direction | str = Direction.EITHER,
) -> Exposure:
    """Look for members whose scores no nonmember has, or almost none, at either end of the score and between.

    The limits hold for whichever tail or window is named: the error is shared by all of them. Of categories, which have
    no order, every label is looked at by itself; of vectors, every cell.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. A limit is one end of
            such an interval.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1. The
            probability of membership within the tail depends on it, and nothing else does.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes the limits at that end sharper; it has to be known before the scores are looked at. What lies between
            both ends is looked at in any case.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, exposure
        >>> rng = np.random.default_rng(0)
        >>> members = np.concatenate([rng.normal(0, 1, 990), rng.normal(9, 1, 10)])  # one in a hundred is exposed
        >>> result = exposure(Scores.of(members, rng.normal(0, 1, 1000)))
        >>> result.alarm, result.tail.members, result.tail.nonmembers
        (True, 11, 0)
        >>> exposure(Scores.of(rng.normal(0, 1, 1000), rng.normal(0, 1, 1000))).alarm
        False
    """
    require_data(data, Scores, Counts)
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    prior = require_open_unit("prior", prior)
    ends = direction_of(direction)
    counts = data if isinstance(data, Counts) else finest(data)
    ordered = counts.cells.ordered
    turned = Counts.trusted(counts.nonmembers, counts.members, counts.cells)
    candidates, others = (
        ranges_of(side, alpha, shares, end) if ordered else _labels(side, sum(shares) * alpha)
        for side, shares, end in ((counts, OF_MEMBERS, ends), (turned, OF_NONMEMBERS, OPPOSITE[ends]))
    )
    tail, alarm, severe, members_epsilon = _exposing(counts, candidates, prior)
    # of the purest tail, or of any label
    level = float(candidates.levels[0]) if len(candidates.levels) else 0.0
    return Exposure(
        tail,
        _of_nonmembers(turned, others),
        alarm,
        severe,
        members_epsilon,
        _least_visible(counts.n_members, counts.n_nonmembers, level),
        _in_one_cell(counts),
        counts.n_members,
        counts.n_nonmembers,
        prior,
        confidence,
        OF_SCORES if ordered else OF_LABELS if _has_labels(counts) else OF_CELLS,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Tails side by side: where they are, who lies in them, which nonmember ends them, and the level of each.

    A place is the first cell and the one behind the last, which of a tail nobody asks for.
    """

    places: list[tuple[End, int, int]]
    members: Integers
    nonmembers: Integers
    ended_by: Integers
    levels: Floats

    @property
    def certain(self) -> Floats:
        """How many times as often as nonmembers members have to be shown to lie in each to be exposed: logarithms."""
        window = np.array([direction == "window" for direction, _, _ in self.places], dtype=np.bool_)
        return np.where(self.nonmembers > 0, np.log(np.where(window, CERTAIN_INSIDE, CERTAIN)), 0.0)


def ranges_of(counts: Counts, alpha: float, shares: tuple[float, float], ends: Direction) -> _Candidates:
    """Tails at the ends that are asked for, then windows between both ends.

    Args:
        shares: The part of it that tails have, and that windows have.
    """
    tails, windows = tails_of(counts, shares[0] * alpha, ends), windows_of(counts, shares[1] * alpha)
    return _Candidates(
        tails.places + windows.places,
        np.concatenate([tails.members, windows.members]),
        np.concatenate([tails.nonmembers, windows.nonmembers]),
        np.concatenate([tails.ended_by, windows.ended_by]),
        np.concatenate([tails.levels, windows.levels]),
    )


def windows_of(counts: Counts, alpha: float) -> _Candidates:
    """The fullest window of every number of nonmembers that it may hold."""
    windows = fullest_windows(counts)
    at = zip(windows.first.tolist(), windows.behind.tolist(), strict=True)
    return _Candidates(
        [("window", first, behind) for first, behind in at],
        windows.members,
        windows.nonmembers,
        windows.within,
        alpha * windows.shares,
    )


def tails_of(counts: Counts, alpha: float, ends: Direction) -> _Candidates:
    """Both ends of ordered cells: as many whole cells as hold at most 0, 1, 2, 4, ... nonmembers."""
    n1, n0 = counts.n_members, counts.n_nonmembers
    members, nonmembers = counts.members.cumsum(), counts.nonmembers.cumsum()
    most = np.array([0] + [2**j for j in range(62) if 2 * 2**j <= n0], dtype=np.int64)
    place = np.arange(1, len(most) + 1)
    levels = alpha / (place * (place + 1.0)) / (2.0 if ends is Direction.EITHER else 1.0)
    sides: list[tuple[End, Integers, Integers]] = []
    if ends is not Direction.LOW:
        last = nonmembers.searchsorted(n0 - most)  # the tail is what lies above this cell
        sides.append(("high", n1 - members[last], n0 - nonmembers[last]))
    if ends is not Direction.HIGH:
        cells = nonmembers.searchsorted(most, side="right")
        below = [np.concatenate([[0], side])[cells] for side in (members, nonmembers)]
        sides.append(("low", below[0], below[1]))
    return _Candidates(
        [(name, 0, 0) for name, _, _ in sides for _ in most],
        np.concatenate([inside for _, inside, _ in sides]),
        np.concatenate([inside for _, _, inside in sides]),
        np.concatenate([most] * len(sides)),
        np.concatenate([levels] * len(sides)),
    )


def _labels(counts: Counts, alpha: float) -> _Candidates:
    """Each label or cell by itself; of those with as many nonmembers only the one with most members can say most."""
    labels = int(np.count_nonzero(counts.pooled))
    if labels < 2:
        nothing = np.zeros(0, dtype=np.int64)
        return _Candidates([], nothing, nothing, nothing, np.zeros(0))
    order = np.lexsort((-counts.members, counts.nonmembers))
    members = counts.members[order]
    best = np.concatenate([[True], members[1:] > np.maximum.accumulate(members)[:-1]])
    keep = order[best & (members > 0)]
    inside = counts.nonmembers[keep]
    levels = np.full(len(keep), alpha / labels)
    what: End = "label" if _has_labels(counts) else "cell"
    return _Candidates([(what, int(at), int(at) + 1) for at in keep], counts.members[keep], inside, inside, levels)


def _has_labels(counts: Counts) -> bool:
    """Whether cells without an order have labels; those of vectors have none."""
    return isinstance(counts.cells, Categories)


def _exposing(counts: Counts, tails: _Candidates, prior: float) -> tuple[Tail | None, bool, bool, float]:
    """The tail that is named, whether it is an exposure and whether a severe one, and the largest limit of all.

    Of severe exposures, or else of all, or else of all tails that with the largest limit is named.
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    at = _severe(tails, n1, n0)
    severe = alarm = at >= 0
    if severe:
        m, k = int(tails.members[at]), int(tails.ended_by[at])
        epsilon = ratio_limit(m, n1, k, n0, float(tails.levels[at]), log(SEVERE))
    else:
        clear = tails.members * float(n0) >= CLEAR * tails.nonmembers * float(n1)
        at, epsilon = _largest(tails, n1, n0, np.where(clear, tails.certain, np.inf))
        alarm = at >= 0
        if not alarm:
            at, epsilon = _largest(tails, n1, n0, np.zeros(len(tails.levels)))
    if at < 0:
        return None, False, False, 0.0
    level, m = float(tails.levels[at]), int(tails.members[at])
    direction, label, low, high = _place(counts, tails, at)
    tail = Tail(
        direction,
        label,
        m,
        int(tails.nonmembers[at]),
        lower_limit(m, n1, level),
        upper_limit(int(tails.ended_by[at]), n0, level),
        float(expit(epsilon + logit(prior))),
        epsilon,
        low,
        high,
    )
    largest = _largest(tails, n1, n0, np.full(len(tails.levels), epsilon))[1] if alarm else 0.0
    return tail, alarm, severe, max(largest, epsilon)


def _severe(tails: _Candidates, n1: int, n0: int) -> int:
    """Which tail has the largest limit of those shown to be severe, ratio and share at half of its level; else -1."""
    halved = replace(tails, levels=tails.levels / 2.0)
    m = np.maximum(tails.members, 1)
    broad = (tails.members > 0) & (betainc(m, n1 - m + 1.0, SEVERE_SHARE) <= halved.levels)
    dense = tails.members * float(n0) > SEVERE * tails.ended_by * float(n1)
    if not (broad & dense).any():
        return -1
    return _largest(halved, n1, n0, np.where(broad & dense, log(SEVERE), np.inf))[0]


def _of_nonmembers(turned: Counts, tails: _Candidates) -> NonmemberTail | None:
    """The tail of nonmembers with the largest limit; ``turned`` counts have the sides exchanged."""
    at, epsilon = _largest(tails, turned.n_members, turned.n_nonmembers, np.zeros(len(tails.levels)))
    if at < 0:
        return None
    inside, others = int(tails.members[at]), int(tails.nonmembers[at])
    direction, label, low, high = _place(turned, tails, at)
    return NonmemberTail(direction, label, others, inside, epsilon, low, high)


def _largest(tails: _Candidates, n1: int, n0: int, above: Floats) -> tuple[int, float]:
    """Which tail has the largest limit of those above their own threshold, and the limit; -1 and 0 if none has."""
    which, limit = -1, 0.0
    for at, hope in _hopeful(tails, n1, n0, above):
        start = max(limit, float(above[at]))
        if hope > start:
            m, k = int(tails.members[at]), int(tails.ended_by[at])
            larger = ratio_limit(m, n1, k, n0, float(tails.levels[at]), start)
            if larger > start:
                which, limit = at, larger
    return which, limit


def _place(
    counts: Counts, tails: _Candidates, at: int
) -> tuple[End, str | float | bool | None, float | None, float | None]:
    """Where a tail is: its direction, its label if it has one, and both bounds of a window."""
    direction, cell, behind = tails.places[at]
    if direction in ("high", "low"):
        return direction, None, None, None
    if direction == "window":
        edges, one_number = counts.lower_edges(), isinstance(counts.cells, Values)
        return direction, None, float(edges[cell]), float(edges[behind - 1 if one_number else behind])
    return (
        direction,
        counts.cells.labels[cell].item() if isinstance(counts.cells, Categories) else cell,
        None,
        None,
    )


def _hopeful(tails: _Candidates, n1: int, n0: int, above: Floats | float = 0.0) -> list[tuple[int, float]]:
    """Tails whose limit may lie above their own threshold, and what it is at most, the largest first.

    Were both sides endless, V_(m) / (V_(m) + U_(k+1)) would follow a beta law; that they end makes the ratio less
    uncertain by a factor that is known well enough to tell which tails are worth an exact limit.
    """
    m, k = np.maximum(tails.members, 1).astype(np.float64), tails.ended_by.astype(np.float64)
    with np.errstate(divide="ignore"):
        observed = np.log(tails.members / n1) - np.log((k + 0.5) / n0)
    endless = 1.0 / m + 1.0 / (k + 1.0)
    steady = np.sqrt(np.maximum(endless - 1.0 / n1 - 1.0 / n0, 0.0) / endless)
    rough = observed + HOPEFUL * ndtri(tails.levels) * np.sqrt(endless) * steady
    short = (n0 < FEW) | (2 * tails.members > n1)  # one side ends so soon that nothing simple is close
    some = ((rough > above) | (observed > above) & short).nonzero()[0]
    if not some.size:
        return []
    m, k, observed, steady = m[some], k[some], observed[some], steady[some]
    share = betaincinv(m, k + 1.0, tails.levels[some])
    with np.errstate(divide="ignore"):
        limit = logit(share) + np.log(n0 / n1)
    reach = np.maximum(observed - limit, 0.0)
    sure = np.where(np.minimum(m, k) > 1000.0, SURE[1], SURE[0])
    hope = np.minimum(rough[some], limit + reach * (1.0 - sure * steady))
    hope = np.where(short[some], observed, hope)
    order = np.argsort(-hope, kind="stable")[: np.count_nonzero(hope > 0.0)]
    return list(zip(some[order].tolist(), hope[order].tolist(), strict=True))


def ratio_limit(m: int, n1: int, k: int, n0: int, level: float, start: float = 0.0) -> float:
    """Largest log g with P(V_(m) <= g U_(k+1)) at most ``level``; ``start``, which is not negative, if none is above.

    Args:
        m: Members in the tail, at least 1.
        n1: Members in all.
        k: Nonmembers that the tail may hold: it ends at the next one.
        n0: Nonmembers in all, more than k.
        level: The probability that the limit may be wrong.
        start: The logarithm that the limit has to exceed.
    """
    if k >= n0 or _log_chance(m, n1, k, n0) > log(level) + 1.0:
        return start
    excess, guess, likely = _excess(m, n1, k, n0, level)
    points = [max(start, guess - 0.02), *accumulate(STEPS, initial=max(start, guess) + 0.005)]
    at = max(0, bisect_left(points, likely) - 1)  # excess grows: its zero lies between this one and the next
    while at and excess(points[at]) > 0.0:
        at -= 1
    if not at and excess(points[0]) > 0.0:
        if points[0] == start or excess(start) > 0.0:
            return start
        points.insert(0, start)
    while excess(points[at + 1]) <= 0.0:
        at += 1
    return max(start, float(brentq(excess, points[at], points[at + 1], xtol=NEAR / 2.0)) - NEAR)


@cache_of_records(64)
def _excess(m: int, n1: int, k: int, n0: int, level: float) -> tuple[Callable[[float], float], float, float]:
    """How far P(V_(m) <= g U_(k+1)) lies above the level, in logarithms, by log g, with which it grows.

    With it, where that is nothing were both sides endless, if that is known, and about where it is as they are.
    Kept for as many tails as a few answers ask about, each more than once: a law is a hundred numbers or so.
    """
    a, b, c, d = float(m), n1 - m + 1.0, k + 1.0, float(n0 - k)
    of_a, of_b, of_c, of_d, of_members, of_nonmembers = polygamma(1, np.array([a, b, c, d, a + b, c + d]))
    uncertain_members, uncertain_end = np.sqrt(of_a - of_members), np.sqrt(of_c - of_nonmembers)
    over_members = uncertain_members <= 3.0 * uncertain_end
    if over_members:
        nodes, spread = 2.0 * uncertain_members / uncertain_end, np.sqrt(of_a + of_b)
        values, weights = _law(a, b, OUTSIDE * level, spread, nodes)
    else:  # then g U is far below 1, where the law of V_(m) has its corner
        values, weights = _law(c, d, OUTSIDE * level, np.sqrt(of_c + of_d), 1.0)

    @lru_cache(maxsize=64)
    def excess(log_ratio: float) -> float:
        g = np.exp(log_ratio)
        if over_members:
            p = dot(weights, betaincc(c, d, values / g))
        else:
            p = dot(weights, betainc(a, b, np.minimum(values * g, 1.0)))
        return float(np.log(max(p, 1e-300) / level))

    share = betaincinv(a, c, level)  # of V_(m) / (V_(m) + U_(k+1)), were both sides endless
    if not 0.0 < share < 1.0:
        return excess, -inf, -inf
    endless = float(logit(share)) + np.log(n0 / n1)
    observed = log(m / n1) - log((k + 0.5) / n0)
    steady = sqrt(max(0.0, 1.0 - (1.0 / n1 + 1.0 / n0) / (1.0 / m + 1.0 / (k + 1.0))))
    return excess, endless, observed - (observed - endless) * steady


def _log_chance(m: int, n1: int, k: int, n0: int) -> float:
    """Logarithm of the chance that of the m + k highest of all records just m are members, if the sides are alike.

    So probable at least it is that V_(m) <= U_(k+1).
    """
    ways = [lgamma(n + 1.0) - lgamma(some + 1.0) - lgamma(n - some + 1.0) for n, some in ((n1, m), (n0, k))]
    return sum(ways) - lgamma(n1 + n0 + 1.0) + lgamma(m + k + 1.0) + lgamma(n1 + n0 - m - k + 1.0)


def _law(a: float, b: float, outside: float, spread: float, times: float) -> tuple[Floats, Floats]:
    """Values of a beta law and their weights, by the trapezoidal rule in the log odds, where its density is smooth.

    With steps small beside all that is summed, the rule converges faster than any power of them.
    """
    centre = np.log(a / b)
    if min(a, b) >= NORMAL:
        high = -float(ndtri(outside)) * spread
        low = -high
    else:
        low = float(logit(betaincinv(a, b, outside))) - centre
        high = -float(logit(betaincinv(b, a, outside))) - centre
    away = np.linspace(low, high, int(NODES * max(1.0, times) * (1.0 if min(a, b) >= SKEW else 4.0)))
    density = a * away - (a + b) * np.log1p(a / (a + b) * np.expm1(away))
    weights = np.exp(density - density.max())
    return expit(away + centre), weights / weights.sum()


def _least_visible(n1: int, n0: int, level: float) -> int | None:
    """Fewest members beyond every nonmember that have at most this probability without a leak."""
    if not level:
        return None
    before = np.arange(min(n1, 4096), dtype=np.float64)
    chances = np.cumsum(np.log((n1 - before) / (n1 + n0 - before)))
    few = np.flatnonzero(chances <= np.log(level))
    if len(few):
        return int(few[0]) + 1
    # of a side so much larger the draws are as good as independent, and that errs to the safe side
    many = int(np.ceil(np.log(level) / np.log(n1 / (n1 + n0))))
    return many if many <= n1 else None


def _in_one_cell(counts: Counts) -> int | None:
    """The most members that a cell has beside nonmembers, where cells may hold several scores."""
    if counts.unseen is not None or counts.cells.kind not in ("intervals", "grid"):
        return None
    return int(counts.unlike()[0, counts.nonmembers > 0].max(initial=0))


def _who(tail: Tail | NonmemberTail, inside: tuple[int, int, str], others: tuple[int, int, str]) -> str:
    """Who lies in a tail, on which side, without the stop."""
    (some, of, side), (few, of_others, other) = inside, others
    who = f"{some:,} of {of:,} {side}s"
    if few:
        who += f" and {few:,} of {of_others:,} {other}s"
    if tail.direction == "label":
        return f"{who} have the label {_short(tail.label)!r}" + ("" if few else f", which no {other} has")
    if tail.direction == "cell":
        return f"{who} lie in one cell of vectors" + ("" if few else f", in which no {other} lies")
    if tail.low is not None and tail.high is not None:
        who += f" {_between(tail.low, tail.high)}"
        return who if few else f"{who}, where no {other} lies"
    high = tail.direction == "high"
    if few:
        return f"{who} score {'above' if high else 'below'} one cut"
    return f"{who} score {'higher' if high else 'lower'} than every {other}"


def _between(low: float, high: float) -> str:
    """Whose scores lie in a range, in words, with as many digits as its width needs."""
    if low == high:
        return f"have the score {low:.12g}"
    digits = 3
    while digits < 17 and any(
        abs(float(f"{bound:.{digits}g}") - bound) > ROUNDING * (high - low) for bound in (low, high)
    ):
        digits += 1
    return f"score between {low:.{digits}g} and {high:.{digits}g}"


def _short(label: object) -> str:
    text = str(label)
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
