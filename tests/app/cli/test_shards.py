"""Several files, folders, patterns and addresses as one input of a command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.cli import main
from macekit.sources import reading

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def parts(folder: Path) -> Path:
    """The records of ``scores.csv`` in two files of a folder."""
    header, *rows = (folder / "scores.csv").read_text().splitlines()
    (folder / "parts").mkdir()
    for name, some in (("a", rows[:30]), ("b", rows[30:])):
        (folder / "parts" / f"{name}.csv").write_text("\n".join([header, *some, ""]))
    return folder


@pytest.mark.parametrize("typed", [["parts"], ["parts/*.csv"], ["parts/a.csv", "parts/b.csv"]])
def test_many_files_are_one_table(parts: Path, capsys: Capture, typed: list[str]) -> None:
    answers = []
    for files in (typed, ["scores.csv"]):
        assert main(["estimate", *files, "--score", "score", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))

    assert answers[0] == answers[1]


def test_counts_of_many_files_are_those_of_one(parts: Path, capsys: Capture) -> None:
    answers, errors = [], []
    for files in (["parts/b.csv", "parts/a.csv"], ["scores.csv"]):
        assert main(["counts", *files, "--score", "score", "--json"]) == 0
        out, err = capsys.readouterr()
        answers.append(json.loads(out))
        errors.append(err)

    assert answers[0] == answers[1]
    assert "2 files are read as one table; mace compare takes them apart" in errors[0]
    assert not errors[1]


def test_many_records_are_counted_and_that_is_said(
    parts: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE", 100)

    assert main(["report", "parts", "--score", "score", "-o", "report.html"]) == 0

    err = capsys.readouterr().err
    assert "parts is large, so mace counts it while reading" in err
    assert "W_N" in err
    assert "parts" in (parts / "report.html").read_text()


def test_folders_are_compared_as_files_are(parts: Path, capsys: Capture) -> None:
    assert main(["compare", "parts", "scores.csv", "--score", "score"]) == 0

    assert re.search(r"^parts – scores ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["parts", "nofile.csv"], "nofile.csv: no such file or folder"),
        (["parts", "parts/a.csv"], "parts/a.csv: is named twice"),
        (["none*"], "none*: matches no file"),
        (["parts", "--format", "csv"], "--format: of several files"),
        (["parts", "--score", "lost"], "a.csv: score: no column of the"),
        (["parts", "--unit", "nobody"], "a.csv: unit: no column of the"),
        (["s3://bucket/x?endpoint_override=127.0.0.1:9&scheme=http"], "s3://bucket/x: cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_line(parts: Path, capsys: Capture, typed: list[str], said: str) -> None:
    assert main(["estimate", *typed]) == 2

    out, err = capsys.readouterr()
    assert not out
    assert said in err
    assert err.count("\n") == 1
