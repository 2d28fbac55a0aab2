"""Columns of both sides that are no features: groups, and whom each row belongs to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.adversary.learned import Learner, boosting, logistic, on_one_thread
from estimators.arrays import Floats, Integers, random_of
from estimators.audits.queries.table import Table, encode_sides
from estimators.audits.queries.values import as_texts, read_values, take_rows
from estimators.python.dataclass import dataclass
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS, one_of_each
from estimators.statement import Caution

TRUTH = bool, np.bool_

NO_LABEL = "(none)"  # the label of rows that have none


def rows_of(table: Table) -> int:
    """How many rows a table has."""
    return len(next(iter(table.values()), ()))


def part(table: Table, rows: NDArray[np.intp]) -> Table:
    """Some rows of a table."""
    return {name: take_rows(column, rows) for name, column in table.items()}


def labels_of_sides(groups: str | ArrayLike, train: Table, holdout: Table) -> NDArray[np.generic]:
    """A label for each row of both sides, those of ``train`` first.

    Args:
        groups: The column of both sides that holds them; or the labels themselves.

    Raises:
        InputError: a side has no such column.
        DimensionMismatch: not a label for each row.
    """
    if isinstance(groups, str):
        sides = (("members", train), ("nonmembers", holdout))
        labels = np.concatenate([_labels("groups", groups, table, name) for name, table in sides])
        return np.where(labels == "", NO_LABEL, labels)
    labels = labels_of(groups, "groups")
    rows = rows_of(train) + rows_of(holdout)
    if len(labels) != rows:
        raise errors.DimensionMismatch.about("groups", f"got {len(labels)} labels for {rows} rows")
    return labels


def one_row_each(
    unit: str | None, train: Table, holdout: Table, seed: int = 0
) -> tuple[Table, Table, Integers, list[Caution]]:
    """Both sides with one row of each person, their places among all rows, and a word on persons who stand on both.

    Args:
        unit: The column of both sides that says whom a row belongs to; None for the sides as they are, without places.

    Raises:
        InputError: a side has no such column, or it says nothing in some row.
    """
    if unit is None:
        return train, holdout, np.empty(0, dtype=np.intp), []
    sides = [_labels("unit", unit, table, name) for table, name in ((train, "members"), (holdout, "nonmembers"))]
    for labels, name in zip(sides, ("members", "nonmembers"), strict=True):
        if (labels == "").any():
            row = int(np.argmax(labels == ""))
            message = f"row {row} of {name} says nothing in column {unit!r}; need whom each row belongs to"
            raise errors.InputError.about("unit", message, row)
    shared = len(np.intersect1d(sides[0], sides[1]))
    cautions = [
        Caution(
            "shared_units",
            f"{shared} of {unit!r} have rows on both sides: they are no nonmembers, and hide a leak; keep all rows "
            "of one on one side",
        )
    ]
    members, nonmembers = (
        one_of_each(labels, random_of(seed, labels, *map(_contents, table.values())))
        for labels, table in zip(sides, (train, holdout), strict=True)
    )
    rows = np.concatenate([members, nonmembers + rows_of(train)])
    return part(train, members), part(holdout, nonmembers), rows, cautions if shared else []


def share_of_members(unit: str | None, train: Table, holdout: Table) -> float:
    """The share of those in the hold-out who have rows of the training side, too."""
    if unit is None:
        return 0.0
    members, nonmembers = (
        _labels("unit", unit, table, name) for table, name in ((train, "members"), (holdout, "nonmembers"))
    )
    return float(np.isin(np.unique(nonmembers), members).mean())


def _contents(column: Any) -> NDArray[Any]:
    """A column as numbers, or as texts where it holds others, whatever format it came in."""
    values = np.asarray(take_rows(column, np.arange(len(column))))
    if values.dtype.kind not in "mM":
        try:
            return np.nan_to_num(values.astype(np.float64))
        except (TypeError, ValueError):
            pass
    return values.astype(np.str_)


def _labels(what: str, column: str, table: Table, name: str) -> NDArray[np.str_]:
    """A column of labels as texts, empty where there is none."""
    if column not in table:
        raise errors.InputError.about(what, f"{name} has no column {column!r}")
    size = len(table[column])
    labels = as_texts(read_values(name, column, table[column], size)).values.astype(np.str_)
    _require_apart(what, column, name, take_rows(table[column], np.arange(size)), labels)
    return labels


def _require_apart(what: str, column: str, name: str, values: Any, labels: NDArray[np.str_]) -> None:
    """Refuse values that differ and would be one label, as 1, "1" and True: a group may hide in another."""
    if getattr(values, "dtype", np.dtype("O")).kind in "biufmM":
        return
    firsts: dict[str, tuple[int, Any]] = {}
    for row, (value, label) in enumerate(zip(values, labels.tolist(), strict=True)):
        first, other = firsts.setdefault(label, (row, value))
        if label and (value != other or isinstance(value, TRUTH) != isinstance(other, TRUTH)):
            message = (
                f"rows {first} and {row} of {name} differ in column {column!r} and would be one label, as 1, '1' and "
                "True would, two texts of which one has a blank around it, or a date and its midnight: write both alike"
            )
            raise errors.InputError.about(what, message, row)


# Rows of two sides that are like each other: a heuristic for sides that were not split at random.
#
# Each row gets its odds of standing on the one side, learned from other rows, and of rows with like odds as many are
# kept of either side. They are no random split, what no column says is not matched, and nothing here is certified:
# check the matched sides again, and read what they say as a second opinion.


CALIPER = 0.2
"""Rows are alike if their log odds differ by so many standard deviations at most (Austin 2011)."""

FOLDS = 5  # parts of the rows; the odds of each are learned from the others
LEAST_ODDS = 1e-6  # probabilities nearer to 0 or 1 than this count as this

MATCH_LEARNERS = (logistic(), boosting())


@dataclass(frozen=True, eq=False, slots=True)
class Match:
    """Rows of both sides that are alike, as many of either; ``match_sides`` makes it.

    Attributes:
        members: Places of the rows kept of the one side, ascending.
        nonmembers: Places of the rows kept of the other side.
        n_members: Rows the one side had.
        n_nonmembers: Rows the other had.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.sides import match_sides
        >>> rng = np.random.default_rng(0)
        >>> old, young = {"age": rng.normal(50, 9, 400)}, {"age": rng.normal(40, 9, 400)}
        >>> match = match_sides(old, young)
        >>> len(match.members) == len(match.nonmembers) < 400
        True
        >>> gap = old["age"][match.members].mean() - young["age"][match.nonmembers].mean()
        >>> bool(abs(gap) < 2 < old["age"].mean() - young["age"].mean())
        True
    """

    members: Integers
    nonmembers: Integers
    n_members: int
    n_nonmembers: int

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        return (
            f"{len(self.members):,} of {self.n_members:,} members and as many of {self.n_nonmembers:,} nonmembers are "
            "alike in the columns given. Matching is a heuristic: check the matched sides again, and do not call what "
            "they show certified."
        )


def match_sides(
    members: Table,
    nonmembers: Table,
    *,
    caliper: float = CALIPER,
    seed: int = 0,
    learners: Sequence[Learner] = MATCH_LEARNERS,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
) -> Match:
    """Keep rows of the two sides that are alike, and leave out the others: a heuristic.

    The odds of each row are learned from rows that are not equal to it. Log odds are cut into strata as wide as the
    caliper, and of each stratum as many rows are kept of either side, at random.

    Args:
        members: Columns by name of the rows that a model was trained on.
        nonmembers: The same columns of the rows that were held out.
        caliper: How far apart log odds of rows that are alike may be, in standard deviations of theirs.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        learners: Classifiers that may learn the odds; the one that foretells rows it has not seen best does.
        categories, leave_out, use: As for ``check_split``.

    Returns:
        a ``Match``: the rows kept on either side, which may be none.

    Raises:
        InputError: tables that cannot be read together, or fewer than 8 rows on a side.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.sides import match_sides
        >>> age = np.arange(400.0) / 7
        >>> match = match_sides({"age": age[:200]}, {"age": age[200:]})  # nobody is like anybody
        >>> len(match.members) < 40
        True
    """
    errors.require_positive("caliper", caliper)
    errors.require_count("seed", seed, 0)
    if not learners:
        raise errors.OptionError.about("learners", "got none, need at least 1")
    sides = encode_sides(members, nonmembers, categories=categories, leave_out=leave_out, use=use)
    sizes = len(sides.members), len(sides.nonmembers)
    for size, name in zip(sizes, ("members", "nonmembers"), strict=True):
        if size < MIN_RECORDS:
            raise errors.TooFewRecords.about(name, f"got {size} rows, need at least {MIN_RECORDS}")
    points = np.concatenate([sides.members.points, sides.nonmembers.points])
    records = np.concatenate([sides.members.records, sides.nonmembers.records])
    side = np.repeat([1, 0], sizes)
    candidates = [_log_odds(points, side, records, learner, seed) for learner in learners]
    # whichever foretells the sides best, by its mean log loss
    odds = min(candidates, key=lambda each: np.logaddexp(0.0, np.where(side == 1, -each, each)).mean())
    keep = _alike(odds, side, caliper * float(odds.std()), np.random.default_rng(seed))
    return Match(np.flatnonzero(keep[: sizes[0]]), np.flatnonzero(keep[sizes[0] :]), *sizes)


def _log_odds(points: Floats, side: Integers, records: Integers, learner: Learner, seed: int) -> Floats:
    """Log odds of the one side, each row's from rows that are not equal to it."""
    rng = np.random.default_rng(seed)
    fold = (rng.permutation(int(records.max()) + 1) % FOLDS)[records]
    share = np.full(len(points), float(side.mean()))
    with on_one_thread([learner]):
        for each in range(FOLDS):
            here, others = fold == each, fold != each
            if here.any() and 0 < side[others].sum() < others.sum():
                model = learner.build(int(rng.integers(2**31)))
                model.fit(points[others], side[others])
                share[here] = model.predict_proba(points[here])[:, 1]
    share = np.clip(share, LEAST_ODDS, 1.0 - LEAST_ODDS)
    return np.asarray(np.log(share) - np.log1p(-share))


def _alike(odds: Floats, side: Integers, width: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Rows to keep: as many of either side, at random, from each stratum of log odds of this width."""
    if width > 0.0:
        _, stratum = np.unique(np.floor((odds - odds.min()) / width), return_inverse=True)
    else:
        stratum = np.zeros(len(odds), dtype=np.int64)
    few = np.minimum(
        np.bincount(stratum[side == 1], minlength=int(stratum.max()) + 1),
        np.bincount(stratum[side == 0], minlength=int(stratum.max()) + 1),
    )
    keep = np.zeros(len(odds), dtype=np.bool_)
    for each in (0, 1):
        rows = np.flatnonzero(side == each)
        rows = rows[np.lexsort((rng.random(len(rows)), stratum[rows]))]
        starts = np.searchsorted(stratum[rows], stratum[rows])
        keep[rows] = np.arange(len(rows)) - starts < few[stratum[rows]]
    return keep
