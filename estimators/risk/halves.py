"""Individual risk of vectors: every record by a learned score from records that are not it.

The records are dealt into two parts, and each part is scored by what was learned from the other. Given the other part,
the records of a part are independent draws with one number each, so what is said of one number a record holds for
each part by itself, exactly as it does there. Between the parts nothing is independent - each has taught the score of
the other - so nothing is added up over both: the error is shared instead (Bonferroni).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.learned import LearnedScore
from estimators.arrays import Floats, Integers
from estimators.risk.cells import CellRisks, Limits, Masked
from estimators.risk.flags import Flags
from estimators.sample.cells import Halves
from estimators.sample.counts import Counts
from estimators.sample.locating import SampleRange, rows_of_targets
from estimators.sample.scores import ArgumentScores, Scores
from estimators.statement import Caution, Provenance

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
