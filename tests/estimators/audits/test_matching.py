"""Rows that are alike: as many of either side, and what is left differs no more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.audits.sides import _alike, match_sides, one_row_each
from estimators.audits.split import check_split
from estimators.errors import OptionError, OutOfRange, TooFewRecords
from tests.cases import refusals
from tests.estimators.audits.queries.test_synthetic import part, people


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(-9, 9).map(float), st.integers(0, 1)), min_size=1, max_size=30))
def test_of_each_stratum_as_many_rows_are_kept_of_either_side(rows) -> None:
    odds, side = np.array([a for a, _ in rows]), np.array([b for _, b in rows])
    keep = _alike(odds, side, 2.0, np.random.default_rng(0))

    strata = np.floor((odds - odds.min()) / 2.0)
    for stratum in np.unique(strata):
        here = strata == stratum
        fewer = min(int((here & (side == each)).sum()) for each in (0, 1))
        assert [int((here & keep & (side == each)).sum()) for each in (0, 1)] == [fewer, fewer]


@pytest.mark.slow
def test_matched_sides_differ_no_more_and_nearly_all_rows_of_a_fair_split_are_kept() -> None:
    rng = np.random.default_rng(0)
    a, b, c = people(rng, 800), people(rng, 800), people(rng, 800)
    older = a | {"age": a["age"] + rng.integers(0, 30, 800)}
    match = match_sides(older, b)

    assert check_split(older, b).interval.lower > 0.15
    assert not check_split(part(older, match.members), part(b, match.nonmembers)).differs
    assert 200 < len(match.members) == len(match.nonmembers) < 700
    assert "heuristic" in match.sentence
    assert len(match_sides(c, b).members) > 700


@pytest.mark.slow
def test_a_seed_gives_one_answer_and_equal_sides_are_kept_whole() -> None:
    rng = np.random.default_rng(1)
    a, b = people(rng, 60), people(rng, 70)

    first, second = (match_sides(a, b, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.members, second.members)
    assert len(match_sides(a, a).members) == 60
    assert len(match_sides({"x": [1, 2] * 8}, {"x": [1, 2] * 8}).members) == 16


test_what_is_wrong_is_named = refusals(
    "size, options, error, words",
    (7, {}, TooFewRecords, "members: got 7 rows, need at least 8"),
    (20, {"caliper": 0.0}, OutOfRange, "caliper"),
    (20, {"learners": []}, OptionError, "learners: got none"),
    (20, {"seed": 0.5}, OutOfRange, "seed"),
    ask=lambda size, options: match_sides(*(people(np.random.default_rng(2), n) for n in (size, 30)), **options),
)


def test_the_row_kept_of_a_unit_is_any_of_its_rows_at_the_same_seed_and_the_same_in_every_format() -> None:
    """By the labels alone the same places were kept: of persons' rows sorted by score always the same ranks."""
    places = []
    for run in range(200):
        rows = np.sort(np.random.default_rng(run).random((2, 10, 8)), axis=2).reshape(2, 80)
        sides = [{"who": np.repeat(np.arange(10), 8), "score": each, "note": ["a", "b"] * 40} for each in rows]
        *_, kept, _ = one_row_each("who", *sides)
        lists = [
            {"who": [str(each) for each in side["who"]], "score": side["score"].tolist()} | {"note": side["note"]}
            for side in sides
        ]
        assert one_row_each("who", *lists)[2].tolist() == kept.tolist()
        places += (kept % 8).tolist()
    often = np.bincount(places, minlength=8)

    assert np.all(abs(often - 500) < 4.0 * np.sqrt(500))
