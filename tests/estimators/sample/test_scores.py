"""What comes in is checked once, and every refusal can be acted on."""

from decimal import Decimal

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
from tests.cases import each_case

TEN = [float(i) / 7 for i in range(10)]


PAIRS = [[1.0, 2.0]] * 10
HIDDEN = np.ma.MaskedArray(TEN, [False] * 3 + [True] * 7)
FAR = [*range(8), -(10**400)]


def spoiled(value: float) -> np.ndarray:
    return np.where(np.arange(10) == 4, value, TEN)


@each_case("members, nonmembers, query, error, words, field, index", [
    ([], TEN, "auto", TooFewRecords, f"member scores: got 0, need at least {MIN_RECORDS}", "members", None),
    (TEN, TEN[:3], "auto", TooFewRecords, "nonmember scores: got 3", "nonmembers", None),
    (TEN, spoiled(np.nan), "auto", NotFinite, "nonmember scores: record 4 is NaN", "nonmembers", 4),
    (spoiled(np.inf), TEN, "auto", NotFinite, "member scores: record 4 is infinite", "members", 4),
    (TEN, spoiled(-np.inf), "auto", NotFinite, "nonmember scores: record 4 is infinite", "nonmembers", 4),
    (HIDDEN, TEN, "auto", NotFinite, "record 3 is masked", "members", 3),
    (TEN, list(HIDDEN), "auto", NotFinite, "record 3 is masked", "nonmembers", 3),
    ([[1.0, each] for each in HIDDEN], PAIRS, "auto", NotFinite, "record 3 is masked", "members", 3),
    (list(np.ma.column_stack([HIDDEN, HIDDEN])), PAIRS, "auto", NotFinite, "record 3 is masked", "members", 3),
    (np.array(list(HIDDEN), dtype=object), TEN, "auto", NotFinite, "record 3 is masked", "members", 3),
    (np.array([*np.arange(10).astype("m8[ns]"), None], dtype=object)[:10], TEN, "auto", InputError,
     "got timedelta64", "members", None),
    ([1.0, 2.0, 3.0, "x", *TEN], TEN, "auto", MixedTypes, "record 3 is text but record 0 is a number",
     "members", 3),
    ([0.5, True, *TEN], TEN, "auto", MixedTypes, "record 1 is a boolean", "members", 1),
    ([0.5, 0.25, None, *TEN], TEN, "auto", MixedTypes, "record 2 is missing", "members", 2),
    (list("abcdefghij"), TEN, "auto", MixedTypes, "text on one side only", None, None),
    (["a", "b"] * 5, ["0,81", "0,5"] * 5, "auto", InputError, "record 0 is text that spells a number",
     "nonmembers", 0),
    ([[1.0, 2.0]] * 9 + [[1.0]], PAIRS, "auto", RaggedRows, "row 9 has 1 values, row 0 has 2", "members", 9),
    (np.array([[1.0, 2.0]] * 4 + [[1.0, None]] * 6, dtype=object), np.ones((10, 2)), "auto", MixedTypes,
     "record 4 is missing", "members", 4),
    (np.zeros((10, 2)), np.zeros((10, 3)), "auto", DimensionMismatch,
     "member scores have dimension 2, nonmember scores 3", None, None),
    (TEN, TEN, "continous", UnknownName, "did you mean 'continuous'", None, None),
    ([1] * 8, [1, 1, 1, 10**400] * 2, "continuous", NotFinite, "nonmember scores: record 3 is beyond 1e308",
     "nonmembers", 3),
    (FAR, [0.5] * 9, "auto", NotFinite, "member scores: record 8 is beyond 1e308", "members", 8),
    *((bad, TEN, "auto", InputError, None, None, None) for bad in (
        "abcdefghij", np.zeros((9, 2, 2)), np.array([1j] * 9), None, {1, 2}, 3, iter(TEN), [10**5000] * 9,
        np.array(None),
    )),
    *((*sides, "auto", MixedTypes, "booleans on one side only", None, None)
      for numbers in ([0, 1] * 5, [0.5, 1.5] * 5) for sides in ((numbers, [True] * 12), ([True] * 12, numbers))),
])  # fmt: skip
def test_what_is_no_sample_is_refused_by_side_and_place(members, nonmembers, query, error, words, field, index) -> None:
    with pytest.raises(error, match=words) as refusal:
        Scores.of(members, nonmembers, query)

    assert "'x'" not in str(refusal.value)
    assert (field, index) in ((None, None), (refusal.value.field, refusal.value.index))


def test_scores_whose_sum_overflows_are_not_taken_for_infinite_nor_minus_zero_for_another_score():
    huge = np.full(10, 1.7e308)

    assert Scores.of(huge, -huge).n_members == 10

    assert not np.signbit(np.asarray(Scores.of([-0.0] * 10, [0.0] * 10).members, dtype=float)).any()


def test_many_distinct_numbers_are_continuous_and_few_discrete_though_the_first_thousand_show_fewer():
    x = np.random.default_rng(0).normal(size=3000)
    scores, saturated = Scores.of(x, x + 1), Scores.of(np.minimum(x, 0.7), np.minimum(x, 0.7))

    assert scores.query is saturated.query is Query.CONTINUOUS
    assert scores.reason == "many distinct values"

    x = np.repeat([0.1, 0.2], 2000)
    scores = Scores.of(x, np.concatenate([np.repeat(0.1, 2000), np.repeat(0.9, 2000)]))

    assert scores.query is Query.DISCRETE
    assert scores.reason.startswith("only 3 distinct values")


def test_integers_beyond_64_bits_booleans_and_text_are_categories():
    big = [10**30 + i % 3 for i in range(12)]
    scores = Scores.of(big, big)

    assert scores.query is Scores.of(FAR * 2, FAR * 2).query is Query.DISCRETE
    assert len(np.unique(scores.members)) == 3

    assert Scores.of([True, False] * 5, [True] * 10).query is Query.DISCRETE
    assert Scores.of(list("aabbccddee"), list("aaaaabbbbb")).query is Query.DISCRETE


@each_case("values", [[10**30 + i for i in range(12)], [-1, 2**63] * 6, [2**63] * 12])
def test_integers_of_any_size_are_numbers_where_a_continuous_query_is_asked_for(values) -> None:
    scores = Scores.of(values, [-1] * 12, Query.CONTINUOUS)

    assert scores.query is Query.CONTINUOUS
    assert scores.members.tolist() == [float(value) for value in values]


@each_case("kind, first", [(np.int64, 2**62), (np.int64, -(2**62)), (np.uint64, 2**63)])
def test_integers_that_floats_would_merge_are_no_numbers_unless_that_is_asked(kind, first) -> None:
    """One cut tells these sides apart, and as floats, which see none of it, they passed a limit of 0.03."""
    far = [first + place * 2**40 for place in range(40)]
    sides = [np.array([*far, *range(first + shift, first + shift + 160)], dtype=kind) for shift in (0, 160)]

    with pytest.raises(InputError, match="are one float"):
        Scores.of(*sides)
    with pytest.raises(InputError, match="are one float"):
        Scores.of(*(np.column_stack([np.arange(len(side), dtype=kind), side]) for side in sides))

    assert Scores.of(*sides, Query.CONTINUOUS).query is Query.CONTINUOUS
    assert Scores.of(*(side - sides[0].min() for side in sides)).query is Query.CONTINUOUS
    assert Scores.of(far, far).query is Query.CONTINUOUS  # far apart, each is a float of its own


def test_one_record_of_each_unit_is_kept_and_labels_that_name_nothing_are_refused() -> None:
    units = np.repeat(np.arange(30), 5)

    assert sorted(units[one_per_unit(np.zeros(150), units, seed=3)]) == list(range(30))
    for nothing in (None, 3, [None] * 10, [float("nan")] * 10):
        with pytest.raises(InputError):
            one_per_unit(TEN, nothing)


@each_case("units", [HIDDEN, list(HIDDEN), np.ma.MaskedArray(range(10), HIDDEN.mask)])
def test_a_masked_label_is_none(units) -> None:
    with pytest.raises(NotFinite, match="units: record 3 is masked"):
        one_per_unit(TEN, units)
    with pytest.raises(InputError, match="units: record 3 has none; need whom each record belongs to"):
        one_per_unit(TEN, ["a", "b", "c", "", *"defghi"])


def test_what_is_kept_of_units_is_a_sample_of_a_sorted_file_at_every_seed() -> None:
    excess = []
    for run in range(400):
        rng = np.random.default_rng(run)
        scores = np.sort((rng.random(360) < 0.7).astype(float))
        kept = scores[one_per_unit(scores, rng.permutation(np.repeat(np.arange(72), 5)))]
        excess.append(kept.mean() - scores.mean())

    # one of five of 72 units: by places alone 0.035 too much at this length and seed, 18 standard errors
    assert abs(np.mean(excess)) < 4.0 * np.std(excess) / 20.0


# --- what is no score --------------------------------------------------------------------------------------

RNG = np.random.default_rng(11)
MANY = RNG.random(200)
LABELS = RNG.integers(0, 2, 200)


@each_case("labels", [LABELS, LABELS.astype(float), LABELS == 1, 2 * LABELS - 1])
@each_case("first", [True, False])
def test_scores_of_all_beside_their_labels_are_refused_with_the_remedy(labels, first) -> None:
    """The habit of scikit-learn, whose metrics take labels and scores: it gave an advantage of 0.971 to 1."""
    sides = (labels, MANY) if first else (MANY, labels)

    with pytest.raises(InputError, match="these look like labels") as refusal:
        Scores.of(*sides)

    assert 'macekit.estimate({"score": scores, "member": labels})' in str(refusal.value)
    assert refusal.value.field == ("members" if first else "nonmembers")


@each_case(
    "members, nonmembers",
    (LABELS, 1 - LABELS),  # a score that is 0 or 1
    (RNG.poisson(40, 200), LABELS),  # copies of a record: many of members, few of others
    (MANY, RNG.integers(0, 2, 150)),  # not as many as there are scores
    (MANY, np.zeros(200)),
    (np.where(LABELS, 0.5, 0.25), LABELS),
    (MANY, np.where(LABELS, 1.0, 0.5)),
)
def test_what_may_be_a_score_is_not_taken_for_labels(members, nonmembers) -> None:
    assert Scores.of(members, nonmembers).n_members == 200


SPELLED = {
    "percent": "{:.1%}", "dollars": "${:.2f}", "in brackets": "[{:.3f}]", "tensor": "tensor({:.4f})",
    "tensor with its type": "tensor({:.4f}, dtype=torch.float64)", "array": "array([{:.4f}])",
    "numpy": "np.float64({})", "plain": "{}", "padded": " {:.3f} ", "signed": "-{:.3f}", "small": "{:.3e}",
    "euros": "{:.2f} \u20ac", "thousands": "1,23{:.2f}", "thousands beside a decimal comma": "1.234,5{:.0f}",
    "C": "{:.2f}f", "Fortran": "{:.2f}D+00", "underscores": "1_00{:.2f}", "wide digits": "\uff11{:.2f}",
}  # fmt: skip


@each_case("form", SPELLED)
def test_numbers_that_are_spelled_as_text_are_refused(form) -> None:
    texts = [SPELLED[form].format(value) for value in MANY]

    with pytest.raises(InputError, match="member scores: record 0 is text that spells a number; give num"):
        Scores.of(texts, texts[::-1])
    # if they are categories
    assert Scores.of(texts[:8] * 5, texts[:8] * 5, "discrete").query is Query.DISCRETE


NAMING = {
    "letters": "A1 B2", "postcodes": "10115 80331", "whole": "7 12", "ranges": "0-5 5-10", "limits": "<5 >10",
    "versions": "1.2.3 1.10.0", "dates": "2024-01-02 2024-02-03", "addresses": "10.0.0.1 10.0.0.2",
    "digits and letters": "1e5 2a7", "with a version": "v1.5 f(x)", "words": "yes no", "times": "12:30 14:00",
    "fractions": "3/4 1/2", "empty": " x", "one number among words": "0.5 low high none",
}  # fmt: skip


@each_case("name", NAMING)
def test_text_that_names_something_stays_a_category(name) -> None:
    categories = NAMING[name].split(" ")
    side = [categories[i % len(categories)] for i in range(40)]

    assert Scores.of(side, side[::-1]).reason == "scores are text"


def test_arrays_in_a_list_are_what_they_hold() -> None:
    """A number of its own array, as reductions give it, and a row of one; of objects rows are vectors, too."""
    for values, shape in ((TEN, (10,)), (PAIRS, (10, 2))):
        scores = Scores.of([np.array(each) for each in values], values, Query.CONTINUOUS)

        assert np.array_equal(scores.members, scores.nonmembers)
        assert scores.members.shape == shape
    assert Scores.of(MANY.reshape(-1, 1), RNG.random((90, 1))).dimension == 1  # a frame with one column
    assert Scores.of(np.array([TEN, TEN], dtype=object).T, np.array([TEN, TEN]).T).dimension == 2


@each_case("texts", [["0.10", "1.255", "-3.5"], ["10", "1E+2", "-7"], ["12345678901234567890123"], ["1", "2.50"]])
def test_decimals_are_the_integers_they_are_or_the_nearest_floats(texts: list[str]) -> None:
    plain = [float(text) if any("." in each for each in texts) else int(Decimal(text)) for text in texts] * 9
    decimals = [Decimal(text) for text in texts] * 9
    wanted = Scores.of(plain, plain[::-1])

    for given in (decimals, np.array(decimals, object)):
        found = Scores.of(given, decimals[::-1])
        assert found.members.tolist() == wanted.members.tolist()
        assert (found.members.dtype, found.query) == (wanted.members.dtype, wanted.query)
    for value in ("NaN", "sNaN", "Infinity", "1E+999999"):
        with pytest.raises(NotFinite):
            Scores.of([*TEN[1:], Decimal(value)], TEN)
