"""Identifiers of 64 bits and more are told apart on both sides, whatever types they come as; and so are texts."""

from typing import Any

import numpy as np
import pytest

from estimators import Counts, Query, Scores, advantage, individual_risk
from estimators.errors import IncompatibleCells, InputError, NotFinite
from estimators.sample.cells import Categories, Values
from estimators.sample.counting import by_category, finest
from tests.cases import each_case

RNG = np.random.default_rng(4)
PICK = RNG.integers(0, 10, 400)


def ids(values: list[int], kind: Any) -> np.ndarray:
    return np.array(values, dtype=kind)


@each_case("low, high, kinds", [
    (2**63 - 10, 2**63, ("i8", "u8")), (2**60, 2**60 + 10, ("i8", "u8")), (0, 2**63, ("i8", "u8")),
    (-(2**63), 2**63, ("i8", "u8")), (2**63, 2**63 + 10, ("u8", "u8")),
    (2**64 - 30, 2**64 - 10, ("u8", "u8")), (2**64 - 10, 2**64, ("u8", "O")), (-5, 2**70, ("i1", "O")),
    (0, 100, ("u1", "i8")), (0, 10**12, ("i4", "i8")),
])  # fmt: skip
def test_integers_answer_as_their_texts_do(low, high, kinds) -> None:
    a, b = ([start + int(k) for k in PICK] for start in (low, high))
    texts = Scores.of(list(map(str, a)), list(map(str, b)))
    for first, second in ((ids(a, kinds[0]), ids(b, kinds[1])), (a, b), (ids(a, "O"), ids(b, "O"))):
        numbers = Scores.of(first, second, Query.DISCRETE)

        counts, of_texts = finest(numbers), finest(texts)

        assert isinstance(counts.cells, Categories)
        assert isinstance(of_texts.cells, Categories)
        both = ((c.cells.labels.tolist(), c.members, c.nonmembers) for c in (counts, of_texts))
        rows, of_text_rows = ({str(k): pair for k, *pair in zip(*three, strict=True)} for three in both)
        assert rows == of_text_rows
        assert advantage(numbers).lower > 0.9
        risk = individual_risk(numbers)
        assert not np.ma.getmaskarray(risk.risk).any()
        assert risk.risk.tolist() == individual_risk(texts).risk.tolist()


def test_targets_are_found_among_labels_of_another_type_and_nothing_near_them_is() -> None:
    near = Values(np.array([2**53, 2**53 + 1, 2**62]))
    far = Values(np.array([5, 2**63, 2**64 - 1], dtype=np.uint64))
    floats = Values(np.array([0.5, 2.0**53]))

    assert near.locate(np.array([2**53 + 1, 2**64 - 1], dtype=np.uint64)).tolist() == [1, -1]
    assert near.locate(np.array([2.0**53, 2.0**53 + 2, 1e300, 0.5])).tolist() == [0, -1, -1, -1]
    assert far.locate(np.array([5, -1, 6])).tolist() == [0, -1, -1]
    assert far.locate(np.array([2.0**63, -1.0, 2.0**64])).tolist() == [1, -1, -1]
    assert floats.locate(np.array([2**53, 2**53 + 1])).tolist() == [1, -1]
    assert near.locate(np.array([True])).tolist() == [-1]


@each_case(
    "scores, query, places",
    ([2**53, 2**53 + 2], Query.DISCRETE, [0, None, None, None]),
    ([0.5, 2.0**53], Query.DISCRETE, [1, None, None, None]),
    ([1, 2**70], Query.DISCRETE, [None, None, 1, None]),
    ([1, 2**70], Query.CONTINUOUS, [0, 0, 1, None]),
    ([0.5, 2.0**70], Query.CONTINUOUS, [0, 0, 1, None]),
)
def test_targets_beyond_64_bits_are_found_as_what_the_scores_are(scores, query, places) -> None:
    sample = Scores.of([scores[0]] * 40 + [scores[1]] * 8, [scores[1]] * 48, query)
    targets = [2**53, 2**53 + 1, 2**70, 2**70 + 2**60]

    of_targets, of_records = individual_risk(sample, targets=targets), individual_risk(sample)

    each = of_records.risk.tolist()
    assert of_targets.risk.tolist() == [None if place is None else each[-place] for place in places]


def test_a_target_that_no_float_is_near_is_refused() -> None:
    for scores in ([1.5, 2.5] * 8, [1, 2] * 8):
        with pytest.raises(NotFinite, match="targets: record 1 is not finite") as refusal:
            individual_risk(Scores.of(scores, scores), targets=[1, -(10**400)])
        assert (refusal.value.field, refusal.value.index) == ("targets", 1)


def test_counts_of_integers_merge_across_2_63() -> None:
    low, high = (by_category(Scores.of([v] * 8, [v, v + 1] * 4, Query.DISCRETE)) for v in (2**63 - 2, 2**63))
    merged = low.merge(high)

    assert merged.cells.to_dict()["labels"] == [2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1]
    below = by_category(Scores.of([-1] * 8, [-1] * 8, Query.DISCRETE))
    with pytest.raises(IncompatibleCells, match="as text"):
        below.merge(high)
    assert Counts.from_dict(merged.to_dict()).cells.to_dict() == merged.cells.to_dict()


def test_a_text_that_ends_in_a_nul_is_no_other_text() -> None:
    a, b = ["a"] * 8, ["a\0"] * 8
    for members, nonmembers in ((a, b), (np.array(a, object), np.array(b, object)), (b, a)):
        with pytest.raises(InputError, match="record 0 is text that ends in a NUL"):
            Scores.of(members, nonmembers)
