"""Copies that were written with fewer digits: each way to write by a program that writes so, and what is no copy."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from math import trunc

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.audits.queries.precision import Cut, Precision, precision_of
from estimators.audits.queries.table import Encoding, encode, encode_sides
from tests.cases import each_case
from tests.estimators.audits.queries.test_synthetic import part, stacked

Floats = NDArray[np.float64]
Table = dict[str, Floats]


def by_text(template: str) -> Callable[[Floats], Floats]:
    return lambda values: np.array([float(template % value) for value in values])


def half_up(values: Floats) -> Floats:
    steps = [Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_UP) for value in values.tolist()]
    return np.array([float(step) for step in steps])


def cut_off(values: Floats) -> Floats:
    return np.array([trunc(value * 1000) / 1000 for value in values.tolist()])


WRITERS: dict[str, Callable[[Floats], Floats]] = {
    "float32": lambda values: values.astype(np.float32).astype(np.float64),
    "float32 as text": lambda values: values.astype(np.float32).astype(np.str_).astype(np.float64),
    "float16": lambda values: values.astype(np.float16).astype(np.float64),
    "%.4f": by_text("%.4f"),
    "%.4f in float32": lambda values: by_text("%.4f")(values).astype(np.float32).astype(np.float64),
    "%.3g": by_text("%.3g"),
    "%.4g": by_text("%.4g"),
    "numpy.round": lambda values: values.round(2),
    "half up": half_up,
    "cut off": cut_off,
    "scaled and back": lambda values: ((values - 3.1) / 7.3) * 7.3 + 3.1,
}


def numbers(rng: np.random.Generator, n: int) -> Table:
    return {
        "normal": rng.normal(50, 10, n), "share": rng.random(n), "income": rng.lognormal(7, 1, n),
        "small": rng.normal(0, 0.02, n), "signed": rng.normal(0, 3, n),
    }  # fmt: skip


def written(table: Table, writer: Callable[[Floats], Floats]) -> Table:
    return {name: writer(column) for name, column in table.items()}


def copied(tables: Encoding) -> tuple[int, int]:
    """Rows of both sides that stand in the release."""
    copies = (np.isin(side.records, tables.synthetic.records) for side in (tables.members, tables.nonmembers))
    members, nonmembers = (int(each.sum()) for each in copies)
    return members, nonmembers


@pytest.mark.slow
@each_case("name", [name for name in WRITERS if name != "scaled and back"])
def test_a_row_is_a_copy_however_its_numbers_were_written(name) -> None:
    rng = np.random.default_rng(0)
    train, holdout, drawn = (numbers(rng, 400) for _ in range(3))
    released = written(stacked(part(train, slice(50)), part(drawn, slice(350))), WRITERS[name])
    tables = encode(train, holdout, released)

    assert copied(tables) == (50, 0)
    assert all(column.precision for column in tables.columns)
    assert "fewer_digits" in [caution.code for caution in tables.cautions]


@each_case("name", ["float32", "%.4f", "%.4g", "scaled and back"])
def test_a_row_is_a_copy_if_the_sides_have_fewer_digits(name) -> None:
    rng = np.random.default_rng(1)
    train, holdout, drawn = (numbers(rng, 400) for _ in range(3))
    released = stacked(part(train, slice(50)), part(drawn, slice(350)))
    if name == "scaled and back":  # the release is float noise away from sides of three decimals
        train, holdout = (written(side, lambda values: values.round(3)) for side in (train, holdout))
        released = written(stacked(part(train, slice(50)), part(drawn, slice(350))), WRITERS[name])
    else:
        train, holdout = written(train, WRITERS[name]), written(holdout, WRITERS[name])

    assert copied(encode(train, holdout, released)) == (50, 0)


def test_a_row_is_a_copy_though_each_column_was_rounded_in_a_way_of_its_own(rng) -> None:
    """One way for all columns had found 2 to 6 of 30."""
    tables = [{f"{kind}{i}": rng.uniform(18, 9000, 400) for kind in "ap" for i in range(3)} for _ in range(3)]
    train, holdout, others = tables
    joined = {name: np.r_[others[name], column[:30]] for name, column in train.items()}
    released = {name: np.floor(each) if name[0] == "a" else np.round(each, 0) for name, each in joined.items()}

    assert copied(encode(train, holdout, released)) == (30, 0)


@pytest.mark.slow
@each_case("name", ["float32", "%.4f", "%.4g"])
def test_a_row_is_a_copy_if_the_training_table_alone_or_the_holdout_alone_has_fewer_digits(name) -> None:
    rng = np.random.default_rng(9)
    train, holdout, drawn = (numbers(rng, 400) for _ in range(3))
    released = stacked(part(train, slice(50)), part(drawn, slice(350)))

    assert copied(encode(written(train, WRITERS[name]), holdout, released)) == (50, 0)
    assert copied(encode(train, written(holdout, WRITERS[name]), released)) == (50, 0)


def test_chance_explains_a_clean_release_of_mixed_digits_if_the_training_table_alone_has_few(rng) -> None:
    """Training rows are whole numbers, hold-out rows are not, and half of the released numbers are."""
    train, holdout, drawn = (rng.normal(50, 9, 500) for _ in range(3))
    released = np.where(rng.random(500) < 0.5, drawn.round(), drawn)
    of_train, of_holdout = copied(encode({"x": train.round()}, {"x": holdout}, {"x": released}))

    assert abs(of_train - of_holdout) < 25  # of some 475 each; hold-out rows as they are would be none
    assert min(of_train, of_holdout) > 400


def test_whole_numbers_that_went_through_a_scaling_are_copies_and_fractions_beside_them_are_none() -> None:
    rng = np.random.default_rng(2)
    people = lambda n: {name: rng.integers(18, 90, n).astype(float) for name in "abc"}  # noqa: E731
    train, holdout = people(500), people(500)
    drawn = {name: column + rng.uniform(0.05, 0.95, 500) for name, column in people(500).items()}
    noisy = {name: column[:60] * (1 + 1e-8) for name, column in train.items()}

    assert copied(encode(train, holdout, stacked(noisy, part(drawn, slice(440))))) == (60, 0)
    assert copied(encode(train, holdout, drawn)) == (0, 0)


@pytest.mark.slow
def test_halves_are_found_as_the_writer_rounded_them(rng) -> None:
    """Sides of one decimal more than the release: a tenth of their values lie between two of it."""
    sides = [{name: rng.normal(0, 50, 500).round(4) for name in "abcdef"} for _ in range(3)]
    train, holdout, drawn = sides
    for writer in (by_text("%.3f"), lambda values: values.round(3), half_up, cut_off):
        released = written(stacked(part(train, slice(100)), part(drawn, slice(400))), writer)
        assert copied(encode(train, holdout, released)) == (100, 0)


def test_tables_that_are_as_coarse_as_each_other_are_compared_as_they_are(rng) -> None:
    for writer in (WRITERS["float32"], by_text("%.2f"), by_text("%.0f"), lambda values: values):
        tables = [written(numbers(rng, 300), writer) for _ in range(3)]

        assert not any(column.precision for column in encode(tables[0], tables[1], tables[2]).columns)
    few = {"x": np.array([0.1, 0.2, 0.5, 0.35, 0.7, 0.9, 1.2, 0.6])}  # short by chance
    assert not encode(few, few, {"x": np.array([0.1, 0.4])}).columns[0].precision


def test_whole_numbers_that_float16_made_even_are_no_rounded_ones_and_sides_can_be_exchanged(rng) -> None:
    train, holdout, drawn = ({name: rng.normal(3000, 100, 400) for name in "abc"} for _ in range(3))
    released = written(stacked(part(train, slice(50)), part(drawn, slice(350))), WRITERS["float16"])
    tables = encode(train, holdout, released)

    assert {column.precision for column in tables.columns} == {"float16"}
    assert copied(tables) == (50, 0)

    train, holdout, drawn = (numbers(rng, 200) for _ in range(3))
    released = written(stacked(part(train, slice(20)), part(drawn, slice(180))), WRITERS["%.3g"])
    one, other = encode(train, holdout, released), encode(holdout, train, released)

    assert [column.precision for column in one.columns] == [column.precision for column in other.columns]
    assert copied(one) == copied(other)[::-1] == (20, 0)


def test_rows_on_both_sides_are_recognised_at_their_coarser_precision(rng) -> None:
    train, others = numbers(rng, 300), numbers(rng, 300)
    holdout = written(stacked(part(train, slice(40)), part(others, slice(260))), WRITERS["float32"])

    for ones, twos in ((train, holdout), (holdout, train)):
        said = {caution.code: caution.message for caution in encode_sides(ones, twos).cautions}
        assert said["shared_rows"].startswith("40 rows of the members stand among the nonmembers, too")
        assert "at float32 'normal', 'share', 'income', 'small', 'signed'" in said["fewer_digits"]


def test_missing_values_texts_and_huge_integers_are_compared_as_they_are() -> None:
    huge = [2**60 + step for step in range(0, 40, 2)]
    short = [float(each) for each in np.linspace(0, 1, 20)]
    short[3] = float("nan")
    side = {"huge": huge, "who": [f"p{step % 3}" for step in range(20)], "x": short}
    less = np.array(short, dtype=np.float32)
    released = {"huge": [each + 1 for each in huge], "who": side["who"], "x": less}
    tables = encode(side, side, released, use=["huge"])

    precisions = {column.name: column.precision for column in tables.columns}
    assert precisions == {"huge": "", "who": "", "x": "float32"}
    assert copied(tables) == (0, 0)
    assert copied(encode(side, side, released, leave_out=["huge"])) == (20, 20)


@each_case("decimals", [0, 1, 3])
def test_rounding_is_what_python_prints_and_numpy_and_decimal_round(decimals) -> None:
    rng = np.random.default_rng(7)
    values = np.concatenate([rng.normal(0, 300, 500), rng.integers(-9999, 9999, 500) / 10.0**decimals / 2.0])
    step = Decimal(1).scaleb(-decimals)
    wanted = {
        Cut.NEAREST: [float(f"{value:.{decimals}f}") for value in values.tolist()],
        Cut.AWAY: [float(Decimal(repr(v)).quantize(step, ROUND_HALF_UP)) for v in values.tolist()],
        Cut.EVEN: values.round(decimals).tolist(),
    }

    for cut, expected in wanted.items():
        assert Precision(decimals=decimals).rounded(values, cut).tolist() == pytest.approx(expected, abs=0)


def test_numbers_that_no_power_of_ten_reaches_stay_as_they_are() -> None:
    values = np.array([0.0, 5e-324, 1e-300, 1.7e308, -3.0])

    for precision in (
        Precision(digits=1), Precision(decimals=3), Precision(16), precision_of(values, values),
    ):  # fmt: skip
        rounded = precision.rounded(values)
        assert np.isfinite(rounded).all()
        assert rounded[3] == 1.7e308
