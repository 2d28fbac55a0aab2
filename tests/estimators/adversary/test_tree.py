"""Boxes that a database can compute: those of a tree, cut between rows."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from estimators import advantage
from estimators.adversary.learned import teach
from estimators.adversary.pilot import DEPTH, IN_ENGINES, Pilot, between_rows, complete, tree
from estimators.sample.cells import Boxes
from tests.cases import each_case

RNG = np.random.default_rng(2)
MEMBER = RNG.random(3000) < 0.5
ROWS = RNG.normal(np.where(MEMBER, 0.4, 0.0)[:, None], 1.0, (3000, 3)).astype(np.float32).astype(np.float64)


@each_case("leaf", [1, 40, 400, 1500])
def test_a_tree_with_all_its_paths_has_the_leaves_of_scikit_learn(leaf) -> None:
    grown = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=leaf, random_state=0).fit(ROWS, MEMBER)

    at, theirs = complete(grown.tree_).locate(ROWS), grown.apply(ROWS)

    pairs = {*zip(at.tolist(), theirs.tolist(), strict=True)}
    assert len(pairs) == len({*at}) == len({*theirs})


def test_no_row_lies_on_a_cut_and_each_stays_in_its_box() -> None:
    whole = np.round(ROWS * 3)
    boxes = Boxes.halving(whole, 64)  # cut at medians, which are numbers of rows
    moved = between_rows(boxes, whole)

    assert np.isin(boxes.cuts, whole).any()
    assert not np.isin(moved.cuts, whole).any()
    np.testing.assert_array_equal(moved.locate(whole), boxes.locate(whole))


def test_what_scikit_learn_cannot_hold_is_left_to_boxes_of_equal_mass() -> None:
    far = ROWS * 1e200
    assert teach(far[MEMBER], far[~MEMBER], learners=IN_ENGINES).learner == "boxes"


def test_counts_of_boxes_are_those_of_their_share() -> None:
    rule = Pilot.of(ROWS[MEMBER][:500], ROWS[~MEMBER][:500], 0).teach_boxes(learners=[tree()])
    rest = ROWS[MEMBER][500:], ROWS[~MEMBER][500:]

    counts = rule.counts(*(np.bincount(rule.boxes.locate(side), minlength=rule.boxes.size) for side in rest))

    scores = [rule.share[rule.boxes.locate(side)] for side in rest]
    for side, column in zip(scores, (counts.members, counts.nonmembers), strict=True):
        np.testing.assert_array_equal(np.bincount(counts.cells.locate(side), minlength=counts.size), column)
    assert counts.among == "first"
    assert advantage(counts).lower > 0.1  # the truth is 0.27
