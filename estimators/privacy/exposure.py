"""Whether members have scores that no nonmember, or almost none, has; and the epsilon of the score.

An advantage is an average: one training row in a hundred that a release prints word for word moves it by 0.01. This
looks at the ends of the score, at tails fixed in advance by how many nonmembers may lie in them (0, 1, 2, 4, ...), and
everywhere between, at windows that hold so many (``privacy.ranges``).

Two distributions are as far apart as either is from the other, so the epsilon of the score looks at the tails of
nonmembers that almost no member reaches, too, with a small share of the level.
"""

from math import log

import numpy as np
from scipy.special import betainc, expit, logit

from estimators.arrays import Floats
from estimators.errors import require_open_unit
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy.direction import Direction, direction_of
from estimators.privacy.ranges import End, Ranges, has_labels, labels_of, largest_limit, place_of, ranges_of
from estimators.privacy.share_ratio import least_visible, ratio_limit
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import IID, Caution, Guarantee, at_least, one_end, percent, percent_at_least

__all__ = ["Exposure", "Tail", "exposure"]

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

LONGEST_LABEL = 60
"""Characters of a label that a sentence repeats."""

OF_MEMBERS = (0.9, 0.04)
"""Share of the level of tails of members, and of windows, of which thousands share it and hardly depend on it."""

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
        kind = {"label": "label", "cell": "vector"}.get(tail.direction, "score")
        return (
            f"such a {kind} makes an attacker at least {percent_at_least(tail.precision_lower)} sure "
            f"of membership, in place of {percent(self.prior)}"
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """That members are exposed, whatever is true on average."""
        if not self.alarm or self.tail is None:
            return ()
        return (Caution("rare_exposure", f"{self.surely}, which an advantage, being an average, hides"),)


def exposure(
    data: Scores | Counts, confidence: float = 0.95, prior: float = 0.5, direction: Direction | str = Direction.EITHER
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
        ranges_of(side, alpha, shares, end) if ordered else labels_of(side, sum(shares) * alpha)
        for side, shares, end in ((counts, OF_MEMBERS, ends), (turned, OF_NONMEMBERS, ends.opposite))
    )
    tail, alarm, severe, members_epsilon = _exposing(counts, candidates, prior)
    level = float(candidates.levels[0]) if len(candidates.levels) else 0.0  # of the purest tail, or of any label
    return Exposure(
        tail,
        _of_nonmembers(turned, others),
        alarm,
        severe,
        members_epsilon,
        least_visible(counts.n_members, counts.n_nonmembers, level),
        _in_one_cell(counts),
        counts.n_members,
        counts.n_nonmembers,
        prior,
        confidence,
        OF_SCORES if ordered else OF_LABELS if has_labels(counts) else OF_CELLS,
    )


def _exposing(counts: Counts, tails: Ranges, prior: float) -> tuple[Tail | None, bool, bool, float]:
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
        at, epsilon = largest_limit(tails, n1, n0, np.where(clear, _certain(tails), np.inf))
        alarm = at >= 0
        if not alarm:
            at, epsilon = largest_limit(tails, n1, n0, np.zeros(len(tails.levels)))
    if at < 0:
        return None, False, False, 0.0
    level, m = float(tails.levels[at]), int(tails.members[at])
    direction, label, low, high = place_of(counts, tails, at)
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
    largest = largest_limit(tails, n1, n0, np.full(len(tails.levels), epsilon))[1] if alarm else 0.0
    return tail, alarm, severe, max(largest, epsilon)


def _certain(tails: Ranges) -> Floats:
    """How many times as often as nonmembers members have to be shown to lie in each to be exposed: logarithms."""
    window = np.array([direction == "window" for direction, _, _ in tails.places], dtype=np.bool_)
    return np.where(tails.nonmembers > 0, np.log(np.where(window, CERTAIN_INSIDE, CERTAIN)), 0.0)


def _severe(tails: Ranges, n1: int, n0: int) -> int:
    """Which tail has the largest limit of those shown to be severe, ratio and share at half of its level; else -1."""
    halved = replace(tails, levels=tails.levels / 2.0)
    m = np.maximum(tails.members, 1)
    broad = (tails.members > 0) & (betainc(m, n1 - m + 1.0, SEVERE_SHARE) <= halved.levels)
    dense = tails.members * float(n0) > SEVERE * tails.ended_by * float(n1)
    if not (broad & dense).any():
        return -1
    return largest_limit(halved, n1, n0, np.where(broad & dense, log(SEVERE), np.inf))[0]


def _of_nonmembers(turned: Counts, tails: Ranges) -> NonmemberTail | None:
    """The tail of nonmembers with the largest limit; ``turned`` counts have the sides exchanged."""
    at, epsilon = largest_limit(tails, turned.n_members, turned.n_nonmembers, np.zeros(len(tails.levels)))
    if at < 0:
        return None
    inside, others = int(tails.members[at]), int(tails.nonmembers[at])
    direction, label, low, high = place_of(turned, tails, at)
    return NonmemberTail(direction, label, others, inside, epsilon, low, high)


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
        return f"{who} have the label {short_label(tail.label)!r}" + ("" if few else f", which no {other} has")
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


def short_label(label: object) -> str:
    """A label as far as a sentence repeats it."""
    text = str(label)
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
