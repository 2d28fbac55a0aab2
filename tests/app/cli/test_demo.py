"""`mace demo`: a first answer and a first report, from nothing."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from app.cli import main
from app.cli.demo import SIDE, example_table
from tests.app.cli.files import HUMBLE, mace
from tests.app.cli.fork import run_mace

FILES = ["answer.json", "report.html", "scores.csv"]


def test_it_writes_scores_answer_and_report_and_says_where(tmp_path: Path) -> None:
    done = mace("demo", folder=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(file.name for file in (tmp_path / "mace-demo").iterdir()) == FILES
    report = (tmp_path / "mace-demo" / "report.html").resolve()
    assert f"\nReport: {report}\n        {report.as_uri()}\n" in done.stdout
    assert report.read_text().startswith("<!doctype html>")


def test_the_advantage_comes_first_and_the_rest_below(tmp_path: Path) -> None:
    lines = run_mace("demo", folder=tmp_path).stdout.splitlines()

    answer = json.loads((tmp_path / "mace-demo" / "answer.json").read_text())["result"]["advantage"]
    first = re.fullmatch(
        r"Advantage: (0\.\d+), and with 95% confidence between (0\.\d+) and (0\.\d+)", lines[0]
    )
    assert first is not None
    estimate, lower, upper = map(float, first.groups())
    assert estimate == round(answer["estimate"], 3)
    assert lower <= answer["lower"] < lower + 1e-3
    assert upper - 1e-3 < answer["upper"] <= upper
    assert lines[1] == ""
    assert any(line.startswith("Area under the ROC (AUC)") for line in lines[2:])


def test_the_command_it_names_makes_the_answer_again(tmp_path: Path) -> None:
    done = run_mace("demo", folder=tmp_path)
    again = re.search(r"^Again:  mace (.*) -o report\.html$", done.stdout, re.MULTILINE)
    assert again is not None

    asked = run_mace(*again[1].split(), "-o", "again.json", folder=tmp_path)

    assert asked.returncode == 1, asked.stderr  # the demo exceeds its limit
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(
        (tmp_path / "mace-demo" / "answer.json").read_text()
    )


@pytest.mark.parametrize("name", ["-x", "--x", "a b"])
def test_the_command_can_be_typed_whatever_the_folder_is_called(tmp_path: Path, name: str) -> None:
    done = run_mace("demo", f"-o={name}", folder=tmp_path)
    again = re.search(r"^Again:  mace (.*) -o report\.html$", done.stdout, re.MULTILINE)
    assert again is not None

    asked = run_mace(*shlex.split(again[1]), "-o", "again.json", folder=tmp_path)

    assert asked.returncode == 1, asked.stderr  # the demo exceeds its limit


def test_twice_gives_the_same_bytes_and_touches_nothing(tmp_path: Path) -> None:
    first = mace("demo", folder=tmp_path)
    before = {file.name: (file.read_bytes(), file.stat()) for file in (tmp_path / "mace-demo").iterdir()}

    second = mace("demo", folder=tmp_path)

    assert second.stdout == first.stdout
    assert {
        file.name: (file.read_bytes(), file.stat()) for file in (tmp_path / "mace-demo").iterdir()
    } == before
    other = mace("demo", "-o", "other", folder=tmp_path)
    assert other.returncode == 0
    assert {file.name: file.read_bytes() for file in (tmp_path / "other").iterdir()} == {
        name: data for name, (data, _) in before.items()
    }


def test_files_that_say_something_else_are_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "mace-demo").mkdir()
    (tmp_path / "mace-demo" / "scores.csv").write_text("dear")

    refused = run_mace("demo", folder=tmp_path)

    assert refused.returncode == 2
    assert "\nOptimal advantage " in refused.stdout
    assert "mace-demo/scores.csv: is there already; --overwrite replaces it" in refused.stderr
    assert (tmp_path / "mace-demo" / "scores.csv").read_text() == "dear"
    assert [file.name for file in (tmp_path / "mace-demo").iterdir()] == ["scores.csv"]
    assert run_mace("demo", "--overwrite", folder=tmp_path).returncode == 0
    assert (tmp_path / "mace-demo" / "scores.csv").read_bytes() == example_table()


def test_in_a_folder_that_may_not_be_written_to_the_answer_is_printed_all_the_same(tmp_path: Path) -> None:
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o500)

    done = mace("demo", folder=sealed, through=HUMBLE)

    assert done.returncode == 2
    assert "\nOptimal advantage " in done.stdout
    assert "Report:" not in done.stdout
    assert done.stderr.startswith("mace demo: mace-demo: cannot be made: Permission denied\n")
    assert "-o names another folder" in done.stderr
    assert list(sealed.iterdir()) == []


@pytest.mark.parametrize("name", ["a file", "a file/below", "x\0y", "n" * 300])
def test_a_folder_that_cannot_be_is_said(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a file").write_text("")

    assert main(["demo", "-o", str(tmp_path / name)]) == 2

    out, err = capsys.readouterr()
    assert "\nOptimal advantage " in out
    assert err.startswith("mace demo: ")
    assert "Traceback" not in err


def test_a_folder_with_an_odd_name_is_written_to_and_named_so_that_a_shell_takes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["demo", "-o", "-- it's $HOME\u202e\x1b[31m"]) == 0

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_the_example_has_the_scores_that_were_always_shown_and_its_table_keeps_every_digit() -> None:
    generator = np.random.default_rng(20_240)
    members, nonmembers = generator.normal(0.5067, 1.0, 400), generator.normal(0.0, 1.0, 400)

    table = pyarrow.csv.read_csv(pyarrow.BufferReader(example_table()))

    assert np.array_equal(table["score"].to_numpy(), np.concatenate([members, nonmembers]))
    assert table["member"].to_pylist() == [1] * SIDE + [0] * SIDE
    assert len(set(table["group"].to_pylist())) == 3
