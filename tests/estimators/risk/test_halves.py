"""Individual risk of vectors: every record by a score from records that are not it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators import Scores, individual_risk
from estimators.adversary.learned import Learner, logistic
from estimators.errors import DimensionMismatch
from estimators.risk.cells import cell_risks
from estimators.sample.cells import Halves
from tests.estimators.adversary.test_learned import MEMORY

LOGISTIC = (logistic(),)


def draw(seed: int, n: int = 150, shift: float = 0.0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.normal(shift, 1, (n, 2)), rng.normal(0, 1, (n, 2)))


def test_a_record_is_not_given_away_by_a_learner_that_has_seen_it() -> None:
    risks = individual_risk(draw(0), learners=(MEMORY,))

    assert (risks.learned_score == 0.5).all()
    assert risks.n_flagged == 0
    assert risks.risk.max() < 0.05


def test_a_target_that_is_a_record_is_answered_as_it_and_one_that_belongs_with_it_by_what_has_not_seen_it():
    scores = draw(1, shift=0.7)
    plain = individual_risk(scores, learners=LOGISTIC)
    rows = np.concatenate([scores.members, scores.nonmembers])
    again = individual_risk(scores, targets=rows, learners=LOGISTIC)

    assert (again.cell == plain.cell).all()
    assert again.learned_half.tolist() == plain.learned_half.tolist()
    seen = individual_risk(draw(0), targets=draw(0).members, learners=(MEMORY,))
    assert (seen.learned_score == 0.5).all()

    scores = draw(2)
    plain = individual_risk(scores, learners=LOGISTIC)
    taught = int(np.flatnonzero(plain.learned_half == 1)[0])
    near = individual_risk(scores, targets=[[0.1, 0.2]], stand_for=[taught], learners=LOGISTIC)
    free = individual_risk(scores, targets=[[0.1, 0.2]], learners=LOGISTIC)

    assert (near.learned_half, free.learned_half) == (np.array([1]), np.array([0]))


def test_each_half_is_answered_as_one_score_would_be_and_they_share_what_is_said_of_all() -> None:
    risks = individual_risk(draw(3, 400, 0.5), 0.3, learners=LOGISTIC)

    assert isinstance(risks.cells.counts.cells, Halves)
    start = 0
    for learned in risks.learned:
        alone = individual_risk(learned.scores, 0.3)
        here = slice(start, start + alone.cells.size)
        assert (risks.cells.counts.members[here] == alone.cells.counts.members).all()
        assert risks.cells.signed.lower[here].tolist() == alone.cells.signed.lower.tolist()
        own = alone.cells.signed_simultaneous
        assert (risks.cells.signed_simultaneous.upper[here] >= own.upper - 1e-12).all()
        assert (own.upper >= cell_risks(alone.cells.counts, 0.3).signed.upper - 1e-12).all()
        start += alone.cells.size
    assert start == risks.cells.size
    assert risks.flags.rate == pytest.approx(0.05)
    assert len(risks.cell) == 800
    assert (risks.cell >= 0).all()


def test_the_best_listed_keep_their_learned_scores_and_targets_of_another_length_are_refused() -> None:
    risks = individual_risk(draw(4, shift=1.0), learners=LOGISTIC)
    listing = risks.top(5)

    assert listing.learned_score.tolist() == risks.learned_score[listing.index].tolist()
    for targets in ([0.1, 0.2], [[0.1, 0.2, 0.3]]):
        with pytest.raises(DimensionMismatch, match="targets have dimension"):
            individual_risk(draw(0), targets=targets, learners=LOGISTIC)
    assert individual_risk(draw(0), targets=np.empty((0, 2)), learners=LOGISTIC).size == 0


class Sum:
    """The sum of a row, turned into a share: as quick as a learner can be."""

    def fit(self, rows: NDArray[np.float64], member: NDArray[np.int64]) -> None:
        self.slope = rows[member == 1].mean(axis=0) - rows[member == 0].mean(axis=0)

    def predict_proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        share = 1.0 / (1.0 + np.exp(-rows @ self.slope))
        return np.stack([1.0 - share, share], axis=1)


@pytest.mark.slow
def test_without_a_leak_limits_and_flags_err_no_more_often_than_they_say() -> None:
    """120 samples of 60 records a side: any flag in 5%, any limit of all at once above 0 in 2.5%, one's own in 2.5%."""
    quick = (Learner("sum", lambda _seed: Sum()),)
    runs, flagged, together, alone = 120, 0, 0, 0.0
    for run in range(runs):
        risks = individual_risk(draw(run, 60), seed=run, learners=quick)
        flagged += risks.n_flagged > 0
        together += bool((risks.cells.signed_simultaneous.lower > 0.0).any())
        alone += float((risks.cells.signed.lower[risks.cell] > 0.0).mean())

    assert flagged / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert together / runs <= 0.025 + 3 * (0.025 * 0.975 / runs) ** 0.5
    assert alone / runs <= 0.025
