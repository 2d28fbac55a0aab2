"""Answers as files and as reports: every form, from scores and from kept answers."""

import gzip
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow import csv, ipc

from app.cli import run
from app.cli.commands import GATE, QUESTIONS
from app.cli.outputs import is_shown, suffixes_of
from macekit.call import CSV, Body, Call
from macekit.catalogue import OPERATIONS
from macekit.operations import perform
from macekit.reports.saved import recognise
from tests.app.cli.files import answer, refused, typed
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")

BEGINNINGS = {
    ".json": b"{",
    ".html": b"<!doctype html>",
    ".md": b"#",
    ".csv": b"",
    ".svg": b"<svg",
    ".png": b"\x89PNG",
    ".arrow": b"\xff\xff\xff\xff",
    ".parquet": b"PAR1",
    ".jsonl": b"{",
    ".ndjson": b"{",
    ".npz": b"PK",
}
LINES = {
    "attack": "attack scores.csv --rule top",
    "compare": "compare before.csv after.csv --no-paired",
    "plan": "plan --expected 0.1 --max-advantage 0.6",
    "procedure": "procedure runs.csv --model run",
    "audit": "audit scores.csv --claimed-epsilon 1",
    "report": "report scores.csv --group group --max-advantage 0.1",
    "risk": "risk scores.csv --group group --top 50",
    "gate": "gate scores.csv --max-advantage 0.1",
    "frontier": "frontier scores.csv --score score,loss --utility 1,2 --max-advantage 0.1",
    "text": "text tokens.jsonl",
    "shadows": "shadows signals.npz --scale logit",
}
SHOWN = [*(each for each in QUESTIONS if is_shown(each.name) and not each.tables), GATE]


def line_of(question: Any) -> str:
    return LINES.get(question.command, f"{question.command} scores.csv")


@pytest.mark.slow
@pytest.mark.parametrize("question", SHOWN, ids=lambda question: question.command)
def test_every_answer_is_written_as_every_suffix_and_shown_again_without_the_scores(
    folder: Path, question: Any
) -> None:
    for suffix in suffixes_of(question.name):
        done = typed(f"{line_of(question)} -o out{suffix}")

        assert done.status in (0, 1, 3), suffix
        data = (folder / f"out{suffix}").read_bytes()
        assert data.startswith(BEGINNINGS[suffix]), suffix
        assert len(data) > 100, suffix
        assert done.out == "", suffix
        assert done.err != "", suffix

    kept = json.loads((folder / "out.json").read_text())
    for scores in (*folder.glob("*.csv"), *folder.glob("tokens*"), *folder.glob("signals*")):
        scores.unlink()
    assert typed("report out.json -o again.md -q").status == 0
    assert recognise(kept) == question.name
    dated = re.compile(r"^.*(Input|Report made).*\n", re.MULTILINE)
    fresh, again = (
        (folder / file).read_text(encoding="utf-8").partition("In a shell")[0] for file in ("out.md", "again.md")
    )
    assert dated.sub("", again) == dated.sub("", fresh)
    assert answer("report out.json") == kept
    assert typed("report out.json").out != ""


def test_a_report_names_its_file_its_time_and_no_folder(folder: Path) -> None:
    done = typed("report scores.csv --group group -o report.html --dated")

    assert (done.status, done.out) == (0, "")
    assert done.err.startswith("With 95% confidence the advantage over a coin toss is at least")
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "scores.csv" in html
    assert str(folder) not in html
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", html)


def test_without_a_file_the_summary_is_printed_as_estimate_prints_it(folder: Path) -> None:
    estimate, report, groups = (
        typed(line) for line in ("estimate scores.csv", "report scores.csv", "report scores.csv --group group")
    )

    assert report == estimate
    assert "\nadult " in groups.out


@pytest.fixture
def kept(folder: Path) -> Path:
    """An answer that was kept, and nothing else of it."""
    assert typed("report scores.csv -o kept.json -q").status == 0
    return folder / "kept.json"


def test_a_kept_answer_gives_the_same_bytes_each_time(folder: Path, kept: Path) -> None:
    for name in ("one", "two"):
        assert typed(f"report kept.json -o {name}.html -q").status == 0

    assert (folder / "one.html").read_bytes() == (folder / "two.html").read_bytes()


@pytest.mark.slow
def test_a_kept_answer_is_piped_in_compressed_or_marked_by_its_encoding(folder: Path, kept: Path) -> None:
    data = kept.read_bytes()
    (folder / "kept.json.gz").write_bytes(gzip.compress(data))
    (folder / "marked.json").write_bytes(b"\xef\xbb\xbf" + data)

    plain = typed("report kept.json")

    assert plain.status == 0, plain.err
    assert typed("report -", stdin=data).out == plain.out
    assert typed("report kept.json.gz").out == plain.out
    assert typed("report marked.json -o again.html").status == 0


def test_a_request_is_still_a_request(folder: Path) -> None:
    assert answer("report request.json")["result"] == answer("estimate request.json")


@pytest.mark.slow
@each_case(
    "spoiled, said",
    ({"result": None}, "mace: result: "),
    ({"band": [{"fpr": 0.5}]}, "band.0.tpr: field required"),
    ({"sentence": 7}, "sentence: input should be a valid string"),
    ({"warnings": "none"}, "warnings: input should be a valid list"),
    ({"risk": ["cells", "none"]}, "mace: risk: "),
)
def test_a_kept_answer_that_was_tampered_with_is_refused(
    folder: Path, kept: Path, spoiled: dict[str, object], said: str
) -> None:
    (folder / "bad.json").write_text(json.dumps({**json.loads(kept.read_text()), **spoiled}))

    problem = refused("report bad.json -o report.html")

    assert problem.startswith("mace report: bad.json: not a complete answer of mace: ")
    assert said in problem
    assert not (folder / "report.html").exists()


@pytest.mark.slow
@each_case("suffix", ["html", "md", "csv"])
def test_a_kept_answer_that_cannot_be_shown_is_refused(folder: Path, kept: Path, suffix: str) -> None:
    found = json.loads(kept.read_text())
    found["risk"]["cells"]["cells"] = {"kind": "intervals", "cuts": "none"}
    kept.write_text(json.dumps(found))

    said = refused(f"report kept.json -o report.{suffix}")

    assert "kept.json: not a complete answer of mace, so it cannot be shown" in said
    assert not (folder / f"report.{suffix}").exists()


@each_case(
    "text, said",
    ('{"sentence": ' + "[" * 100_000, "kept.json: "),
    ('{"sentence": "a", "provenance": NaN}', "no answer of mace's: it holds NaN"),
    ('{"sentence": "a", "baseline": 1e999}', "no answer of mace's: it holds NaN, or a number beyond"),
    ('{"sentence": "a", "provenance": {}}', "not a complete answer of mace"),
    ('{"sentence": "a", "provenance": {}, "baseline": 0, "baseline": 1}', "baseline: occurs twice"),
    ('{"sentence": "cut off', "kept.json: "),
    ('["sentence", "provenance"]', "kept.json: "),
)
def test_what_only_looks_like_an_answer_is_refused_in_a_line(empty: Path, text: str, said: str) -> None:
    (empty / "kept.json").write_text(text)

    problem = refused("report kept.json")

    assert said in problem
    assert problem.count("\n") == 1


@pytest.mark.slow
def test_a_chart_alone_is_smaller_than_all_and_a_card_shorter_than_the_report(folder: Path) -> None:
    for options in ("all.svg", "one.svg --chart roc", "report.md", "card.md --card"):
        assert typed(f"report scores.csv -q -o {options}").status == 0

    assert (folder / "one.svg").stat().st_size < (folder / "all.svg").stat().st_size
    assert (folder / "card.md").stat().st_size < (folder / "report.md").stat().st_size
    assert (folder / "card.md").read_text().startswith("## ")


@pytest.mark.slow
@each_case(
    "name",
    "<script>alert(1)<",
    "=cmd|' C calc'!A0",
    "\u202etxt.erocs",
    "-rf",
    "a b;$(touch pwned)'\"",
    "\x1b[31mred\n",
    "n" * 200,
    os.fsdecode(b"\xff\xfe"),
)
def test_a_hostile_file_name_stands_in_a_report_as_text(folder: Path, name: str) -> None:
    scores = folder / f"{name}.csv"
    scores.write_bytes((folder / "scores.csv").read_bytes())

    for suffix in (".html", ".md", ".csv"):
        done = typed(f"report -o out{suffix} -q --overwrite", f"./{scores.name}")
        assert (done.status, done.err) == (0, "")

    html, markdown, table = ((folder / f"out{suffix}").read_text("utf-8") for suffix in (".html", ".md", ".csv"))
    assert "<script" not in html
    assert not re.search(r"(?<!\\)<script", re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE))
    assert not re.search(r"(^|[,;\t])\"?=cmd", table, re.MULTILINE)
    assert not re.search("[\u202e\x1b]", html + markdown + table)


def test_a_report_may_be_called_anything(folder: Path) -> None:
    done = typed("report scores.csv -q -o", "./-o <b>\u202e.html")

    assert (done.status, done.err) == (0, "")
    assert (folder / "-o <b>\u202e.html").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.slow
def test_a_large_table_is_counted_unless_groups_are_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LARGE", 100)
    of_counts = typed("report scores.csv -o counted.json")
    of_groups = typed("report scores.csv --group group -o whole.json")

    counted, whole = (json.loads((folder / f"{name}.json").read_text()) for name in ("counted", "whole"))

    assert "mace counts it while reading" in of_counts.err
    assert "counted" not in of_groups.err
    assert counted["result"]["advantage"]["upper"] > counted["result"]["advantage"]["lower"]
    assert counted["groups"] == []
    assert len(whole["groups"]) == 2
    assert typed("report counted.json -o counted.html -q").status == 0


# --- the file itself --------------------------------------------------------------------------------------------


def test_an_answer_is_written_as_the_service_gives_it_and_its_sentence_is_still_said(folder: Path) -> None:
    expected = answer("estimate scores.csv")

    done = typed("estimate scores.csv -o answer.json")

    assert (done.status, done.out) == (0, "")
    assert json.loads((folder / "answer.json").read_bytes()) == expected
    assert done.err.startswith(str(expected["sentence"]))
    assert "note: fewer than 30 records" in done.err


@each_case("suffix", ["csv", "arrow", "parquet"])
def test_risk_is_written_as_a_table_of_every_record(folder: Path, suffix: str) -> None:
    expected = answer("risk scores.csv")["records"]

    done = typed(f"risk scores.csv -o risk.{suffix}")

    file = folder / f"risk.{suffix}"
    table = {"csv": csv.read_csv, "arrow": lambda path: ipc.open_stream(path).read_all()}.get(suffix, pq.read_table)(
        file
    )
    assert table.to_pydict() == {name: column for name, column in expected.items() if column is not None}
    assert done.err.startswith("11 of 48 records lie where scores speak for membership")
    if suffix == "csv":
        asked = perform(Call("individual-risk", CSV, accept=CSV), Body.of((folder / "scores.csv").read_bytes()))
        assert file.read_bytes() == bytes(asked.body)


@each_case("option", ["--overwrite", "--force"])
def test_a_file_that_is_there_is_replaced_only_if_that_is_asked_for(folder: Path, option: str) -> None:
    (folder / "answer.json").write_text("dear")
    (folder / "answer.json").chmod(0o600)

    said = refused("estimate scores.csv -o answer.json")

    assert said == "mace estimate: answer.json: is there already; --overwrite replaces it\n"
    assert (folder / "answer.json").read_text() == "dear"
    assert typed(f"estimate scores.csv -o answer.json {option} -q").status == 0
    assert json.loads((folder / "answer.json").read_bytes())["advantage"]
    assert stat.S_IMODE((folder / "answer.json").stat().st_mode) == 0o600


def test_a_file_that_is_read_is_not_replaced_by_its_answer(folder: Path) -> None:
    before = Path("scores.csv").read_bytes()
    Path("link.csv").symlink_to("scores.csv")

    for name in ("scores.csv", "link.csv"):
        done = typed(f"estimate scores.csv -o {name} --overwrite")
        assert (done.status, done.out) == (2, "")
        assert (
            done.err == f"mace estimate: {name}: is read, and would be replaced by the answer; give -o another name\n"
        )
    assert Path("scores.csv").read_bytes() == before


@pytest.mark.slow
@each_case("command", [*(each.command for each in OPERATIONS if each.command), "demo"])
def test_every_command_that_writes_can_be_run_again(command: str) -> None:
    shown = typed(f"{command} --help").out

    assert "--overwrite" in shown
    assert "--force" not in shown  # the former name, which is understood and not shown


def test_a_link_is_followed_and_stays(folder: Path) -> None:
    (folder / "target.json").write_text("old")
    (folder / "answer.json").symlink_to("target.json")

    assert typed("estimate scores.csv -o answer.json --overwrite -q").status == 0

    assert (folder / "answer.json").is_symlink()
    assert json.loads((folder / "target.json").read_bytes())["advantage"]


def test_a_question_that_fails_leaves_no_file(folder: Path) -> None:
    before = set(os.listdir(folder))

    refused("estimate scores.csv --score none -o answer.json")

    assert set(os.listdir(folder)) == before


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "answer.json").write_text("dear")
    before = set(os.listdir(folder))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = refused("estimate scores.csv -o answer.json --overwrite")

    assert (folder / "answer.json").read_text() == "dear"
    assert set(os.listdir(folder)) == before
    assert "answer.json: cannot be written: No space left on device" in said
