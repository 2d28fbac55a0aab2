"""`mace text`: from the log-probabilities of tokens, line by line, to scores that every question takes."""

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq
import pytest

from estimators.audits.queries import text
from macekit.questions.audits.text import reading
from tests.app.cli.files import answer, refused, tokens, typed
from tests.cases import each_case

QUERIES = ["text_loss", "zlib_ratio", "mink", "reference_difference", "reference_ratio"]


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def failed(line: str) -> str:
    said = refused(f"text {line}")
    assert not Path("out.jsonl").exists()
    assert not list(Path().glob(".mace-*"))
    return said


@pytest.mark.slow
@each_case("line", ["", "out.jsonl", "out.csv", "out.parquet --by document"])
def test_the_riskiest_of_the_scores_is_held_against_one_limit(folder: Path, line: str) -> None:
    done = [typed(f"text tokens.jsonl {line} --max-advantage {n} --overwrite") for n in ("1", "0.1", "0.99")]

    assert [each.status for each in done] == [0, 1, 3]
    for each in done:
        assert ("The riskiest query's advantage" in each.out) == (not line)
        assert re.search(r"^(Pass|Fail|Undecided, not enough data): ", each.err if line else each.out, re.MULTILINE)


def test_what_is_written_is_read_by_the_questions_and_compared_to_what_is_answered_at_once(folder: Path) -> None:
    done = typed("text tokens.jsonl out.jsonl -q")
    at_once = answer("text tokens.jsonl")
    later = typed(f"compare out.jsonl --query continuous --score {','.join(QUERIES)} --json").answer
    one = answer("estimate out.jsonl --score text_loss")

    assert (done.status, done.out) == (0, "")
    assert (at_once["ranking"], at_once["maximum"]) == (later["ranking"], later["maximum"])
    assert at_once["not_asked"] == {"minkpp": "needs mean and std"}
    read = {each["role"]: each["name"] for each in one["provenance"]["columns"]}
    assert read == {"score": "text_loss", "member": "member"}
    assert one["advantage"]["lower"] > 0
    assert "read: score from text_loss (numbers, " in typed("compare out.jsonl --score text_loss,mink").out


def test_scores_are_those_of_the_library(folder: Path) -> None:
    records = [json.loads(line) for line in tokens().splitlines()]
    own, theirs = ([record[name][1:] for record in records] for name in ("logprobs", "reference_logprobs"))

    done = typed("text tokens.jsonl out.jsonl --share 0.5")

    table = rows("out.jsonl")
    expected = {
        "text_loss": text.text_loss(own),
        "zlib_ratio": text.zlib_ratio(own, text.compressed_sizes([record["text"] for record in records])),
        "mink": text.mink(own, share=0.5),
        "reference_difference": text.reference_difference(own, theirs),
        "reference_ratio": text.reference_ratio(own, theirs),
    }
    assert [*table[0]] == ["id", "member", *expected]
    for name, scores in expected.items():
        assert [row[name] for row in table] == scores.tolist()
    for name in ("id", "member"):
        assert [row[name] for row in table] == [record[name] for record in records]
    assert done.err == f"60 records scored by {', '.join(QUERIES)}; higher is more like a member.\n"


@pytest.mark.parametrize("batch", [1, 50, 2**20])
def test_the_answer_does_not_depend_on_the_batch(folder: Path, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed("text tokens.jsonl whole.jsonl").status == 0
    monkeypatch.setattr(reading, "BATCH", batch)
    Path("packed").write_bytes(gzip.compress(tokens()))
    for name in ("out.csv", "out.parquet", "out.ndjson"):
        assert typed(f"text packed {name} -q").status == 0

    expected = rows("whole.jsonl")
    with Path("out.csv").open(newline="") as file:
        found = [{name: float(row[name]) for name in QUERIES} for row in csv.DictReader(file)]
    assert found == [{name: row[name] for name in QUERIES} for row in expected]
    assert pq.read_table("out.parquet").to_pylist() == expected
    assert rows("out.ndjson") == expected


@each_case("how", get_args(text.How))
def test_one_score_for_each_document(folder: Path, how: str) -> None:
    assert typed(f"text tokens.jsonl out.jsonl --by document --how {how} --overwrite").status == 0

    records = [json.loads(line) for line in tokens().splitlines()]
    names, scores = text.aggregate(
        text.text_loss([record["logprobs"][1:] for record in records]),
        [record["document"] for record in records],
        how,  # type: ignore[arg-type]
    )
    table = rows("out.jsonl")
    assert [row["document"] for row in table] == names.tolist()
    assert [row["text_loss"] for row in table] == scores.tolist()
    assert [row["member"] for row in table] == [int(name[1:]) % 2 == 0 for name in names.tolist()]


def test_minkpp_and_fields_to_keep(folder: Path) -> None:
    records = [
        {
            "logprobs": [-1.0, -5.0], "mean": [-2.0, -2.0], "std": [1.0, 1.5], "split": "train",
            "source": "web", "x": [],
        },
        {"std": [2.0], "mean": [-3.0], "logprobs": [-1], "split": "test", "source": "book", "y": 1},
    ]  # fmt: skip
    Path("in.jsonl").write_text(lines(*records))

    assert typed("text in.jsonl out.jsonl --keep source --share 0.5").status == 0

    assert rows("out.jsonl") == [
        {"split": "train", "source": "web", "text_loss": -3.0, "mink": -5.0, "minkpp": -2.0},
        {"split": "test", "source": "book", "text_loss": -1.0, "mink": -1.0, "minkpp": 1.0},
    ]


GOOD = {"logprobs": [-1.0, -2.0], "member": True}
WRONG: dict[str, tuple[str, str]] = {
    "nothing": ("\n", "in.jsonl: the input is empty"),
    "no JSON": (lines(GOOD) + "x", "in.jsonl: JSONL, line 2: the line is not JSON"),
    "a cut": (lines(GOOD, GOOD)[:-9], "line 2: the JSON ended before it was complete"),
    "no logprobs": (lines({"logprob": [-1]}), "line 1: logprobs: is missing; need the natural logarithms"),
    "none in a later line": (lines(GOOD, {"member": True}), "line 2: logprobs: is missing, and line 1 has it"),
    "member not in all": (lines(GOOD, {"logprobs": [-1]}), "line 2: member: is missing, and line 1 has it"),
    "more in a later line": (lines(GOOD, {**GOOD, "text": "a"}), "line 2: text: line 1 has none"),
    "mean alone": (lines({**GOOD, "mean": [-1, -2]}), "line 1: mean: needs std beside it"),
    "too few means": (
        lines(GOOD | {"mean": [-1], "std": [1, 1]}),
        "line 1: mean: has 1 numbers, logprobs 2; need one a token",
    ),
    "a list of text": (lines(GOOD, {**GOOD, "logprobs": [-1, "x"]}), "line 2: logprobs: token 1 is text"),
    "null in the middle": (lines({**GOOD, "logprobs": [None, -1, None]}), "line 1: logprobs: token 2 is missing"),
    "no list": (lines({**GOOD, "logprobs": -1}), "line 1: logprobs: need a list of numbers"),
    "probabilities": (
        lines(GOOD) + "\n" + lines(GOOD, {**GOOD, "logprobs": [0.5, 0.1]}),
        "line 4: logprobs: a token of this text is above 0",
    ),
    "NaN": (lines(GOOD) + '{"member": true, "logprobs": [-1, NaN]}', "line 2: logprobs: token 1 of this text is NaN"),
    "no token": (lines(GOOD, {**GOOD, "logprobs": [None]}), "line 2: logprobs: this text has no tokens"),
    "a negative deviation": (lines({**GOOD, "mean": [-1, -1], "std": [1, -1]}), "line 1: std: a token of this text"),
    "a text that is none": (lines({**GOOD, "text": 7}), "line 1: text: need text"),
    "two kinds of member": (lines(GOOD, {**GOOD, "member": 1}), "line 2: member: is a number, in line 1 a boolean"),
    "a pickle": ("\x80\x04K\x01.", "mace never opens one"),
}


@each_case("content, said", WRONG.values())
def test_what_is_wrong_is_named_by_its_line(folder: Path, content: str, said: str) -> None:
    Path("in.jsonl").write_bytes(content.encode("latin-1"))

    error = failed("in.jsonl out.jsonl")

    assert said in error
    assert error.startswith("mace text: in.jsonl: ")


@each_case(
    "line, said",
    ("tokens.jsonl out.xlsx", "the answer is written as .json, .html, .md, .csv"),
    ("tokens.jsonl out.jsonl --by person", "line 1: person: is asked for and missing"),
    ("tokens.jsonl out.jsonl --keep logprobs,nobody", "line 1: nobody: is asked for and missing"),
)
def test_a_field_or_a_form_that_is_not_there_is_said(folder: Path, line: str, said: str) -> None:
    assert said in failed(line)


def test_a_document_that_is_on_both_sides_is_refused(folder: Path) -> None:
    rows = ({**GOOD, "by": 1}, {**GOOD, "by": 2}, {**GOOD, "by": 1, "member": False})
    Path("in.jsonl").write_text(lines(*rows))

    said = failed("in.jsonl out.jsonl --by by")
    assert "by: text 2 is of one that other texts have on the other side" in said


def test_a_pipe_is_read_and_help_shows_the_fields(folder: Path) -> None:
    done = typed("text - out.jsonl", stdin=tokens())
    told = typed("text --help")

    assert (done.status, len(rows("out.jsonl"))) == (0, 60)
    assert told.status == 0
    for word in ("logprobs", "reference_logprobs", "mace text tokens.jsonl scores.jsonl", "exit status"):
        assert word in told.out


def test_memory_does_not_grow_with_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more records are held at a time than a batch has."""
    sizes: list[int] = []
    whole = reading.Reader.scores

    def seen(self: reading.Reader, batch: reading.Batch, share: float) -> dict[str, np.ndarray]:
        sizes.append(len(batch.texts))
        return whole(self, batch, share)

    monkeypatch.setattr(reading.Reader, "scores", seen)
    monkeypatch.setattr(reading, "BATCH", 100)
    assert typed("text tokens.jsonl out.jsonl -q").status == 0

    assert sum(sizes) == 60
    assert max(sizes) < 20
