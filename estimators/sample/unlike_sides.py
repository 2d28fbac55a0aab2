"""Signs that the sides were written in two ways: in other digits, in another range, or sorted by their score.

Each is a caution with a good reason at times, such as a model whose scores have fewer digits where it is sure.
"""

from math import comb, exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers, distinct, lengths
from estimators.statement import Caution

RANGES, PRECISION, SORTED = "sides_differ_in_range", "sides_differ_in_precision", "one_side_sorted"

SURE = 14.0
"""Minus the logarithm of how unlikely by chance a sign must be: less than one in a million."""

VALUES = 40
"""Different values that a side needs before it is worth asking how often each of them occurs."""

PICKS = 256
"""Scores of a side that are looked at before all of them are."""

DIGITS = 512
"""Scores of a side whose digits are looked at."""

MOST_DIGITS = 10
"""Decimals, and significant digits, up to which sides are compared: a 32-bit float that was printed has nine."""

ALIKE = 16
"""Values that follow each other and are taken to be alike: digits of members and nonmembers are compared among them."""

FAR = 4.0
"""Deviations from which a number of records is worth its exact probability."""

AHEAD = 64
"""Scores at the start of a side that show most orders to be none."""

OUTSIDE, BOTH_WAYS, ALL_BUT_FEW = 0.5, 0.05, 0.95
"""Shares of a side beyond 0 and 1: enough if some lie below and some above; to either side; and in any case."""


def of_sides(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """What is odd about one side beside the other, in the order in which they came."""
    return (*of_ranges(a, b), *of_precision(a, b), *of_order(a, b))


def of_ranges(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """One side between 0 and 1, and the other far from it: probabilities beside logits, or beside percents."""
    for inside, outside, names in ((a, b, ("member", "nonmember")), (b, a, ("nonmember", "member"))):
        look, other = _picks(inside), _picks(outside)
        many = int(distinct(look).size) >= min(VALUES, len(look) // 2)
        if min(len(inside), len(outside)) < VALUES or not many or float(_beyond(look).max()) > 0.0:
            continue
        if float(_beyond(other).mean()) < OUTSIDE:
            continue
        if float(inside.min()) < 0.0 or not 0.5 < float(inside.max()) <= 1.0:
            continue
        below, above = float((outside < 0.0).mean()), float((outside > 1.0).mean())
        if (min(below, above) >= BOTH_WAYS and below + above >= OUTSIDE) or below + above >= ALL_BUT_FEW:
            message = (
                f"all {names[0]} scores lie between 0 and 1, and {below + above:.0%} of the {names[1]} scores do not; "
                "make sure that both sides hold the same score, not probabilities on one and logits or percents on "
                "the other"
            )
            return (Caution(RANGES, message),)
    return ()


def of_membership(values: NDArray[np.generic], members: Integers, nonmembers: Integers) -> tuple[Caution, ...]:
    """One side only 0 and 1, and the other many whole numbers: who is a member, taken for a score."""
    for these, others, names in (
        (members, nonmembers, ("member", "nonmember")),
        (nonmembers, members, ("nonmember", "member")),
    ):
        number = int(np.count_nonzero(others))
        if number < VALUES or int(np.count_nonzero(these)) != 2:
            continue
        if not np.array_equal(values[these > 0], (0, 1)):
            continue
        message = (
            f"{names[0]} scores are only 0 and 1, and {names[1]} scores take {number} values; make sure that both "
            "sides hold the same score, and neither says who is a member"
        )
        return (Caution(RANGES, message),)
    return ()


def of_columns(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """The first column that was written with fewer digits on one side."""
    for place in range(a.shape[1]):
        for odd in of_precision(a[:, place], b[:, place]):
            return (Caution(odd.code, f"number {place + 1} of each row: {odd.message}"),)
    return ()


def of_precision(a: Floats, b: Floats) -> tuple[Caution, ...]:
    """One side written with fewer digits than the other: as 16-bit or 32-bit floats, or rounded.

    Of each value one record is looked at, whichever side it is of, and values that follow each other are compared with
    each other only: how many digits a number has may go with its size, and a leak goes with that. If digits say nothing
    more of the side, the members among those that a precision can write are draws without replacement, among each
    ``ALIKE`` values that follow each other: exact, whatever the scores.

    Args:
        a: Scores of members, one number a record.
        b: Scores of nonmembers.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.unlike_sides import of_precision
        >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
        >>> [caution.code for caution in of_precision(a.astype(np.float32).astype(float), b)], of_precision(a, b)
        (['sides_differ_in_precision'], ())
    """
    looks = [side[:: -(-len(side) // DIGITS)] for side in (a, b)]
    pooled = np.concatenate(looks)
    if bool((pooled == np.floor(pooled)).all()):
        return ()
    order = np.random.default_rng(0).permutation(len(pooled))
    values, first = np.unique(pooled[order], return_index=True)
    member, fits = order[first] < len(looks[0]), _representable(values)
    starts = np.arange(0, len(values), ALIKE)
    sizes, members = lengths(starts, len(values)), np.add.reduceat(member, starts, dtype=np.int64)
    n_fits = np.add.reduceat(fits, starts, axis=1, dtype=np.int64)
    expected = members * n_fits / sizes
    spread = expected * (sizes - members) * (sizes - n_fits) / (sizes * np.maximum(sizes - 1, 1))
    fitting_members = (fits & member).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = np.nan_to_num(abs(fitting_members - expected.sum(axis=1)) / np.sqrt(spread.sum(axis=1)))
    most = int(deviations.argmax())
    if deviations[most] < FAR:
        return ()
    chances = _members_drawn(sizes.tolist(), members.tolist(), n_fits[most].tolist())
    chance = min(float(chances[: fitting_members[most] + 1].sum()), float(chances[fitting_members[most] :].sum()))
    if 2.0 * len(fits) * chance > exp(-SURE):
        return ()
    shares = [float(_representable(side)[most].mean()) for side in looks]
    message = (
        f"{shares[0]:.0%} of the member scores and {shares[1]:.0%} of the nonmember scores {PRECISIONS[most]}: "
        "that tells the sides apart; if the model did not do it, the sides were written in two ways: write both by "
        "the same program, with all digits"
    )
    return (Caution(PRECISION, message),)


PRECISIONS = (
    "are whole numbers",
    "are 16-bit floats",
    "are 32-bit floats",
    *(
        f"have at most {digits} {kind}{'s' * (digits > 1)}"
        for digits in range(1, MOST_DIGITS + 1)
        for kind in ("decimal", "significant digit")
    ),
)
"""Precisions in which a side may have been written, in words."""


def _representable(values: Floats) -> NDArray[np.bool_]:
    """Which of the values each of the precisions can write: a row a precision."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        rows = [np.rint(values) == values]
        rows += [values.astype(kind).astype(np.float64) == values for kind in (np.float16, np.float32)]
        size = np.floor(np.log10(np.abs(values)))
        for digits in range(1, MOST_DIGITS + 1):
            for places in (np.float64(digits), digits - 1.0 - size):
                unit = 10.0**places
                rows.append(np.rint(values * unit) / unit == values)
    return np.array(rows)


def _members_drawn(sizes: list[int], members: list[int], draws: list[int]) -> Floats:
    """Chances of 0, 1, 2, ... members among records drawn without replacement from each of several groups."""
    chances = np.ones(1)
    for size, side, number in zip(sizes, members, draws, strict=True):
        ways = [comb(side, each) * comb(size - side, number - each) for each in range(number + 1)]
        chances = np.convolve(chances, np.array(ways) / comb(size, number))
    return chances


def of_order(members: NDArray[np.generic], nonmembers: NDArray[np.generic]) -> tuple[Caution, ...]:
    """One side sorted and the other not: rows that were picked by their score, or no longer stand beside their record.

    A sorted side of n records is one of n! orders, fewer where values repeat.

    Args:
        members: Scores of members in the order in which they came.
        nonmembers: Scores of nonmembers, likewise.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.unlike_sides import of_order
        >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
        >>> [caution.code for caution in of_order(np.sort(a), b)], of_order(np.sort(a), np.sort(b))
        (['one_side_sorted'], ())
    """
    ordered = [_is_sorted(side) for side in (members, nonmembers)]
    if ordered[0] == ordered[1]:
        return ()
    side, name, other = (members, "member", "nonmember") if ordered[0] else (nonmembers, "nonmember", "member")
    ends = np.flatnonzero(np.append(side[1:] != side[:-1], True))
    alike = np.diff(np.append(-1, ends))
    if lgamma(len(side) + 1) - sum(lgamma(n + 1) for n in alike[alike > 1].tolist()) - log(2.0) < SURE:
        return ()
    message = (
        f"the {len(side)} {name} scores are sorted and the {other} scores are not; if they were picked by their "
        "score, such as the largest of a longer list, they are no sample of their side: give the scores of all its "
        "records, or of some that were drawn at random"
    )
    return (Caution(SORTED, message),)


def _is_sorted(side: NDArray[Any]) -> bool:
    """Whether scores rise or fall throughout; a look at the first ones settles most cases."""
    return any(
        bool((part[1:] >= part[:-1]).all()) and bool((whole[1:] >= whole[:-1]).all())
        for part, whole in ((side[:AHEAD], side), (side[AHEAD - 1 :: -1], side[::-1]))
    )


def _picks(side: Floats) -> Floats:
    """Scores all over a side, as many as it takes to see what it is like."""
    return side[:: max(1, len(side) // PICKS)]


def _beyond(side: Floats) -> Floats:
    """1 for every score that is no probability."""
    return ((side < 0.0) | (side > 1.0)).astype(np.float64)
