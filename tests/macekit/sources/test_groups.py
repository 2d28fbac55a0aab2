"""Counts by group: on the cells of all, the same from every source, and merged the counts of all."""

from collections.abc import Callable
from functools import cache
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
    groups = macekit.counts_by(SOURCES[kind](tmp_path, CHANGES[change](RECORDS)), "region", **NAMES)

    whole, alone = counted(change)
    assert sorted(groups) == sorted(alone)
    for label, group in groups.items():
        assert group is not None
        assert (group.n_members, group.n_nonmembers) == alone[label]
        assert group["counts"]["cells"].get("exponent") == whole["cells"].get("exponent")
    merged = macekit.counts(shards=[group["counts"] for group in groups.values() if group])["counts"]
    merged["cells"].pop("frequent", None)  # what is frequent in a small part need not be in all
    assert merged == whole


@cache
def counted(change: str) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
    """The counts of all records, and the members and nonmembers of each group."""
    records = CHANGES[change](RECORDS)
    own = {label: pa.compute.equal(records["region"], label) for label in ("eu", "us", "zürich")}
    alone = {label: macekit.counts(records.filter(each), **NAMES) for label, each in own.items()}
    sizes = {label: (each.n_members, each.n_nonmembers) for label, each in alone.items()}
    whole = macekit.counts(records, **NAMES)["counts"]
    whole["cells"].pop("frequent", None)
    return whole, sizes


def test_each_groups_own_advantage_follows() -> None:
    groups = macekit.counts_by(RECORDS, "region", **NAMES)

    result = macekit.compare({label: {"counts": group["counts"]} for label, group in groups.items() if group})

    assert {place.name for place in result.ranking} == set(groups)


@pytest.fixture
def sources(give: Give) -> list[Give]:
    """The same table in batches here, and in a frame of an engine."""
    return [lambda records: iter(records.to_batches(170)), give]


def of_one_side(records: pa.Table) -> pa.Table:
    """Some of the members are of a group that has no nonmembers."""
    inside = records["is_train"].to_pylist()
    regions = ["none" if m and at < 99 else "all" for at, m in enumerate(inside)]
    return records.set_column(2, "region", [regions])


@pytest.mark.slow
def test_labels_are_values_of_their_column_and_a_group_of_one_side_has_no_counts(sources: list[Give]) -> None:
    numbered = RECORDS.set_column(2, "run", [np.arange(len(RECORDS)) % 3])

    for source in sources:
        assert sorted(macekit.counts_by(source(numbered), "run", **NAMES)) == [0, 1, 2]
        groups = macekit.counts_by(source(of_one_side(RECORDS)), "region", **NAMES)
        assert (groups["none"] is None, groups["all"] is None) == (True, False)


ASKS: dict[str, Callable[..., Any]] = {
    "report": lambda source: macekit.report(source, **NAMES, group="region")["groups"],
    "gate": lambda source: macekit.gate(source, **NAMES, group="region", max_group_risk=0.9)["limits"],
    "own": lambda source: macekit.gate(source, **NAMES, group="region", max_group_advantage=0.9)["groups"],
}


@cache
def of_blocks(change: str, question: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "LARGE", 10_000)  # bytes beyond which records are counted: less than these
        return ASKS[question](CHANGES[change](RECORDS).to_reader(300))


@pytest.mark.slow
@pytest.mark.parametrize("question", ASKS)
def test_questions_about_groups_are_answered_from_the_counts_of_a_frame(give: Give, question: str) -> None:
    assert ASKS[question](give(RECORDS)) == of_blocks("fractions", question)


@pytest.mark.parametrize("question", ASKS)
@pytest.mark.parametrize("change", CHANGES)
def test_questions_about_groups_are_answered_from_their_counts_as_from_the_records(change, question) -> None:
    in_memory = ASKS[question](CHANGES[change](RECORDS))

    for one, other in zip(of_blocks(change, question), in_memory, strict=True):
        for name in ("label", "records", "n_members", "decision"):
            assert one.get(name) == other.get(name)
        for name in ("risk", "lower", "upper", "estimate"):
            if one.get(name) is not None:
                assert one[name] == pytest.approx(other[name], abs=5e-3)  # at the resolution of the cells


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_counts_have_those_of_each_group_wherever_they_are_made(give: Give, change: str) -> None:
    here = with_groups(change)

    there = macekit.counts(give(CHANGES[change](RECORDS)), **NAMES, group="region")

    assert there["counts"] == here["counts"]
    assert [each["label"] for each in here["counts"]["by_group"]] == ["eu", "us", "zürich"]
    (own,) = (column for column in there["columns"] if column["role"] == "group")
    assert own == {"role": "group", "name": "region", "kind": "text", "distinct": 3, "notes": []}


@cache
def with_groups(change: str) -> macekit.Result:
    return macekit.counts(CHANGES[change](RECORDS), **NAMES, group="region")


@pytest.mark.slow
def test_a_group_of_one_side_counts_with_all(sources: list[Give]) -> None:
    whole, _ = counted("fractions")

    for source in sources:
        counts = macekit.counts(source(of_one_side(RECORDS)), **NAMES, group="region")["counts"]
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
