"""Exposed members by name: who is listed, how many of them may be false, and what is refused."""

import numpy as np
import pytest

from estimators import Scores
from estimators.audits.exposed import exposed_members
from estimators.errors import DimensionMismatch, InputError, OutOfRange, UnknownName
from tests.cases import refusals

RNG = np.random.default_rng(4)
MEMBERS = np.append(RNG.normal(size=760), RNG.normal(7.0, 0.5, 40))  # forty were memorised
NONMEMBERS = RNG.normal(size=4000)


@pytest.mark.slow
def test_who_stands_apart_is_named() -> None:
    lists = exposed_members(Scores.of(MEMBERS, NONMEMBERS))

    assert 34 <= lists.at_least <= 40
    assert set(range(760, 800)) <= set(lists.listed.tolist())
    assert len(lists.listed) <= 40 / 0.9 + 2
    assert lists.is_listed.sum() == len(lists.listed)
    assert (lists.false_share[lists.is_listed] <= 0.1).all()
    assert (lists.false_share[~lists.is_listed] > 0.1).all()
    assert not lists.is_low


@pytest.mark.slow
def test_the_other_end_names_the_same() -> None:
    high = exposed_members(Scores.of(MEMBERS, NONMEMBERS), direction="high")
    low = exposed_members(Scores.of(-MEMBERS, -NONMEMBERS), direction="low")
    either = exposed_members(Scores.of(-MEMBERS, -NONMEMBERS))

    assert (low.listed == high.listed).all()
    assert (low.scores == -high.scores).all()
    assert (low.at_least, low.is_low, either.is_low) == (high.at_least, True, True)
    assert either.at_least <= low.at_least  # half the level is spent on the other end


@pytest.mark.slow
def test_no_list_of_any_length_is_more_wrong_than_it_says_even_with_ties() -> None:
    wrong, runs = 0, 60
    for run in range(runs):
        rng = np.random.default_rng((run, 2))
        alike = np.round(rng.normal(size=150), 1)
        members = np.append(alike, np.round(rng.normal(2.0, 1.0, 150), 1))
        lists = exposed_members(Scores.of(members, np.round(rng.normal(size=300), 1)), confidence=0.8)
        toward = -1.0 if lists.is_low else 1.0
        truly = (toward * alike >= toward * lists.scores[:, None]).sum(axis=1)
        wrong += bool((truly > lists.most_false).any())

    assert wrong <= 31  # 10% of 150, and four and a half deviations


@pytest.mark.slow
def test_equal_scores_stand_in_one_list_and_that_nobody_is_listed_is_no_proof() -> None:
    lists = exposed_members(Scores.of([9.0] * 30 + [0.0, 1.0] * 10, [0.0, 1.0] * 60), direction="high")
    nobody = exposed_members(Scores.of(*RNG.normal(size=(2, 300))))

    assert (lists.scores.tolist(), lists.records.tolist()) == ([9.0, 1.0, 0.0], [30, 40, 50])
    assert lists.at_least >= 25
    assert (nobody.at_least, len(nobody.listed)) == (0, 0)
    assert "no proof that none is" in nobody.sentence
    assert [each.code for each in exposed_members(Scores.of(range(9), range(10, 20))).cautions] == ["few_nonmembers"]


test_what_has_no_order_or_no_meaning_is_refused = refusals(
    "ask, error, words",
    (lambda: exposed_members(Scores.of(np.ones((9, 2)), np.zeros((9, 2)))), DimensionMismatch, "vectors"),
    (lambda: exposed_members(Scores.of(["a"] * 9, ["b"] * 9)), InputError, "no order"),
    (lambda: exposed_members(Scores.of(MEMBERS, NONMEMBERS), max_false_share=1.0), OutOfRange, "max_false_share"),
    (lambda: exposed_members(Scores.of(MEMBERS, NONMEMBERS), confidence=0.0), OutOfRange, "confidence"),
    (lambda: exposed_members(Scores.of(MEMBERS, NONMEMBERS), direction="up"), UnknownName, "direction"),
)


@pytest.mark.slow
def test_members_who_are_missing_where_half_of_nonmembers_are_may_have_drifted() -> None:
    rng = np.random.default_rng(7)

    def warned(members: np.ndarray, nonmembers: np.ndarray) -> bool:
        lists = exposed_members(Scores.of(members, nonmembers))
        assert lists.at_least
        return "exposed_or_drift" in {each.code for each in lists.cautions}

    assert warned(rng.normal(1.0, 1.0, 800), NONMEMBERS)
    assert warned(-rng.normal(1.0, 1.0, 800), -NONMEMBERS)
    assert not warned(MEMBERS, NONMEMBERS)
    at_the_edge = 0  # half of the members stand apart, and the others score as nonmembers do
    for _ in range(40):
        members = np.append(rng.normal(size=200), rng.normal(9.0, 1.0, 200))
        at_the_edge += warned(members, rng.normal(size=400))
    assert at_the_edge == 0
