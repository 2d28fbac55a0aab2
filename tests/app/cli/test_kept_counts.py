"""What mace counts wrote is asked about like scores; groups of large files are in_blocks as they come."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main, run
from macekit.sources import reading

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CSV of 2,000 records of three regions."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    inside = rng.random(2000) < 0.5
    values, regions = rng.normal(inside * 0.8, 1.0), rng.choice(["eu", "us", "=1+1"], 2000)
    rows = "".join(f"{v:.4f},{int(m)},{r}\n" for v, m, r in zip(values, inside, regions, strict=True))
    (tmp_path / "scores.csv").write_text("score,member,region\n" + rows)
    return tmp_path


def answer(capsys: Capture, *typed: str, status: int = 0) -> Any:
    assert main([*typed, "--json"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def counts_file(scores: Path, capsys: Capture) -> Path:
    assert main(["counts", "scores.csv", "--group", "region", "-o", "counts.json"]) == 0
    capsys.readouterr()
    return scores


QUESTIONS = {
    "estimate": (),
    "report": (),
    "metrics": (),
    "audit": (),
    "gate": ("--max-advantage", "0.9", "--max-group-risk", "0.9"),
}


@pytest.mark.parametrize("command", QUESTIONS)
@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_kept_counts_are_asked_as_a_request_with_them_is(
    counts_file: Path, capsys: Capture, command: str, suffix: str
) -> None:
    document = json.loads((counts_file / "counts.json").read_text())
    (counts_file / "request.json").write_text(json.dumps({"counts": document["counts"]}))
    if suffix == "json.gz":
        (counts_file / "counts.json.gz").write_bytes(
            gzip.compress((counts_file / "counts.json").read_bytes())
        )

    answer_of_file = answer(capsys, command, f"counts.{suffix}", *QUESTIONS[command])

    expected = answer(capsys, command, "request.json", *QUESTIONS[command])
    (provenance, _) = (
        each.get("provenance") or each["result"]["provenance"] for each in (answer_of_file, expected)
    )
    assert {column["role"]: column["name"] for column in provenance["columns"]} == {
        "score": "score",
        "member": "member",
        "group": "region",
    }
    assert without_columns(answer_of_file) == without_columns(expected)


def without_columns(value: Any) -> Any:
    """An answer without the names of what was read."""
    if isinstance(value, dict):
        return {name: without_columns(each) for name, each in value.items() if name != "columns"}
    return [without_columns(each) for each in value] if isinstance(value, list) else value


def test_kept_counts_are_compared(counts_file: Path, capsys: Capture) -> None:
    ranking = answer(capsys, "compare", "counts.json", "scores.csv", "--score", "score")["ranking"]

    assert {place["name"] for place in ranking} == {"counts", "scores"}


@pytest.mark.parametrize("command", ["counts", *QUESTIONS])
def test_counts_of_parts_are_asked_like_those_of_all(
    counts_file: Path, capsys: Capture, command: str
) -> None:
    head, *rows = (counts_file / "scores.csv").read_text().splitlines()
    for name, part in (("a", rows[:700]), ("b", rows[700:])):
        (counts_file / f"{name}.csv").write_text("\n".join([head, *part]))
        assert main(["counts", f"{name}.csv", "--group", "region", "-o", f"{name}.json"]) == 0
    capsys.readouterr()

    of_parts = answer(capsys, command, "a.json", "b.json", *QUESTIONS.get(command, ()))

    whole = answer(capsys, command, "counts.json", *QUESTIONS.get(command, ()))
    assert without_columns(of_parts) == without_columns(whole)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            ("counts.json", "request.json"),
            "request.json: several JSON files are read together only if mace counts",
        ),
        (("counts.json", "counts.json", "--score", "x"), "2 files of counts have no columns"),
        (("counts.json", "bare.json"), "shard 1 has no by_group"),
        (("counts.json", "names.json"), "cannot merge counts over"),
    ],
)
def test_files_that_do_not_go_together_are_one_line(
    counts_file: Path, capsys: Capture, typed: tuple[str, ...], words: str
) -> None:
    (counts_file / "request.json").write_text('{"members": [0.5], "nonmembers": [0.2]}')
    (counts_file / "names.csv").write_text("score,member\n" + "a,1\nb,0\n" * 9)
    assert main(["counts", "scores.csv", "-o", "bare.json"]) == 0
    assert main(["counts", "names.csv", "-o", "names.json"]) == 0
    capsys.readouterr()

    assert main(["estimate", *typed, "-q"]) == 2

    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_report_of_kept_counts_shows_their_groups(counts_file: Path, capsys: Capture) -> None:
    assert main(["report", "counts.json", "-o", "report.html"]) == 0

    html = (counts_file / "report.html").read_text()
    assert all(region in html for region in (">eu<", ">us<"))


def test_a_question_about_each_record_needs_the_records(counts_file: Path, capsys: Capture) -> None:
    assert main(["risk", "counts.json"]) == 2

    assert "counts hold no records" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [{"columns": 3}, {"columns": [3]}, {"columns": [{"role": "score"}]}, {"counts": 3}]
)
def test_what_only_looks_like_kept_counts_is_one_line(
    counts_file: Path, capsys: Capture, change: dict[str, Any]
) -> None:
    document = json.loads((counts_file / "counts.json").read_text())
    (counts_file / "counts.json").write_text(json.dumps(document | change))

    assert main(["estimate", "counts.json"]) == 2

    err = capsys.readouterr().err
    assert err.startswith("mace estimate: counts.json: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "typed"), [("report", ()), ("gate", ("--max-group-risk", "0.9")), ("counts", ())]
)
@pytest.mark.parametrize("large", [["scores.csv"], ["scores.csv", "more.csv"]])
def test_groups_of_what_is_large_are_counted_as_it_comes(
    scores: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    typed: tuple[str, ...],
    large: list[str],
) -> None:
    (scores / "more.csv").write_text((scores / "scores.csv").read_text())
    in_memory = answer(capsys, command, *large, "--group", "region", *typed)
    for module in (run, reading):
        monkeypatch.setattr(module, "LARGE", 100)

    in_blocks = answer(capsys, command, *large, "--group", "region", *typed)

    if command == "counts":
        assert in_blocks["counts"] == in_memory["counts"]
    elif command == "report":
        assert [row["label"] for row in in_blocks["groups"]] == [row["label"] for row in in_memory["groups"]]
        assert [row["records"] for row in in_blocks["groups"]] == [
            row["records"] for row in in_memory["groups"]
        ]
        for one, other in zip(in_blocks["groups"], in_memory["groups"], strict=True):
            assert one["risk"] == pytest.approx(other["risk"], abs=1e-3)
        assert in_memory["posterior"]
        assert not in_blocks["posterior"]  # which needs the records
    else:
        assert in_blocks["decision"] == in_memory["decision"]
