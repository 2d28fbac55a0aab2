"""The risk of each record of what is larger than memory, written as it is read a second time."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import macekit
from app.cli import main, run

Capture = pytest.CaptureFixture[str]
RNG = np.random.default_rng(12)
SIZE = 3000
MEMBER = RNG.random(SIZE) < 0.4
SCORES = {"fractions": RNG.normal(MEMBER * 0.8), "integers": RNG.poisson(4 + MEMBER)}
SCORES["text"] = RNG.choice(["a", "b", "c"], SIZE)
OPTIONS: dict[str, Any] = {"prior": 0.3, "confidence": 0.9, "threshold": 0.1}
READ = {".parquet": parquet.read_table, ".csv": csv.read_csv}
READ[".arrow"] = lambda path: pa.ipc.open_stream(path).read_all()


def folder_of(place: Path, scores: Any, member: Any = MEMBER) -> Path:
    """Three files of unequal length."""
    folder = place / "scores"
    folder.mkdir()
    for name, rows in (("0", slice(0, 500)), ("1", slice(500, 501)), ("2", slice(501, None))):
        table = pa.table({"score": scores[rows], "member": member[rows]})
        parquet.write_table(table, folder / f"{name}.parquet", row_group_size=300)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("suffix", READ)
def test_each_row_is_what_counts_say_of_its_score(tmp_path: Path, kind: str, suffix: str) -> None:
    folder, path = folder_of(tmp_path, SCORES[kind]), tmp_path / f"risks{suffix}"

    summary = macekit.write_risks(folder, path, **OPTIONS)

    table = READ[suffix](path)
    counts = macekit.counts(folder)["counts"]
    expected = macekit.risk(counts=counts, targets=SCORES[kind].tolist(), **OPTIONS)
    columns = {name: column for name, column in expected["records"].items() if column is not None}
    assert table.column_names == list(columns)
    for name, column in columns.items():
        assert table[name].to_pylist() == pytest.approx(list(column), abs=1e-15), name
    assert summary["flags"]["records"] == sum(columns["flagged"])
    assert summary["cells"] == json.loads(expected.to_json())["cells"]
    assert "records" not in summary


@pytest.mark.slow
def test_a_metric_is_looked_up_too(tmp_path: Path) -> None:
    folder, path = folder_of(tmp_path, SCORES["fractions"]), tmp_path / "risks.parquet"

    macekit.write_risks(folder, path, metric="precision")

    counts = macekit.counts(folder)["counts"]
    expected = macekit.risk(counts=counts, targets=SCORES["fractions"].tolist(), metric="precision")
    values = parquet.read_table(path)["metric"].to_pylist()
    assert values == pytest.approx(list(expected["records"]["metric"]), nan_ok=True)


def test_nothing_is_left_where_a_record_cannot_be_used(tmp_path: Path) -> None:
    scores = SCORES["fractions"].copy()
    scores[2500] = np.nan
    folder = folder_of(tmp_path, scores)

    with pytest.raises(macekit.MaceProblem, match=r"2\.parquet: .*1999"):
        macekit.write_risks(folder, tmp_path / "risks.parquet")

    assert [each.name for each in tmp_path.iterdir()] == ["scores"]


@pytest.mark.parametrize(
    ("source", "path", "options", "words"),
    [
        ("scores", "risks.xlsx", {}, "ends in .parquet, .csv, .arrow"),
        ([[0.5]], "risks.csv", {}, "need files, which are read twice"),
        ("scores", "risks.csv", {"top": 3}, "top: does not go with"),
        ("scores", "risks.csv", {"estimator": {"kind": "kde"}}, "estimator.kind: does not go with"),
        ("scores", "risks.csv", {"prior": 1.5}, "prior"),
        ("scores", "risks.csv", {"score": "score,member"}, "a comma cannot stand in a name"),
        ("scores", "risks.csv", {"score": "los"}, "score: no column of the 2"),
    ],
)
def test_what_it_cannot_do_is_said(tmp_path, monkeypatch, source, path, options, words) -> None:
    folder_of(tmp_path, SCORES["fractions"])
    monkeypatch.chdir(tmp_path)

    with pytest.raises(macekit.MaceProblem, match=words):
        macekit.write_risks(source, path, **options)

    assert not (tmp_path / path).exists()


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("typed", ["scores", "scores/2.parquet"])
def test_the_shell_writes_what_is_large_as_it_reads_it_again(tmp_path, capsys, monkeypatch, typed, suffix):
    folder_of(tmp_path, SCORES["integers"])
    monkeypatch.chdir(tmp_path)
    assert main(["risk", typed, "-o", f"held{suffix}", "--prior", "0.3"]) == 0
    said = capsys.readouterr().err
    monkeypatch.setattr(run, "LARGE", 100)

    assert main(["risk", typed, "-o", f"read{suffix}", "--prior", "0.3"]) == 0

    err = capsys.readouterr().err
    assert "reads it again and looks each record up" in err
    assert said.splitlines()[0] in err
    held, read = (READ[suffix](tmp_path / f"{name}{suffix}") for name in ("held", "read"))
    assert read["index"].to_pylist() == list(range(len(read)))
    assert held.sort_by("index") == read


def test_what_every_record_is_needed_for_is_held(tmp_path, capsys, monkeypatch) -> None:
    folder = folder_of(tmp_path, SCORES["fractions"])
    monkeypatch.setattr(run, "LARGE", 100)

    assert main(["risk", str(folder), "--top", "7", "-o", str(tmp_path / "top.parquet")]) == 0

    assert "reads it again" not in capsys.readouterr().err
    assert len(parquet.read_table(tmp_path / "top.parquet")) == 7
