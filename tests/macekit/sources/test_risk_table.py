"""Risk by cell, joined by an engine: each record's row is what the question itself says of that score."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import macekit

RNG = np.random.default_rng(4)
INSIDE = RNG.random(4000) < 0.5
OPTIONS: dict[str, Any] = {"prior": 0.3, "confidence": 0.9, "threshold": 0.2}
LINE = "low <= score and score < high"
COLUMNS = ("risk", "lower", "upper", "signed_risk", "posterior", "flagged")


def joined(records: pa.Table, risks: pa.Table, on: str) -> pa.Table:
    """The records with their risks, in the order of the records."""
    connection = duckdb.connect()
    connection.register("records", records.append_column("place", [np.arange(len(records))]))
    connection.register("risks", risks)
    columns = ", ".join(f"risks.{name}" for name in COLUMNS)
    found = connection.sql(f"select {columns} from records left join risks on {on} order by place").to_arrow_table()
    assert len(found) == len(records)
    return found


@pytest.mark.parametrize(
    ("scores", "on"),
    [
        pytest.param(RNG.normal(INSIDE, 1.0), LINE, id="floats"),
        pytest.param(RNG.normal(INSIDE, 1.0) * 1e-300, LINE, id="tiny floats"),
        pytest.param(RNG.integers(0, 9, 4000) + INSIDE, "records.score = risks.score", id="integers"),
        pytest.param(RNG.choice(["a", "ä", ""], 4000), "records.score = risks.score", id="text"),
    ],
)
def test_joined_risks_are_those_of_each_score(scores: Any, on: str) -> None:
    records = pa.table({"score": scores, "member": INSIDE})
    counts = macekit.counts(records)

    risks = macekit.risk_table(counts, **OPTIONS)
    asked = records.select(["score"])
    if "low" in risks.column_names:  # and scores on the cuts, and beyond what the records reach
        cuts = risks["low"].to_numpy()
        ends = np.array([2 * cuts[1] - 1, *cuts[1:], *np.nextafter(cuts[1:], -np.inf), cuts[-1] + 9])
        asked = pa.table({"score": np.concatenate([scores, ends])})

    rows = joined(asked, risks, on)
    wanted = macekit.risk(counts=counts["counts"], targets=asked["score"].to_pylist(), **OPTIONS).records
    unknown = {"risk": None, "lower": 0.0, "upper": 1.0, "flagged": False, "posterior": None}
    unknown |= {"signed_risk": None}
    inside = pc.is_valid(rows["risk"]).to_pylist()
    for name in COLUMNS:
        found = [row if known else unknown[name] for row, known in zip(rows[name].to_pylist(), inside, strict=True)]
        assert found == list(wanted[name]), name
    assert all(inside[: len(records)])
    assert pc.sum(risks["members"]).as_py() == int(INSIDE.sum())


@pytest.mark.slow
def test_merged_counts_and_the_counts_themselves_are_taken() -> None:
    records = pa.table({"score": RNG.normal(INSIDE, 1.0), "member": INSIDE})
    merged = macekit.merged(macekit.partial(batch) for batch in records.to_batches(700))

    assert macekit.risk_table(merged) == macekit.risk_table(macekit.counts(records)["counts"])


def test_what_are_no_counts_is_refused() -> None:
    with pytest.raises(macekit.MaceProblem):
        macekit.risk_table({"counts": {"cells": {"kind": "grid"}}})


def test_counts_come_in_any_form(tmp_path: Path) -> None:
    counts = macekit.counts({"score": RNG.normal(INSIDE, 1.0), "member": INSIDE})
    counts.to_json(tmp_path / "counts.json")

    tables = [macekit.risk_table(each) for each in (counts, counts["counts"], counts.answer, tmp_path / "counts.json")]

    assert all(table.equals(tables[0]) for table in tables)
    with pytest.raises(macekit.MaceProblem):
        macekit.risk_table({"a": 1})
