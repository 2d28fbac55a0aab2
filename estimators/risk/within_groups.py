"""What each group gives away by itself: the advantage of its own records, on their own cells, all groups at once.

A score that is read off all records together can hide a group: where some members of the group stand higher than its
nonmembers, other records may stand between them. So a group's records are looked at alone, at their own resolution.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from estimators.adversary.targets import CellsTarget, Target
from estimators.clusters.dependent_rows import lone_rows
from estimators.clusters.design import Clusters, Labels
from estimators.errors import DimensionMismatch, InputError, TooFewRecords, TooManyCells, require_open_unit
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import Ends, checked_ends
from estimators.python.dataclass import dataclass
from estimators.risk.groups import GroupTable, codes_of
from estimators.sample.counting import resolution, times_repeated
from estimators.sample.counts import Counts, require_data
from estimators.sample.doubts import REPEATED, of_grid
from estimators.sample.frequent import CROWD_OF_PART
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.statement import Caution

GROUP_TOO_SMALL = 30  # records a side of a group that are few: its interval is wide

IN_FEW_CELLS = "group_in_few_cells"
"""The code of the caution that a group's records lie in few of the cells of counts."""


@dataclass(frozen=True, slots=True)
class GroupAdvantage:
    """What a group by itself gives away; no answer where a side is empty or has next to no record."""

    label: object
    n_members: int
    n_nonmembers: int
    advantage: Advantage | None
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class GroupEnds:
    """Both ends of a group's own advantage, at any level; None where its records cannot be judged."""

    label: object
    n_members: int
    n_nonmembers: int
    ends: Ends | None
    cautions: tuple[Caution, ...]


def by_group(
    scores: Scores,
    member_groups: ArrayLike,
    nonmember_groups: ArrayLike,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    cluster: Labels | None = None,
) -> tuple[GroupAdvantage, ...]:
    """The advantage within each group, all intervals holding at once (Bonferroni over groups that can be answered).

    A model that gives away little on average can give away much about a few: that is what this is for.

    Args:
        scores: Scores of both sides (``Scores.of``).
        member_groups: A label for each member record, text or numbers.
        nonmember_groups: A label for each nonmember record, of the same type.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of the
            intervals of all groups together.
        cluster: Whom each record belongs to, if some belong together, as in ``advantage``; a cluster may have records
            of several groups.

    Returns:
        a row for each group, with ``label``, ``n_members``, ``n_nonmembers``, ``cautions`` and ``advantage``; the
        advantage is None where a side has fewer than 8 records, or the group too few clusters.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, by_group
        >>> rng = np.random.default_rng(0)
        >>> labels = np.repeat(["adults", "minors"], [300, 100])
        >>> members = rng.normal(np.where(labels == "minors", 3, 0), 1)  # only minors are exposed
        >>> for group in by_group(Scores.of(members, rng.normal(0, 1, 400)), labels, labels):
        ...     print(group.label, round(group.advantage.lower, 2), round(group.advantage.upper, 2))
        adults 0.0 0.19
        minors 0.79 0.98
    """
    confidence = require_open_unit("confidence", confidence)
    sides = [labels_of(side, "groups") for side in (member_groups, nonmember_groups)]
    require_data(scores, Scores)
    for side, n, name in zip(sides, (scores.n_members, scores.n_nonmembers), ("member", "nonmember"), strict=True):
        if len(side) != n:
            raise DimensionMismatch(f"{name} groups: got {len(side)} labels for {n} records", field="groups")
    target = CellsTarget() if scores.dimension > 1 else None
    return at_once(ends_by_group(scores, np.concatenate(sides), prior, seed, target, cluster), confidence)


def by_group_of_counts(
    counts: Counts, table: GroupTable, prior: float = 0.5, confidence: float = 0.95, seed: int = 0
) -> tuple[GroupAdvantage, ...]:
    """The same of counts and the table of groups that they are made of, at the resolution of these counts."""
    confidence = require_open_unit("confidence", confidence)
    return at_once(ends_by_group(counts, table, prior, seed), confidence)


def ends_by_group(
    data: Scores | Counts,
    groups: ArrayLike | GroupTable,
    prior: float,
    seed: int,
    target: Target | None = None,
    cluster: Labels | None = None,
) -> tuple[GroupEnds, ...]:
    """Both ends of each group's own advantage, in sorted order of the labels.

    That rows repeat is seen in all records, where each group has too few to show it.

    Args:
        groups: A label for each record, members first; of counts, the table of their groups.
    """
    if isinstance(data, Scores) and not isinstance(groups, GroupTable):
        return tuple(_of_records(data, groups, prior, seed, target, cluster))
    if isinstance(data, Counts) and isinstance(groups, GroupTable):
        return tuple(_of_counts(data, groups, prior, seed, target))
    need = "the counts of each group" if isinstance(data, Counts) else "a label for each record"
    raise InputError.about("groups", f"need {need}")


def shared_level(groups: Sequence[GroupEnds], confidence: float) -> float:
    """The confidence at which each group is stated if all are to hold together.

    Which groups can be answered is known from their sizes: no score has a say in it.
    """
    return 1.0 - (1.0 - confidence) / max(1, sum(group.ends is not None for group in groups))


def at_once(groups: Sequence[GroupEnds], confidence: float) -> tuple[GroupAdvantage, ...]:
    """Each group's answer, all of them holding together."""
    level = shared_level(groups, confidence)
    return tuple(
        GroupAdvantage(
            each.label,
            each.n_members,
            each.n_nonmembers,
            None if each.ends is None else each.ends.at(level),
            each.cautions,
        )
        for each in groups
    )


def _of_records(
    scores: Scores, groups: ArrayLike, prior: float, seed: int, target: Target | None, cluster: Labels | None
) -> Iterator[GroupEnds]:
    labels, code = codes_of(labels_of(groups, "groups"), scores.n_members + scores.n_nonmembers)
    clusters = None if cluster is None else Clusters.of(cluster, scores, prior)
    times = times_repeated(scores) if cluster is None else 1
    rows = np.argsort(code, kind="stable")  # members come first, so they do within each group
    ends = np.cumsum(np.bincount(code, minlength=len(labels)))
    for label, own in zip(labels.tolist(), np.split(rows, ends[:-1]), strict=True):
        n_members = int(np.searchsorted(own, scores.n_members))
        sizes = n_members, len(own) - n_members
        answer, repeated = None, tuple[Caution, ...]()
        if min(sizes) >= MIN_RECORDS:
            sides = scores.members[own[:n_members]], scores.nonmembers[own[n_members:] - scores.n_members]
            alone = Scores.of(*sides, scores.query)
            whose = None
            if clusters is not None:
                whose = {name: column[own] for name, column in zip(clusters.names, clusters.columns, strict=True)}
            answer = _ends(alone, prior, seed, target, whose, times)
            if times == 1 and whose is None and answer is not None:  # else it is said of all records
                repeated = _of_group(label, (odd for odd in answer.fine.doubts if odd.code == REPEATED))
        yield GroupEnds(label, *sizes, answer, (*_cautions(label, *sizes, answer), *repeated))


def _of_counts(
    counts: Counts, table: GroupTable, prior: float, seed: int, target: Target | None
) -> Iterator[GroupEnds]:
    times = times_repeated(counts)
    for label, members, nonmembers in zip(table.labels.tolist(), table.members, table.nonmembers, strict=True):
        sizes = int(members.sum()), int(nonmembers.sum())
        answer: Ends | None = None
        notes: tuple[Caution, ...] = ()
        if min(sizes) >= MIN_RECORDS:
            own = Counts.trusted(members, nonmembers, counts.cells).occupied()
            answer = _ends(own, prior, seed, target, None, times)
            sides = np.stack([members, nonmembers])
            crowd = of_grid(sides, np.minimum(sides, counts.unlike()), CROWD_OF_PART)
            if crowd and own.cells.kind == "grid":  # what is said of all records is not said of each group
                notes = () if counts.doubts else _of_group(label, crowd)
            elif own.cells.kind in ("intervals", "grid") and (crowd or own.size < resolution(own.n_records)):
                notes = _in_few_cells(label, own, counts)
        yield GroupEnds(label, *sizes, answer, (*_cautions(label, *sizes, answer), *notes))


def _of_group(label: object, cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    return tuple(Caution(each.code, f"group {label!s}: {each.message}") for each in cautions)


def _in_few_cells(label: object, own: Counts, counts: Counts) -> tuple[Caution, ...]:
    """A word on a group that counts hardly tell apart: what happens within a cell they do not show."""
    message = (
        f"group {label!s}: its {own.n_records} records lie in {own.size} of {counts.size} cells, "
        f"{own.pooled.max()} in one of them, and what is within a cell is not seen; count its scores more finely, or "
        "send its records"
    )
    return (Caution(IN_FEW_CELLS, message),)


def _ends(
    own: Scores | Counts, prior: float, seed: int, target: Target | None, cluster: Labels | None, times: int
) -> Ends | None:
    """Both ends of one group; None where its records are of too few clusters, or no two have a category in common."""
    with suppress(TooFewRecords, TooManyCells):
        if cluster is not None and isinstance(own, Scores):
            lone_rows(own, cluster, seed)
        return checked_ends(own, prior, target, seed, cluster=cluster, times=times)
    return None


def _cautions(label: object, n_members: int, n_nonmembers: int, ends: Ends | None) -> tuple[Caution, ...]:
    """What to know of a group before its numbers are used."""
    message = ""
    if min(n_members, n_nonmembers) < GROUP_TOO_SMALL:
        message = f"{n_members} member and {n_nonmembers} nonmember records, need {GROUP_TOO_SMALL} of each"
    elif ends is None:
        message = "its records are of too few clusters, or of too many categories, to say what it gives away"
    return (Caution("group_too_small", f"group {label!s}: {message}"),) if message else ()
