"""`mace gate` as a pipeline meets it: its exit status, the files it writes, and what is thrown at it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from app.cli import main
from app.openapi.examples import MEMBERS, NONMEMBERS
from tests.app.cli.files import mace, table
from tests.app.cli.fork import run_mace

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may themselves run in one."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("maximum", "status", "word"), [("0.9", 0, "Pass"), ("0.1", 1, "Fail"), ("0.6", 3, "Not enough data")]
)
def test_the_exit_status_is_the_decision(folder: Path, maximum: str, status: int, word: str) -> None:
    done = mace("gate", "scores.csv", "--max-advantage", maximum, folder=folder)

    assert (done.returncode, done.stderr) == (status, "")
    assert f"\n{word}: " in done.stdout
    assert ("records in all would settle it" in done.stdout) == (status == 3)


def test_a_vector_passes_only_by_a_learned_score_that_is_accepted(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [f"{a},{b},{place % 2}" for place, (a, b) in enumerate(rng.normal(size=(120, 2)))]
    (tmp_path / "two.csv").write_text("\n".join(["loss,margin,member", *rows]))
    question = ("gate", "two.csv", "--score", "loss,margin", "--max-advantage", "1")

    undecided = run_mace(*question, folder=tmp_path)
    accepted = run_mace(
        *question, "--estimator", "learned", "--learners", "boxes", "--accept-learned-score", folder=tmp_path
    )

    assert (undecided.returncode, accepted.returncode) == (3, 0)
    assert "Undecided: learned score: " in undecided.stdout
    assert "Pass: learned score: " in accepted.stdout


MISUSES = {
    "no limit": ["scores.csv"],
    "no file": ["nowhere.csv", "--max-advantage", "0.1"],
    "no number": ["scores.csv", "--max-advantage", "small"],
    "out of range": ["scores.csv", "--max-advantage", "7"],
    "not a number at all": ["scores.csv", "--max-advantage", "nan"],
    "metric without max": ["scores.csv", "--metric", "accuracy"],
    "max without metric": ["scores.csv", "--max", "0.7"],
    "no such metric": ["scores.csv", "--metric", "f3", "--max", "0.7"],
    "delta alone": ["scores.csv", "--max-advantage", "0.5", "--delta", "0.1"],
    "groups missing": ["scores.csv", "--max-group-risk", "0.5"],
    "groups for nothing": ["scores.csv", "--max-advantage", "0.5", "--group", "group"],
    "no such group": ["scores.csv", "--max-group-risk", "0.5", "--group", "nobody"],
    "junit over scores": ["scores.csv", "--max-advantage", "0.5", "--junit", "scores.csv"],
    "summary over scores": ["scores.csv", "--max-advantage", "0.5", "--summary", "scores.csv"],
    "metrics over scores": ["scores.csv", "--max-advantage", "0.5", "--metrics", "scores.csv"],
    "no such folder": ["scores.csv", "--max-advantage", "0.5", "--junit", "none/gate.xml"],
    "a folder": ["scores.csv", "--max-advantage", "0.5", "--junit", "folder.xml"],
    "no such option": ["scores.csv", "--max-advantag", "0.5"],
    "a limit twice": ["scores.csv", "--max-advantage", "0.1", "--max-advantage", "0.5"],
    "a limit twice, the same": ["scores.csv", "--max-advantage=0.5", "--max-advantage=0.5"],
    "a file of results twice": [
        "scores.csv",
        "--max-advantage",
        "0.5",
        "--junit",
        "a.xml",
        "--junit",
        "b.xml",
    ],
}


@pytest.mark.parametrize("arguments", MISUSES.values(), ids=MISUSES)
def test_misuse_is_2_and_never_a_decision(folder: Path, capsys: Capture, arguments: list[str]) -> None:
    (folder / "folder.xml").mkdir()
    before = (folder / "scores.csv").read_bytes()

    try:
        status = main(["gate", *arguments])
    except SystemExit as end:
        status = int(str(end.code))

    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("mace ")
    assert "Traceback" not in err
    assert (folder / "scores.csv").read_bytes() == before


def test_without_a_limit_the_options_are_named_as_they_are_typed(folder: Path, capsys: Capture) -> None:
    assert main(["gate", "scores.csv"]) == 2

    named = (
        "--max-advantage, --max-tpr with --at-fpr, --max-epsilon, --max with --metric, and --max-group-risk\n"
    )
    assert capsys.readouterr().err.endswith(f"give at least one of {named}")


def test_a_limit_given_twice_is_named(folder: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["gate", "scores.csv", "--max-advantage", "0.1", "--max-advantage", "0.5"])

    assert capsys.readouterr().err == "mace gate: --max-advantage: given twice\nSee mace gate --help.\n"


GARBAGE = {
    "nothing": b"",
    "zeros": b"\0" * 100,
    "json": b"{]",
    "one column": b"score\n1\n2\n",
    "nan": b"score,member\n" + b"nan,1\n" * 9,
    "few": b"score,member\n1,1\n2,0\n",
    "parquet": b"PAR1garbagePAR1",
    "gzip": b"\x1f\x8bgarbage",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_what_cannot_be_read_is_misuse_too(folder: Path, capsys: Capture, data: bytes) -> None:
    (folder / "bad").write_bytes(data)

    assert main(["gate", "bad", "--max-advantage", "0.5", "--junit", "gate.xml"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not (folder / "gate.xml").exists()


def test_every_file_a_pipeline_reads_is_written(folder: Path) -> None:
    more = ["--max-epsilon", "1", "--delta", "0.05", "--max-group-risk", "0.5", "--group", "group"]
    files = ["--junit", "gate.xml", "--metrics", "gate.txt", "--summary", "gate.md", "-o", "gate.json"]
    (folder / "gate.md").write_text("before\n")
    (folder / "gate.xml").write_text("an older one")

    done = run_mace("gate", "scores.csv", "--max-advantage", "0.1", *more, *files, folder=folder)

    assert done.returncode == 1
    answer = json.loads((folder / "gate.json").read_text())
    suite = ET.parse(folder / "gate.xml").getroot().find("testsuite")
    assert suite is not None
    assert len(suite.findall("testcase")) == len(answer["limits"]) == 3
    assert (folder / "gate.txt").read_text().endswith("# EOF\n")
    assert (folder / "gate.md").read_text().startswith("before\n\n### mace gate: fail")
    assert done.stderr.startswith("Fail: ")


def test_the_answer_as_json_is_the_services(folder: Path) -> None:
    done = run_mace("gate", "scores.csv", "--max-advantage", "0.6", "--json", folder=folder)

    assert done.returncode == 3
    assert json.loads(done.stdout)["decision"] == "inconclusive"


def test_github_gets_its_summary_and_its_line_unasked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "step"))

    done = run_mace("gate", "scores.csv", "--max-advantage", "0.1", "--json", folder=folder)

    assert done.returncode == 1
    assert json.loads(done.stdout)["decision"] == "fail"
    assert done.stderr.startswith("::error title=mace gate::Fail: with 95%25 confidence")
    assert (folder / "step").read_text().count("### mace gate: fail") == 1


def test_the_same_summary_is_not_written_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "step.md"))

    assert main(["gate", "scores.csv", "--max-advantage", "0.9", "--summary", "step.md", "-q"]) == 0
    assert (folder / "step.md").read_text().count("### mace gate") == 1


def test_a_summary_that_cannot_be_written_does_not_pass(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "nowhere" / "step"))

    assert main(["gate", "scores.csv", "--max-advantage", "0.9"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_limits_may_stand_in_a_json_request_and_options_win_over_them(folder: Path, capsys: Capture) -> None:
    body = {"members": MEMBERS, "nonmembers": NONMEMBERS, "max_advantage": 0.1}
    (folder / "asked.json").write_text(json.dumps(body))

    assert main(["gate", "asked.json"]) == 1
    assert main(["gate", "asked.json", "--max-advantage", "0.9"]) == 0
    assert capsys.readouterr().err == ""


def test_two_files_and_standard_input_are_judged_likewise(folder: Path, capsys: Capture) -> None:
    for name, scores in (("m.csv", MEMBERS), ("n.csv", NONMEMBERS)):
        (folder / name).write_text("\n".join(map(str, scores)) + "\n")

    assert main(["gate", "--members", "m.csv", "--nonmembers", "n.csv", "--max-advantage", "0.1"]) == 1
    done = run_mace(
        "gate", "--max-advantage", "0.1", folder=folder, stdin=table(MEMBERS, NONMEMBERS).encode()
    )
    assert done.returncode == 1
    table_read = (
        "read: score (numbers, 37 different), member (text, 2 different; 1: members, 0: nonmembers)\n"
    )
    sides_read = (
        "read: members from m.csv (numbers, 18 different), nonmembers from n.csv (numbers, 20 different)\n"
    )
    of_sides = capsys.readouterr().out
    assert done.stdout.count(table_read) == of_sides.count(sides_read) == 1
    assert done.stdout.replace(table_read, "") == of_sides.replace(sides_read, "")


def test_a_hostile_group_is_inert_wherever_it_is_named(folder: Path) -> None:
    label = "\x1b[2J::error::owned\u202e<b>|`"
    rows = [f"{score},{int(i < 24)},{label}" for i, score in enumerate(MEMBERS + NONMEMBERS)]
    (folder / "bad.csv").write_text("\n".join(["score,member,group", *rows]) + "\n")
    files = ["--junit", "gate.xml", "--summary", "gate.md"]

    done = run_mace("gate", "bad.csv", "--max-group-risk", "0.01", "--group", "group", *files, folder=folder)

    assert done.returncode in (1, 3)
    told = done.stdout + (folder / "gate.xml").read_text() + (folder / "gate.md").read_text()
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert not any(line.startswith("::") for line in done.stdout.splitlines())
    ET.parse(folder / "gate.xml")


def test_counts_are_enough_for_a_large_file(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.run.LARGE", 10)

    assert main(["gate", "scores.csv", "--score", "score", "--max-advantage", "0.1"]) == 1
    assert "mace counts it while reading" in capsys.readouterr().err
    status = main(["gate", "scores.csv", "--score", "score", "--max-group-risk", "1", "--group", "group"])
    assert status == 0
    assert "mace counts it while reading" not in capsys.readouterr().err
