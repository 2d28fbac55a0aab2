"""A series from one column of steps: the same wherever the scores lie, and that of each step's own counts."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

import macekit
from macekit.questions.counts import work as counting
from macekit.sources import reading
from tests.macekit.sources import support
from tests.macekit.sources.conftest import Give

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

STEPS = (20, 100, 9, 1000)
"""As they lie in the table: in no order."""

N = 400


def records(kind: str = "fractions") -> pa.Table:
    """The same people scored at each step, in a random order of rows."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal([step / 900.0] * N + [0.0] * N) for step in STEPS])
    member = np.tile(np.repeat([True, False], N), len(STEPS))
    steps = np.repeat(STEPS, 2 * N)
    order = rng.permutation(len(scores))
    if kind == "integers":
        scores = np.round(3 * scores).astype(np.int64)
    if kind == "text":
        scores = np.array(list("abcd"))[np.digitize(scores, [-1.0, 0.0, 1.0])]
    return pa.table({"score": scores[order], "member": member[order], "step": steps[order]})


def file(folder: Path, table: pa.Table) -> str:
    csv.write_csv(table, folder / "scores.csv")
    return str(folder / "scores.csv")


SOURCES: dict[str, Callable[[Path, pa.Table], Any]] = {
    "pandas": lambda _, table: table.to_pandas(),
    "polars": lambda _, table: pl.from_arrow(table),
    "polars, lazy": lambda _, table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "relation": lambda _, table: duckdb.connect().from_arrow(table),
    "batches": lambda _, table: iter(table.to_batches(170)),
    "CSV": file,
    "folder": support.folder,
}


@cache
def of_each(kind: str) -> list[dict[str, Any]]:
    """The answer for each step's own counts, which were counted on the cells of all."""
    groups = macekit.counts_by(records(kind), "step")
    queries = {str(step): {"counts": groups[step]["counts"]} for step in sorted(groups)}
    steps: list[dict[str, Any]] = macekit.advantage_series(queries, max_advantage=0.3)["steps"]
    return steps


@pytest.mark.parametrize("kind", ["fractions", "integers", "text"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_column_of_steps_is_a_series(source: str, kind: str, tmp_path: Path) -> None:
    result = macekit.advantage_series(SOURCES[source](tmp_path, records(kind)), by="step", max_advantage=0.3)

    assert [step.name for step in result.steps] == ["9", "20", "100", "1000"]
    assert result["steps"] == of_each(kind)
    assert result.last_passed in ("20", "100")
    assert result.steps[3].lower > result.steps[0].lower


def test_a_frame_of_an_engine_counts_its_steps_where_it_lies(give: Give) -> None:
    result = macekit.advantage_series(give(records()), by="step", max_advantage=0.3)

    assert result["steps"] == of_each("fractions")


@pytest.mark.slow
def test_what_is_large_is_counted_as_it_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (reading, counting):
        monkeypatch.setattr(module, "LARGE", 10_000)
    table = records()

    for source in (support.folder(tmp_path, table), iter(table.to_batches(170))):
        result = macekit.advantage_series(source, by="step", max_advantage=0.3)
        assert result["steps"] == of_each("fractions")
        assert result["provenance"][0]["query"] == "counts over grid"


@pytest.mark.slow
def test_counts_that_were_kept_are_a_series() -> None:
    counts = macekit.counts(records(), group="step")["counts"]

    assert macekit.advantage_series(counts=counts, max_advantage=0.3)["steps"] == of_each("fractions")
