"""`mace demo`: a first answer and a first report, from nothing."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from app.cli.demo import SIDE, example_table
from tests.app.cli.files import Done, typed
from tests.cases import each_case

FILES = ["answer.json", "report.html", "scores.csv"]


def again(done: Done) -> str:
    """What is typed to make the answer again, as it says."""
    found = re.search(r"^Again:  mace (.*) -o report\.html$", done.out, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_it_writes_scores_answer_and_report_and_says_where(empty: Path) -> None:
    done, other = typed("demo"), typed("demo -o other")

    assert (done.status, done.err) == (0, "")
    assert sorted(file.name for file in (empty / "mace-demo").iterdir()) == FILES
    report = (empty / "mace-demo" / "report.html").resolve()
    assert f"\nReport: {report}\n        {report.as_uri()}\n" in done.out
    assert report.read_text().startswith("<!doctype html>")
    assert other.out == done.out.replace("mace-demo", "other")
    for name in FILES:
        assert (empty / "other" / name).read_bytes() == (empty / "mace-demo" / name).read_bytes()


def test_the_advantage_comes_first_and_the_rest_below(empty: Path) -> None:
    lines = typed("demo").out.splitlines()

    answer = json.loads((empty / "mace-demo" / "answer.json").read_text())["result"]["advantage"]
    first = re.fullmatch(r"Advantage: (0\.\d+), and with 95% confidence between (0\.\d+) and (0\.\d+)", lines[0])
    assert first is not None
    estimate, lower, upper = map(float, first.groups())
    assert estimate == round(answer["estimate"], 3)
    assert lower <= answer["lower"] < lower + 1e-3
    assert upper - 1e-3 < answer["upper"] <= upper
    assert lower <= 0.2 <= upper  # which is the truth about the two distributions
    assert lines[1] == ""
    assert any(line.startswith("Area under the ROC (AUC)") for line in lines[2:])


@pytest.mark.slow
@each_case("name", ["mace-demo", "-x", "--x", "a b"])
def test_the_command_it_names_makes_the_answer_again_whatever_the_folder_is_called(empty: Path, name: str) -> None:
    asked = typed(again(typed("demo", f"-o={name}")), "-o", "again.json", "--overwrite")

    assert asked.status == 1, asked.err  # the demo exceeds its limit
    made, kept = (json.loads((empty / file).read_text()) for file in ("again.json", f"{name}/answer.json"))
    assert made == kept


@pytest.mark.slow
def test_twice_gives_the_same_and_touches_nothing(empty: Path) -> None:
    def files() -> dict[str, object]:
        return {file.name: (file.read_bytes(), file.stat()) for file in (empty / "mace-demo").iterdir()}

    first = typed("demo")
    before = files()

    assert typed("demo") == first
    assert files() == before


@pytest.mark.slow
def test_files_that_say_something_else_are_replaced_only_by_force(empty: Path) -> None:
    (empty / "mace-demo").mkdir()
    (empty / "mace-demo" / "scores.csv").write_text("dear")

    done = typed("demo")

    assert done.status == 2
    assert "\nOptimal advantage " in done.out
    assert "mace-demo/scores.csv: is there already; --overwrite replaces it" in done.err
    assert (empty / "mace-demo" / "scores.csv").read_text() == "dear"
    assert [file.name for file in (empty / "mace-demo").iterdir()] == ["scores.csv"]
    assert typed("demo --overwrite").status == 0
    assert (empty / "mace-demo" / "scores.csv").read_bytes() == example_table()


@pytest.mark.slow
@each_case("name", ["a file", "a file/below", "x\0y", "n" * 300])
def test_a_folder_that_cannot_be_is_said(empty: Path, name: str) -> None:
    (empty / "a file").write_text("")

    done = typed("demo -o", name)

    assert done.status == 2
    assert "\nOptimal advantage " in done.out
    assert done.err.startswith("mace demo: ")
    assert "Traceback" not in done.err


def test_a_folder_with_an_odd_name_is_written_to_and_named_so_that_a_terminal_takes_it(empty: Path) -> None:
    done = typed("demo -o", "-- it's $HOME\u202e\x1b[31m")

    assert done.status == 0
    assert not {"\x1b", "\u202e"} & set(done.out)


def test_the_example_has_the_scores_that_were_always_shown_and_its_table_keeps_every_digit() -> None:
    generator = np.random.default_rng(20_240)
    members, nonmembers = generator.normal(0.5067, 1.0, 400), generator.normal(0.0, 1.0, 400)

    table = pyarrow.csv.read_csv(pyarrow.BufferReader(example_table()))

    assert np.array_equal(table["score"].to_numpy(), np.concatenate([members, nonmembers]))
    assert table["member"].to_pylist() == [1] * SIDE + [0] * SIDE
    assert len(set(table["group"].to_pylist())) == 3
