"""Counts of a learned score say what they are of, wherever they go."""

import numpy as np
import pytest

from estimators import Decision, LearnedTarget, MaceError, advantage, assess, verdict
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage, MaxMetric
from estimators.decisions.tpr_limit import MaxTpr
from estimators.errors import IncompatibleCells, InvalidCounts
from estimators.metric.presets import preset
from estimators.sample.cells import Grid
from estimators.sample.counts import Counts
from estimators.sample.learned import LearnedCounts
from estimators.statement import Caution
from tests.cases import each_case

EVEN = np.full(20, 5000)
COUNTS = LearnedCounts(EVEN, EVEN, Grid(-5, np.arange(20)), learner="boxes", n_taught=400)


def test_they_are_read_back_as_what_they_are_and_do_not_merge_nor_with_others():
    again = LearnedCounts.from_dict(COUNTS.to_dict())

    assert (again.learner, again.n_taught, again.among) == ("boxes", 400, "all")
    assert again.to_dict() == COUNTS.to_dict()

    others = Counts(EVEN, EVEN, Grid(-5, np.arange(20)))

    for one, other in ((COUNTS, COUNTS), (COUNTS, others), (others, COUNTS)):
        with pytest.raises(IncompatibleCells, match="learned score"):
            one.merge(other)


@each_case(
    "learned",
    None,
    {},
    {"learner": 1, "n_taught": 4, "among": "all"},
    {"learner": "boxes", "n_taught": -1, "among": "all"},
    {"learner": "boxes", "n_taught": True, "among": "all"},
    {"learner": "boxes", "n_taught": 4, "among": "none"},
    {"learner": "boxes", "n_taught": 4, "among": {}},
)
def test_what_does_not_say_how_it_was_learned_or_has_no_order_is_refused(learned) -> None:
    with pytest.raises(InvalidCounts, match="learned"):
        LearnedCounts.from_dict({**COUNTS.to_dict(), "learned": learned})
    unordered = Counts.of([9, 9], [9, 9]).to_dict()
    with pytest.raises(InvalidCounts, match="order"):
        LearnedCounts.from_dict(unordered | {"learned": COUNTS.to_dict()["learned"]})


def test_a_verdict_passes_by_them_only_where_that_was_accepted() -> None:
    plain = verdict(advantage(COUNTS), 0.2)
    accepted = verdict(advantage(COUNTS, target=LearnedTarget(accept_learned_score=True)), 0.2)

    assert plain.decision is Decision.INCONCLUSIVE
    assert plain.learned_score_accepted is False
    assert accepted.decision is Decision.PASS


@each_case("limit", [MaxAdvantage(0.2), MaxTpr(0.3, fpr=0.1), MaxMetric(0.7, preset("accuracy", 0.5))])
def test_no_limit_of_a_gate_passes_by_them_either(limit) -> None:
    accepted = LearnedTarget(accept_learned_score=True)
    about = MaxAdvantage(limit.maximum, accepted) if isinstance(limit, MaxAdvantage) else limit

    assert judge(COUNTS, [limit]).decision is Decision.INCONCLUSIVE
    assert judge(COUNTS, [about], learned_by=accepted).decision is Decision.PASS


def test_every_answer_says_that_the_score_was_learned_and_from_what_and_of_other_counts_none_is_given() -> None:
    expected = Caution(
        "learned_score",
        "the vector was turned into one learned score (boxes, learned from 400 of the records and stated on the other "
        "200000): another score of the same vector may give away more",
    )

    assert expected in advantage(COUNTS).cautions
    assert expected in assess(COUNTS).cautions
    assert "learned score" in advantage(COUNTS).sentence
    with pytest.raises(MaceError, match="not counts"):
        advantage(Counts(EVEN, EVEN, Grid(-5, np.arange(20))), target=LearnedTarget())
