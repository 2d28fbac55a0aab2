"""Answers as files."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from app.cli import main
from macekit.call import CSV, Body, Call
from macekit.catalogue import OPERATIONS
from macekit.operations import perform
from tests.app.cli.files import HUMBLE, answered, mace

Capture = pytest.CaptureFixture[str]
WRITING = [
    *(each.command for each in OPERATIONS if each.command),
    "demo",
    "text",
    "shadows",
]
"""Commands with -o, or that write a table."""


def read(file: Path) -> pa.Table:
    data = file.read_bytes()
    if file.suffix == ".csv":
        return csv.read_csv(io.BytesIO(data))
    return (
        pq.read_table(io.BytesIO(data)) if file.suffix == ".parquet" else pa.ipc.open_stream(data).read_all()
    )


def test_an_answer_is_written_as_the_service_gives_it_and_its_sentence_is_still_said(
    folder: Path, capsys: Capture
) -> None:
    expected = answered(capsys, "estimate", "scores.csv")

    assert main(["estimate", "scores.csv", "-o", "answer.json"]) == 0

    out, err = capsys.readouterr()
    assert json.loads((folder / "answer.json").read_bytes()) == expected
    assert out == ""
    assert err.startswith(str(expected["sentence"]))
    assert "note: fewer than 30 records" in err


@pytest.mark.parametrize("suffix", ["csv", "arrow", "parquet"])
def test_risk_is_written_as_a_table_of_every_record(folder: Path, capsys: Capture, suffix: str) -> None:
    expected = answered(capsys, "risk", "scores.csv")["records"]

    assert main(["risk", "scores.csv", "-o", f"risk.{suffix}"]) == 0

    table = read(folder / f"risk.{suffix}")
    answered_columns = {name: column for name, column in expected.items() if column is not None}  # type: ignore[attr-defined]
    assert table.to_pydict() == answered_columns
    assert capsys.readouterr().err.startswith("13 of 48 records lie where scores speak for membership")


def test_csv_is_that_of_the_service(folder: Path) -> None:
    assert main(["risk", "scores.csv", "-o", "risk.csv", "--quiet"]) == 0

    asked = perform(Call("individual-risk", CSV, accept=CSV), Body.of((folder / "scores.csv").read_bytes()))
    assert (folder / "risk.csv").read_bytes() == bytes(asked.body)


def test_a_file_that_is_there_is_replaced_only_if_that_is_asked_for(folder: Path, capsys: Capture) -> None:
    (folder / "answer.json").write_text("dear")
    (folder / "answer.json").chmod(0o600)

    assert main(["estimate", "scores.csv", "-o", "answer.json"]) == 2
    assert (folder / "answer.json").read_text() == "dear"

    assert main(["estimate", "scores.csv", "-o", "answer.json", "--overwrite", "-q"]) == 0
    assert json.loads((folder / "answer.json").read_bytes())["advantage"]
    assert stat.S_IMODE((folder / "answer.json").stat().st_mode) == 0o600
    assert (
        capsys.readouterr().err == "mace estimate: answer.json: is there already; --overwrite replaces it\n"
    )


def test_the_former_name_of_the_option_is_understood_and_not_shown(folder: Path, capsys: Capture) -> None:
    (folder / "answer.json").write_text("dear")

    assert main(["estimate", "scores.csv", "-o", "answer.json", "--force", "-q"]) == 0

    assert json.loads((folder / "answer.json").read_bytes())["advantage"]
    with pytest.raises(SystemExit):
        main(["estimate", "--help"])
    shown = capsys.readouterr().out
    assert "--overwrite" in shown
    assert "--force" not in shown


@pytest.mark.parametrize("command", WRITING)
def test_every_command_that_writes_can_be_run_again(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    assert "--overwrite" in capsys.readouterr().out


def test_a_link_is_followed_and_stays(folder: Path) -> None:
    (folder / "target.json").write_text("old")
    (folder / "answer.json").symlink_to("target.json")

    assert main(["estimate", "scores.csv", "-o", "answer.json", "--overwrite", "-q"]) == 0

    assert (folder / "answer.json").is_symlink()
    assert json.loads((folder / "target.json").read_bytes())["advantage"]


def test_a_question_that_fails_leaves_no_file(folder: Path) -> None:
    before = set(os.listdir(folder))

    assert main(["estimate", "scores.csv", "--score", "none", "-o", "answer.json"]) == 2

    assert set(os.listdir(folder)) == before


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "answer.json").write_text("dear")
    before = set(os.listdir(folder))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["estimate", "scores.csv", "-o", "answer.json", "--overwrite"]) == 2

    assert (folder / "answer.json").read_text() == "dear"
    assert set(os.listdir(folder)) == before
    assert "answer.json: cannot be written: No space left on device" in capsys.readouterr().err


def test_a_folder_that_may_not_be_written_to_is_said_before_any_work(folder: Path) -> None:
    (folder / "sealed").mkdir(mode=0o500)

    done = mace("estimate", "scores.csv", "-o", "sealed/answer.json", folder=folder, through=HUMBLE)

    assert done.returncode == 2
    assert "the folder cannot be written to" in done.stderr


def test_printing_json_and_writing_a_file_exclude_each_other(folder: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["estimate", "scores.csv", "--json", "-o", "answer.json"])

    assert "not allowed with" in capsys.readouterr().err
