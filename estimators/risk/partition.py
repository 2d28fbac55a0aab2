"""The cells that risk is stated for, which of them are flagged, and what their limits reach beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.learned import LearnedScore
from estimators.arrays import Floats, Integers
from estimators.errors import require_count
from estimators.python.dataclass import dataclass
from estimators.risk.cells import CellRisks, Limits, Masked, Reach
from estimators.risk.flags import Flags, Multiplicity, Parts, divided, flag_members, uneven, whole
from estimators.sample.cells import Halves
from estimators.sample.counting import by_category, by_rank, resolution
from estimators.sample.counts import Counts
from estimators.sample.locating import SampleRange, rows_of_targets
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import Query, Scores
from estimators.statement import Caution, Provenance

OUTERMOST = 16  # records that the outermost cells have at least: so many of one side are flagged
ENDMOST = 2
"""Records at either end that limits of the outermost cell reach: as few as may be memorised alone."""
JUMP = 4.0  # standard errors by which the shares of members in neighbouring cells differ across a jump


def risk_cells(data: Scores | Counts, bins: int | None = None) -> Counts:
    """The cells risk is stated for: categories as they are, else N^(1/3) cells that narrow towards both ends.

    They have equal pooled mass; the first and the last are halved again and again, down to ``OUTERMOST`` records, so
    that a few memorised records do not drown among others. A number of ``bins`` is taken literally.
    """
    fine, starts, _ = _starts(data, bins)
    return fine if starts is None else fine.join(starts)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The cells or their parts, and what their limits reach."""

    counts: Counts
    reach: Reach | None = None
    parts: Parts | None = None

    @property
    def occupied(self) -> int:
        """Cells with records: parts of a cell share what it has."""
        cell = np.arange(self.counts.size) if self.parts is None else self.parts.cell
        return len(np.unique(cell[self.counts.pooled > 0]))

    @property
    def choices(self) -> Integers | None:
        """From how many each part was chosen."""
        return None if self.parts is None else self.parts.choices


def _starts(data: Scores | Counts, bins: int | None) -> tuple[Counts, Integers | None, Integers | None]:
    """The finest cells, and of those with an order the first of each cell, and of each group of equal mass."""
    if bins is not None:
        require_count("bins", bins)
    if isinstance(data, Scores) and data.query is Query.DISCRETE:
        return by_category(data), None, None
    fine = data if isinstance(data, Counts) else by_rank(data)
    if fine.cells.kind not in ("intervals", "grid"):
        return fine, None, None
    groups = fine.group_starts(resolution(fine.n_records) if bins is None else bins)
    return fine, groups if bins is not None else fine.tail_starts(groups, OUTERMOST), groups


def flagged_cells(
    data: Scores | Counts,
    bins: int | None,
    prior: float,
    threshold: float | None,
    rate: float,
    over: Multiplicity | None,
) -> tuple[Partition, Flags]:
    """The cells and which of them are flagged.

    They are divided where they are uneven, if there are so many records that they narrow, which no label decides; a
    cell that is flagged as a whole is looked at again, so that no part is flagged for what another holds.
    """
    fine, starts, groups = _starts(data, bins)
    if starts is None or groups is None:
        return Partition(fine), flag_members(fine, prior, threshold, rate, over)

    def judge(parts: Parts) -> tuple[Counts, Flags]:
        counts = fine.join(parts.starts)
        first = parts.starts.searchsorted(groups)
        return counts, flag_members(counts, prior, threshold, rate, over, first, parts)

    parts = whole(starts)
    if narrow := len(starts) > len(groups):
        parts = divided(fine, starts)
    counts, flags = judge(parts)
    if narrow and (islands := _islands(parts.cell, flags.flagged)).size:
        parts = divided(fine, starts, islands)
        counts, flags = judge(parts)
    reach = _reach(fine, parts.starts, counts, groups, bins is None, parts if narrow else None)
    return Partition(counts, reach, parts if narrow else None), flags


def _islands(cell: Integers, flagged: NDArray[np.bool_]) -> Integers:
    """The first and the last cell of each run of flagged ones that reaches neither end of the scores.

    A spike is such a run; a shift is seen up to an end.
    """
    has_flags = np.bincount(cell, flagged) > 0
    turns = np.flatnonzero(np.diff(has_flags)) + 1
    begin, end = turns[has_flags[turns]], turns[~has_flags[turns]]
    end = end[1:] if has_flags[0] else end
    return np.union1d(begin[: len(end)], end - 1)


def _reach(
    fine: Counts, starts: Integers, counts: Counts, groups: Integers, tails: bool, parts: Parts | None
) -> Reach | None:
    """What the limits of cells reach beside them, as counts.

    A neighbour across a jump, and both parts of a cell whose records do not lie evenly if it is not divided there; for
    a cell in a tail the next one further out, and for the outermost the records at the very end.
    """
    jump = _apart(counts) > JUMP
    at = x = y = np.zeros(0, dtype=np.int64)
    if parts is None:
        at, _, x, y = uneven(fine, starts, np.append(starts[1:], fine.size))
    else:
        jump &= np.diff(parts.cell) > 0
    left = np.flatnonzero(jump)
    across, beyond = np.concatenate([left, left + 1]), np.concatenate([left + 1, left])
    cell = [at, at, across]
    members = [x, counts.members[at] - x, counts.members[beyond]]
    nonmembers = [y, counts.nonmembers[at] - y, counts.nonmembers[beyond]]
    if tails:
        last, pooled = len(starts) - 1, fine.pooled
        of_low = np.arange(1, int(starts.searchsorted(groups[1])) if len(groups) > 1 else 1)
        of_high = np.arange(int(starts.searchsorted(groups[-1])), last)
        outer = np.concatenate([of_low - 1, of_high + 1])
        cell += [of_low, of_high, np.array([0, last])]
        low, high = slice(0, starts[1] if last else None), slice(starts[last], None)
        for column, side, of_cells in (
            (members, fine.members, counts.members),
            (nonmembers, fine.nonmembers, counts.nonmembers),
        ):
            first = _first(side[low], pooled[low])
            column += [of_cells[outer], np.array([first, _first(side[high][::-1], pooled[high][::-1])])]
    columns = [np.concatenate(each) for each in (cell, members, nonmembers)]
    return Reach(*columns) if columns[0].size else None


def _apart(counts: Counts) -> Floats:
    """By how many standard errors the shares of members in neighbouring cells differ."""
    records = counts.pooled.astype(np.float64)
    both = records[1:] + records[:-1]
    share = (counts.members[1:] + counts.members[:-1]) / np.maximum(both, 1.0)
    difference = np.diff(counts.members / np.maximum(records, 1.0))
    variance = share * (1.0 - share) * both / np.maximum(records[1:] * records[:-1], 1.0)
    return np.abs(difference) / np.sqrt(np.where(variance > 0.0, variance, np.inf))


def _first(side: Integers, pooled: Integers) -> int:
    """Of the first ``ENDMOST`` records those of a side; cells are whole."""
    return int(side[: int(pooled.cumsum().searchsorted(ENDMOST)) + 1].sum())


Learned = tuple[LearnedScore, LearnedScore]


def join_risks(parts: tuple[CellRisks, CellRisks], learned: Learned) -> CellRisks:
    """The cells of both parts in one table, those of the first part first."""
    first, second = parts
    cells = Halves((first.counts.cells, second.counts.cells))
    counts = Counts.trusted(
        np.concatenate([first.counts.members, second.counts.members]),
        np.concatenate([first.counts.nonmembers, second.counts.nonmembers]),
        cells,
        learned[0].doubts,
    )
    name = " and ".join(dict.fromkeys(each.learner for each in learned))
    caution = Caution(
        "learned_score",
        f"each record was turned into one learned score ({name}), learned from the other part of the records: another "
        "score of the same vector may give away more",
    )
    target = (
        f"the risk, signed or not, by a learned score ({name}) that has not seen the record, at a resolution of "
        f"{first.size} and {second.size} cells for the two parts of the records"
    )
    rest = tuple(each for each in (*first.cautions, *second.cautions) if each not in learned[0].doubts)
    return CellRisks(
        counts,
        first.prior,
        _join_masked(first.posterior, second.posterior),
        _join_masked(first.signed_risk, second.signed_risk),
        _join_limits(first.signed, second.signed, f"{target}, of one record named in advance"),
        _join_limits(first.signed_simultaneous, second.signed_simultaneous, f"{target}, of all records at once"),
        (
            np.concatenate([first.evidence[0], second.evidence[0]]),
            np.concatenate([first.evidence[1], second.evidence[1]]),
        ),
        tuple(dict.fromkeys((*learned[0].doubts, caution, *rest))),
        Provenance(
            f"learned halves, {first.provenance.method}",
            first.provenance.version,
            counts.n_members,
            counts.n_nonmembers,
            first.prior,
            None,
        ),
    )


def _join_masked(first: Masked, second: Masked) -> Masked:
    masks = [np.ma.getmaskarray(each) for each in (first, second)]
    return np.ma.MaskedArray(np.concatenate([first.data, second.data]), mask=np.concatenate(masks))


def _join_limits(first: Limits, second: Limits, covers: str) -> Limits:
    return Limits(
        np.concatenate([first.lower, second.lower]),
        np.concatenate([first.upper, second.upper]),
        first.confidence,
        replace(first.guarantee, covers=covers),
    )


def join_flags(first: Flags, second: Flags, rate: float) -> Flags:
    """The flags of both parts; false ones are at most the sum of both rates of all, on average."""
    return Flags(
        np.concatenate([first.flagged, second.flagged]),
        np.concatenate([first.p_values, second.p_values]),
        first.threshold,
        rate,
        first.over,
    )


def shares_of(learned: Learned) -> tuple[float, float]:
    """The share of the records that each score is stated on."""
    first, second = (each.scores.n_members + each.scores.n_nonmembers for each in learned)
    return first / (first + second), second / (first + second)


def records_of(learned: Learned) -> tuple[Integers, Floats]:
    """Which part every record is in, members first, and its learned score."""
    n_members = learned[0].scores.n_members + learned[1].scores.n_members
    total = sum(each.scores.n_members + each.scores.n_nonmembers for each in learned)
    half, score = np.empty(total, dtype=np.int64), np.empty(total)
    for part, each in enumerate(learned):
        for rows, values, start in (
            (each.rows[0], each.scores.members, 0),
            (each.rows[1], each.scores.nonmembers, n_members),
        ):
            half[start + rows], score[start + rows] = part, values
    return half, score


def targets_in(
    learned: Learned, data: Scores, targets: ArgumentScores, stand_for: ArrayLike | None
) -> tuple[Integers, Floats, NDArray[np.bool_]]:
    """Which score each target is asked of, that score, and whether the sample reaches as far.

    A target that is a record of the sample, or belongs with one (``stand_for``), is asked of the score that had not
    seen that record; any other of the first.
    """
    rows = rows_of_targets(targets, data.dimension).reshape(-1, data.dimension)
    part_of, _ = records_of(learned)
    if stand_for is not None:
        half = part_of[np.asarray(stand_for, dtype=np.int64)]
    else:
        every = np.concatenate([data.members, data.nonmembers]).astype(np.float64, copy=False)
        second = _is_row(rows, every[part_of == 1]) & ~_is_row(rows, every[part_of == 0])
        half = second.astype(np.int64)
    score = np.zeros(len(rows))
    for part, each in enumerate(learned):
        if (half == part).any():
            score[half == part] = each.score(rows[half == part])
    sample_range = SampleRange.of(data)
    assert sample_range is not None
    inside = sample_range.reaches(rows) if len(rows) else np.zeros(0, dtype=np.bool_)
    return half, score, inside


def _is_row(rows: Floats, among: Floats) -> NDArray[np.bool_]:
    """Whether each row is one of others, number by number."""
    both = [np.ascontiguousarray(each + 0.0).view(f"V{8 * each.shape[1]}").reshape(-1) for each in (rows, among)]
    return np.isin(both[0], both[1])
