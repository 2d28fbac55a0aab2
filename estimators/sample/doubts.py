"""Signs that scores are not what they are taken for: repeated rows, records on both sides, sides written in two ways.

Each is something that independent records of one score do not do by chance, whatever the score: rounded numbers, small
integers, steps of a tree and values that many records share all repeat, but they repeat on both sides alike. So what is
looked at is not how often values repeat, or how many digits they have, but on which sides (docs/methods.md, section 1).
A doubt is a caution: there may be a good reason, and the numbers stay what they are.
"""

from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.sample import unlike_sides
from estimators.sample.common_records import differ_too_little, in_common
from estimators.sample.frequent import CROWD, RARE, ScoreSample, is_crowded
from estimators.sample.integers import LEAST, MOST, UNSIGNED, WHOLE
from estimators.sample.unlike_sides import PRECISION, RANGES, SORTED, SURE, VALUES
from estimators.statement import Caution

REPEATED, SHARED, SAME = "repeated_scores", "shared_scores", "sides_share_records"
CROWDED, CONSTANT, UNORDERED = "crowded_cell", "one_score_for_all", "integers_as_names"
DOUBTS = frozenset({REPEATED, SHARED, RANGES, PRECISION, SORTED, SAME, CROWDED, CONSTANT, UNORDERED})
"""The codes of all cautions about scores."""

SHARED_BY = (
    "half of the scores of {} or more stand in {}, too, or the other way round, far more than chance makes: if they "
    "are the same records, leave them out of one"
)
"""How two tables that share records are spoken of."""

EQUAL = "all scores are equal, so they tell nothing, whatever leaks: make sure that this is the score you mean"
ALL_EQUAL = (Caution(CONSTANT, EQUAL),)

LONG = 19
"""Signs and digits, at least, of an integer that int64 does not hold."""

NEARLY_HALF = 0.95
"""The part of a half of a side from which records are taken for a half of it where their number is an estimate."""

FEWER = 4.0
"""Repeated values that lie on both sides are that many times fewer than their neighbours would make it."""

AT_MOST = RARE, RARE**2, inf
"""Records of the values that are looked at for repeated rows: of rare ones first, as what is frequent may hide them."""

ALMOST_ALL = 0.95
"""The share of repeated rows' records that stand there no more often than is reckoned with."""

PART = 10.0
"""Scores of a side that are drawn where there are too many to sort, as a multiple of the root of their number."""

ALL = 2**15
"""Scores of a side that are few enough to be sorted, all of them."""

OF_ONE_SIZE = 16
"""Sides of which the larger has so many times the records of the smaller at most are of about the same size."""


def of_values(
    members: Integers, nonmembers: Integers, ordered: bool, scale: float = 1.0, smaller: int | None = None
) -> tuple[Caution, ...]:
    """What is odd about how often each different value occurs on either side.

    Args:
        members: Member records of each value; where values have an order, in that order.
        nonmembers: Nonmember records of each value.
        ordered: Whether neighbours among the values are neighbours as scores.
        scale: How many repetitions each one stands for, where only a part of the records is looked at.
        smaller: Records of the smaller side then; None: as many as are here.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.doubts import of_values
        >>> once = np.ones(60, dtype=np.int64)
        >>> [caution.code for caution in of_values(once, once, ordered=True)]  # the same 60 scores on both sides
        ['sides_share_records']
    """
    pooled = members + nonmembers
    if np.count_nonzero(pooled) == 1 and members.any() and nonmembers.any():
        return ALL_EQUAL
    if not pooled.size or int(pooled.max()) < 2:
        return ()
    on_both = _on_both(members, nonmembers, pooled)
    least = min(int(members.sum()), int(nonmembers.sum())) if smaller is None else smaller
    spare = [
        f"{_number(extra, scale)} of the" if extra else "" for extra in _to_spare(members, nonmembers, pooled, ordered)
    ]
    shared = _shared(_number(on_both, scale), _are_half(scale * on_both, least, scale)) if on_both else ()
    return (*_repeated(*spare), *shared)


def of_cells(members: Integers, nonmembers: Integers) -> tuple[Caution, ...]:
    """The same of cells in order that may hold several values each, of which numbers can only be estimated.

    Args:
        members: Member records in each cell.
        nonmembers: Nonmember records in each cell.
    """
    pooled = members + nonmembers
    if np.count_nonzero(pooled) == 1 and members.any() and nonmembers.any():
        return ALL_EQUAL
    if not pooled.size or int(pooled.max()) < 2:
        return ()
    spare = ["many" if extra else "" for extra in _to_spare(members, nonmembers, pooled, ordered=True)]
    of_pairs = _on_both(members, nonmembers, pooled)
    least = min(int(members.sum()), int(nonmembers.sum()))
    if of_pairs == least:
        return (*_repeated(*spare), *_shared(str(least), same=True))
    if not of_pairs and differ_too_little(members, nonmembers) < SURE:
        return _repeated(*spare)
    records = min(max(in_common(members, nonmembers), 1.0), float(least))
    return (*_repeated(*spare), *_shared(_number(1, records), _are_half(records, least, records)))


def together(of_scores: tuple[Caution, ...], of_cells: tuple[Caution, ...]) -> tuple[Caution, ...]:
    """What single scores show and what their cells show, each said once: of shared records the worse, else the former.

    Args:
        of_scores: What a few of the scores show.
        of_cells: What all cells show.
    """
    codes, worse = {each.code for each in of_scores}, {each.code for each in of_cells}
    if SHARED in codes and SAME in worse:
        of_scores = tuple(each for each in of_scores if each.code != SHARED)
    elif codes & {SHARED, SAME}:
        codes |= {SHARED, SAME}
    return (*of_scores, *(each for each in of_cells if each.code not in codes))


def _repeated(of_members: str, of_nonmembers: str) -> tuple[Caution, ...]:
    """That so many scores of a side, or of either, repeat another one of it; none where no words are given."""
    sides = " and ".join(
        f"{many} {name} scores" for many, name in ((of_members, "member"), (of_nonmembers, "nonmember")) if many
    )
    message = (
        f"{sides} repeat another one of their side, far more than chance makes; if rows stand there more than "
        "once, the interval is narrower than it may be: give each record once, or say as cluster whose it is"
    )
    return (Caution(REPEATED, message),) if sides else ()


def _are_half(records: float, side: int, scale: float) -> bool:
    return 2.0 * records >= (side if scale == 1.0 else NEARLY_HALF * side)


def _shared(number: str, same: bool) -> tuple[Caution, ...]:
    """That so many scores stand on both sides; ``same`` if they are half of a side."""
    message = (
        f"{number} scores stand on both sides, far more than chance makes; if they are "
        "the same records, they hide a leak: leave them out of both sides"
    )
    return (Caution(SAME if same else SHARED, message),)


def of_many(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """The same of scores that may be too many to be sorted: of those, the same few of either side.

    Of sides of very different size a random part of the larger is looked at, or of either: a part keeps a pair with the
    square of its share, so it is taken such that some 100 are left where every row stands there twice. In which sides a
    pair lies is not changed by drawing.
    """
    few, many = sorted((len(a), len(b)))
    if many > ALL and a[0] == b[0] and all(bool((side == a[0]).all()) for side in (a, b)):
        return ALL_EQUAL
    if ALL < many <= OF_ONE_SIZE * few:
        return _of_equal(ScoreSample.of(a, b), few)
    rng = np.random.default_rng(0)
    parts = [side[_draws(len(side), rng)] for side in (a, b)]
    scale = (len(a) / len(parts[0])) * (len(b) / len(parts[1]))
    odd = of_values(*ScoreSample(0, (parts[0], parts[1])).table(), True, scale, few)
    return tuple(each for each in odd if each.code != CONSTANT or many <= ALL)


def of_sample(sample: ScoreSample, smaller: int) -> tuple[Caution, ...]:
    """What is odd about scores of which a few are at hand, the same ones of either side: equal ones and their digits.

    Args:
        sample: These scores.
        smaller: Records of the smaller side.
    """
    members, nonmembers = sample.in_order()
    if not len(members) or not len(nonmembers):
        return ()
    return (*unlike_sides.of_precision(members, nonmembers), *_of_equal(sample, smaller))


def _of_equal(sample: ScoreSample, smaller: int) -> tuple[Caution, ...]:
    odd = of_values(*sample.table(), True, 2.0**sample.zeros, smaller)
    return tuple(each for each in odd if each.code != CONSTANT)  # there may be others


def of_grid(sides: Integers, unlike: Integers, share: float = CROWD) -> tuple[Caution, ...]:
    """That a cell of a grid is crowded: one far score makes its step so wide that others fall into one cell.

    Args:
        sides: Member and nonmember records in each cell.
        unlike: Those of them that are not known to have the same score.
        share: How many of either side are many for a cell.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.doubts import of_grid
        >>> sides = np.array([[499, 1], [500, 0]])
        >>> [caution.code for caution in of_grid(sides, sides)]
        ['crowded_cell']
    """
    crowds, totals = np.flatnonzero(is_crowded(sides, unlike, share)), sides.sum(axis=1)
    if not len(crowds):
        return ()
    fullest = crowds[np.argmax((unlike[:, crowds] / totals[:, np.newaxis]).max(axis=0))]
    inside = " and ".join(
        f"{own:,} of {total:,} {name}"
        for own, total, name in zip(sides[:, fullest].tolist(), totals.tolist(), ("members", "nonmembers"), strict=True)
    )
    message = (
        f"{inside} lie in one of the cells in which scores were counted, and what differs "
        "among them is not seen and may be a leak: leave placeholders far from all other scores out, count how far "
        "scores are from the value at which they crowd (100 - percent), or ask of the records themselves"
    )
    return (Caution(CROWDED, message),)


def signs_of_two(a: Floats, b: Floats) -> frozenset[str]:
    """The codes of what is odd about equal scores of two tables of numbers."""
    return frozenset(odd.code for odd in of_many(a, b))


def times_repeated(members: Integers, nonmembers: Integers) -> int:
    """How often most of repeated rows' records stand there, if not more seldom than is assumed of all.

    Args:
        members: Member records of each value, or cell.
        nonmembers: Nonmember records of each.
    """
    pooled = members + nonmembers
    alone = np.sort(pooled[((members == 0) | (nonmembers == 0)) & (pooled >= 2)])
    records = alone.cumsum()
    of_most = int(alone[records.searchsorted(ALMOST_ALL * records[-1])]) if len(alone) else 0
    return max(RARE, _common(members), _common(nonmembers), of_most)


def share_records(a: Floats, b: Floats) -> bool:
    """Whether at least half of the smaller side's scores stand on the other side, too, far more than chance makes."""
    return SAME in signs_of_two(a, b)


def of_rows(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """The same of vectors, and their digits: two rows are one if they are one in a direction that nobody chose.

    Args:
        a: Rows of members.
        b: Rows of nonmembers.
    """
    direction = np.random.default_rng(0).standard_normal(a.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        # row by row, as a product of matrices rounds by place
        lines = [(np.ascontiguousarray(side) * direction).sum(axis=1) for side in (a, b)]
    repeated = of_many(lines[0], lines[1]) if all(np.isfinite(line).all() for line in lines) else ()
    return (*repeated, *unlike_sides.of_columns(a, b))


def of_labels(values: NDArray[np.generic], members: Integers, nonmembers: Integers) -> tuple[Caution, ...]:
    """What is odd about how often each value occurs: numbers are in order, names in none.

    Args:
        values: The values, ascending.
        members: Member records of each.
        nonmembers: Nonmember records of each.
    """
    if values.dtype.kind not in "iuf":
        return (*of_values(members, nonmembers, ordered=False), *_of_integers(values))
    there = members + nonmembers > 0
    values, members, nonmembers = values[there], members[there], nonmembers[there]
    odd = of_values(members, nonmembers, ordered=True)
    return (*unlike_sides.of_membership(values, members, nonmembers), *odd)


def _of_integers(names: NDArray[np.generic]) -> tuple[Caution, ...]:
    """That integers lost their order: some are scores like any, and with others no type of 64 bits holds them all."""
    if names.dtype.kind != "U" or names.dtype.itemsize < LONG * np.dtype("U1").itemsize:
        return ()
    numbers: list[int] = []
    for name in names.tolist():
        if not WHOLE.fullmatch(name):
            return ()
        numbers.append(int(name))
    least, most = min(numbers), max(numbers)
    if (least >= 0 and most <= UNSIGNED) or all(number < LEAST or number > MOST for number in numbers):
        return ()
    far = most if most > MOST else least
    message = (
        f"with integers such as {far} no 64 bits hold all scores, so that they were counted as names, whose order says "
        "nothing, and a leak along it is not seen: leave placeholders out or ask with query=continuous; if these are "
        "names, begin each with a letter"
    )
    return (Caution(UNORDERED, message),)


def _number(records: int, scale: float) -> str:
    """How many there are; about how many, in two digits, where only a part was looked at."""
    whole = scale * records
    return str(records) if scale == 1.0 else f"about {int(float(f'{whole:.1e}'))}"


def _draws(records: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Places of a random part of the records, each once."""
    if records <= ALL:
        return np.arange(records)
    places = np.sort(rng.integers(0, records, round(PART * sqrt(records))))
    once: NDArray[np.int64] = places[np.append(True, places[1:] != places[:-1])]
    return once


def _on_both(members: Integers, nonmembers: Integers, pooled: Integers) -> int:
    """Values that stand on both sides because the same records do; 0 if chance may do it.

    Of two records with one value, the chance that they lie on different sides is at most a half, whatever the value.
    """
    if len(pooled) >= VALUES and bool((members == nonmembers).all()):
        return int(members.sum())
    pairs = pooled == 2
    number, across = int(pairs.sum()), int((pairs & (members == 1)).sum())
    return across if 2 * across > number and number * _divergence(across / number, 0.5) >= SURE else 0


def _to_spare(members: Integers, nonmembers: Integers, pooled: Integers, ordered: bool) -> tuple[int, int]:
    """Records of either side that only repeat another of that side; none if chance may do it."""
    if not pooled.all():
        there = pooled > 0
        members, nonmembers, pooled = members[there], nonmembers[there], pooled[there]
    spare = [_multiples(members), _multiples(nonmembers)]
    if not any(spare) and ordered:
        several = 1 + np.flatnonzero(pooled[1:-1] >= 2)
        for most in AT_MOST:
            few = several[pooled[several] <= most]
            if len(few) and _of_one_side(members, pooled, few):
                alone = few[(members[few] == 0) | (nonmembers[few] == 0)]
                spare = [int(np.maximum(side[alone] - 1, 0).sum()) for side in (members, nonmembers)]
                break
    return spare[0], spare[1]


def _multiples(side: Integers) -> int:
    """Records to spare where every value occurs twice, three times, ... as often as it would by itself."""
    return int(side.sum()) - int(side.sum()) // _common(side)


def _common(side: Integers) -> int:
    """How often every value occurs, or twice that, three times, ...; 1 of few values."""
    if bool((side == 1).any()) or np.count_nonzero(side) < VALUES:
        return 1
    return int(np.gcd.reduce(side))


def _of_one_side(members: Integers, pooled: Integers, several: Integers) -> bool:
    """Whether records of one value lie on one side far more often than records of neighbouring values do.

    Of two records of a value at most half are on different sides; that some of r are on either side has, as p^r + q^r
    is convex in pq, at least 2 - 2^(2-r) times the chance of two.
    """
    share = members / pooled
    here, records = share[several], pooled[several]
    apart = 2.0 * here * (1.0 - here) * records / (records - 1)
    beside = [here * (1.0 - share[several + step]) + (1.0 - here) * share[several + step] for step in (-1, 1)]
    of_two = min(float(np.mean(beside)), 0.5)
    of_all = of_two * float(np.mean(2.0 - 4.0 * 0.5 ** np.minimum(records, 3)))
    on_both = float(((here > 0.0) & (here < 1.0)).mean())
    return any(
        FEWER * seen <= chance and len(several) * _divergence(seen, chance) >= SURE
        for seen, chance in ((float(apart.mean()), of_two), (on_both, of_all))
    )


def _divergence(share: float, chance: float) -> float:
    """Kullback and Leibler's, of one coin from another: times the number of throws it bounds how unlikely they are."""
    return _term(share, chance) + _term(1.0 - share, 1.0 - chance)


def _term(share: float, chance: float) -> float:
    return 0.0 if share == 0.0 else inf if chance == 0.0 else share * log(share / chance)
