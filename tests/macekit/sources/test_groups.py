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


@pytest.mark.parametrize("change", CHANGES)
def test_counts_have_those_of_each_group_wherever_they_are_made(give: Give, change: str) -> None:
    records = CHANGES[change](RECORDS)
    here = macekit.counts(records, **NAMES, group="region")

    there = macekit.counts(give(records), **NAMES, group="region")

    assert there["counts"] == here["counts"]
    assert [each["label"] for each in here["counts"]["by_group"]] == ["eu", "us", "zürich"]
    (own,) = (column for column in there["columns"] if column["role"] == "group")
    assert own == {"role": "group", "name": "region", "kind": "text", "distinct": 3, "notes": []}


@pytest.mark.parametrize(
    "ask",
    [
        lambda source, **by: macekit.report(source, **NAMES, **by)["groups"],
        lambda source, **by: macekit.gate(source, **NAMES, **by, max_group_risk=0.9)["limits"],
    ],
)
@pytest.mark.parametrize("change", CHANGES)
def test_questions_about_groups_are_answered_from_their_counts(
    give: Give, change: str, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = CHANGES[change](RECORDS)
    in_memory = ask(records, group="region")
    monkeypatch.setattr(reading, "LARGE", 10_000)

    there, in_blocks = (ask(source, group="region") for source in (give(records), records.to_reader(300)))

    assert there == in_blocks
    for one, other in zip(in_blocks, in_memory, strict=True):
        assert {name: one[name] for name in one if name in ("label", "records", "n_members", "decision")} == {
            name: other[name] for name in other if name in ("label", "records", "n_members", "decision")
        }
        for name in ("risk", "lower", "upper", "estimate"):
            if one.get(name) is not None:
                assert one[name] == pytest.approx(other[name], abs=5e-3)  # at the resolution of the cells


def test_a_group_of_one_side_counts_with_all(sources: list[Give]) -> None:
    region = [
        "none" if inside and at < 99 else "all" for at, inside in enumerate(RECORDS["is_train"].to_pylist())
    ]
    records = RECORDS.set_column(2, "region", [region])
    whole = macekit.counts(RECORDS, **NAMES)["counts"]

    for source in sources:
        counts = macekit.counts(source(records), **NAMES, group="region")["counts"]
        assert (counts["members"], counts["nonmembers"]) == (whole["members"], whole["nonmembers"])
        none = counts["by_group"][1]
        assert (none["label"], sum(none["nonmembers"])) == ("none", 0)
        (answer,) = (row for row in macekit.report(counts=counts)["groups"] if row["label"] == "none")
        assert (answer["records"], answer["advantage"]) == (sum(none["members"]), None)


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
