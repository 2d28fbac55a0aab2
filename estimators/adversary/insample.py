"""The upper end: the best rule of a declared class looks at least as good on its own records as it is.

For the unknown best rule of a class fixed in advance, the in-sample optimum of that class is at
least that rule's in-sample advantage. So any upper limit that is valid for one fixed rule, taken at
the in-sample optimum, is valid for the class, with no correction for the search (study 2.2). Nor do several classes
need one: the best rule of all is in one of them, so the largest of their limits stands.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from estimators.adversary.changes import FEW, best_by_changes, best_by_changes_each
from estimators.arrays import Floats, distinct
from estimators.errors import OutOfRange
from estimators.limits.binomial import normal_quantile, pools, upper_limit
from estimators.limits.two_rates import ALONE, FINE, TwoRates, weighted_accuracy_upper
from estimators.sample.counts import Counts
from estimators.statement import baseline

Search = Generator[tuple[Floats, Floats, float], tuple[Floats, Floats], float]

MANY_CELLS = 64
"""Past this many cells the noise of W_K outweighs a split of the error over second-moment bounds."""

TILTS = (0.0, 0.25, 0.75, 1.5, 3.0)
"""How far from the prior, in log-odds, the lines lie that enclose what a class reaches."""

RARE_ALONE = 0.4
"""Part of the level at which either rate is refused by itself where sets of few records decide."""

EXACTLY = 32
"""Numbers of changes below which the largest that keeps within a maximum is found to the last one."""

AT_ONCE = 2**16  # cells, of so many lines together, at which the best rules are looked up at once

PIECES = 48
ROUNDS = 24
SLACK = 0.01


class FewChanges:
    """Rules that change their guess at most so many times along a score, wherever, and their upper limits.

    A limit equals the optimal advantage if the posterior crosses 1/2 no more often. The best rules on the records are
    looked up once, for every number of changes and every level.
    """

    def __init__(self, counts: Counts, prior: float, most: int) -> None:
        """Of ordered cells, as fine as there are; at most so many changes will be asked for."""
        self.cells, counts = counts.size, _fewer_first(counts, prior)
        self.prior, self.sides = prior, (counts.n_members, counts.n_nonmembers)
        self.is_one_sample = pools(*self.sides, prior)
        gain = (lambda _: counts.weights(prior)) if self.is_one_sample else _gains(counts)
        self._gain, self._most = gain, most
        self._best = cache(lambda most: best_by_changes(gain(prior), most))
        self._along = cache(self._best_along_lines)

    def upper(self, alpha: float, changes: int, enough: float = 1.0) -> float:
        """The upper limit of level 1 - alpha for so many changes; of ``enough`` it tells only which side."""
        return self.uppers(alpha, (changes,), enough)[0]

    def uppers(self, alpha: float, changes: Sequence[int], enough: float = 1.0) -> list[float]:
        """The same for several numbers of changes."""
        if self.is_one_sample:
            reached = np.array([self.reached(each) for each in changes])
            return [_clip(each, self.prior) for each in _exact(reached, sum(self.sides), alpha).tolist()]
        chains = [self.enclosing(each) for each in changes]
        largest = _largest_along_each(chains, *self.sides, self.prior, alpha, (1.0 + enough) / 2.0)
        return [_clip(2.0 * each - 1.0, self.prior) for each in largest]

    def enclosing(self, changes: int) -> tuple[Floats, Floats]:
        """Corners of a chain of lines below which every rule with so many changes lies."""
        return _enclosing(shares_around(self.prior), self._along(self._looked_up(changes))[:, changes])

    def reached(self, changes: int) -> float:
        """In-sample advantage of the best rule with so many changes."""
        return float(self._best(self._looked_up(changes))[changes])

    def _looked_up(self, changes: int) -> int:
        return FEW if changes <= FEW else self._most

    def _best_along_lines(self, most: int) -> Floats:
        """What the best rules had if members had other shares of all: a row for each, a column for changes."""
        shares = shares_around(self.prior)
        best, at_once = np.zeros((len(shares), most + 1)), max(1, AT_ONCE // self.cells)
        for at in range(0, len(shares), at_once):
            gains = np.array([self._gain(share) for share in shares[at : at + at_once]])
            best[at : at + at_once] = best_by_changes_each(gains, most)
        return best

    def within(self, alpha: float, maximum: float) -> int | None:
        """Most changes of rules whose upper limit is not above ``maximum``; None if not even that of 0 is.

        Limits grow with the changes. A limit is not below what the rule has on these records, and about a normal one's
        width above it: there the search begins.
        """
        if maximum >= 1.0:
            return self._most
        prior, (n1, n0), values = self.prior, self.sides, self._best(self._most)
        spread = np.sqrt((1.0 - maximum**2) * (prior**2 / n1 + (1.0 - prior) ** 2 / n0))
        start = int(values.searchsorted(maximum - normal_quantile(alpha) * spread))
        end = int(values.searchsorted(maximum, side="right"))
        last = last_within(lambda changes: self.upper(alpha, changes, maximum) <= maximum, start, end)
        return None if last < 0 else last


def changes_upper(counts: Counts, prior: float, alpha: float, changes: int) -> float:
    """Upper limit for every rule that changes its guess at most so many times along the score."""
    return FewChanges(counts, prior, changes).upper(alpha, changes)


def last_within(within: Callable[[int], bool], start: int, end: int) -> int:
    """Largest number below ``end`` that is within, by steps from ``start`` that double, then by halves; -1 if none.

    Of large numbers one that is within and smaller by a thirty-second at most: each that is looked at has its price.
    """
    low, high, step = -1, end, 1
    at = min(max(start, low + 1), high - 1)
    while high - low > 1 + max(low, 0) // EXACTLY:
        if within(at):
            low, ahead = at, min(at + step, high)
        else:
            high, ahead = at, max(at - step, low)
        step *= 2
        at = ahead if low < ahead < high and (low < 0 or high == end) else (low + high) // 2
    return low


def cells_or_changes_upper(cells: Counts, rules: FewChanges, alpha: float, changes: int) -> float:
    """The larger of the limits of rules that see the cell and of those that change their guess along the score."""
    prior = rules.prior
    if cells.size > MANY_CELLS or rules.is_one_sample:
        return max(cells_upper(cells, prior, alpha), rules.upper(alpha, changes))
    chain = _outer(_hull(_fewer_first(cells, prior)), rules.enclosing(changes))
    return _clip(2.0 * _largest_along(*chain, *rules.sides, prior, alpha) - 1.0, prior)


def _fewer_first(counts: Counts, prior: float) -> Counts:
    """The side with fewer records as the members at even odds, where an attacker gains as much by accusing the other.

    A limit is then the same whichever side is called the members.
    """
    if prior != 0.5 or counts.n_members <= counts.n_nonmembers:
        return counts
    return Counts.trusted(counts.nonmembers, counts.members, counts.cells)


def _outer(*chains: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The chain that follows the higher of two, with a corner wherever they cross."""
    tpr = distinct(np.concatenate([hits for hits, _ in chains]))
    one, other = (np.interp(tpr, *chain, right=0.0) for chain in chains)
    before, after = (one - other)[:-1], (one - other)[1:]
    at = np.flatnonzero(before * after < 0.0)
    crossing = tpr[at] + (tpr[at + 1] - tpr[at]) * before[at] / (before[at] - after[at])
    tpr = np.sort(np.concatenate([tpr, crossing]))
    return tpr, np.maximum(*(np.interp(tpr, *chain, right=0.0) for chain in chains))


def _gains(counts: Counts) -> Callable[[float], Floats]:
    """What "member" gains from cell to cell, by the share of members.

    No rule gains by a change between neighbouring cells of which all hold members alone, or nonmembers alone.
    """
    x, y = counts.members, counts.nonmembers
    side = np.sign(x).astype(np.int8) - np.sign(y).astype(np.int8)
    new = np.concatenate([[True], (side[1:] != side[:-1]) | (side[1:] == 0)])
    starts = np.flatnonzero(new)
    hits = np.add.reduceat(x, starts) / counts.n_members
    alarms = np.add.reduceat(y, starts) / counts.n_nonmembers
    return lambda share: share * hits - (1.0 - share) * alarms


def cells_upper(counts: Counts, prior: float, alpha: float, universe: int | None = None) -> float:
    """Upper limit for every adversary that sees only the cell.

    With many cells the error is shared with second-moment bounds, which grow as K^(1/4) where W_K
    grows as K^(1/2). ``universe``, the number of possible categories if known in advance, allows the
    sharpest of them.
    """
    if universe is not None and universe < counts.size:
        message = f"got {universe} possible categories, but the records have {counts.size}"
        raise OutOfRange.about("universe", message)
    counts = _fewer_first(counts, prior)
    if counts.size <= MANY_CELLS:
        return _all_subsets(counts, prior, alpha)
    share = alpha / (2.0 if universe is None else 3.0)
    bounds = [_all_subsets(counts, prior, share), _chi_square(counts, prior, share)]
    if universe is not None:
        bounds.append(_uniform_weights(counts, prior, share, universe))
    return _clip(min(bounds), prior)


def subsets_within(counts: Counts, prior: float, alpha: float, most: float) -> bool:
    """Whether upper limits of p TPR + (1-p) TNR of all sets of cells are at most ``most``, whatever the prior."""
    sides = counts.n_members, counts.n_nonmembers
    return _largest_along(*_hull(counts), *sides, prior, alpha, most, RARE_ALONE) <= most


def _all_subsets(counts: Counts, prior: float, alpha: float) -> float:
    n1, n0 = counts.n_members, counts.n_nonmembers
    if pools(n1, n0, prior):
        value = np.abs(counts.weights(prior)).sum()
        return _clip(float(_exact(value, counts.n_records, alpha)), prior)
    return _clip(2.0 * _largest_along(*_hull(counts), n1, n0, prior, alpha) - 1.0, prior)


def _hull(counts: Counts) -> tuple[Floats, Floats]:
    """Rates along the upper hull of all sets of cells: TPR rising, TNR falling from the most member-like cell on."""
    x, y = counts.members, counts.nonmembers
    shares = x / np.maximum(x + y, 1)
    order = np.argsort(-shares, kind="stable")
    last = np.flatnonzero(np.diff(shares[order], append=-1.0))  # cells alike in share lie on one line
    hits, alarms = (np.concatenate([[0], side[order].cumsum()[last]]) for side in (x, y))
    tpr, at = np.unique(hits, return_index=True)
    return tpr / counts.n_members, 1.0 - alarms[at] / counts.n_nonmembers


def _exact(values: Floats, n: int, alpha: float) -> Floats:
    """2 CP_U(N (1+W)/2, N) - 1: exact when n1 = pN (Hoeffding 1956: pooling unequal rates only helps)."""
    return np.minimum(1.0, 2.0 * upper_limit(np.minimum(n * (1.0 + values) / 2.0, n), n, alpha) - 1.0)


def _clip(value: float, prior: float) -> float:
    return float(min(1.0, max(value, baseline(prior))))


@lru_cache(maxsize=64)
def shares_around(prior: float) -> Floats:
    """Shares of members at which the lines lie that enclose what a class reaches."""
    tilts = distinct(np.concatenate([TILTS, np.negative(TILTS)]))
    odds = prior / (1.0 - prior) * np.exp(tilts)
    shares = distinct(odds / (1.0 + odds))
    # at the ends, a line cannot be told from a rate of 1
    return shares[(shares > 1e-12) & (shares < 1.0 - 1e-12)]


def _enclosing(shares: Floats, reached: Floats) -> tuple[Floats, Floats]:
    """Corners of a chain of lines below which every rule of a class lies: TPR rising, TNR falling.

    ``reached`` is the in-sample advantage of the class's best rule if members had each of these shares of all:
    p TPR + (1-p) TNR is at most (1 + reached)/2 at every p, of which these are a few.
    """
    most = np.concatenate([[1.0], (1.0 + reached) / 2.0, [1.0]])
    shares = np.concatenate([[0.0], shares, [1.0]])  # at the ends, that neither rate exceeds 1
    step = np.diff(shares)
    tpr = ((1.0 - shares[:-1]) * most[1:] - (1.0 - shares[1:]) * most[:-1]) / step
    tnr = (shares[1:] * most[:-1] - shares[:-1] * most[1:]) / step
    tpr, tnr = np.clip(tpr, 0.0, 1.0), np.clip(tnr, 0.0, 1.0)
    tpr, first = np.unique(np.maximum.accumulate(tpr), return_index=True)
    return tpr, np.maximum.accumulate(tnr[::-1])[::-1][first]


def _largest_along(
    tpr: Floats, tnr: Floats, n1: int, n0: int, prior: float, alpha: float, enough: float = 1.0, alone: float = ALONE
) -> float:
    """Largest upper limit of p TPR + (1-p) TNR of a rule below a falling chain, from above."""
    return _largest_along_each([(tpr, tnr)], n1, n0, prior, alpha, enough, alone)[0]


def _largest_along_each(
    chains: Sequence[tuple[Floats, Floats]],
    n1: int,
    n0: int,
    prior: float,
    alpha: float,
    enough: float = 1.0,
    alone: float = ALONE,
) -> list[float]:
    """The same of several chains, each as if it were alone: what all of them ask for is found at once."""
    rates = TwoRates.of_guesses(0, n1, 0, n0, prior, alone)
    searches = [_search_along(*chain, n1, n0, prior, enough) for chain in chains]
    requests, largest = {search: next(search) for search in searches}, dict[Search, float]()
    while requests:
        hits, others, floors = zip(*requests.values(), strict=True)
        ends = np.cumsum([len(each) for each in hits])
        n_a, n_c = np.full(ends[-1], float(n1)), np.full(ends[-1], float(n0))
        pairs = replace(rates, hits_a=np.concatenate(hits), n_a=n_a, hits_c=np.concatenate(others), n_c=n_c)
        firsts = np.concatenate([[0], ends[:-1]])
        limits = pairs.largest(prior, 1.0 - prior, alpha, np.array(floors), firsts)
        for search, first, end in zip(list(requests), firsts, ends, strict=True):
            try:
                requests[search] = search.send((limits.bound[first:end], limits.reached[first:end]))
            except StopIteration as stop:
                largest[search] = stop.value
                del requests[search]
    return [largest[search] for search in searches]


def _search_along(tpr: Floats, tnr: Floats, n1: int, n0: int, prior: float, enough: float) -> Search:
    """Ask for limits of pairs of right guesses, and what is reached there, above a floor, until the largest is known.

    A rule has whole numbers of right guesses. Those with between i and j of them on the first side are at most as good
    as one with j of them and the most of the other side that i leave. The likeliest stretches are split until what
    is left to gain no longer matters, or it is plain on which side of ``enough`` the largest lies.
    """
    best_here = float((prior * tpr + (1.0 - prior) * tnr).max())
    rules = distinct(np.floor(n1 * tpr + 1e-6))  # of the class: the answer is not below what they reach
    begin = distinct(np.concatenate([rules, np.floor(np.linspace(rules[0], rules[-1], PIECES))]))
    end = np.append(begin[1:] - 1.0, begin[-1])
    first, last, bound = np.empty(0), np.empty(0), np.empty(0)
    lower = -np.inf
    for _ in range(ROUNDS):
        most = np.floor(n0 * np.interp(np.concatenate([begin, rules]) / n1, tpr, tnr) + 1e-6)
        limits, reached = yield np.concatenate([end, rules]), most, lower
        lower = max(lower, float(reached[len(begin) :].max()))
        first, last = np.concatenate([begin, first]), np.concatenate([end, last])
        bound = np.concatenate([limits[: len(begin)], bound])
        upper = max(lower, float(bound.max()))
        open_ = np.flatnonzero((bound > lower) & (last > first))
        is_settled = upper - lower <= max(SLACK * (upper - best_here), FINE) or lower > enough or upper <= enough < 1.0
        if is_settled or not open_.size:
            break
        top = open_[np.argsort(-bound[open_])[:PIECES]]
        rules = first[top[:1]]
        quarters = np.linspace(0.0, 1.0, 5)
        ends = np.floor(first[top][:, None] + quarters * (last[top] + 1.0 - first[top])[:, None])
        begin, end = ends[:, :-1].ravel(), ends[:, 1:].ravel() - 1.0
        begin, end = begin[end >= begin], end[end >= begin]
        keep = bound > lower
        keep[top] = False
        first, last, bound = first[keep], last[keep], bound[keep]
    return min(max(lower, float(bound.max(initial=-np.inf))), 1.0)


def second_moment(counts: Counts, prior: float) -> float:
    """sqrt of the unbiased estimate of E g^2: what W_K would be without the noise of its many cells."""
    return float(np.sqrt(_chi_square_terms(counts, prior)[0]))


def _chi_square(counts: Counts, prior: float, alpha: float) -> float:
    """Adv = E|g| <= sqrt(E g^2), whose square has an unbiased estimate cell by cell (Cover and Hart 1967).

    Records alone in their cell have no such estimate. What they can give is their own share, and that has an exact
    limit like any other pair of rates.
    """
    square, spread, slope, several = _chi_square_terms(counts, prior)
    alone = counts.pooled == 1
    lone = 0.0
    if alone.any():
        first, second = int(counts.members[alone].sum()), int(counts.nonmembers[alone].sum())
        lone = float(weighted_accuracy_upper(first, counts.n_members, second, counts.n_nonmembers, prior, alpha / 2.0))
        alpha /= 2.0
    return several * float(np.sqrt(_second_moment_limit(square, spread, slope, alpha))) + lone


def _chi_square_terms(counts: Counts, prior: float) -> tuple[float, float, float, float]:
    """Estimate of E g^2 in cells of several records, its variance at 0 and per unit, and the share of these records."""
    share = counts.member_share
    up, down = prior / share, -(1.0 - prior) / (1.0 - share)
    m = counts.pooled.astype(np.float64)
    s = up * counts.members + down * counts.nonmembers
    t = up**2 * counts.members + down**2 * counts.nonmembers
    several = m >= 2
    m2, s2, t2 = m[several], s[several], t[several]
    n2 = m2.sum()
    if n2 == 0:
        return 1.0, 0.0, 0.0, 0.0
    square = (s2**2 - t2) / (m2 * (m2 - 1.0))
    spread = float(((m2 / n2) ** 2 * 2.0 * (t2 / m2) ** 2 / (m2 * (m2 - 1.0))).sum())
    mass, signal = m2 / n2, np.maximum(square, 0.0) * m2
    noise = float((mass * t2 / m2).sum())  # of a record, by mass, or where g^2 lies if it is larger there
    if signal.sum() > 0.0:
        noise = max(noise, float((signal * t2 / m2).sum() / signal.sum()))
    return (max(0.0, float((m2 * square).sum() / n2)), spread, 4.0 * noise / n2, float(n2 / counts.n_records))


def _uniform_weights(counts: Counts, prior: float, alpha: float, universe: int) -> float:
    """Adv <= sqrt(k sum d_j^2) for k categories known in advance; the sum has an unbiased estimate."""
    x, y = counts.members.astype(np.float64), counts.nonmembers.astype(np.float64)
    n1, n0 = counts.n_members, counts.n_nonmembers
    a, b = prior / n1, (1.0 - prior) / n0
    pairs = (n1 / max(n1 - 1.0, 1.0), n0 / max(n0 - 1.0, 1.0))
    same = a * a * x * (x - 1.0) * pairs[0], b * b * y * (y - 1.0) * pairs[1]
    square = universe * float((same[0] + same[1] - 2.0 * a * b * x * y).sum())
    # variance of p r_j - (1-p) q_j is a^2 E x + b^2 E y for rare categories; its square, unbiased:
    fourth = a**4 * x * (x - 1.0) + 2.0 * a**2 * b**2 * x * y + b**4 * y * (y - 1.0)
    spread = universe**2 * 2.0 * float(fourth.sum())
    slope = 4.0 * float((a * a * x + b * b * y).sum())
    return float(np.sqrt(_second_moment_limit(max(0.0, square), spread, slope, alpha)))


def _second_moment_limit(square: float, spread: float, slope: float, alpha: float) -> float:
    """Largest rho with square >= rho - z sqrt(spread + slope rho)."""
    z = normal_quantile(alpha)
    return square + z * z * slope / 2.0 + z * float(np.sqrt(spread + slope * square + z * z * slope**2 / 4.0))
