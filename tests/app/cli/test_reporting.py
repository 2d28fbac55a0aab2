"""Answers as reports: every form, from scores and from kept answers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from app.cli import main, run
from app.cli.commands import QUESTIONS
from app.cli.gate import GATE
from app.cli.outputs import is_shown, suffixes_of
from macekit.reports.saved import recognise
from tests.app.cli.files import answered, mace
from tests.app.cli.fork import run_mace

Capture = pytest.CaptureFixture[str]

BEGINNINGS = {
    ".json": b"{",
    ".html": b"<!doctype html>",
    ".md": b"#",
    ".csv": b"",
    ".svg": b"<svg",
    ".png": b"\x89PNG",
    ".arrow": b"\xff\xff\xff\xff",
    ".parquet": b"PAR1",
}
ARGUMENTS = {
    "attack": ["scores.csv", "--rule", "top"],
    "compare": ["before.csv", "after.csv", "--no-paired"],
    "plan": ["--expected", "0.05", "--max-advantage", "0.1"],
    "procedure": ["runs.csv", "--model", "run"],
    "audit": ["scores.csv", "--claimed-epsilon", "1"],
    "report": ["scores.csv", "--group", "group", "--max-advantage", "0.1"],
    "risk": ["scores.csv", "--group", "group"],
    "gate": ["scores.csv", "--max-advantage", "0.1"],
}
SHOWN = [*(each for each in QUESTIONS if is_shown(each.name) and not each.tables), GATE]


def arguments_of(name: str) -> list[str]:
    return [name, *ARGUMENTS.get(name, ["scores.csv"])]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [(question.command, suffix) for question in SHOWN for suffix in suffixes_of(question.name)],
)
def test_every_answer_is_written_as_every_suffix(
    folder: Path, capsys: Capture, name: str, suffix: str
) -> None:
    assert main([*arguments_of(name), "-o", f"out{suffix}"]) in (0, 1, 3)

    data = (folder / f"out{suffix}").read_bytes()
    assert data.startswith(BEGINNINGS[suffix])
    assert len(data) > 100
    out, err = capsys.readouterr()
    assert out == ""
    assert err != ""


def test_a_report_is_made_by_the_command_as_a_process_of_its_own(folder: Path) -> None:
    asked = ("report", "scores.csv", "--group", "group", "-o", "report.html", "--dated")
    done = mace(*asked, folder=folder)

    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.startswith("With 95% confidence the best attacker who reads this score")
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "scores.csv" in html
    assert str(folder) not in html
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", html)


def test_without_a_file_the_summary_is_printed_as_estimate_prints_it(folder: Path, capsys: Capture) -> None:
    assert main(["estimate", "scores.csv"]) == 0
    estimate = capsys.readouterr().out
    assert main(["report", "scores.csv"]) == 0
    report = capsys.readouterr().out

    assert report == estimate
    assert main(["report", "scores.csv", "--group", "group"]) == 0
    assert "\nadult " in capsys.readouterr().out


@pytest.mark.parametrize("question", SHOWN, ids=lambda question: question.command)
def test_a_kept_answer_is_shown_again_without_the_scores(
    folder: Path, capsys: Capture, question: object
) -> None:
    name, operation = question.command, question.name  # type: ignore[attr-defined]
    asked = [*arguments_of(name), *(["--top", "50"] if name == "risk" else [])]
    main([*asked, "-o", "kept.json", "-q"])
    kept = json.loads((folder / "kept.json").read_text())
    main([*asked, "-o", "fresh.md", "-q"])
    for scores in folder.glob("*.csv"):
        scores.unlink()

    assert main(["report", "kept.json", "-o", "again.md", "-q"]) == 0

    assert recognise(kept) == operation
    dated = re.compile(r"^.*(Input|Report made).*\n", re.MULTILINE)
    fresh, again = (
        (folder / file).read_text(encoding="utf-8").partition("In a shell")[0]
        for file in ("fresh.md", "again.md")
    )
    assert dated.sub("", again) == dated.sub("", fresh)
    assert answered(capsys, "report", "kept.json") == kept
    assert main(["report", "kept.json"]) == 0
    assert capsys.readouterr().out != ""


def test_a_kept_answer_gives_the_same_bytes_each_time(folder: Path) -> None:
    assert main(["report", "scores.csv", "-o", "kept.json", "-q"]) == 0
    for name in ("one", "two"):
        assert main(["report", "kept.json", "-o", f"{name}.html", "-q"]) == 0

    assert (folder / "one.html").read_bytes() == (folder / "two.html").read_bytes()


def test_a_kept_answer_is_piped_in_or_compressed(folder: Path) -> None:
    import gzip

    assert main(["report", "scores.csv", "-o", "kept.json", "-q"]) == 0
    data = (folder / "kept.json").read_bytes()
    (folder / "kept.json.gz").write_bytes(gzip.compress(data))

    plain = run_mace("report", "kept.json", folder=folder)

    assert plain.returncode == 0, plain.stderr
    assert run_mace("report", "-", folder=folder, stdin=data).stdout == plain.stdout
    assert run_mace("report", "kept.json.gz", folder=folder).stdout == plain.stdout


def test_a_mark_of_its_encoding_before_a_kept_answer_is_passed_over(folder: Path, capsys: Capture) -> None:
    assert main(["report", "scores.csv", "-o", "kept.json", "-q"]) == 0
    kept = folder / "kept.json"
    kept.write_bytes(b"\xef\xbb\xbf" + kept.read_bytes())

    assert main(["report", "kept.json", "-o", "again.html"]) == 0


@pytest.mark.parametrize("suffix", ["html", "md", "csv"])
def test_a_kept_answer_that_cannot_be_shown_is_refused(folder: Path, capsys: Capture, suffix: str) -> None:
    assert main(["report", "scores.csv", "-o", "kept.json", "-q"]) == 0
    kept = json.loads((folder / "kept.json").read_text())
    kept["risk"]["cells"]["cells"] = {"kind": "intervals", "cuts": "none"}
    (folder / "kept.json").write_text(json.dumps(kept))

    assert main(["report", "kept.json", "-o", f"report.{suffix}"]) == 2

    assert "kept.json: not a complete answer of mace, so it cannot be shown" in capsys.readouterr().err
    assert not (folder / f"report.{suffix}").exists()


def test_a_request_is_still_a_request(folder: Path, capsys: Capture) -> None:
    asked = answered(capsys, "report", "request.json")

    assert asked["result"] == answered(capsys, "estimate", "request.json")


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ({"result": None}, "kept.json: not a complete answer of mace: result: "),
        ({"band": [{"fpr": 0.5}]}, "band.0.tpr: field required"),
        ({"sentence": 7}, "sentence: input should be a valid string"),
        ({"warnings": "none"}, "warnings: input should be a valid list"),
    ],
)
def test_a_kept_answer_that_was_tampered_with_is_refused(
    folder: Path, spoiled: dict[str, object], said: str
) -> None:
    assert main(["report", "scores.csv", "-o", "kept.json", "-q"]) == 0
    kept = json.loads((folder / "kept.json").read_text())
    (folder / "kept.json").write_text(json.dumps({**kept, **spoiled}))

    done = run_mace("report", "kept.json", "-o", "report.html", folder=folder)

    assert done.returncode == 2
    assert done.stderr.startswith("mace report: kept.json: not a complete answer of mace: ")
    assert said in done.stderr
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sentence": ' + "[" * 100_000, "kept.json: "),
        ('{"sentence": "a", "provenance": NaN}', "no answer of mace's: it holds NaN"),
        ('{"sentence": "a", "baseline": 1e999}', "no answer of mace's: it holds NaN, or a number beyond"),
        ('{"sentence": "a", "provenance": {}}', "not a complete answer of mace"),
        ('{"sentence": "cut off', "kept.json: "),
        ('["sentence", "provenance"]', "kept.json: "),
    ],
)
def test_what_only_looks_like_an_answer_is_refused_in_a_line(
    folder: Path, capsys: Capture, text: str, said: str
) -> None:
    (folder / "kept.json").write_text(text)

    assert main(["report", "kept.json"]) == 2

    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["report", "kept.json", "--max-advantage", "0.2"],
            "is an answer already; options need the scores",
        ),
        (["report", "scores.csv", "--card"], "--card: goes with -o and a file whose name ends in .md"),
        (["report", "scores.csv", "--card", "-o", "x.html"], "--card: goes with -o"),
        (["report", "scores.csv", "--chart", "roc", "-o", "x.html"], "--chart: goes with -o"),
        (["report", "scores.csv", "--chart", "none", "-o", "x.svg"], "--chart: this answer has interval, "),
        (
            ["plan", "--expected", "0.2", "--width", "0.1", "-o", "x.svg"],
            "x.svg: the answer is written as .json, ",
        ),
        (["counts", "scores.csv", "-o", "x.html"], "x.html: the answer is written as .json;"),
        (
            ["report", "scores.csv", "-o", "there.html"],
            "there.html: is there already; --overwrite replaces it",
        ),
    ],
)
def test_what_cannot_be_written_is_said(
    folder: Path, capsys: Capture, arguments: list[str], said: str
) -> None:
    main(["report", "scores.csv", "-o", "kept.json", "-q"])
    (folder / "there.html").write_text("dear")
    before = set(os.listdir(folder))
    capsys.readouterr()

    assert main(arguments) == 2

    assert said in capsys.readouterr().err
    assert set(os.listdir(folder)) == before
    assert (folder / "there.html").read_text() == "dear"


def test_a_chart_alone_is_smaller_than_all_and_a_card_shorter_than_the_report(folder: Path) -> None:
    for arguments in (
        ["-o", "all.svg"],
        ["-o", "one.svg", "--chart", "roc"],
        ["-o", "report.md"],
        ["-o", "card.md", "--card"],
    ):
        assert main(["report", "scores.csv", "-q", *arguments]) == 0

    assert (folder / "one.svg").stat().st_size < (folder / "all.svg").stat().st_size
    assert (folder / "card.md").stat().st_size < (folder / "report.md").stat().st_size
    assert (folder / "card.md").read_text().startswith("## ")


HOSTILE = [
    "<script>alert(1)<",
    "=cmd|' C calc'!A0",
    "\u202etxt.erocs",
    "-rf",
    "a b;$(touch pwned)'\"",
    "\x1b[31mred\n",
    "n" * 200,
    os.fsdecode(b"\xff\xfe"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_name_stands_in_a_report_as_text(folder: Path, name: str) -> None:
    scores = folder / f"{name}.csv"
    scores.write_bytes((folder / "scores.csv").read_bytes())

    for suffix in (".html", ".md", ".csv"):
        assert main(["report", "-o", f"out{suffix}", "-q", f"./{scores.name}"]) == 0

    html, markdown, table = (
        (folder / f"out{suffix}").read_text("utf-8") for suffix in (".html", ".md", ".csv")
    )
    assert "<script" not in html
    assert not re.search(
        r"(?<!\\)<script", re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    )
    assert not re.search(r"(^|[,;\t])\"?=cmd", table, re.MULTILINE)
    assert not re.search("[\u202e\x1b]", html + markdown + table)


def test_a_name_that_is_no_text_is_no_hindrance(folder: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.csv")
    (folder / name).write_bytes((folder / "scores.csv").read_bytes())

    done = run_mace("report", name, "-o", "out.html", "-q", folder=folder)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_report_may_be_called_anything(folder: Path) -> None:
    done = run_mace("report", "scores.csv", "-o", "./-o <b>\u202e.html", "-q", folder=folder)

    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "-o <b>\u202e.html").read_bytes().startswith(b"<!doctype html>")


def test_a_large_table_is_counted_unless_groups_are_asked_for(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LARGE", 100)
    assert main(["report", "scores.csv", "-o", "counted.json"]) == 0
    assert "mace counts it while reading" in capsys.readouterr().err
    assert main(["report", "scores.csv", "--group", "group", "-o", "whole.json"]) == 0
    assert "counted" not in capsys.readouterr().err

    counted, whole = (json.loads((folder / f"{name}.json").read_text()) for name in ("counted", "whole"))

    assert counted["result"]["advantage"]["upper"] > counted["result"]["advantage"]["lower"]
    assert counted["groups"] == []
    assert len(whole["groups"]) == 2
    assert main(["report", "counted.json", "-o", "counted.html", "-q"]) == 0
