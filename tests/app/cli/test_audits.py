"""`mace synthetic`, `model` and `check` as a pipeline meets them: files, what is said, what is refused."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.app.cli.files import answer, refused, typed
from tests.app.cli.tables import CALM, RELEASE, SAID, SAID_OF_OTHERS, SIDES, UNLEARNT, written
from tests.cases import each_case
from tests.macekit.decoding.support import table_bytes
from tests.macekit.operations.test_synthetic import CLEAN, HOLDOUT, TRAIN

pytestmark = pytest.mark.usefixtures("quick")


@pytest.mark.slow
@each_case(
    "line, status, word",
    (f"synthetic {RELEASE} copied.csv --max-copies-over-holdout 0", 1, "FAIL"),
    (f"synthetic {RELEASE} clean.csv --max-copies-over-holdout 0", 0, "PASS"),
    (
        "synthetic --train=train.csv --holdout=older.csv --synthetic=copied.csv --max-copies-over-holdout=0",
        1,
        "FAIL, OR DRIFT",
    ),
    (f"synthetic {RELEASE} copied.csv --max-advantage 0.8", 1, "which is judged unless"),
    (
        f"synthetic {RELEASE} copied.csv --max-advantage 0.8 --accept-copies",
        0,
        "note: copies of training rows are no reason to fail here, for they were accepted",
    ),
    (f"synthetic {RELEASE} copied.csv --max-near-copies-over-holdout 0", 1, "Rows with a near copy"),
    (f"synthetic {RELEASE} clean.csv", 0, "Riskiest query"),
    (f"release-size {RELEASE} copied.csv --sizes 180 --max-advantage 0.8", 1, "copied beyond"),
    (f"release-size {RELEASE} copied.csv --sizes=180 --max-advantage=0.8 --accept-copies", 0, "they were accepted"),
    (f"release-size {RELEASE} clean.csv --sizes 150", 0, "Released rows"),
    (f"model {CALM} --max-advantage 0.5", 0, "PASS"),
    (f"model {SAID} --truth label --leave-out age", 0, "Riskiest query"),
    (
        f"model {CALM} --max-advantage 0.5 --planted said_other.csv --spared said_holdout.csv --copies 4",
        0,
        "which are weak here",
    ),
    (f"unlearning {UNLEARNT} forgotten.csv --max-advantage 0.3", 0, "A pass is no proof of forgetting"),
    (f"unlearning {UNLEARNT} remembered.csv --retained retained.csv", 0, "Remaining share"),
    ("unlearning --unseen unseen.csv --id id --forgotten unseen.csv --max-advantage 1", 3, "NOT APPLICABLE"),
)
def test_what_was_found_is_said(tables: Path, line: str, status: int, word: str) -> None:
    done = typed(line)

    assert (done.status, done.err) == (status, "")
    assert word in done.out


@pytest.mark.slow
def test_files_may_differ_in_format_delimiter_and_compression(tables: Path) -> None:
    columns = {name: np.array(column) for name, column in TRAIN.items()}
    (tables / "train.parquet").write_bytes(table_bytes(columns, "application/vnd.apache.parquet"))
    (tables / "holdout.csv.gz").write_bytes(gzip.compress(written(HOLDOUT, ";")))
    for name, delimiter in (("semicolons", ";"), ("tabs", "\t")):
        (tables / f"{name}.csv").write_bytes(written(CLEAN, delimiter))
    usual = f"synthetic {RELEASE} clean.csv --max-copies-over-holdout 0"
    others = [
        usual.replace("train.csv", "train.parquet").replace("holdout.csv", "holdout.csv.gz"),
        usual.replace("clean", "semicolons"),
        usual.replace("clean", "tabs"),
    ]

    expected = answer(usual)
    for other in others:
        assert answer(other) == expected, other


@pytest.mark.slow
def test_a_report_says_how_it_is_made_again_and_that_command_makes_it(tables: Path) -> None:
    assert typed(f"model {SAID} --leave-out age,site --max-advantage 0.1 -o r.md").status == 1
    report = (tables / "r.md").read_text()
    command = next(line for line in report.splitlines() if line.startswith("mace model"))
    assert "macekit.audit_predictions('said_train.csv', 'said_holdout.csv'" in report

    again = typed(command.removeprefix("mace ").rpartition(" -o ")[0], "--json")

    assert (again.status, again.answer["decision"]) == (1, "fail")


@pytest.mark.slow
@each_case(
    "line",
    f"synthetic {RELEASE} copied.csv",
    f"release-size {RELEASE} clean.csv --sizes 150",
    f"model {SAID}",
    f"check {SIDES}",
    f"unlearning {UNLEARNT} forgotten.csv --retained retained.csv",
)
def test_a_kept_answer_becomes_a_report(tables: Path, line: str) -> None:
    assert typed(f"{line} -o kept.json --overwrite").status == 0

    done = typed("report kept.json -o report.html --overwrite")

    assert done.status == 0, done.err
    assert "<!doctype html>" in (tables / "report.html").read_text().lower()


@each_case(
    "line, words",
    (f"synthetic {SIDES}", "--synthetic: is required"),
    ("check --train nowhere.csv --holdout holdout.csv", "nowhere.csv"),
    (f"synthetic {RELEASE} said_train.csv --leave-out age", "no column"),
    ("check --train train.csv --holdout said_train.csv --leave-out size", "size"),
    (f"release-size {RELEASE} clean.csv --sizes 900", "the released table has 150 rows"),
    (f"release-size {RELEASE} clean.csv --sizes 0", "--sizes"),
    (f"model {SAID} --truth kind", "truth: train has no column 'kind'"),
    (f"model {SAID} --predictions p_cat,p_dog", "no column is called after the class 'owl'"),
    (f"model {SAID} --predictions p_cat,site", "column 'site' of train holds no numbers"),
    (f"model {SAID} --queries squared_error", "squared_error"),
    (f"model {SAID} --features height", "features: train has no column 'height'"),
    (f"model {SAID} --group height", "'height'"),
    (f"model {SAID} --at-fpr 0.1", "--max-tpr: give the largest"),
    (f"model {SIDES}", "truth: no column is the truth by name"),
    ("unlearning --forgotten forgotten.csv", "--unseen: is required"),
    (f"unlearning {UNLEARNT} forgotten.csv --score loss", "score: forgotten has no column 'loss'"),
    (f"check {SIDES} --format npy", "a table is needed: CSV, JSON lines, Arrow or Parquet"),
)
def test_what_cannot_be_used_is_said_in_a_line(tables: Path, line: str, words: str) -> None:
    said = refused(line)

    assert words in said
    assert said.count("\n") == 1


# --- what comes by mistake --------------------------------------------------------------------------------------

OTHERS = {
    "synthetic": f"synthetic {RELEASE}",
    "release-size": f"release-size {RELEASE}",
    "check": "check --train train.csv --holdout",
    "model": "model --train said_train.csv --holdout",
}
OF_TABLES = "synthetic release-size check"
NUMBER = next(name for name, values in CLEAN.items() if isinstance(values[0], float | int))


@each_case(
    "mistake, commands, words",
    (b"", f"{OF_TABLES} model", "mistake.csv: empty"),
    (written({name: [] for name in CLEAN}), OF_TABLES, "there are no rows below the names of the columns"),
    (
        bytes(range(128, 256)) * 4,
        f"{OF_TABLES} model",
        "the header of the CSV is not UTF-8: is it text? If so, save it as",
    ),
    (
        written(CLEAN).replace(b"\r\n", b"\xfc\r\n").replace(b"\xfc", b"", 1),
        OF_TABLES,
        "CSV: the input holds a text that is not UTF-8: save it as UTF-8",
    ),
    (written(CLEAN, "|"), OF_TABLES, "has one column: are its values separated by commas, semicolons or tabs?"),
    (
        written({**CLEAN, NUMBER: [f"${each}" for each in CLEAN[NUMBER]]}),
        OF_TABLES,
        "of which none is a number: no row of the one could equal one of the other",
    ),
    (
        written({name: [""] * len(values) for name, values in CLEAN.items()}),
        "synthetic release-size",
        "no column can be used: left out, for one of the tables has no",
    ),
    (
        written({name: values[:3] for name, values in CLEAN.items()}),
        "check",
        "holdout: got 3 different rows, need at least 8",
    ),
    (written(CLEAN) + b"1\r\n", OF_TABLES, "values, the header"),
)
def test_a_file_that_is_not_what_it_should_be_is_told_what_to_do(
    tables: Path, mistake: bytes, commands: str, words: str
) -> None:
    (tables / "mistake.csv").write_bytes(mistake)
    for command in commands.split():
        assert words in refused(f"{OTHERS[command]} mistake.csv"), command


@each_case(
    "mistake, words",
    (written({name: [] for name in SAID_OF_OTHERS}), "holdout: there are no rows below the names of the columns"),
    (written(SAID_OF_OTHERS, "|"), "truth: holdout has no column 'label'; it has 'p_cat|p_dog|"),
    (written({name: values[:3] for name, values in SAID_OF_OTHERS.items()}), "got 3, need at least 8"),
    (
        written({**SAID_OF_OTHERS, "p_cat": ["NaN", *SAID_OF_OTHERS["p_cat"][1:]]}),
        "predictions: row 0 of holdout has no value in column 'p_cat'; leave the row out",
    ),
    (
        written({**SAID_OF_OTHERS, "label": ["emu", *SAID_OF_OTHERS["label"][1:]]}),
        "none is called 'p_emu'; leave out rows of that class",
    ),
    (written({"label": SAID_OF_OTHERS["label"]}), "predictions: holdout has no column 'p_cat'"),
)
def test_predictions_that_are_not_what_they_should_be_are_told_what_to_do(
    tables: Path, mistake: bytes, words: str
) -> None:
    (tables / "mistake.csv").write_bytes(mistake)

    assert words in refused(f"{OTHERS['model']} mistake.csv")


@each_case(
    "line",
    "synthetic --train train.csv --holdout train.csv --synthetic clean.csv --max-advantage 0.9",
    "release-size --train train.csv --holdout train.csv --synthetic clean.csv --max-advantage 0.9",
    "check --train train.csv --holdout train.csv",
    "model --train said_train.csv --holdout said_train.csv --max-advantage 0.9",
)
def test_one_file_for_both_sides_is_no_pass(tables: Path, line: str) -> None:
    said = refused(line)

    assert "row for row" in said
    assert "held out" in said


@pytest.mark.slow
@each_case(
    "line, status, words",
    *(
        (
            f"{OTHERS[command]} {side}.csv --max-advantage 0.4",
            1,
            f"the released table is the table of {name}, row for row; is it the right file?",
        )
        for command in ("synthetic", "release-size")
        for side, name in (("train", "members"), ("holdout", "nonmembers"))
    ),
    (f"{OTHERS['synthetic']} clean.csv --reference clean.csv", 0, "the reference is the released table, row for row"),
)
def test_a_table_that_is_another_one_is_asked_about(tables: Path, line: str, status: int, words: str) -> None:
    done = typed(line)

    assert done.status == status
    assert words in " ".join(done.out.split())
