"""Rows of which no two share a label: what allows for no clusters is stated of these."""

from __future__ import annotations

import numpy as np

from estimators.clusters.design import Clusters, Integers, Labels
from estimators.errors import OptionError, TooFewRecords, require_count
from estimators.sample.counts import Counts
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.statement import Caution

LONE_ROWS = "lone_rows"
"""The code of the caution that numbers are those of some rows only."""


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
            raise TooFewRecords(
                f"cluster: {len(side)} {name} rows can be drawn of which no two share a label; need at least "
                f"{MIN_RECORDS}",
                field="cluster",
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
        raise OptionError("cluster: counts do not say whose a row is; send scores", field="cluster")
    return data


def require_one_number(lone: Scores | Counts, submitted: Scores | Counts) -> None:
    """Refuse vectors of which rows were left out: what is learned from these would be asked about the others."""
    if lone is not submitted and isinstance(lone, Scores) and lone.dimension > 1:
        raise OptionError(
            "cluster: a learned adversary does not allow for clusters; give one number a record",
            field="cluster",
        )
