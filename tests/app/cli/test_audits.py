"""`mace synthetic`, `model` and `check` as a pipeline meets them: files, exit statuses, what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main
from tests.app.cli.fork import run_mace
from tests.cases import each_case
from tests.macekit.decoding.support import table_bytes
from tests.macekit.operations.test_synthetic import CLEAN, COPIED, HOLDOUT, SHIFTED, TRAIN

Capture = pytest.CaptureFixture[str]
Table = dict[str, list[Any]]

RELEASE = ("--train", "train.csv", "--holdout", "holdout.csv", "--synthetic")
BOTH = ("--train", "said_train.csv", "--holdout", "said_holdout.csv")


def written(table: Table, delimiter: str = ",") -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return sink.getvalue().encode()


def said(seed: int, sure: float, count: int = 300) -> Table:
    """Probabilities of three classes, those of the own class the higher the surer."""
    rng = np.random.default_rng(seed)
    own = rng.beta(sure, 1.0, count).round(4)
    truth = rng.integers(0, 3, count)
    others = ((1.0 - own) / 2.0).round(4)
    columns = [np.where(truth == each, 1.0 - 2.0 * others, others).round(4) for each in range(3)]
    names = np.array(["cat", "dog", "owl"])
    return {f"p_{name}": column.tolist() for name, column in zip(names, columns, strict=True)} | {
        "label": names[truth].tolist(),
        "age": rng.integers(20, 60, count).tolist(),
        "site": rng.choice(["north", "south"], count).tolist(),
    }


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release with and without copies, another hold-out, and what two models say."""
    files = {"train": TRAIN, "holdout": HOLDOUT, "copied": COPIED, "clean": CLEAN, "older": SHIFTED}
    files |= {"said_train": said(0, 12.0), "said_holdout": said(1, 2.0), "said_other": said(2, 2.0)}
    for name, table in files.items():
        (tmp_path / f"{name}.csv").write_bytes(written(table))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # tables as wide as they are, whoever runs the tests
    return tmp_path


@each_case(
    "arguments, status, word",
    [
        (("synthetic", *RELEASE, "copied.csv", "--max-copies-over-holdout", "0"), 1, "FAIL"),
        (("synthetic", *RELEASE, "clean.csv", "--max-copies-over-holdout", "0"), 0, "PASS"),
        (("synthetic", *RELEASE, "clean.csv", "--max-advantage", "0.01"), 3, "UNDECIDED"),
        (
            (
                "synthetic",
                "--train=train.csv",
                "--holdout=older.csv",
                "--synthetic=copied.csv",
                "--max-copies-over-holdout=0",
            ),
            1,
            "FAIL, OR DRIFT",
        ),
        (("synthetic", *RELEASE, "copied.csv", "--max-advantage", "0.8"), 1, "which is judged unless"),
        (
            ("synthetic", *RELEASE, "copied.csv", "--max-advantage", "0.8", "--accept-copies"),
            0,
            "note: copies of training rows are no reason to fail here, for they were accepted",
        ),
        (
            ("synthetic", *RELEASE, "copied.csv", "--max-near-copies-over-holdout", "0"),
            1,
            "Rows with a near copy",
        ),
        (("synthetic", *RELEASE, "clean.csv"), 0, "Riskiest query"),
        (("release-size", *RELEASE, "clean.csv", "--sizes", "50,150", "--max-advantage", "0.4"), 0, "PASS"),
        (("release-size", *RELEASE, "train.csv", "--sizes", "5,150", "--max-advantage", "0.4"), 1, "FAIL"),
        (
            ("release-size", *RELEASE, "copied.csv", "--sizes", "180", "--max-advantage", "0.8"),
            1,
            "copied beyond",
        ),
        (
            ("release-size", *RELEASE, "copied.csv", "--sizes=180", "--max-advantage=0.8", "--accept-copies"),
            0,
            "they were accepted",
        ),
        (("release-size", *RELEASE, "clean.csv", "--max-advantage", "0.01"), 3, "UNDECIDED"),
        (("release-size", *RELEASE, "clean.csv", "--sizes", "150"), 0, "Released rows"),
        (("model", *BOTH, "--max-advantage", "0.1"), 1, "FAIL"),
        (
            ("model", "--train", "said_other.csv", "--holdout", "said_holdout.csv", "--max-advantage", "0.5"),
            0,
            "PASS",
        ),
        (("model", *BOTH, "--truth", "label", "--leave-out", "age"), 0, "Riskiest query"),
        (("check", "--train", "train.csv", "--holdout", "holdout.csv"), 0, "Nothing shows"),
        (("check", "--train", "train.csv", "--holdout", "older.csv"), 1, "The two sides differ"),
    ],
)
def test_the_exit_status_is_the_decision(
    tables: Path, arguments: tuple[str, ...], status: int, word: str
) -> None:
    done = run_mace(*arguments, folder=tables)

    assert (done.returncode, done.stderr) == (status, "")
    assert word in done.stdout


def test_files_may_differ_in_format_delimiter_and_compression(tables: Path, capsys: Capture) -> None:
    import gzip

    (tables / "train.parquet").write_bytes(
        table_bytes(
            {name: np.array(column) for name, column in TRAIN.items()}, "application/vnd.apache.parquet"
        )
    )
    (tables / "holdout.csv.gz").write_bytes(gzip.compress(written(HOLDOUT, ";")))
    usual = ["synthetic", *RELEASE, "copied.csv", "--max-copies-over-holdout", "0", "--json"]
    other = [
        each.replace("train.csv", "train.parquet").replace("holdout.csv", "holdout.csv.gz") for each in usual
    ]

    assert main(usual) == 1
    first = json.loads(capsys.readouterr().out)
    assert main(other) == 1
    second = json.loads(capsys.readouterr().out)

    assert second == first


def test_a_report_says_how_it_is_made_again_and_that_command_makes_it(tables: Path) -> None:
    made = run_mace(
        "model", *BOTH, "--leave-out", "age,site", "--max-advantage", "0.1", "-o", "r.md", folder=tables
    )
    assert made.returncode == 1
    report = (tables / "r.md").read_text()
    command = next(line for line in report.splitlines() if line.startswith("mace model"))
    assert "macekit.audit_predictions('said_train.csv', 'said_holdout.csv'" in report

    again = run_mace(*command.split()[1:-2], "--json", folder=tables)

    assert again.returncode == 1
    assert json.loads(again.stdout)["decision"] == "fail"


def test_a_kept_answer_becomes_a_report(tables: Path) -> None:
    commands = (
        ("synthetic", *RELEASE, "copied.csv"),
        ("release-size", *RELEASE, "clean.csv", "--sizes", "150"),
        ("model", *BOTH),
        ("check", *RELEASE[:4]),
    )
    for command in commands:
        kept = f"{command[0]}.json"
        assert run_mace(*command, "-o", kept, folder=tables).returncode == 0

        done = run_mace("report", kept, "-o", f"{command[0]}.html", folder=tables)

        assert done.returncode == 0, done.stderr
        assert "<!doctype html>" in (tables / f"{command[0]}.html").read_text().lower()


@each_case(
    "arguments, words",
    [
        (("synthetic", "--train", "train.csv", "--holdout", "holdout.csv"), "--synthetic: is required"),
        (("check", "--train", "nowhere.csv", "--holdout", "holdout.csv"), "nowhere.csv"),
        (("synthetic", *RELEASE, "said_train.csv", "--leave-out", "age"), "no column"),
        (("check", "--train", "train.csv", "--holdout", "said_train.csv", "--leave-out", "size"), "size"),
        (("release-size", *RELEASE, "clean.csv", "--sizes", "900"), "the released table has 150 rows"),
        (("release-size", *RELEASE, "clean.csv", "--sizes", "0"), "--sizes"),
        (("model", *BOTH, "--truth", "kind"), "truth: train has no column 'kind'"),
        (("model", *BOTH, "--predictions", "p_cat,p_dog"), "no column is called after the class 'owl'"),
        (("model", *BOTH, "--predictions", "p_cat,site"), "column 'site' of train holds no numbers"),
        (("model", *BOTH, "--queries", "squared_error"), "squared_error"),
        (("model", *BOTH, "--features", "height"), "features: train has no column 'height'"),
        (("model", *BOTH, "--group", "height"), "'height'"),
        (("model", *BOTH, "--at-fpr", "0.1"), "--max-tpr: give the largest"),
        (
            ("model", "--train", "train.csv", "--holdout", "holdout.csv"),
            "truth: no column is the truth by name",
        ),
        (("check", *RELEASE[:4], "--format", "npy"), "a table is needed: CSV, JSON lines, Arrow or Parquet"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(tables: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run_mace(*arguments, folder=tables)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


# --- what comes by mistake --------------------------------------------------------------------------------------

OTHERS = {
    "synthetic": ("synthetic", "--train", "train.csv", "--holdout", "holdout.csv", "--synthetic"),
    "release-size": ("release-size", "--train", "train.csv", "--holdout", "holdout.csv", "--synthetic"),
    "check": ("check", "--train", "train.csv", "--holdout"),
    "model": ("model", "--train", "said_train.csv", "--holdout"),
}
OF_TABLES = ("synthetic", "release-size", "check")


SAID = said(1, 2.0)
NUMBER = next(name for name, values in CLEAN.items() if isinstance(values[0], float | int))
MISTAKES = {
    "no bytes": b"",
    "random bytes": bytes(range(128, 256)) * 4,
    "no rows": written({name: [] for name in CLEAN}),
    "Latin-1": written(CLEAN).replace(b"\r\n", b"\xfc\r\n").replace(b"\xfc", b"", 1),
    "pipes": written(CLEAN, "|"),
    "currency": written({**CLEAN, NUMBER: [f"${each}" for each in CLEAN[NUMBER]]}),
    "all missing": written({name: [""] * len(values) for name, values in CLEAN.items()}),
    "three rows": written({name: values[:3] for name, values in CLEAN.items()}),
    "a short row": written(CLEAN) + b"1\r\n",
    "said: no rows": written({name: [] for name in SAID}),
    "said: pipes": written(SAID, "|"),
    "said: three rows": written({name: values[:3] for name, values in SAID.items()}),
    "said: NaN": written({**SAID, "p_cat": ["NaN", *SAID["p_cat"][1:]]}),
    "said: a new class": written({**SAID, "label": ["emu", *SAID["label"][1:]]}),
    "said: no predictions": written({"label": SAID["label"]}),
}
"""Files that are not what they should be, by what is wrong with them."""


@each_case(
    "mistake, commands, words",
    [
        ("no bytes", (*OF_TABLES, "model"), "mistake.csv: empty"),
        ("no rows", OF_TABLES, "there are no rows below the names of the columns"),
        ("said: no rows", ("model",), "holdout: there are no rows below the names of the columns"),
        (
            "random bytes",
            (*OF_TABLES, "model"),
            "the header of the CSV is not UTF-8: is it text? If so, save it as",
        ),
        ("Latin-1", OF_TABLES, "CSV: the input holds a text that is not UTF-8: save it as UTF-8"),
        ("pipes", OF_TABLES, "has one column: are its values separated by commas, semicolons or tabs?"),
        (
            "said: pipes",
            ("model",),
            "truth: holdout has no column 'label'; it has 'p_cat|p_dog|",
        ),
        ("currency", OF_TABLES, "of which none is a number: no row of the one could equal one of the other"),
        (
            "all missing",
            ("synthetic", "release-size"),
            "no column can be used: left out, for one of the tables has no",
        ),
        ("three rows", ("check",), "nonmembers: got 3 different rows, need at least 8"),
        ("said: three rows", ("model",), "got 3, need at least 8"),
        ("a short row", OF_TABLES, "values, the header"),
        (
            "said: NaN",
            ("model",),
            "predictions: row 0 of holdout has no value in column 'p_cat'; leave the row out",
        ),
        ("said: a new class", ("model",), "none is called 'p_emu'; leave out rows of that class"),
        ("said: no predictions", ("model",), "predictions: holdout has no column 'p_cat'"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_told_what_to_do(
    tables: Path, capsys: Capture, mistake: str, commands: tuple[str, ...], words: str
) -> None:
    (tables / "mistake.csv").write_bytes(MISTAKES[mistake])
    for command in commands:
        assert main([*OTHERS[command], "mistake.csv"]) == 2, command
        printed = capsys.readouterr()
        assert printed.out == "", command
        assert words in printed.err, (command, printed.err)


@each_case(
    "arguments, words",
    [
        (
            ("synthetic", "--train", "train.csv", "--holdout", "train.csv", "--synthetic", "clean.csv"),
            "row for row",
        ),
        (
            ("release-size", "--train", "train.csv", "--holdout", "train.csv", "--synthetic", "clean.csv"),
            "row for row",
        ),
        (("check", "--train", "train.csv", "--holdout", "train.csv"), "row for row"),
        (("model", "--train", "said_train.csv", "--holdout", "said_train.csv"), "row for row"),
    ],
)
def test_one_file_for_both_sides_is_no_pass(
    tables: Path, capsys: Capture, arguments: tuple[str, ...], words: str
) -> None:
    limits = () if arguments[0] == "check" else ("--max-advantage", "0.9")

    assert main([*arguments, *limits]) == 2
    printed = capsys.readouterr()
    assert (printed.out, words in printed.err, "held out" in printed.err) == ("", True, True)


@each_case(
    "file, words",
    [
        ("train.csv", "the released table is the table of members, row for row; is it the right file?"),
        ("holdout.csv", "the released table is the table of nonmembers, row for row; is it the right file?"),
    ],
)
def test_a_release_that_is_one_of_the_sides_is_asked_about(
    tables: Path, capsys: Capture, file: str, words: str
) -> None:
    for command in ("synthetic", "release-size"):
        assert main([*OTHERS[command], file, "--max-advantage", "0.4"]) == 1, command
        assert words in " ".join(capsys.readouterr().out.split()), command


def test_a_reference_that_is_the_release_is_asked_about(tables: Path, capsys: Capture) -> None:
    assert main([*OTHERS["synthetic"], "clean.csv", "--reference", "clean.csv"]) == 0
    assert "the reference is the released table, row for row" in " ".join(capsys.readouterr().out.split())


def test_other_delimiters_are_read_as_commas_are(tables: Path, capsys: Capture) -> None:
    answers = []
    for delimiter in (",", ";", "\t"):
        (tables / "other.csv").write_bytes(written(CLEAN, delimiter))
        assert main([*OTHERS["synthetic"], "other.csv", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1] == answers[2]
