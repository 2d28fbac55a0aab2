"""Counts that were kept are asked about like scores; many files are one table; what is large is counted as it comes."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import run
from macekit.catalogue import OPERATIONS
from macekit.sources import reading
from tests.app.cli.files import answer, refused, typed
from tests.cases import each_case


@pytest.fixture
def scores(empty: Path) -> Path:
    """A CSV of 2,000 records of three regions."""
    rng = np.random.default_rng(8)
    inside = rng.random(2000) < 0.5
    values, regions = rng.normal(inside * 0.8, 1.0), rng.choice(["eu", "us", "=1+1"], 2000)
    rows = "".join(f"{v:.4f},{int(m)},{r}\n" for v, m, r in zip(values, inside, regions, strict=True))
    (empty / "scores.csv").write_text("score,member,region\n" + rows)
    return empty


@pytest.fixture
def counts_file(scores: Path) -> Path:
    assert typed("counts scores.csv --group region -o counts.json").status == 0
    return scores


LIMITS = {
    "gate": "--max-advantage 0.9 --max-group-risk 0.9 --one-table",
    "theory together": "--claimed-epsilon 9",
    "theory one-run": "--draw split --epsilon 9 --adjacency replace",
}
QUESTIONS = [each.command for each in OPERATIONS if each.counts_suffice and not each.several]


def ask(command: str, files: str) -> Any:
    return answer(f"{command} {files} {LIMITS.get(command, '')}")


def without_columns(value: Any) -> Any:
    """An answer without the names of what was read, and what is frequent, which in a small part it need not be."""
    if isinstance(value, dict):
        left = ("columns", "frequent")
        return {name: without_columns(each) for name, each in value.items() if name not in left}
    return [without_columns(each) for each in value] if isinstance(value, list) else value


@pytest.mark.slow
@each_case("command", QUESTIONS)
def test_kept_counts_are_asked_as_a_request_with_them_is(counts_file: Path, command: str) -> None:
    kept = (counts_file / "counts.json").read_bytes()
    (counts_file / "request.json").write_text(json.dumps({"counts": json.loads(kept)["counts"]}))
    (counts_file / "packed.json.gz").write_bytes(gzip.compress(kept))

    of_file, expected = ask(command, "counts.json"), ask(command, "request.json")

    provenance = of_file.get("provenance") or of_file["result"]["provenance"]
    assert {column["role"]: column["name"] for column in provenance["columns"]} == {
        "score": "score",
        "member": "member",
        "group": "region",
    }
    assert without_columns(of_file) == without_columns(expected)
    assert ask(command, "packed.json.gz") == of_file


def test_kept_counts_are_compared(counts_file: Path) -> None:
    ranking = answer("compare counts.json scores.csv --score score")["ranking"]

    assert {place["name"] for place in ranking} == {"counts", "scores"}


@pytest.mark.slow
def test_counts_of_parts_are_asked_like_those_of_all(counts_file: Path) -> None:
    head, *rows = (counts_file / "scores.csv").read_text().splitlines()
    for name, part in (("a", rows[:700]), ("b", rows[700:])):
        (counts_file / f"{name}.csv").write_text("\n".join([head, *part]))
        assert typed(f"counts {name}.csv --group region -o {name}.json").status == 0

    for command in ("counts", *QUESTIONS):
        of_parts, whole = ask(command, "a.json b.json"), ask(command, "counts.json")
        assert without_columns(of_parts) == without_columns(whole), command


@each_case(
    "files, words",
    ("counts.json request.json", "request.json: JSON files, and files beside one, are read together only if"),
    ("counts.json scores.csv", "scores.csv: JSON files, and files beside one, are read together only if"),
    ("counts.json bare.json --score x", "2 files: counts have no columns"),
    ("counts.json counts.json", "counts.json: is named twice"),
    ("counts.json bare.json", "shard 1 has no by_group"),
    ("counts.json names.json", "cannot merge counts over"),
)
def test_files_that_do_not_go_together_are_one_line(counts_file: Path, files: str, words: str) -> None:
    (counts_file / "request.json").write_text('{"members": [0.5], "nonmembers": [0.2]}')
    (counts_file / "names.csv").write_text("score,member\n" + "a,1\nb,0\n" * 9)
    assert typed("counts scores.csv -o bare.json --overwrite").status == 0
    assert typed("counts names.csv -o names.json --overwrite").status == 0

    said = refused(f"estimate {files} -q")

    assert words in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_report_of_kept_counts_shows_their_groups(counts_file: Path) -> None:
    assert typed("report counts.json -o report.html").status == 0

    html = (counts_file / "report.html").read_text()
    assert all(region in html for region in (">eu<", ">us<"))


def test_a_question_about_each_record_needs_the_records(counts_file: Path) -> None:
    assert "counts hold no records" in refused("risk counts.json")


@each_case("change", [{"columns": 3}, {"columns": [3]}, {"columns": [{"role": "score"}]}, {"counts": 3}])
def test_what_only_looks_like_kept_counts_is_one_line(counts_file: Path, change: dict[str, Any]) -> None:
    document = json.loads((counts_file / "counts.json").read_text())
    (counts_file / "like.json").write_text(json.dumps(document | change))

    said = refused("estimate like.json")

    assert said.startswith("mace estimate: like.json: ")
    assert said.count("\n") == 1


@pytest.mark.slow
@each_case("files", ["scores.csv", "scores.csv more.csv"])
def test_groups_of_what_is_large_are_counted_as_it_comes(scores: Path, files: str) -> None:
    (scores / "more.csv").write_text((scores / "scores.csv").read_text())
    lines = [f"{name} {files} --group region" for name in ("report", "gate --max-group-risk 0.9", "counts")]
    report, gate, counts = map(answer, lines)
    with pytest.MonkeyPatch.context() as patch:
        for module in (run, reading):
            patch.setattr(module, "LARGE", 100)
        large_report, large_gate, large_counts = map(answer, lines)

    assert large_counts["counts"] == counts["counts"]
    assert large_gate["decision"] == gate["decision"]
    for name in ("label", "records"):
        assert [row[name] for row in large_report["groups"]] == [row[name] for row in report["groups"]]
    for one, other in zip(large_report["groups"], report["groups"], strict=True):
        assert one["risk"] == pytest.approx(other["risk"], abs=1e-3)
    assert report["posterior"]
    assert not large_report["posterior"]  # which needs the records


@each_case("oddity", ["repeated_scores", "sides_differ_in_precision"])
def test_what_scores_alone_show_is_known_where_they_are_counted_as_they_come_and_of_their_counts(
    folder: Path, oddity: str
) -> None:
    """A file of 32 MiB passed, or failed, where the same rows in a smaller one were not applicable."""
    rng = np.random.default_rng(0)
    sides = [np.repeat(rng.normal(size=3000), np.where(rng.random(3000) < 0.04, 40, 1)) for _ in "ab"]
    if oddity == "sides_differ_in_precision":
        sides = [rng.normal(size=5000), rng.normal(size=5000).astype(np.float32).astype(np.float64)]
    rows = [f"{score!r},{member}" for member, side in zip((1, 0), sides, strict=True) for score in side.tolist()]
    (folder / "odd.csv").write_text("\n".join(["score,member", *rows, ""]))
    counted = answer("counts odd.csv --cells grid")
    (folder / "odd.json").write_text(json.dumps(counted))
    answers = [answer(f"gate {name} --max-advantage 0.2") for name in ("odd.csv", "odd.json")]
    with pytest.MonkeyPatch.context() as patch:
        for module in (run, reading):
            patch.setattr(module, "LARGE", 100)
        answers.append(answer("gate odd.csv --max-advantage 0.2"))

    assert [each["code"] for each in counted["warnings"]] == [oddity]
    decisions = [(each["decision"], each["undecided_because"]) for each in answers]
    assert decisions[1:] == [("not applicable", oddity)] * 2
    assert decisions[0] == (decisions[1] if oddity == "repeated_scores" else ("fail", None))  # by their digits


# --- several files, folders, patterns and addresses -----------------------------------------------------------


@pytest.fixture
def parts(folder: Path) -> Path:
    """The records of ``scores.csv`` in two files of a folder."""
    header, *rows = (folder / "scores.csv").read_text().splitlines()
    (folder / "parts").mkdir()
    for name, some in (("a", rows[:30]), ("b", rows[30:])):
        (folder / "parts" / f"{name}.csv").write_text("\n".join([header, *some, ""]))
    return folder


def test_many_files_are_one_table(parts: Path) -> None:
    expected = answer("estimate scores.csv --score score")

    for files in ("parts", "parts/*.csv", "parts/a.csv parts/b.csv"):
        assert answer(f"estimate {files} --score score") == expected, files


def test_counts_of_many_files_are_those_of_one(parts: Path) -> None:
    many, one = (typed(f"counts {files} --score score --json") for files in ("parts/b.csv parts/a.csv", "scores.csv"))

    assert many.answer == one.answer
    assert "2 files are read as one table; mace compare takes them apart" in many.err
    assert not one.err


def test_many_records_are_counted_and_that_is_said(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGE", 100)

    done = typed("report parts --score score -o report.html")

    assert done.status == 0
    assert "parts is large, so mace counts it while reading" in done.err
    assert "W_N" in done.err
    assert "parts" in (parts / "report.html").read_text()


def test_folders_are_compared_as_files_are(parts: Path) -> None:
    assert re.search(r"^parts – scores ", typed("compare parts scores.csv --score score").out, re.MULTILINE)


@each_case(
    "files, said",
    ("parts nofile.csv", "nofile.csv: no such file or folder"),
    ("parts parts/a.csv", "parts/a.csv: is named twice"),
    ("none*", "none*: matches no file"),
    ("parts --format csv", "--format: of several files"),
    ("parts --score lost", "a.csv: score: no column of the"),
    ("parts --unit nobody", "a.csv: unit: no column of the"),
    ("'s3://bucket/x?{bucket}'", "s3://bucket/x: cannot be read"),
)
def test_what_cannot_be_read_is_one_line(parts: Path, closed_bucket: str, files: str, said: str) -> None:
    problem = refused(f"estimate {files.format(bucket=closed_bucket)}")

    assert said in problem
    assert problem.count("\n") == 1
