"""Counts by group: on the cells of all, the same from every source, and merged the counts of all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import macekit
from macekit.sources import reading
from tests.macekit.sources.conftest import Give
from tests.macekit.sources.support import NAMES, folder, table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

RECORDS = table(2000)


SOURCES: dict[str, Callable[[Path, pa.Table], Any]] = {
    "table": lambda _, records: records,
    "pandas": lambda _, records: records.to_pandas(),
    "folder": folder,
    "batches": lambda _, records: iter(records.to_batches(170)),
    "relation": lambda _, records: duckdb.connect().from_arrow(records),
}

CHANGES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "fractions": lambda records: records,
    "integers": lambda records: records.set_column(0, "loss", [np.arange(len(records)) % 7 * 2**40]),
    "text": lambda records: records.set_column(0, "loss", [["a", "B", "b", "ä"] * (len(records) // 4)]),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("change", CHANGES)
def test_groups_are_counted_on_the_cells_of_all(kind: str, change: str, tmp_path: Path) -> None:
    records = CHANGES[change](RECORDS)

    require_groups_of(records, macekit.counts_by(SOURCES[kind](tmp_path, records), "region", **NAMES))


@pytest.mark.parametrize("change", CHANGES)
def test_groups_are_counted_where_they_lie(give: Give, change: str) -> None:
    records = CHANGES[change](RECORDS)

    require_groups_of(records, macekit.counts_by(give(records), "region", **NAMES))


def require_groups_of(records: pa.Table, groups: dict[str, Any]) -> None:
    whole = macekit.counts(records, **NAMES)
    assert sorted(groups) == ["eu", "us", "zürich"]
    for label, group in groups.items():
        assert group is not None
        alone = macekit.counts(records.filter(pa.compute.equal(records["region"], label)), **NAMES)
        assert (group.n_members, group.n_nonmembers) == (alone.n_members, alone.n_nonmembers)
        assert group["counts"]["cells"].get("exponent") == whole["counts"]["cells"].get("exponent")
    merged = macekit.counts(shards=[group["counts"] for group in groups.values() if group])
    assert merged["counts"] == whole["counts"]


def test_each_groups_own_advantage_follows() -> None:
    groups = macekit.counts_by(RECORDS, "region", **NAMES)

    result = macekit.compare({label: {"counts": group["counts"]} for label, group in groups.items() if group})

    assert {place.name for place in result.ranking} == set(groups)


@pytest.fixture
def sources(give: Give) -> list[Give]:
    """The same table in batches here, and in a frame of an engine."""
    return [lambda records: iter(records.to_batches(170)), give]


def test_labels_are_values_of_their_column(sources: list[Give]) -> None:
    records = RECORDS.set_column(2, "run", [np.arange(len(RECORDS)) % 3])

    for source in sources:
        assert sorted(macekit.counts_by(source(records), "run", **NAMES)) == [0, 1, 2]


def test_a_group_of_one_side_is_there_without_counts(sources: list[Give]) -> None:
    region = [
        "none" if inside and at < 99 else "all" for at, inside in enumerate(RECORDS["is_train"].to_pylist())
    ]
    records = RECORDS.set_column(2, "region", [region])

    for source in sources:
        groups = macekit.counts_by(source(records), "region", **NAMES)
        assert groups["none"] is None
        assert groups["all"] is not None


def test_a_row_without_a_group_is_refused(sources: list[Give]) -> None:
    records = RECORDS.set_column(2, "region", [[None, *["eu"] * (len(RECORDS) - 1)]])

    for source in sources:
        with pytest.raises(macekit.MaceProblem) as problem:
            macekit.counts_by(source(records), "region", **NAMES)
        assert (problem.value.kind, problem.value.field) == ("not-finite", "group")


def test_more_groups_than_memory_is_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_GROUPS", 2)

    with pytest.raises(macekit.MaceProblem, match="more than 2 groups"):
        macekit.counts_by(RECORDS, "region", **NAMES)
