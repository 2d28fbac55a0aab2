"""Tables as points: what a distance is, which tables fix it, and what each odd column becomes."""

import datetime as dt
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.audits.queries.rows import Rows
from estimators.audits.queries.table import Encoding, encode, encode_points, encode_sides
from estimators.errors import DimensionMismatch, InputError, MixedTypes, NotFinite, RaggedRows, TooFewRecords
from tests.cases import each_case, refusals
from tests.estimators.cautions import codes


def kinds(tables: Encoding) -> dict[str, str]:
    return {column.name: column.kind for column in tables.columns}


def distance(a: Rows, i: int, b: Rows, j: int) -> float:
    return float(np.abs(a.points[i] - b.points[j]).sum())


def one(column: list[Any] | Any, *others: Any) -> dict[str, Any]:
    return {"x": column}


def encoded_sides(ones: list[Any], others: list[Any]) -> Any:
    return lambda **options: encode_sides(one(ones), one(others), **options)


def test_the_distance_is_gowers() -> None:
    released = {"age": np.array([20, 60]), "job": ["baker", "nurse"]}
    released |= {"sex": [True, False], "day": ["2020-01-01", "2020-01-11"]}
    person = {"age": [30], "job": ["nurse"], "sex": [True], "day": ["2020-01-06"]}
    tables = encode(person, person, released)

    assert kinds(tables) == {"age": "number", "job": "category", "sex": "number", "day": "date"}
    assert distance(tables.members, 0, tables.synthetic, 0) == pytest.approx(10 / 40 + 1 + 0 + 5 / 10)
    assert distance(tables.members, 0, tables.synthetic, 1) == pytest.approx(30 / 40 + 0 + 1 + 5 / 10)


def test_any_two_levels_are_one_apart_and_many_share_places_and_are_still_told_apart():
    levels = [None, *"abcdefgh"]
    tables = encode(one([*levels, "new"]), one(["a", "b"]), one(levels))

    for i in range(10):
        for j, _ in enumerate(levels):
            assert distance(tables.members, i, tables.synthetic, j) == float(i != j)
    assert tables.synthetic.points.shape[1] == 5

    names = [f"level {i % 900:03d}" for i in range(1800)]
    tables = encode(one(names), one(names), one(names))

    assert tables.synthetic.points.shape[1] == (128 + 64) / 2
    assert len(np.unique(tables.members.records)) == 900
    assert [column.levels for column in tables.columns] == [900]
    assert "many_levels" in codes(tables)


POINTS = [f"{i % 7}.5" for i in range(40)]
WORDS = ["?", "n/a", "none", "refused", "-"]
READ_AS_NAMES = {
    "decimal commas": [each.replace(".", ",") for each in POINTS],
    "percent signs": [f"{each}%" for each in POINTS],
    "a unit": [f"{each} kg" for each in POINTS],
    "a question mark": ["?", *POINTS[1:]],
    "a word beside whole numbers": [*map(str, range(39)), "unknown"],
    "a word for a third of whole numbers": ["?" if row % 3 == 0 else str(row) for row in range(60)],
    "many words for a third of whole numbers": [WORDS[row % 5] if row % 3 == 0 else str(row) for row in range(60)],
    "a word for more rows than there are numbers": ["?" if row % 5 < 3 else str(row) for row in range(60)],
    "a word beside dates": [*(f"2020-01-{1 + i % 28:02}" for i in range(39)), "unknown"],
    "a day that is none": [*(f"2020-01-{1 + i % 28:02}" for i in range(39)), "2020-02-30"],
    "a code beside whole numbers": [*map(str, range(39)), "007"],
    "negatives in brackets": [str(row) if row % 3 else f"({row})" for row in range(30)] * 2,
    **{
        form: [form.replace("17", str(row)) for row in range(10, 40)] * 2
        for form in (
            "EUR 17", "\u221217", "17-", "17 months", "17 kWh/m2", "17 000", "17'000", "17_000", "<17", "12:17",
            "1 days 02:17:00", "02/03/2017 08:30", "2.3.2017", "2017/03/02", "2017-03", "02-Jan-2017", "Mar 2, 2017",
        )
    },
}  # fmt: skip


@each_case("texts", list(READ_AS_NAMES.values()))
def test_numbers_and_dates_that_would_be_read_as_names_are_refused(texts: list[str]) -> None:
    """As names none is near another, so that a release of the training rows with a little noise passed."""
    odd = next((row for row, text in enumerate(texts) if text in (*WORDS, "unknown", "2020-02-30", "007")), 0)
    plain = [each for each in texts if each not in WORDS]
    for ask in (lambda **options: encode(one(plain), one(texts), one(plain), **options), encoded_sides(plain, texts)):
        with pytest.raises(InputError, match=f"says {re.escape(repr(texts[odd]))} in row {odd}"):
            ask()
        assert ask(categories=["x"]).members.values.max() >= 0


def test_names_that_have_digits_stay_names() -> None:
    for texts in (
        ["01067", "99999", "04109"] * 14,
        ["1a", "2", "3"] * 14,
        ["p 1", "p 2"] * 21,
        ["20-29", "30-39"] * 21,
        [f"A{row}" if row % 5 < 3 else str(row) for row in range(30)] * 3,
        [f"shop {row}" for row in range(30)] * 3,
        [f"{row // 8}.{row % 8}.{row % 3}" for row in range(30)] * 3,
        [f"{row} 000-{row + 1} 000" for row in range(30)] * 3,
        ["36 months", "60 months"] * 21,
        [f"2020-{month:02}" for month in range(1, 13)] * 4,
    ):
        assert encode(one(texts), one(texts), one(texts)).columns[0].kind == "category"


@each_case(
    "written",
    ("{}+00:00", "{}Z", "{} UTC", "{}.000000000", "{}.000+00"),
    lambda texts: [text.replace("T", " ") for text in texts],
    lambda texts: [f"{text[:11]}{int(text[11:13]) + 2:02}{text[13:]}+02:00" for text in texts],
)
def test_dates_as_text_are_those_of_a_frame_whatever_their_zone(written: Any) -> None:
    """As names of their own, a release that moved each by minutes passed."""
    moments = pd.date_range("2020-01-31T08:30:00", periods=40, freq="13min", tz="UTC")
    texts = [each.strftime("%Y-%m-%dT%H:%M:%S") for each in moments]
    for way in [written] if callable(written) else written:
        as_text = way(texts) if callable(way) else [way.format(text) for text in texts]
        tables = encode(one(moments), one(as_text), one(as_text[::-1]))

        assert kinds(tables) == {"x": "date"}
        assert tables.members.records.tolist() == tables.nonmembers.records.tolist()
        assert tables.members.records.tolist() == tables.synthetic.records.tolist()[::-1]


def test_floats_that_lost_the_last_digits_of_large_integers_are_compared_as_such() -> None:
    """A release whose frame holds account numbers as floats: 200 copied rows were none."""
    accounts = [2**60 + 1001 * row for row in range(60)]
    tables = encode(one(accounts), one(accounts), one(np.array(accounts, np.float64)), use=["x"])

    assert tables.members.records.tolist() == tables.synthetic.records.tolist()


def test_categories_of_which_one_table_writes_point_zero_are_the_same() -> None:
    def of(column: list[Any]) -> list[int]:
        tables = encode(one([1, 2, 12, 12, 2]), one([2, 1, 1, 2, 12]), one(column), categories=["x"])
        return [*map(int, tables.synthetic.records == tables.members.records)]

    assert of(["1.0", "2.0", "12.0", "X", "2.00"]) == [1, 1, 1, 0, 1]
    assert of(["1.0", "1", "12.0", "X", "2"]) == [0, 0, 0, 0, 1]  # here they are told apart


def test_a_release_in_another_unit_is_spoken_of() -> None:
    near, far = np.arange(40.0), np.arange(40.0) / 1000 - 1
    cases = [(POINTS, POINTS, POINTS), (near, near, far), (near, far, far), (near, near, far[:7])]
    odd = [codes(encode(*map(one, case))) for case in cases]

    assert ["released_elsewhere" in each for each in odd] == [False, True, False, False]


def test_a_release_of_other_names_or_with_all_dates_moved_is_spoken_of() -> None:
    """In no row of such a column is a copy seen: with 30 training rows, relabelled, the audit passed."""
    towns, others = ["Aachen", "Bonn", "Cham", "Dorf"] * 10, ["a", "b", "c", "d"] * 10
    own = [f"person {row}" for row in range(120)]
    days = pd.date_range("2020-01-31", periods=40)
    cases = [
        (towns, towns, others, True),
        (towns, towns, [*others[1:], "Dorf"], False),
        (towns, towns, ["b", "c", *[None] * 38], False),  # too few to say so
        (own[:40], own[40:80], own[80:], False),  # whose a row is
        (towns, towns, ["withheld"] * 40, False),  # left out, and nothing is compared with it
        (days, days, days + pd.DateOffset(years=100), True),
        (days, days, days + pd.DateOffset(days=20), False),
    ]

    for members, nonmembers, released, elsewhere in cases:
        tables = ({"x": each, "y": [*range(8)] * 5} for each in (members, nonmembers, released))
        assert ("released_elsewhere" in codes(encode(*tables))) is elsewhere


@each_case(
    "written, same",
    (["AACHEN", "straße  3", "Bad Homburg", "?"], [1, 1, 1, 0]),
    (["\uff21achen", "STRASSE 3", "bad\u00a0homburg", "Aachen "], [1, 1, 1, 0]),
)
def test_names_are_those_of_the_sides_whatever_their_capitals_and_blanks(written: list[str], same: list[int]) -> None:
    """A release of all training rows in capitals had no copies, and passed."""
    sides = [["Aachen", "Straße 3", "Bad Homburg", "Eck"], ["Eck", "Aachen", "Aachen", "Straße 3"]]
    tables = encode(*map(one, sides), one(written))

    assert [*map(int, tables.synthetic.records == tables.members.records)] == same


@each_case("table", [0, 1, 2, 3])
def test_names_beside_a_table_without_any_are_read(table: int) -> None:
    columns: list[list[str | None]] = [["Aachen", "Bonn"], ["Bonn", "Aachen"], ["BONN", "Eck"], ["bonn", "Cham"]]
    columns[table] = [None, None]
    tables = ({"x": each, "y": [1.5, 2.5]} for each in columns)

    assert "empty_columns" in codes(encode(*tables))


def test_names_that_the_sides_tell_apart_by_capitals_stay_as_they_are() -> None:
    tables = encode(one(["m", "M", "x"]), one(["M", "M", "x"]), one(["m", "M", "X"]))

    assert (tables.synthetic.records == tables.members.records).tolist() == [True, True, False]


def test_only_the_released_table_and_the_reference_fix_ranges_and_levels() -> None:
    released, reference = {"x": [0.0, 10.0], "c": ["a", "b"]}, {"x": [2.0, 7.0], "c": ["b", "c"]}
    usual, odd = {"x": [3.0], "c": ["a"]}, {"x": [1e9], "c": ["never seen"]}

    alone = encode(usual, usual, released)
    beside = encode(usual, odd, released)
    assert distance(alone.members, 0, alone.synthetic, 1) == distance(beside.members, 0, beside.synthetic, 1)
    assert distance(beside.nonmembers, 0, beside.synthetic, 0) == 2 + 1  # a number counts at most so far out
    # a level that nobody has differs from all
    assert distance(beside.nonmembers, 0, beside.synthetic, 1) == 1 + 1

    with_reference = encode(usual, odd, released, reference)
    assert distance(
        with_reference.members,
        0,
        with_reference.reference or with_reference.members,
        0,
        # real rows set the range: a released row far out cannot press all others together
    ) == pytest.approx(1 / 5 + 1)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_exchanging_the_sides_exchanges_their_rows(seed) -> None:
    rng = np.random.default_rng(seed)
    most = 2 + 10 ** int(rng.integers(1, 6))  # of all: a side that is written with fewer digits is told by it

    def draw() -> dict[str, Any]:
        n = int(rng.integers(1, 30))
        number = rng.normal(size=n).round(1)
        number[rng.random(n) < 0.2] = np.nan
        words = ["a", "b", "", "7", "é"]
        table = {"number": number, "whole": rng.integers(0, most, n), "text": rng.choice(words, n)}
        return table | {"moment": rng.integers(0, 9, n).astype("datetime64[D]")}

    a, b, s, r = (draw() for _ in range(4))
    for reference in (None, r):
        try:
            one_way = encode(a, b, s, reference)
        except InputError:
            with pytest.raises(InputError):
                encode(b, a, s, reference)
            continue
        other_way = encode(b, a, s, reference)

        assert one_way.columns == other_way.columns
        for this, that in ((one_way.members, other_way.nonmembers), (one_way.nonmembers, other_way.members)):
            np.testing.assert_array_equal(this.points, that.points)
            np.testing.assert_array_equal(this.values, that.values)
        np.testing.assert_array_equal(one_way.synthetic.points, other_way.synthetic.points)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e300, 1e300), st.integers(-(2**70), 2**70)),
            st.one_of(st.none(), st.text(max_size=3)),
        ),
        min_size=4,
        max_size=8,
    )
)
def test_records_are_equal_where_their_values_are(rows) -> None:
    table = {"n": [a for a, _ in rows], "t": [b for _, b in rows]}
    varied = {"n": [*table["n"], 0, 1], "t": [*table["t"], "0", "1"]}  # no column is constant or empty
    tables = encode(varied, varied, varied, categories=["t"])
    names = [column.name for column in tables.columns]

    def key(row: tuple[Any, Any]) -> tuple[Any, ...]:
        number, text = row
        return tuple({"n": number, "t": (text or "").strip() or None}[name] for name in names)

    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            same = tables.members.records[i] == tables.synthetic.records[j]
            assert same == (key(a) == key(b))
            if same:
                assert distance(tables.members, i, tables.synthetic, j) == 0.0


def test_integers_beyond_two_to_the_53_are_told_apart_whatever_type_they_come_as() -> None:
    big = 2**53
    for members, released in (
        (np.array([big, big + 1]), np.array([big + 1, 0])),
        (np.array([big, big + 1], dtype=np.uint64), np.array([big + 1, -1])),
        ([big, big + 1, None], [big + 1, 0.5]),
        ([str(big), str(big + 1)], [big + 1, 0]),
        ([2**70, 2**70 + 1], [2**70 + 1, 0]),
    ):
        tables = encode(one(members), one(members), one(released))

        here, there = tables.members.records, tables.synthetic.records
        assert (int(here[0] == there[0]), int(here[1] == there[0])) == (0, 1)


def test_a_float_that_is_whole_equals_the_integer_and_moments_are_compared_in_universal_time():
    tables = encode(one([3, 4]), one(["3", "5"]), one([3.0, 4.5]))

    assert tables.members.records[0] == tables.synthetic.records[0] == tables.nonmembers.records[0]
    assert codes(tables) == ["numbers_as_text"]

    noon = dt.datetime(2020, 5, 1, 12, tzinfo=dt.UTC)
    there = noon.astimezone(dt.timezone(dt.timedelta(hours=5)))
    tables = encode(one([noon]), one([there]), one([noon, noon + dt.timedelta(days=1)]))

    assert distance(tables.nonmembers, 0, tables.synthetic, 0) == 0.0


def test_missing_values_are_near_each_other_and_far_from_all_else() -> None:
    class NAType:  # what pandas puts there
        pass

    missing: list[Any] = [None, float("nan"), NAType()]
    for gone in missing:
        tables = encode(one([gone, 2.0]), one([1.0, 2.0]), one([1.0, 3.0, None]))

        assert distance(tables.members, 0, tables.synthetic, 2) == 0.0
        assert 0.5 <= distance(tables.members, 0, tables.synthetic, 0) <= 1.0
        assert tables.members.values[0, 0] == -1
    texts = encode(one(["a", " ", None]), one(["a", "b", ""]), one(["a", "b", None]))
    assert [distance(texts.members, i, texts.synthetic, j) for i, j in ((1, 2), (2, 2), (1, 0))] == [0, 0, 1]
    numpys, others = one(np.array(["2020-01-01", "NaT"], "datetime64[ns]")), one([dt.date(2020, 1, 1), None])
    days = encode(numpys, others, one(["2020-01-01", "2020-01-03"]))
    assert days.columns[0].kind == "date"
    assert [distance(side, 0, days.synthetic, 0) for side in (days.members, days.nonmembers)] == [0, 0]


def test_numbers_as_text_are_numbers_and_codes_with_leading_zeros_are_not() -> None:
    numbers = encode(one(["1.5", " 2"]), one(["-3e2", ".5"]), one(["1", "2"]))
    assert kinds(numbers) == {"x": "number"}
    assert "numbers_as_text" in codes(numbers)

    zips = encode(one(["02139", "10115"]), one(["02139", "10115"]), one(["02139", "2139"]))
    assert kinds(zips) == {"x": "category"}
    assert distance(zips.members, 0, zips.synthetic, 1) == 1.0

    chosen = encode(one([7, 8]), one(["7", "9"]), one([7.0, 8.0]), categories=["x"])
    assert kinds(chosen) == {"x": "category"}
    assert distance(chosen.members, 0, chosen.synthetic, 0) == 0.0

    mixed = encode(one([7, "x"]), one(["7", "y"]), one([7.0, 8.0]))
    assert (kinds(mixed), codes(mixed)) == ({"x": "category"}, ["several_types"])
    assert distance(mixed.members, 0, mixed.synthetic, 0) == 0.0

    words = encode(one([True, False]), one(["true", "False"]), one([1, 0]))
    assert distance(words.nonmembers, 0, words.synthetic, 0) == 0.0

    exact = encode(one([Decimal("0.5")]), one([0.25]), one([np.float32(0.5), 0.0]))
    assert distance(exact.members, 0, exact.synthetic, 0) == 0.0


def test_frames_and_columns_of_other_libraries() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([2**53 + 1, None, 3], dtype="Int64"),
            "level": pd.Categorical(["a", None, "b"]),
            "true": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["x", None, "y"], dtype="string"),
            "moment": pd.to_datetime(["2020-01-01T00:00Z", None, "2020-01-03T12:00Z"]),
        }
    )
    plain = {
        "whole": [2**53 + 1, None, 3], "level": ["a", None, "b"], "true": [True, None, False],
        "text": ["x", None, "y"], "moment": ["2020-01-01", None, "2020-01-03 12:00"],
    }  # fmt: skip
    masked = plain | {"whole": np.ma.masked_equal(np.array([2**53 + 1, 0, 3]), 0)}
    tables = encode(frame, masked, plain, dict(zip(plain, pa.table(plain).columns, strict=True)))

    assert kinds(tables) == {
        "whole": "number", "level": "category", "true": "number", "text": "category", "moment": "date",
    }  # fmt: skip
    for each in (tables.members, tables.nonmembers, tables.reference):
        np.testing.assert_array_equal(each.points, tables.synthetic.points)
        np.testing.assert_array_equal(each.records, tables.synthetic.records)


def test_identifiers_are_left_out_and_continuous_columns_are_not(rng) -> None:
    def table(first: int) -> dict[str, Any]:
        return {
            "id": np.arange(first, first + 80),
            "name": [f"person {rng.integers(1 << 40)}" for _ in range(80)],
            "wage": rng.lognormal(size=80),
            "born": rng.integers(0, 10**9, 80).astype("datetime64[s]"),
            "age": rng.integers(18, 90, 80),
        }

    tables = encode(table(0), table(1000), table(0))

    assert list(kinds(tables)) == ["wage", "born", "age"]
    assert "'id', 'name'" in next(c.message for c in tables.cautions if c.code == "identifiers")
    assert list(kinds(encode(table(0), table(1000), table(0), use=["id"]))) == ["id", "wage", "born", "age"]
    assert list(kinds(encode(table(0), table(0), table(0), leave_out=["wage", "id"]))) == ["born", "age"]


def test_columns_that_say_nothing_are_left_out_and_named() -> None:
    good = [1.0, 2.0, 3.0]
    train = {"x": good, "gone": [None] * 3, "same": good, "mine": good}
    holdout = {"x": good[::-1], "gone": good, "same": good, "yours": good}
    tables = encode(train, holdout, {"x": good, "gone": good, "same": [5, 5, 5]})

    assert list(kinds(tables)) == ["x"]
    said = {caution.code: caution.message for caution in tables.cautions}
    assert "'gone'" in said["empty_columns"]
    assert "'same'" in said["constant_columns"]
    assert "'mine'" in said["columns_differ"]
    assert "'yours'" in said["columns_differ"]


@pytest.mark.slow
def test_ranges_reach_the_ends_of_floats_and_integers_and_sums_of_points_are_exact_in_any_order(rng):
    tables = encode(one([-1.7e308, 0.0]), one([1.7e308, 1.0]), one([-1.7e308, 1.7e308]))
    assert tables.members.points[:, 0].tolist() == [0.0, 0.5]
    whole = encode(one([-(2**63), 0]), one([2**63 - 1, 1]), one([-(2**63), 2**63 - 1]))
    assert whole.members.points[:, 0].tolist() == [0.0, 0.5]
    huge = encode(one([10**400, 1]), one([0.5, 1]), one([10**400, 10]))
    assert kinds(huge) == {"x": "category"}  # beyond floats: names, whatever else they are
    assert distance(huge.members, 0, huge.synthetic, 0) == 0.0

    table = {f"c{i}": rng.lognormal(sigma=3, size=40) for i in range(30)}
    points = encode(table, table, table).members.points
    gaps = np.abs(points[0] - points[1:])

    np.testing.assert_array_equal(gaps.sum(axis=1), gaps[:, ::-1].cumsum(axis=1)[:, -1])


def test_rows_that_stand_where_they_should_not(rng) -> None:
    a, b, s, r = rng.normal(size=(4, 40, 3))

    assert codes(encode_points(a, b, s, r)) == []
    assert codes(encode_points(a, b, a)) == ["synthetic_is_members"]
    assert codes(encode_points(a, b, b[::-1])) == ["synthetic_is_nonmembers"]
    assert codes(encode_points(np.concatenate([a, a]), b, s)) == ["repeated_rows"]
    assert codes(encode_points(np.concatenate([a, b[:9]]), b, s)) == ["shared_rows"]
    assert codes(encode_points(a, b, s, np.concatenate([r, b[:9]]))) == ["reference_has_nonmembers"]
    few = rng.integers(0, 3, (4, 200, 3))
    assert codes(encode_points(*few)) == []  # equal by chance, within the sides as between them


SQUARE = np.zeros((2, 2))


test_what_is_wrong_is_named = refusals("ask, error, words", [
    (lambda: encode({}, one([1]), one([1])), InputError, "members: there are no columns"),
    (lambda: encode(one([1]), one([]), one([1])), TooFewRecords, "nonmembers: there are no rows"),
    (lambda: encode([1, 2], one([1]), one([1])), InputError, "members: got list, need columns by name"),
    (lambda: encode(one([1]), one([1]), {"y": [1]}), InputError, "no column in common.*members has 'x'"),
    (lambda: encode({"x": [1, 2], "y": [1]}, one([1]), one([1])), RaggedRows, "column 'y' has 1 rows and 'x' 2"),
    (lambda: encode(one([1.0]), one([1, np.inf]), one([1])), NotFinite,
     "nonmembers: column 'x' is infinite in row 1"),
    (lambda: encode(one([1.0]), one([1]), one([[1, 2]])), MixedTypes, "synthetic: column 'x' holds list"),
    (lambda: encode(one([{"a": 1}]), one([1]), one([1])), MixedTypes,
     "members: column 'x' holds dict; need a number"),
    (lambda: encode(one([b"a"]), one([1]), one([1])), MixedTypes, "bytes"),
    (lambda: encode(one([None, None]), one([1]), one([1, 2])), InputError, "no column can be used.*no value"),
    (lambda: encode(one([1, 2]), one([1]), one([3, 3])), InputError, "no column can be used.*one value only"),
    (lambda: encode(one([1]), one([1]), one([1, 2]), categories=["agee"]), InputError,
     "column 'agee' is in no table; the columns are 'x'"),
    (lambda: encode_points(SQUARE, np.zeros((2, 3)), np.zeros((2, 3))), DimensionMismatch,
     "members has 2 columns and synthetic 3"),
    (lambda: encode_points(SQUARE, SQUARE, SQUARE, np.zeros((0, 2))), TooFewRecords, "reference"),
    (lambda: encode_points([[0.0]], [[0.0]], [[0.0], [np.nan]]), NotFinite, "synthetic: row 1"),
])  # fmt: skip


# --- one column in two notations ------------------------------------------------------------------------------


@each_case("column", [["$1.5", "$2.5", "$3.5"], ["1,5", "2,5", "3,5"], ["low", "", "high"]])
def test_numbers_and_dates_beside_texts_of_which_none_is_one_are_refused(column) -> None:
    sides, days = (one([1.5, 2.5, 3.5]), one([4.5, 5.5, None])), ["2024-01-02", "2024-01-03", "2024-01-05"]

    words = "numbers in members and texts in synthetic, of which none is a number"
    with pytest.raises(InputError, match=words) as caught:
        encode(*sides, one(column))
    assert caught.value.field == "synthetic"
    assert encode(*sides, one(column), categories=["x"]).columns[0].kind == "category"
    with pytest.raises(InputError, match="dates in members and texts in nonmembers, of which none is a date"):
        encode_sides(one(np.array(days, dtype="datetime64[D]")), one(["2 Jan 2024", "3 Jan 2024", "4 Jan 2024"]))
    with pytest.raises(InputError, match="numbers in nonmembers and dates in members"):
        encode_sides(one(np.array(days, dtype="datetime64[D]")), one([1704153600, 1704240000, 1704412800]))


@each_case(
    "column, kind",
    (["A3", "12", "13"], "category"),
    (["12", "13", "14"], "number"),
    (["true", "false", "true"], "number"),
    ([None, "", None], "empty"),
)
def test_texts_of_which_some_are_numbers_stand_beside_numbers(column, kind) -> None:
    sides = {"x": [1, 0, 12], "y": [1, 2, 3]}
    columns = encode(sides, {"x": [0, 1, 13], "y": [1, 2, 3]}, {"x": column, "y": [1, 2, 3]}).columns

    assert {each.name: each.kind for each in columns}.get("x", "empty") == kind
