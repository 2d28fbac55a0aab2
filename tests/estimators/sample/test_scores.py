"""What comes in is checked once, and every refusal can be acted on."""

import numpy as np
import pytest

from estimators.errors import (
    DimensionMismatch,
    InputError,
    MixedTypes,
    NotFinite,
    RaggedRows,
    TooFewRecords,
    UnknownName,
)
from estimators.sample.scores import MIN_RECORDS, Query, Scores, one_per_unit

TEN = [float(i) / 7 for i in range(10)]


def test_an_empty_side_is_refused_with_the_minimum_named() -> None:
    with pytest.raises(TooFewRecords, match=rf"member scores: got 0, need at least {MIN_RECORDS}"):
        Scores.of([], TEN)


def test_a_tiny_nonmember_side_is_refused_by_name() -> None:
    with pytest.raises(TooFewRecords, match="nonmember scores: got 3"):
        Scores.of(TEN, TEN[:3])


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_a_score_that_is_not_finite_is_named_by_side_and_index(bad, word) -> None:
    spoiled = np.array(TEN)
    spoiled[4] = bad

    with pytest.raises(NotFinite, match=f"nonmember scores: record 4 is {word}") as refusal:
        Scores.of(TEN, spoiled)
    assert (refusal.value.field, refusal.value.index) == ("nonmembers", 4)


def test_finite_scores_whose_sum_overflows_are_not_taken_for_infinite() -> None:
    huge = np.full(10, 1.7e308)

    scores = Scores.of(huge, -huge)

    assert scores.n_members == 10


def test_numbers_and_text_on_one_side_are_refused_at_the_first_stranger() -> None:
    with pytest.raises(MixedTypes, match="record 3 is text but record 0 is a number") as refusal:
        Scores.of([1.0, 2.0, 3.0, "x", *TEN], TEN)
    assert refusal.value.index == 3
    assert "'x'" not in str(refusal.value)


def test_a_boolean_is_not_a_number() -> None:
    with pytest.raises(MixedTypes, match="record 1 is a boolean"):
        Scores.of([0.5, True, *TEN], TEN)


def test_a_missing_value_is_refused_and_not_read_as_nan() -> None:
    with pytest.raises(MixedTypes, match="record 2 is missing"):
        Scores.of([0.5, 0.25, None, *TEN], TEN)


def test_text_on_one_side_only_is_refused() -> None:
    with pytest.raises(MixedTypes, match="text on one side only"):
        Scores.of(list("abcdefghij"), TEN)


def test_ragged_rows_are_refused_at_the_first_odd_one() -> None:
    rows = [[1.0, 2.0]] * 9 + [[1.0]]

    with pytest.raises(RaggedRows, match="row 9 has 1 values, row 0 has 2"):
        Scores.of(rows, [[1.0, 2.0]] * 10)


def test_sides_of_different_dimension_are_refused() -> None:
    with pytest.raises(DimensionMismatch, match="member scores have dimension 2, nonmember scores 3"):
        Scores.of(np.zeros((10, 2)), np.zeros((10, 3)))


@pytest.mark.parametrize("values", ["abcdefghij", np.zeros((9, 2, 2)), np.array([1j] * 9)])
def test_what_is_no_list_of_scores_is_refused(values) -> None:
    with pytest.raises(InputError):
        Scores.of(values, TEN)


def test_an_unknown_query_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'continuous'"):
        Scores.of(TEN, TEN, "continous")


def test_many_distinct_numbers_are_continuous_and_the_reason_is_given() -> None:
    x = np.random.default_rng(0).normal(size=3000)

    scores = Scores.of(x, x + 1)

    assert scores.query is Query.CONTINUOUS
    assert scores.reason == "many distinct values"


def test_few_distinct_numbers_are_discrete_even_when_the_first_thousand_show_fewer() -> None:
    x = np.repeat([0.1, 0.2], 2000)
    y = np.concatenate([np.repeat(0.1, 2000), np.repeat(0.9, 2000)])

    scores = Scores.of(x, y)

    assert scores.query is Query.DISCRETE
    assert scores.reason.startswith("only 3 distinct values")


def test_a_saturated_score_stays_continuous() -> None:
    x = np.minimum(np.random.default_rng(0).normal(size=3000), 0.7)

    assert Scores.of(x, x).query is Query.CONTINUOUS


def test_integers_beyond_64_bits_are_categories_in_numeric_order() -> None:
    big = [10**30 + i % 3 for i in range(12)]

    scores = Scores.of(big, big)

    assert scores.query is Query.DISCRETE
    assert len(np.unique(scores.members)) == 3


@pytest.mark.parametrize("values", [[10**30 + i for i in range(12)], [-1, 2**63] * 6, [2**63] * 12])
def test_integers_of_any_size_are_numbers_where_a_continuous_query_is_asked_for(values) -> None:
    scores = Scores.of(values, [-1] * 12, Query.CONTINUOUS)

    assert scores.query is Query.CONTINUOUS
    assert scores.members.tolist() == [float(value) for value in values]


def test_a_continuous_query_refuses_an_integer_that_no_float_is_near() -> None:
    with pytest.raises(NotFinite, match="nonmember scores: record 3 is beyond 1e308") as refusal:
        Scores.of([1] * 8, [1, 1, 1, 10**400] * 2, Query.CONTINUOUS)
    assert (refusal.value.field, refusal.value.index) == ("nonmembers", 3)


def test_an_integer_that_no_float_is_near_is_refused_beside_fractions_and_a_category_otherwise() -> None:
    far = [*range(8), -(10**400)]

    assert Scores.of(far * 2, far * 2).query is Query.DISCRETE
    with pytest.raises(NotFinite, match="member scores: record 8 is beyond 1e308"):
        Scores.of(far, [0.5] * 9)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("numbers", [[0, 1] * 5, [0.5, 1.5] * 5])
def test_booleans_on_one_side_and_numbers_on_the_other_do_not_mix(numbers, first) -> None:
    sides = ([True, True] * 6, numbers) if first else (numbers, [True, True] * 6)

    with pytest.raises(MixedTypes, match="booleans on one side only"):
        Scores.of(*sides)


def test_booleans_and_text_are_categories() -> None:
    assert Scores.of([True, False] * 5, [True] * 10).query is Query.DISCRETE
    assert Scores.of(list("aabbccddee"), list("aaaaabbbbb")).query is Query.DISCRETE


def test_a_single_column_is_a_scalar() -> None:
    assert Scores.of(np.arange(20.0)[:, None], np.arange(20.0)[:, None]).dimension == 1


def test_negative_zero_and_zero_are_the_same_score() -> None:
    scores = Scores.of([-0.0] * 10, [0.0] * 10)

    assert not np.signbit(np.asarray(scores.members, dtype=float)).any()


def test_one_record_of_each_unit_is_kept() -> None:
    units = np.repeat(np.arange(30), 5)

    indices = one_per_unit(np.zeros(150), units, seed=3)

    assert sorted(units[indices]) == list(range(30))


def test_what_lies_under_a_mask_is_no_score() -> None:
    masked = np.ma.MaskedArray(TEN, mask=[False] * 3 + [True] * 7)

    with pytest.raises(NotFinite, match="member scores: record 3 is masked"):
        Scores.of(masked, TEN)


@pytest.mark.parametrize("bad", [None, {1, 2}, 3, iter(TEN), [10**5000] * 9, np.array(None)])
def test_what_is_no_list_of_scores_is_refused_by_a_typed_error(bad) -> None:
    with pytest.raises(InputError):
        Scores.of(bad, TEN)


def test_rows_of_objects_are_rows_of_numbers() -> None:
    scores = Scores.of(np.array([TEN, TEN], dtype=object).T, np.array([TEN, TEN]).T)

    assert scores.dimension == 2
    with pytest.raises(MixedTypes, match="record 4 is missing"):
        Scores.of(np.array([[1.0, 2.0]] * 4 + [[1.0, None]] * 6, dtype=object), np.ones((10, 2)))


@pytest.mark.parametrize("units", [None, 3, [None] * 10, [float("nan")] * 10])
def test_units_that_label_nothing_are_refused(units) -> None:
    with pytest.raises(InputError):
        one_per_unit(TEN, units)


# --- what is no score --------------------------------------------------------------------------------------

RNG = np.random.default_rng(11)
MANY = RNG.random(200)
LABELS = RNG.integers(0, 2, 200)


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS.astype(float), LABELS == 1, 2 * LABELS - 1],
    ids=["0/1", "0.0/1.0", "bool", "-1/1"],
)
@pytest.mark.parametrize("first", [True, False])
def test_scores_of_all_beside_their_labels_are_refused_with_the_remedy(labels, first) -> None:
    """The habit of scikit-learn, whose metrics take labels and scores: it gave an advantage of 0.971 to 1."""
    sides = (labels, MANY) if first else (MANY, labels)

    with pytest.raises(InputError, match="these look like labels") as refusal:
        Scores.of(*sides)

    assert 'macekit.estimate({"score": scores, "member": labels})' in str(refusal.value)
    assert refusal.value.field == ("members" if first else "nonmembers")


@pytest.mark.parametrize(
    ("members", "nonmembers"),
    [
        (LABELS, 1 - LABELS),  # a score that is 0 or 1
        (RNG.poisson(40, 200), LABELS),  # copies of a record: many of members, few of others
        (MANY, RNG.integers(0, 2, 150)),  # not as many as there are scores
        (MANY, np.zeros(200)),
        (np.where(LABELS, 0.5, 0.25), LABELS),
        (MANY, np.where(LABELS, 1.0, 0.5)),
    ],
)
def test_what_may_be_a_score_is_not_taken_for_labels(members, nonmembers) -> None:
    assert Scores.of(members, nonmembers).n_members == 200


SPELLED = {
    "percent": "{:.1%}",
    "dollars": "${:.2f}",
    "in brackets": "[{:.3f}]",
    "tensor": "tensor({:.4f})",
    "tensor with its type": "tensor({:.4f}, dtype=torch.float64)",
    "array": "array([{:.4f}])",
    "numpy": "np.float64({})",
    "plain": "{}",
    "padded": " {:.3f} ",
    "signed": "-{:.3f}",
    "small": "{:.3e}",
    "euros": "{:.2f} \u20ac",
}


@pytest.mark.parametrize("form", SPELLED)
def test_numbers_that_are_spelled_as_text_are_refused(form) -> None:
    texts = [SPELLED[form].format(value) for value in MANY]

    with pytest.raises(
        InputError, match="member scores: record 0 is text that spells a number; give numbers"
    ):
        Scores.of(texts, texts[::-1])
    assert (
        Scores.of(texts[:8] * 5, texts[:8] * 5, "discrete").query is Query.DISCRETE
    )  # if they are categories


def test_decimal_commas_are_numbers_too() -> None:
    with pytest.raises(InputError, match="nonmember scores: record 0 is text that spells a number"):
        Scores.of(["a", "b"] * 5, ["0,81", "0,5"] * 5)


@pytest.mark.parametrize(
    "categories",
    [
        ["A1", "B2"],
        ["10115", "80331"],  # postcodes
        ["7", "12"],
        ["0-5", "5-10"],
        ["<5", ">10"],
        ["1.2.3", "1.10.0"],  # versions
        ["2024-01-02", "2024-02-03"],
        ["10.0.0.1", "10.0.0.2"],
        ["1e5", "2a7"],
        ["v1.5", "f(x)"],
        ["yes", "no"],
        ["12:30", "14:00"],
        ["3/4", "1/2"],
        ["", "x"],
        ["0.5", "low", "high", "none"],  # one of several words
    ],
)
def test_text_that_names_something_stays_a_category(categories) -> None:
    side = [categories[i % len(categories)] for i in range(40)]

    assert Scores.of(side, side[::-1]).reason == "scores are text"


def test_a_side_that_is_a_column_of_its_own_is_one_number_a_record() -> None:
    """A frame with one column, as NumPy sees it."""
    assert Scores.of(MANY.reshape(-1, 1), RNG.random((90, 1))).dimension == 1
