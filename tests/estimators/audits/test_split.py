"""Is the hold-out fair: sides that differ are said to, first in the column that does; a fair split hardly ever is."""

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.special import ndtr

from estimators import Scores, advantage, check_split, control
from estimators.adversary.learned import boosting, logistic
from estimators.audits import split
from estimators.audits.queries.rows import require_two_sides
from estimators.audits.queries.table import encode_sides
from estimators.errors import InputError, NotFinite, OptionError, OutOfRange, RaggedRows, TooFewRecords
from tests.cases import each_case, refusals
from tests.estimators.audits.queries.test_synthetic import part, people, stacked
from tests.estimators.cautions import codes
from tests.macekit.asking import quickly
from tests.oracles import most_misses

Table = dict[str, Any]


@pytest.mark.slow
def test_one_column_of_two_values_differs_by_the_difference_of_its_shares() -> None:
    rng = np.random.default_rng(0)
    check = check_split({"x": rng.random(4000) < 0.6}, {"x": rng.random(4000) < 0.2})

    assert check.interval.lower < 0.4 < check.interval.upper
    assert check.interval.lower > 0.35
    assert abs(check.value - 0.4) < 0.03
    assert [column.name for column in check.columns if column.differs] == ["x"]


@pytest.mark.slow
@quickly()
def test_the_same_rows_are_looked_at_once_and_again_for_whatever_a_check_hangs_on(monkeypatch) -> None:
    monkeypatch.setattr(split, "REMEMBERED", split.Remembered())
    looked = Mock(wraps=split.ends_of)
    monkeypatch.setattr(split, "ends_of", looked)
    ages, others = np.arange(40.0) // 2, np.arange(40.0) // 2 + 3
    moved = np.where(ages == 7, 8, ages)
    sides = [{"age": ages}, {"age": others}]
    asked = (
        (sides, {}), (sides, {"seed": 1}), (sides, {"confidence": 0.9}), (sides[::-1], {}),
        ([{"age": moved}, sides[1]], {}),
        ([{"years": each["age"]} for each in sides], {}), ([{"age": each["age"] > 9} for each in sides], {}),
        ([{**each, "of all": np.ones(40)} for each in sides], {}),
    )  # fmt: skip
    first = [check_split(*tables, **options) for tables, options in asked]
    times = looked.call_count

    assert times == 2 * len(asked)  # the learned score, and the one column
    assert [check_split(*tables, **options) for tables, options in asked] == first
    assert looked.call_count == times
    check_split(*sides, learners=[logistic()])
    assert looked.call_count == times + 2
    check_split({"age": ages**2}, {"age": others**2})  # in the same order, at other distances
    check_split(*sides)  # it is none of the last eight
    assert looked.call_count == times + 6


def test_the_lower_end_is_the_largest_of_all_and_they_share_the_error() -> None:
    rng = np.random.default_rng(1)
    a, b = people(rng, 400), people(rng, 400)
    a["age"] = a["age"] + 20
    check = check_split(a, b, seed=3)
    sides = encode_sides(a, b)

    place = [column.name for column in sides.columns].index("age")
    ages = Scores.of(sides.members.values[:, place], sides.nonmembers.values[:, place])
    alone = advantage(ages, confidence=1.0 - 0.025 / len(a), seed=3)  # half of 5%, over the columns
    assert (check.columns[0].name, check.columns[0].interval.lower) == ("age", pytest.approx(alone.lower))
    assert check.interval.lower == max(check.learned.lower, *(each.interval.lower for each in check.columns))

    constant = {f"constant {k}": [1] * 400 for k in range(20)}
    beside = check_split(a | constant, b | constant, seed=3, learners=[logistic()])
    assert beside.columns[0].interval.lower < check.columns[0].interval.lower  # each column looked at counts


@pytest.mark.slow
@each_case(
    "name, kind", [("wage", "number"), ("age", "whole"), ("job", "category"), ("day", "date"), ("wage", "missing")]
)
@quickly()
def test_a_column_that_differs_is_named_first(name, kind) -> None:
    rng = np.random.default_rng(2)
    sides = (people(rng, 250) | {"day": rng.integers(400, 1400, 250)} for _ in range(2))
    a, b = (side | {"day": side["day"].astype("datetime64[D]")} for side in sides)
    half = rng.random(250) < 0.5
    a[name] = {
        "number": lambda column: column * 2,
        "whole": lambda column: column + 20,
        "category": lambda column: np.where(half, "clown", column),
        "date": lambda column: column + np.timedelta64(400, "D"),
        "missing": lambda column: np.where(half, np.nan, column),
    }[kind](a[name])
    check = check_split(a, b)

    assert check.differs
    assert f"first of all in '{name}'" in check.sentence
    assert "shuffle" in check.sentence
    assert [column.name for column in check.columns if column.differs] == [name] == [check.columns[0].name]


def test_a_column_that_one_side_lacks_differs_and_one_that_both_lack_is_left_out() -> None:
    rng = np.random.default_rng(3)
    a, b = people(rng, 100), people(rng, 100)
    check = check_split(a | {"wage": [None] * 100, "no": [""] * 100}, b | {"no": [None] * 100})

    assert check.columns[0].name == "wage"
    assert check.columns[0].interval.lower > 0.8
    assert codes(check) == ["empty_columns"]
    assert "neither side has a value there: 'no'" in check.cautions[0].message


@pytest.mark.slow
def test_what_only_two_columns_together_tell_is_seen_and_no_column_is_named() -> None:
    rng = np.random.default_rng(4)
    first = rng.random((2, 900)) < 0.5
    second = np.where(rng.random(900) < 0.9, first[0], ~first[0]), rng.random(900) < 0.5
    check = check_split({"a": first[0], "b": second[0]}, {"a": first[1], "b": second[1]})

    assert check.learned.lower > 0.2
    assert not any(column.differs for column in check.columns)
    assert "in no column by itself but in several together" in check.sentence


def test_exchanging_the_sides_exchanges_their_rows_and_no_released_table_is_spoken_of() -> None:
    rng = np.random.default_rng(5)
    a, b = people(rng, 80), people(rng, 50)
    b["job"][:9] = "clown"
    one_way, other_way = encode_sides(a, b), encode_sides(b, a)

    assert one_way.columns == other_way.columns
    np.testing.assert_array_equal(one_way.members.points, other_way.nonmembers.points)
    np.testing.assert_array_equal(one_way.nonmembers.points, other_way.members.points)
    assert (one_way.members.points <= 1.0).all()
    with pytest.raises(InputError, match="no column can be used: left out, for both sides have one") as error:
        encode_sides({"x": [1, 1]}, {"x": [1, 1]})
    assert "releas" not in str(error.value)
    with pytest.raises(InputError, match="no column in common") as error:
        encode_sides({"x": [1, 2]}, {"y": [1, 2]})
    assert "synthetic" not in str(error.value)


@pytest.mark.slow
@quickly()
def test_a_fair_split_is_hardly_ever_said_to_differ() -> None:
    runs, alarms = 6, 0  # more of them, and of 2,000 rows and more: benchmarks/synthetic.py
    for run in range(runs):
        rng = np.random.default_rng([11, run])
        n = (8, 30, 100)[run % 3]
        alarms += check_split(people(rng, n), people(rng, n + run), seed=run).differs

    assert alarms <= most_misses(runs)


@pytest.mark.slow
def test_a_fair_split_of_repeated_people_is_hardly_ever_said_to_differ() -> None:
    """Everyone twice before the split; everyone of a side eight times after it; the same people on both sides."""
    alarms = dict.fromkeys(("before", "after", "both"), 0)
    for run in range(2):
        rng = np.random.default_rng([12, run])
        everybody, a, b = people(rng, 100), people(rng, 60), people(rng, 60)
        doubled = part(stacked(everybody, everybody), rng.permutation(200))
        halves = (part(doubled, slice(100)), part(doubled, slice(100, 200)))
        splits = {"before": halves, "after": (stacked(*[a] * 8), b), "both": (stacked(a, b), stacked(b, a))}
        for when, sides in splits.items():
            alarms[when] += check_split(*sides, seed=run, learners=[boosting()]).differs

    assert not any(alarms.values()), alarms


@pytest.mark.slow
def test_rows_that_repeat_count_once_and_are_said_to() -> None:
    rng = np.random.default_rng(6)
    a, b = ({name: rng.normal(size=60) for name in "xy"} for _ in range(2))
    check = check_split(stacked(a, a), b)

    assert (check.n_members, check.n_nonmembers) == (60, 60)
    assert codes(check) == ["repeated_rows"]
    assert codes(check_split(stacked(a, part(b, slice(20))), b)) == ["shared_rows"]

    many = {name: rng.normal(size=3000) for name in "xy"}  # pairs of the small side are few among those of both
    for small in (stacked(*[part(a, slice(12))] * 5), stacked(a, *[part(a, slice(1))] * 19)):
        for sides in ((small, many), (many, small)):
            assert codes(check_split(*sides)) == ["repeated_rows"]


def test_rows_of_both_sides_are_seen_beside_a_row_that_is_common_by_nature() -> None:
    """Pairs of the common row outnumber all others: one table as both sides was read, and passed."""
    rng = np.random.default_rng(8)
    zeros = rng.random((2, 1000)) >= 0.05
    a, b = ({name: rng.normal(size=1000) * there for name in "xy"} for there in zeros)

    same = encode_sides(a, part(a, slice(None, None, -1)))
    with pytest.raises(InputError, match="these are the training rows, row for row"):
        require_two_sides(same.members, same.nonmembers)
    halves = encode_sides(a, stacked(part(a, slice(500)), part(b, slice(500))))
    assert [each.code for each in halves.cautions] == ["shared_rows"]
    assert encode_sides(a, b).cautions == ()


@pytest.mark.slow
@each_case("sizes", [(8, 8), (300, 300), (2000, 60), (60, 2000)])
def test_rows_that_are_equal_by_chance_are_not_taken_for_repeats(sizes) -> None:
    rng = np.random.default_rng(7)
    said: list[str] = []
    for _ in range(8):
        few = [{name: rng.choice(list("abcd"), n, p=[0.6, 0.2, 0.15, 0.05]) for name in "xyz"} for n in sizes]
        rounded = [{name: rng.normal(size=n).round(1) for name in "xyz"} for n in sizes]
        for a, b in (few, rounded):
            said += [caution.code for caution in encode_sides(a, b).cautions]

    assert said == []


@pytest.mark.slow
@quickly()
def test_thousands_of_levels_and_identifiers() -> None:
    rng, row = np.random.default_rng(9), np.arange(600).reshape(2, 300)
    a, b = ({"who": rng.integers(0, 4000, 3000).astype(str), "x": rng.normal(size=3000)} for _ in range(2))
    numbered = [{"row": each, "x": rng.random(300)} for each in row]
    plain, used, sides = check_split(*numbered), check_split(*numbered, use=["row"]), encode_sides(a, b)

    assert not check_split(a, b).differs
    assert sides.members.points.shape[1] < 20
    assert {column.name: column.levels > 3000 for column in sides.columns}["who"]
    assert (codes(plain), plain.differs) == (["identifiers"], False)
    assert used.columns[0].name == "row"
    assert used.interval.lower > 0.9


@each_case("column", [{"name": str}, {"dose": float}])
def test_names_of_which_no_two_are_alike_tell_nothing_by_themselves(column: dict[str, type]) -> None:
    """Below 50 rows they are no identifier, and the whole check was refused for a cell of each record's own."""
    ((name, kind),) = column.items()
    rng = np.random.default_rng(11)
    age, names = rng.normal(size=70), [kind(each) for each in range(70)]
    sides = [{"age": age[rows], name: names[rows]} for rows in (slice(40), slice(40, None))]
    check = check_split(*sides, categories=[name])
    alone = check_split(*({name: side[name]} for side in sides), categories=[name])

    own = next(each for each in check.columns if each.name == name)
    assert (own.value, own.interval.lower, own.interval.upper, own.differs) == (0.0, 0.0, 1.0, False)
    assert not check.differs
    assert not alone.differs


@pytest.mark.slow
def test_eight_rows_are_enough_and_a_seed_gives_one_answer() -> None:
    rng = np.random.default_rng(9)
    a, b = people(rng, 8), people(rng, 8)

    first = check_split(a, b, seed=5)
    split.REMEMBERED.checks.clear()

    assert first.interval.upper > 0.5
    assert check_split(a, b, seed=5) == first
    assert check_split(a, b, learners=[logistic()]).n_members == 8


test_what_is_wrong_is_named = refusals("members, nonmembers, options, error, words", [
    ({"x": [1, 2, 3, 4, 5]}, {"x": [2] * 9}, {}, TooFewRecords,
     "members: got 5 different rows, need at least 8"),
    ({"x": [1, 2] * 9}, {"x": []}, {}, TooFewRecords, "nonmembers: there are no rows"),
    ({"x": [1.0] * 9}, {"x": [2, np.inf] * 5}, {}, NotFinite, "'x' is infinite in row 1"),
    ({"x": [1] * 9, "y": [1]}, {"x": [2] * 9}, {}, RaggedRows, "column 'y' has 1 rows"),
    ({"x": [1, 2] * 9}, {"x": [1, 2] * 9}, {"seed": -1}, OutOfRange, "seed"),
    ({"x": [1, 2] * 9}, {"x": [1, 2] * 9}, {"confidence": 1.0}, OutOfRange, "confidence"),
    ({"x": [1, 2] * 9}, {"x": [1, 2] * 9}, {"learners": []}, OptionError, "learners: got none"),
    ({"x": [1, 2] * 9}, {"x": [1, 2] * 9}, {"use": ["z"]}, InputError, "column 'z' is in no table"),
    ("train.csv", {"x": [1]}, {}, InputError, "members: got str, need columns by name"),
], ask=lambda members, nonmembers, options: check_split(members, nonmembers, **options))  # fmt: skip


def test_a_control_score_says_how_much_of_the_difference_reaches_it() -> None:
    rng = np.random.default_rng(10)
    reached = control(rng.normal(0.5, 1, 2000), rng.normal(0, 1, 2000))
    nothing = control(*rng.normal(size=(2, 500)))

    assert reached.advantage.lower < 2 * ndtr(0.25) - 1 < reached.advantage.upper
    assert (reached.differs, nothing.differs) == (True, False)
    assert "match the sides" in reached.sentence
    assert nothing.sentence.startswith("Nothing shows")
