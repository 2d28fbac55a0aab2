"""What a report says about making its answer again is true: each listing is run, and gives the same answer."""

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from pyarrow import csv

from app.cli import main
from app.openapi.examples import JSON_EXAMPLES, SAMPLE, file_bytes
from macekit.call import ARROW_FILE, CSV
from macekit.formats import COMPRESSED_SUFFIXES, FORMATS, SUFFIXES
from macekit.reports.content.provenance import section
from macekit.reports.content.reproduce import Reproduction, from_python, in_shell, over_http, unusual
from macekit.reports.model import AnswerPath, Context, Listing
from tests.cases import each_case
from tests.macekit.asking import asked
from tests.macekit.decoding.support import arrow_bytes

CSV_QUERIES: dict[str, tuple[str, dict[str, str]]] = {
    "nothing": ("report", {}),
    "threshold": ("report", {"max_advantage": "0.1", "prior": "0.25", "seed": "3"}),
    "metric with a parameter": ("advantage", {"metric.preset": "f_beta", "metric.beta": "2"}),
    "metric": ("report", {"metric": "recall"}),
    "estimator": ("advantage", {"estimator.kind": "kde", "estimator.bandwidth": "scott"}),
    "operating points": ("advantage", {"operating_points": "0.02,0.2"}),
    "one operating point": ("report", {"operating_points": "0.02"}),
    "promise": ("audit", {"claimed_epsilon": "0.5", "claimed_delta": "0.00001", "direction": "high"}),
    "metrics": ("metrics", {"metrics": "accuracy,recall", "min_positive_share": "0.1"}),
    "rule": ("attack", {"rule.threshold": "0.5", "rule.side": "below", "rule.chosen_before": "false"}),
    "risk": ("individual-risk", {"over": "cells", "top": "5"}),
    "pairs": ("compare", {"paired": "false", "against": "loss", "score": "score,loss"}),
    "columns": ("report", {"score": "loss", "member": "member", "group": "group", "max_advantage": "0.2"}),
    "limits": ("gate", {"max_advantage": "0.2", "metric": "accuracy", "max": "0.9"}),
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "no metric": ("report", {**SAMPLE, "metric": None}),
    "coefficients": ("advantage", {**SAMPLE, "metric": {"coefficients": {"a11": 1, "b11": 1, "b10": 1}}}),
    "weights": ("report", {**SAMPLE, "metric": {"preset": "weighted_accuracy", "w1": 2.0}}),
    "no rates": ("report", {**SAMPLE, "operating_points": []}),
}
"""Questions that neither a shell nor a query string can ask."""


def listings(operation: str, answer: Any, source: str = "") -> dict[str, str]:
    """What a report says about making its answer again, by its captions."""
    found = answer["provenance"]
    origin = found[0] if isinstance(found, list) else found
    blocks = section(operation, AnswerPath(origin), Context(source or None)).blocks
    return {each.caption: each.text for each in blocks if isinstance(each, Listing)}


def run(program: str) -> Any:
    """The answer of a program that makes a report."""
    held: dict[str, Any] = {}
    exec(program.replace(").to_html()", ")").replace("macekit.", "found = macekit.", 1), held)
    return json.loads(held["found"].to_json())


def body_in(text: str) -> str:
    """The JSON that a listing says to write into a file."""
    found: str = re.findall(r"^\{.*\}$", text, re.MULTILINE)[0]
    return found


@pytest.mark.slow
@each_case("name", CSV_QUERIES)
def test_every_listing_gives_the_same_answer(name, scores, capsys) -> None:
    operation, options = CSV_QUERIES[name]
    answer = of_scores(operation, options)
    told = listings(operation, answer, "scores.csv")

    words = shlex.split(told["Over HTTP"])
    address = urlsplit(words[-1])
    again = dict(parse_qsl(address.query, strict_parsing=bool(address.query)))
    assert address.path == f"/v1/{operation}"
    assert "@scores.csv" in words
    assert of_scores(operation, again) == answer

    words = shlex.split(told["In a shell"])
    assert words[0] == "mace"
    assert words[-2:] == ["-o", "report.html"]
    main([*words[1:-2], "--json"])
    assert json.loads(capsys.readouterr().out) == answer

    assert run(told["From Python"]) == answer


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "scores.csv"
    path.write_bytes(file_bytes("scores.csv"))
    return path


@pytest.mark.slow
@each_case("name", REQUESTS)
def test_what_a_query_string_cannot_say_is_said_in_json(name: str) -> None:
    operation, question = REQUESTS[name]
    answer = asked(operation, question)

    told = listings(operation, answer, "scores.csv")

    again = body_in(told["Over HTTP"])
    for side in ("members", "nonmembers"):
        again = again.replace("[…]", json.dumps(SAMPLE[side]), 1)
    assert asked(operation, again.encode()) == answer
    assert told["In a shell"].startswith("request.json holds\n")


@each_case("column, words", [("--score", "--group=--score"), ("-x y", "'--group=-x y'"), ("-1", "--group -1")])
def test_a_column_that_looks_like_an_option_is_typed_as_a_value(column: str, words: str) -> None:
    command = in_shell(Reproduction("report", {"group": column}, "scores.csv"))

    assert shlex.split(command) == shlex.split(f"mace report scores.csv {words} -o report.html")


@each_case("source, file", [
    ("my scores.csv", "'my scores.csv'"), ("$(reboot).csv", "'$(reboot).csv'"),
    ("a'b.csv", "'a'\"'\"'b.csv'"), ("-rf", "./-rf"), ("a\nb.csv", "scores.csv"),
    ("a\u202eb.csv", "scores.csv"), ("x" * 100, "scores.csv"),
])  # fmt: skip
def test_a_file_name_cannot_add_to_the_command(source: str, file: str) -> None:
    reproduction = Reproduction("report", {"prior": 0.1}, source)

    assert in_shell(reproduction) == f"mace report {file} --prior 0.1 -o report.html"
    assert shlex.quote("@" + shlex.split(file)[0]) in over_http(reproduction)
    assert repr(shlex.split(file)[0]) in from_python(reproduction)


@each_case("suffix", SUFFIXES)
@each_case("packed", ["", *COMPRESSED_SUFFIXES])
def test_a_file_is_posted_as_what_its_name_says(suffix: str, packed: str) -> None:
    text = over_http(Reproduction("report", {}, f"scores{suffix}{packed}"))

    assert f"-H 'Content-Type: {FORMATS[SUFFIXES[suffix]]}'" in text
    assert ("Content-Encoding" in text) == bool(packed)
    assert not packed or f"-H 'Content-Encoding: {COMPRESSED_SUFFIXES[packed]}'" in text


def test_an_arrow_file_is_posted_as_the_stream_it_holds() -> None:
    body = arrow_bytes(csv.read_csv(io.BytesIO(file_bytes("scores.csv"))), ARROW_FILE)
    text = over_http(Reproduction("report", {}, "scores.feather"))

    media_type = re.findall("Content-Type: ([^']*)", text)[0]

    found, wanted = asked("report", body, media_type)["result"], of_scores("report", {})["result"]
    columns = {each["role"]: each["kind"] for each in found["provenance"].pop("columns")}
    wanted["provenance"].pop("columns")
    assert columns == {"score": "numbers", "member": "integers"}
    assert found == wanted


def test_names_stay_names_and_a_table_without_one_is_still_a_table() -> None:
    reproduction = Reproduction("compare", {"against": "a,b", "paired": False}, "scores.csv")
    nameless = Reproduction("report", {"score": "loss"})

    assert in_shell(reproduction) == "mace compare scores.csv --against a,b --no-paired -o report.html"
    assert "/v1/compare?against=a,b&paired=false'" in over_http(reproduction)
    assert in_shell(nameless) == "mace report scores.csv --score loss -o report.html"


def test_counts_are_posted_as_counts() -> None:
    question = {"counts": {"members": [90, 50, 60], "nonmembers": [50, 70, 80], "edges": [-1.0, 1.0]}}
    answer = asked("report", question)

    told = listings("report", answer)

    for caption in ("In a shell", "Over HTTP"):
        assert told[caption].startswith('request.json holds\n{"counts": {…}')
    assert not any("members" in text or "scores.csv" in text for text in told.values())
    again = body_in(told["Over HTTP"]).replace("{…}", json.dumps(question["counts"]))
    assert asked("report", again.encode()) == answer


def test_a_name_that_could_be_more_than_a_name_is_spelt_out() -> None:
    reproduction = Reproduction("compare", {"against": "a\u202e\x1b[2J"})

    for text in (in_shell(reproduction), over_http(reproduction), from_python(reproduction)):
        assert "\u202e" not in text
        assert "\x1b" not in text


def test_only_what_differs_from_the_usual_is_repeated() -> None:
    usual = {"prior": 0.5, "confidence": 0.95, "metric": "accuracy"}

    assert unusual("report", {**usual, "seed": 7}) == {"seed": 7}


def test_a_request_that_was_no_file_is_a_request_again(tmp_path, monkeypatch) -> None:
    question = {**SAMPLE, "max_advantage": 0.2, "prior": 0.25}
    answer = asked("report", question)
    told = listings("report", answer)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "request.json").write_text(json.dumps(question))

    assert run(told["From Python"]) == answer
    for caption in ("In a shell", "Over HTTP"):
        assert told[caption].startswith('request.json holds\n{"members": […], "nonmembers": […], ')
    assert not any("scores.csv" in text for text in told.values())


def of_scores(operation: str, options: dict[str, str]) -> Any:
    return asked(operation, file_bytes("scores.csv"), CSV, **options)


def test_a_request_of_arrays_names_those_that_were_sent() -> None:
    told = listings("shadows", asked("shadows", JSON_EXAMPLES["shadows"]["without"].value))

    assert told["Over HTTP"].startswith(
        'request.json holds\n{"target": […], "signals": […], "member": […], "group": […], "scores": true}'
    )
