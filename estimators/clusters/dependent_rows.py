"""Signs that rows are not independent, in columns that nobody named: rows of one label whose scores are alike."""

import re
from collections.abc import Mapping
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats, Integers
from estimators.clusters.design import FEWEST, Clusters, Labels, likeness
from estimators.errors import MaceError, OptionError, TooFewRecords, require_count
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.statement import Caution

DEPENDENT = "dependent_rows"  # the code of the caution

WHOSE = "user|person|patient|subject|customer|client|account|household|family|author|doc|document|session|device"
NAMES = (
    rf"(?:^|[^a-z])(?:id|uid|uuid|guid|source|model|record|cluster|{WHOSE})s?(?:$|[^a-z])|(?:{WHOSE})_?(?:id|no|nr|key)$|"
    r"(?-i:[a-z]I[dD]$)"
)
"""Names of columns that say whose a row is."""

KINDS = r"class|label|categor|target|type|fold|batch|bin|split|zip|post_?code|region|country|state|city"
"""Names of columns that say of what kind a row is: independent rows of one kind may have scores that are alike."""

SHARE = 0.1
"""A column of another name is looked at if it has at least this many labels a row: a group has fewer."""

SURE = 6.0  # standard deviations by which pairs of rows of one label are more alike than chance makes them
PAIRS = 20  # pairs of rows of one label, at least, that say whether they are alike


def says_whose(name: str) -> bool:
    """Whether a column is called as if it said whose a row is: a person's, a document's, a model's."""
    whose, kind = (re.search(each, name, re.IGNORECASE) for each in (NAMES, KINDS))
    return whose is not None and kind is None


def dependent_rows(scores: Scores, columns: Mapping[str, ArrayLike]) -> tuple[Caution, ...]:
    """A caution for the column whose rows are most alike, if they are more so than chance makes them.

    Who is a member is used only to set aside what a leak makes rows of one side have in common. Independent rows raise
    it less than once in ten thousand samples, whatever their ties; scores without an order are not looked at.

    Args:
        columns: Other columns by their names, a value for each row, members' rows first.
    """
    fine = finest(scores)
    if not fine.cells.ordered or fine.size < 2:
        return ()
    at = np.concatenate([fine.cells.locate(side) for side in (scores.members, scores.nonmembers)])
    ranks = (np.cumsum(fine.pooled) - fine.pooled / 2.0)[at]
    ranks[: scores.n_members] -= ranks[: scores.n_members].mean()
    ranks[scores.n_members :] -= ranks[scores.n_members :].mean()
    likenesses = {}
    for name, values in columns.items():
        column = _labels(name, values, len(ranks))
        if column is not None and _surely_alike(ranks, column):
            likenesses[name] = (likeness(ranks, column), int(column.max()) + 1)
    if not likenesses:
        return ()
    worst = max(likenesses, key=lambda name: likenesses[name])
    alike, number = likenesses[worst]
    message = (
        f"rows of one {worst!r} have scores that are alike (correlation {alike:.2f}; {number} labels for "
        f"{len(ranks)} rows): they are not independent, and intervals are too narrow; name the column as "
        "cluster, or as unit"
    )
    return (Caution(DEPENDENT, message),)


def _labels(name: str, values: ArrayLike, rows: int) -> Integers | None:
    """A column as numbers from 0, if it may say whose a row is."""
    try:
        labels = labels_of(values, name)
    except MaceError:  # a column with gaps, or of several types
        return None
    if len(labels) != rows or labels.dtype.kind not in "iuUO" or (labels.dtype.kind == "U" and "" in labels):
        return None
    distinct, column = np.unique(labels, return_inverse=True)
    fewest = FEWEST if says_whose(name) else max(FEWEST, SHARE * rows)
    if not fewest <= len(distinct) < rows:
        return None
    return np.asarray(column.reshape(-1), dtype=np.int64)


def _surely_alike(ranks: Floats, column: Integers) -> bool:
    """Whether pairs of rows of one label agree more than those of labels dealt out at random."""
    sizes = np.bincount(column)
    pairs = float((sizes * (sizes - 1.0)).sum())
    if pairs < 2 * PAIRS or not ranks.any():
        return False
    together = float((np.bincount(column, ranks) ** 2 - np.bincount(column, ranks**2)).sum())
    return together > SURE * sqrt(2.0 * pairs) * float(np.mean(ranks**2))


# Rows of which no two share a label: what allows for no clusters is stated of these.

LONE_ROWS = "lone_rows"  # the code of the caution that numbers are those of some rows only


def lone_rows(scores: Scores, cluster: Labels, seed: int = 0) -> Scores:
    """Scores of rows of which no two share a label, drawn at random: independent of each other.

    As many are of either side as the labels allow. Every function of this library may be asked of them.

    Args:
        scores: Scores of both sides (``Scores.of``).
        cluster: Whom each row belongs to: a label for each row, members' rows first, or two columns that cross.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        the ``Scores`` of these rows; ``scores`` itself where no two rows share a label.

    Raises:
        TooFewRecords: fewer than 8 clusters, or fewer than 8 rows of a side.

    Example:
        >>> from estimators import Scores, lone_rows
        >>> scores = Scores.of([k / 100 for k in range(100)], [k / 200 for k in range(100)])
        >>> lone = lone_rows(scores, [row // 5 for row in range(200)])  # people with five rows each
        >>> lone.n_members, lone.n_nonmembers
        (20, 20)
    """
    require_count("seed", seed, 0)
    require_scores(scores)
    clusters = Clusters.of(cluster, scores, 0.5)
    return scores if clusters is None else lone_of(clusters, scores, seed)


def lone_of(clusters: Clusters, scores: Scores, seed: int) -> Scores:
    """The same where the labels have been checked."""
    sides = lone_places(clusters, seed)
    return Scores.of(scores.members[sides[0]], scores.nonmembers[sides[1]], scores.query)


def lone_places(clusters: Clusters, seed: int) -> tuple[Integers, Integers]:
    """Where these rows stand among the members, and among the nonmembers."""
    rows, n_members = clusters.lone_rows(seed), int(np.count_nonzero(clusters.is_member))
    sides = rows[rows < n_members], rows[rows >= n_members] - n_members
    for name, side in zip(("member", "nonmember"), sides, strict=True):
        if len(side) < MIN_RECORDS:
            raise TooFewRecords.about(
                "cluster",
                f"{len(side)} {name} rows can be drawn of which no two share a label; need at least {MIN_RECORDS}",
            )
    return sides


def lone_caution(
    lone: Scores | Counts, submitted: Scores | Counts, but: str = "", what: str = "these numbers come"
) -> tuple[Caution, ...]:
    """From which rows ``what`` is stated; ``but`` says what uses all of them, if something does."""
    if lone is submitted:
        return ()
    few, rows = lone.n_members + lone.n_nonmembers, submitted.n_members + submitted.n_nonmembers
    message = f"{what} from {few} of {rows} rows, drawn at random: no two of them share a cluster"
    if but:
        these = f"{few} rows of which no two share a cluster, drawn at random"
        message = f"only {but} all {rows} rows; everything else is that of {these}"
    return (Caution(LONE_ROWS, message),)


def require_scores(data: Scores | Counts) -> Scores:
    """Refuse labels for the rows of counts."""
    if not isinstance(data, Scores):
        raise OptionError.about("cluster", "counts do not say whose a row is; send scores")
    return data


def require_one_number(lone: Scores | Counts, submitted: Scores | Counts) -> None:
    """Refuse vectors of which rows were left out: what is learned from these would be asked about the others."""
    if lone is not submitted and isinstance(lone, Scores) and lone.dimension > 1:
        message = "a learned adversary does not allow for clusters; give one number a record"
        raise OptionError.about("cluster", message)
