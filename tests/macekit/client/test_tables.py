"""A side may be a frame of one column; a table may have a column for each side."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import macekit
from tests.cases import each_case
from tests.macekit.client.worlds import TABLES

RNG = np.random.default_rng(4)
MEMBERS, NONMEMBERS = RNG.normal(1, 1, 40), RNG.normal(0, 1, 30)


def test_a_frame_of_one_column_is_a_side() -> None:
    expected = macekit.estimate(MEMBERS, NONMEMBERS).answer

    for name, frame in TABLES.items():
        found = macekit.estimate(frame({"loss": MEMBERS}), frame({"loss": NONMEMBERS})).answer

        assert found == expected, name


def test_what_arrow_has_no_type_for_is_read_by_numpy() -> None:
    expected = macekit.estimate(MEMBERS[:, None], NONMEMBERS[:, None]).answer
    matrices = [np.ndarray.view(side[:, None], np.matrix) for side in (MEMBERS, NONMEMBERS)]
    sparse = [pd.Series(pd.arrays.SparseArray(side)) for side in (MEMBERS, NONMEMBERS)]

    assert macekit.estimate(*matrices).answer == expected
    assert macekit.estimate(*sparse).answer == macekit.estimate(MEMBERS, NONMEMBERS).answer


def test_what_neither_has_a_type_for_is_refused_with_what_to_do() -> None:
    wide = pl.DataFrame({"score": [1, 2] * 20, "member": [0, 1] * 20}).cast(pl.Int128)
    runs = pa.table({"score": pc.run_end_encode(pa.array(MEMBERS)), "member": [0, 1] * 20})

    cases = [((wide,), "cast it to Int64"), ((wide["score"],) * 2, "cast Int128"), ((runs,), "decode them")]
    for given, words in cases:
        with pytest.raises(macekit.MaceProblem, match=words):
            macekit.estimate(*given)


@each_case("frame", TABLES)
def test_a_frame_of_more_columns_is_no_side(frame: str) -> None:
    table = TABLES[frame]({"a": MEMBERS, "b": MEMBERS})

    with pytest.raises(macekit.MaceProblem, match="members: got a table of 2 columns; need one, as score=NAME"):
        macekit.estimate(table, table)


def test_a_table_may_have_a_column_for_each_side() -> None:
    expected = macekit.estimate(MEMBERS, NONMEMBERS).answer
    nulls = [*NONMEMBERS.tolist(), *[None] * 10]
    tables = {name: frame({"a": MEMBERS, "b": nulls}) for name, frame in TABLES.items()}
    tables["NaN at the end"] = pd.DataFrame({"a": MEMBERS, "b": [*NONMEMBERS, *[np.nan] * 10]})
    tables["pandas with nulls"] = pd.DataFrame({"a": MEMBERS, "b": pd.array(nulls, dtype="Float64")})
    tables["columns of two lengths"] = {"a": MEMBERS, "b": NONMEMBERS}

    for name, table in tables.items():
        found = macekit.estimate(table, members_column="a", nonmembers_column="b").answer

        assert found["advantage"] == expected["advantage"], name
        assert found["provenance"]["input_sha256"] == expected["provenance"]["input_sha256"], name


@each_case("frame", TABLES)
def test_only_the_end_of_the_shorter_column_may_be_blank(frame: str) -> None:
    hole = [*MEMBERS[:5].tolist(), None, *MEMBERS[6:].tolist()]
    for table, match in (
        ({"a": MEMBERS, "b": hole}, "nonmembers_column: (row|record) 5"),
        ({"a": [*MEMBERS.tolist(), None], "b": [*MEMBERS.tolist(), None]}, "row 40 is missing in both"),
    ):
        with pytest.raises(macekit.MaceProblem, match=match):
            macekit.estimate(TABLES[frame](table), members_column="a", nonmembers_column="b")


def test_one_of_two_values_may_be_named_for_members() -> None:
    expected = macekit.estimate(MEMBERS, NONMEMBERS).answer
    columns = {"loss": np.concatenate([MEMBERS, NONMEMBERS]), "fold": np.repeat(["A", "B"], [40, 30])}

    for name, frame in TABLES.items():
        found = macekit.estimate(frame(columns), score="loss", member="fold=A").answer

        assert found["advantage"] == expected["advantage"], name


def test_a_table_from_which_whole_chunks_were_filtered_is_read() -> None:
    rng = np.random.default_rng(0)
    parts = [pa.table({"score": rng.normal(size=100), "fold": [fold] * 100}) for fold in range(3)]
    filtered = pa.concat_tables(parts).filter(pa.compute.field("fold") != 1)
    for member in (pa.array([0, 1] * 100), pa.array(["out", "in"] * 100).dictionary_encode()):
        of_both = filtered.append_column("member", member)
        expected = macekit.estimate(of_both.to_pandas())
        assert macekit.estimate(of_both).advantage == expected.advantage
