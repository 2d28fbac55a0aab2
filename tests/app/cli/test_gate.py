"""`mace gate` as a pipeline meets it: its exit status, the files it writes, and what is thrown at it."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from app.openapi.examples import MEMBERS, NONMEMBERS
from tests.app.cli.files import answer, refused, table, typed
from tests.cases import each_case

LIMIT = "gate scores.csv --max-advantage"


@each_case("maximum, status, word", [("0.9", 0, "Pass"), ("0.1", 1, "Fail"), ("0.6", 3, "Undecided, not enough data")])
def test_the_exit_status_is_the_decision(folder: Path, maximum: str, status: int, word: str) -> None:
    done = typed(f"{LIMIT} {maximum}")

    assert (done.status, done.err) == (status, "")
    assert f"\n{word}: " in done.out
    assert ("records in all would settle it" in done.out) == (status == 3)


@pytest.mark.slow
def test_a_vector_passes_only_by_a_learned_score_that_is_accepted(empty: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [f"{a},{b},{place % 2}" for place, (a, b) in enumerate(rng.normal(size=(120, 2)))]
    Path("two.csv").write_text("\n".join(["loss,margin,member", *rows]))
    question = "gate two.csv --score loss,margin --max-advantage 1"

    undecided = typed(question)
    accepted = typed(f"{question} --estimator learned --learners boxes --accept-learned-score")

    assert (undecided.status, accepted.status) == (3, 0)
    assert "Undecided: learned score: " in undecided.out
    assert "Pass: learned score: " in accepted.out


def test_a_file_of_results_that_is_a_folder_is_misuse_before_any_work(folder: Path) -> None:
    """Other misuse stands in the transcripts of tests/goldens."""
    (folder / "folder.xml").mkdir()

    assert refused(f"{LIMIT} 0.5 --junit folder.xml").startswith("mace gate: folder.xml: ")


@each_case(
    "data",
    b"",
    b"\0" * 100,
    b"{]",
    b"score\n1\n2\n",
    b"score,member\n" + b"nan,1\n" * 9,
    b"score,member\n1,1\n2,0\n",
    b"PAR1garbagePAR1",
    b"\x1f\x8bgarbage",
)
def test_what_cannot_be_read_is_misuse_too(folder: Path, data: bytes) -> None:
    (folder / "bad").write_bytes(data)

    assert refused("gate bad --max-advantage 0.5 --junit gate.xml")
    assert not (folder / "gate.xml").exists()


def test_every_file_a_pipeline_reads_is_written(folder: Path) -> None:
    more = "--max-epsilon 1 --delta 0.05 --max-group-risk 0.5 --group group"
    files = "--junit gate.xml --metrics gate.txt --summary gate.md -o gate.json"
    (folder / "gate.md").write_text("before\n")
    (folder / "gate.xml").write_text("an older one")

    done = typed(f"{LIMIT} 0.1 {more} {files}")

    assert done.status == 1
    kept = json.loads((folder / "gate.json").read_text())
    suite = ET.parse(folder / "gate.xml").getroot().find("testsuite")
    assert suite is not None
    assert len(suite.findall("testcase")) == len(kept["limits"]) == 3
    assert (folder / "gate.txt").read_text().endswith("# EOF\n")
    assert (folder / "gate.md").read_text().startswith("before\n\n### mace gate: fail")
    assert done.err.startswith("Fail: ")


def test_github_gets_its_summary_and_its_line_unasked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "step"))

    done = typed(f"{LIMIT} 0.1 --json")

    assert (done.status, done.answer["decision"]) == (1, "fail")
    assert done.err.startswith("::error title=mace gate::Fail: with 95%25 confidence")
    assert (folder / "step").read_text().count("### mace gate: fail") == 1


def test_the_same_summary_is_not_written_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "step.md"))

    assert typed(f"{LIMIT} 0.9 --summary step.md -q").status == 0
    assert (folder / "step.md").read_text().count("### mace gate") == 1


def test_a_summary_that_cannot_be_written_does_not_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "nowhere" / "step"))

    done = typed(f"{LIMIT} 0.9")

    assert done.status == 2
    assert "cannot be written" in done.err


def test_limits_may_stand_in_a_json_request_and_options_win_over_them(folder: Path) -> None:
    body = {"members": MEMBERS, "nonmembers": NONMEMBERS, "max_advantage": 0.1}
    (folder / "asked.json").write_text(json.dumps(body))

    first, second = typed("gate asked.json"), typed("gate asked.json --max-advantage 0.9")

    assert (first.status, second.status) == (1, 0)
    assert first.err == second.err == ""


def test_two_files_and_standard_input_are_judged_likewise(folder: Path) -> None:
    for name, scores in (("m.csv", MEMBERS), ("n.csv", NONMEMBERS)):
        (folder / name).write_text("\n".join(map(str, scores)) + "\n")

    of_sides = typed("gate --members m.csv --nonmembers n.csv --max-advantage 0.1")
    piped = typed("gate --max-advantage 0.1", stdin=table(MEMBERS, NONMEMBERS).encode())

    assert (of_sides.status, piped.status) == (1, 1)
    read = "read: score (numbers, 37 different), member (text, 2 different; 1: members, 0: nonmembers)\n"
    sides_read = "read: members from m.csv (numbers, 18 different), nonmembers from n.csv (numbers, 20 different)\n"
    assert piped.out.count(read) == of_sides.out.count(sides_read) == 1
    assert piped.out.replace(read, "") == of_sides.out.replace(sides_read, "")


def test_a_hostile_group_is_inert_wherever_it_is_named(folder: Path) -> None:
    label = "\x1b[2J::error::owned\u202e<b>|`"
    rows = [f"{score},{int(i < 24)},{label}" for i, score in enumerate(MEMBERS + NONMEMBERS)]
    (folder / "bad.csv").write_text("\n".join(["score,member,group", *rows]) + "\n")

    done = typed("gate bad.csv --max-group-risk 0.01 --group group --junit gate.xml --summary gate.md")

    assert done.status in (1, 3)
    told = done.out + (folder / "gate.xml").read_text() + (folder / "gate.md").read_text()
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert not any(line.startswith("::") for line in done.out.splitlines())
    ET.parse(folder / "gate.xml")


def test_a_group_that_looks_like_a_command_begins_no_line_of_a_table(folder: Path) -> None:
    rows = [f"{score},{int(i < 24)},::error::owned" for i, score in enumerate(MEMBERS + NONMEMBERS)]
    (folder / "bad.csv").write_text("\n".join(["score,member,group", *rows]) + "\n")

    for words in ("gate bad.csv --max-group-advantage 0.01 --group group", "risk bad.csv --group group"):
        told = typed(words).out
        assert "error::owned" in told
        assert not any(line.lstrip().startswith("::") for line in told.splitlines())


def test_counts_are_enough_for_a_large_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.run.LARGE", 10)

    counted = typed("gate scores.csv --score score --max-advantage 0.1")
    held = typed("gate scores.csv --score score --max-group-risk 1 --group group")

    assert (counted.status, held.status) == (1, 0)
    assert "mace counts it while reading" in counted.err
    assert "mace counts it while reading" not in held.err


# --- batch after batch, until the run says pass or fail ---------------------------------------------------------


def batch(seed: int, distance: float, n: int = 100) -> str:
    rng = np.random.default_rng(seed)
    rows = [f"{value},1" for value in rng.normal(distance, 1.0, n)]
    return "\n".join(["score,member", *rows, *(f"{value},0" for value in rng.normal(0.0, 1.0, n))])


def look(text: str, options: str = "") -> tuple[int, str, str]:
    Path("batch.csv").write_text(text)
    done = typed(f"gate batch.csv --state run.json {options}")
    return done.status, done.out, done.err


@pytest.mark.slow
def test_batches_are_given_until_the_run_says_fail(empty: Path) -> None:
    first = look(batch(1, 1.0, 40), "--sequential --max-advantage 0.2 --planned 2000")
    second = look(batch(2, 1.0, 400), "--junit gate.xml -o gate.html")
    third = look(batch(3, 1.0), "--json")

    assert first[0] == 3
    assert "Undecided, not enough data after 1 look at 80 records" in first[1]
    assert second[0] == 1
    assert "Fail after 2 looks at 880 records: with 95% confidence at all looks together" in second[2]
    assert 'failures="1"' in (empty / "gate.xml").read_text()
    assert "Looks so far" in (empty / "gate.html").read_text()
    found = json.loads(third[1])
    run, (limit,) = found["anytime"], found["limits"]
    assert (third[0], found["decision"], run["looks"], run["n_members"]) == (1, "fail", 3, 540)
    assert 0.2 < limit["lower"] <= limit["upper"] <= 1.0
    assert "at every look at once" in limit["guarantee"]["covers"]
    assert found["state"] == json.loads((empty / "run.json").read_text())


@pytest.mark.slow
def test_the_first_batch_without_a_file_to_keep_it_in(empty: Path) -> None:
    (empty / "batch.csv").write_text(batch(1, 1.0))

    assert answer("gate batch.csv --sequential --max-advantage 0.9")["state"]["max_advantage"] == 0.9
    assert "--state FILE keeps the run" in typed("gate batch.csv --sequential --max-advantage 0.9").err


@pytest.mark.slow
def test_a_run_that_passes_ends_with_0(empty: Path) -> None:
    status = [look(batch(seed, 0.0, 600), "--max-advantage 0.3")[0] for seed in range(3)]

    assert status[-1] == 0


def test_a_run_takes_two_files_and_labels(empty: Path) -> None:
    (empty / "in.csv").write_text("score\n" + "\n".join(["cat"] * 30 + ["dog"] * 10))
    (empty / "out.csv").write_text("score\n" + "\n".join(["cat"] * 10 + ["dog"] * 30))

    done = typed("gate --members in.csv --nonmembers out.csv --state run.json --max-advantage 0.05")

    assert (done.status, done.err) in ((1, ""), (3, ""))
    assert "after 1 look at 80 records" in done.out
    assert json.loads((empty / "run.json").read_text())["counts"]["cells"]["labels"] == ["cat", "dog"]


@pytest.mark.slow
@each_case(
    "options, words",
    ("--max-advantage 0.3", "was begun with 0.2, which cannot change"),
    ("--confidence 0.9", "was begun with 0.95"),
    ("--planned 7000", "was begun with 10000"),
    ("--max-tpr 0.3 --at-fpr 0.1", "--max-tpr: with --sequential, --max-advantage is judged"),
    ("--no-sequential", "--no-sequential: does not go with --state"),
)
def test_a_question_that_changes_is_refused(empty: Path, options: str, words: str) -> None:
    (empty / "run.json").unlink(missing_ok=True)
    look(batch(1, 1.0), "--max-advantage 0.2")
    kept = (empty / "run.json").read_bytes()

    status, _, problem = look(batch(2, 1.0), options)

    assert status == 2
    assert words in problem
    assert (empty / "run.json").read_bytes() == kept


@each_case("content", ["", "{}", "[1]", '{"kind": "mace sequential run", "version": 99}', "[" * 10**5])
def test_a_file_that_is_no_run_is_refused_and_left_alone(empty: Path, content: str) -> None:
    (empty / "run.json").write_text(content)

    status, _, problem = look(batch(1, 1.0), "--max-advantage 0.2")

    assert status == 2
    assert "run.json: " in problem or "state: " in problem
    assert (empty / "run.json").read_text() == content


@each_case(
    "text, options, words",
    (batch(1, 0.0), "", "--max-advantage: is required"),
    (batch(1, 0.0, 9), "--max-advantage 0.1", "the first batch needs 10"),
    ("score,member\n0.5,1\n", "--max-advantage 0.1", ""),
    ("", "--max-advantage 0.1", "empty"),
    (batch(1, 1.0), "--max-advantage 0.9 -o run.json", "are the same file"),
)
def test_a_first_look_that_cannot_be_is_refused(empty: Path, text: str, options: str, words: str) -> None:
    status, _, problem = look(text, options)

    assert status == 2
    assert words in problem
    assert not (empty / "run.json").exists()


@pytest.mark.slow
def test_what_a_pipeline_reads_is_about_all_batches(empty: Path) -> None:
    for seed, n in ((1, 40), (2, 60)):
        look(batch(seed, 1.0, n), f"--max-advantage 0.9 --junit g.xml --summary {seed}.md")

    assert '<property name="n_members" value="100" />' in (empty / "g.xml").read_text()
    assert "100 member and 100 nonmember scores" in (empty / "2.md").read_text()
    assert "SHA-256 of the last batch" in (empty / "2.md").read_text()
