"""`mace gate --sequential --state`: batch after batch, until the run says pass or fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.app.cli.fork import run_mace


def batch(seed: int, distance: float, n: int = 100) -> str:
    rng = np.random.default_rng(seed)
    rows = [f"{value},1" for value in rng.normal(distance, 1.0, n)]
    return "\n".join(["score,member", *rows, *(f"{value},0" for value in rng.normal(0.0, 1.0, n))])


def look(folder: Path, text: str, *options: str) -> tuple[int, str, str]:
    (folder / "batch.csv").write_text(text)
    done = run_mace("gate", "batch.csv", "--state", "run.json", *options, folder=folder)
    return done.returncode, done.stdout, done.stderr


def test_batches_are_given_until_the_run_says_fail(tmp_path: Path) -> None:
    question = ("--sequential", "--max-advantage", "0.2", "--planned", "2000")
    first = look(tmp_path, batch(1, 1.0, 40), *question)
    second = look(tmp_path, batch(2, 1.0, 400), "--junit", "gate.xml", "-o", "gate.html")
    third = look(tmp_path, batch(3, 1.0), "--json")

    assert first[0] == 3
    assert "Not enough data after 1 look at 80 records" in first[1]
    assert second[0] == 1
    assert "Fail after 2 looks at 880 records: with 95% confidence at all looks together" in second[2]
    assert 'failures="1"' in (tmp_path / "gate.xml").read_text()
    assert "Looks so far" in (tmp_path / "gate.html").read_text()
    answer = json.loads(third[1])
    run, (limit,) = answer["anytime"], answer["limits"]
    assert (third[0], answer["decision"], run["looks"], run["n_members"]) == (1, "fail", 3, 540)
    assert 0.2 < limit["lower"] <= limit["upper"] <= 1.0
    assert "at every look at once" in limit["guarantee"]["covers"]
    assert answer["state"] == json.loads((tmp_path / "run.json").read_text())


def test_the_first_batch_without_a_file_to_keep_it_in(tmp_path: Path) -> None:
    (tmp_path / "batch.csv").write_text(batch(1, 1.0))

    done = run_mace("gate", "batch.csv", "--sequential", "--max-advantage", "0.9", "--json", folder=tmp_path)

    assert json.loads(done.stdout)["state"]["max_advantage"] == 0.9


def test_a_run_that_passes_ends_with_0(tmp_path: Path) -> None:
    status = [look(tmp_path, batch(seed, 0.0, 600), "--max-advantage", "0.3")[0] for seed in range(3)]

    assert status[-1] == 0


def test_two_files_and_labels(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("score\n" + "\n".join(["cat"] * 30 + ["dog"] * 10))
    (tmp_path / "out.csv").write_text("score\n" + "\n".join(["cat"] * 10 + ["dog"] * 30))
    question = ("gate", "--members", "in.csv", "--nonmembers", "out.csv", "--state", "run.json")

    done = run_mace(*question, "--max-advantage", "0.05", folder=tmp_path)

    assert (done.returncode, done.stderr) in ((1, ""), (3, ""))
    assert "after 1 look at 80 records" in done.stdout
    assert json.loads((tmp_path / "run.json").read_text())["counts"]["cells"]["labels"] == ["cat", "dog"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-advantage", "0.3"), "was begun with 0.2, which cannot change"),
        (("--confidence", "0.9"), "was begun with 0.95"),
        (("--planned", "7000"), "was begun with 10000"),
        (("--max-tpr", "0.3", "--at-fpr", "0.1"), "--max-tpr: with --sequential, --max-advantage is judged"),
        (("--no-sequential",), "--no-sequential: does not go with --state"),
    ],
    ids=["limit", "confidence", "planned", "another limit", "not sequential"],
)
def test_a_question_that_changes_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    look(tmp_path, batch(1, 1.0), "--max-advantage", "0.2")
    kept = (tmp_path / "run.json").read_bytes()

    status, _, problem = look(tmp_path, batch(2, 1.0), *options)

    assert status == 2
    assert words in problem
    assert (tmp_path / "run.json").read_bytes() == kept


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", '{"kind": "mace sequential run", "version": 99}', "[" * 10**5],
    ids=lambda text: text[:9],
)
def test_a_file_that_is_no_run_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)

    status, _, problem = look(tmp_path, batch(1, 1.0), "--max-advantage", "0.2")

    assert status == 2
    assert "run.json: " in problem or "state: " in problem
    assert (tmp_path / "run.json").read_text() == content


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (batch(1, 0.0), (), "--max-advantage: is required"),
        (batch(1, 0.0, 9), ("--max-advantage", "0.1"), "the first batch needs 10"),
        ("score,member\n0.5,1\n", ("--max-advantage", "0.1"), ""),
        ("", ("--max-advantage", "0.1"), "empty"),
    ],
    ids=["no limit", "too few", "one record", "nothing"],
)
def test_a_first_look_that_cannot_be_is_refused(
    tmp_path: Path, text: str, options: tuple[str, ...], words: str
) -> None:
    status, _, problem = look(tmp_path, text, *options)

    assert status == 2
    assert words in problem
    assert not (tmp_path / "run.json").exists()


def test_planned_goes_with_a_state(tmp_path: Path) -> None:
    (tmp_path / "batch.csv").write_text(batch(1, 0.0))

    done = run_mace("gate", "batch.csv", "--max-advantage", "0.1", "--planned", "100", folder=tmp_path)

    assert done.returncode == 2
    assert "--planned: it goes with --sequential" in done.stderr


def test_what_a_pipeline_reads_is_about_all_batches(tmp_path: Path) -> None:
    for seed, n in ((1, 40), (2, 60)):
        look(
            tmp_path,
            batch(seed, 1.0, n),
            "--max-advantage",
            "0.9",
            "--junit",
            "g.xml",
            "--summary",
            f"{seed}.md",
        )

    assert '<property name="n_members" value="100" />' in (tmp_path / "g.xml").read_text()
    assert "100 member and 100 nonmember scores" in (tmp_path / "2.md").read_text()
    assert "SHA-256 of the last batch" in (tmp_path / "2.md").read_text()


def test_the_answer_does_not_go_where_the_run_is_kept(tmp_path: Path) -> None:
    status, _, error = look(tmp_path, batch(1, 1.0), "--max-advantage", "0.9", "-o", "run.json")

    assert status == 2
    assert "are the same file" in error
    assert not (tmp_path / "run.json").exists()
