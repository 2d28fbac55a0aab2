"""Reports hold no clock unless one is asked for: the same question has the same bytes, at every door."""

import json
from pathlib import Path

import pytest

import macekit
from app.cli import main
from app.openapi.examples import SAMPLE
from macekit.call import CSV, HTML, JSON, MARKDOWN
from macekit.reports import model
from tests.app.running import Answer, Running
from tests.cases import each_case

BODY = json.dumps({**SAMPLE, "max_advantage": 0.1}).encode()
TABLE = b"score,member\n" + b"0.5,1\n0.25,0\n" * 8
REPORTS = (HTML, MARKDOWN, CSV)
YEAR = "2031"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that never says the same twice."""
    minutes = iter(range(60))
    monkeypatch.setattr(model, "minute", lambda: f"{YEAR}-02-03T04:{next(minutes):02}Z")
    monkeypatch.setattr("macekit.operations.options.minute", model.minute)
    monkeypatch.setattr("app.cli.ask.minute", model.minute)


def posted(service: Running, query: str, accept: str, body: bytes = BODY, form: str = JSON) -> Answer:
    return service.ask(f"/v1/advantage{query}", "POST", body, {"Content-Type": form, "Accept": accept})


@pytest.mark.slow
@each_case("accept", REPORTS)
def test_a_service_answers_with_the_same_bytes_again_and_says_the_time_if_asked(accept, service) -> None:
    plain = [posted(service, query, accept).body.decode() for query in ("", "", "?dated=false")]
    dated = [posted(service, "?dated=true", accept, *table).body.decode() for table in ((BODY, JSON), (TABLE, CSV))]

    assert plain[0] == plain[1] == plain[2]
    assert "Report made by" in plain[0]
    for text, says in ((plain[0], False), *((each, True) for each in dated)):
        assert ("Report made" in text.replace("Report made by", "")) == says


def test_json_has_no_clock_to_ask_for(service: Running) -> None:
    assert posted(service, "?dated=true", JSON).body == posted(service, "", JSON).body


@each_case(
    "query, kind", [("?dated=yes", "wrong-type"), ("?dated=", "wrong-type"), ("?dated=true&dated=true", "bad-option")]
)
def test_what_is_neither_true_nor_false_is_refused(query: str, kind: str, service: Running) -> None:
    answer = posted(service, query, HTML)

    assert (answer.status, answer.json()["type"]) == (422, f"urn:mace:problem:{kind}")
    assert answer.json()["field"] == "dated"


def test_the_command_writes_the_same_bytes_again_and_the_time_if_asked(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_bytes(TABLE)
    for name in ("one", "two", "dated"):
        main(["estimate", "scores.csv", "-o", f"{name}.md", "-q", *["--dated"] * (name == "dated")])

    one, two, dated = (Path(f"{name}.md").read_text(encoding="utf-8") for name in ("one", "two", "dated"))
    assert one == two
    assert "| Input | scores.csv |" in one
    assert [line for line in dated.splitlines() if line not in one.splitlines()] == [
        f"| Report made | {YEAR}-02-03T04\\:00Z |"
    ]
    assert main(["estimate", "scores.csv", "--dated"]) == 2
    assert "--dated: goes with -o" in capsys.readouterr().err


def test_a_kept_answer_is_dated_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    macekit.estimate(**SAMPLE).to_json("kept.json")

    main(["report", "kept.json", "-o", "kept.md", "-q", "--dated"])

    assert f"| Report made | {YEAR}-02-03T04" in Path("kept.md").read_text(encoding="utf-8")


@pytest.mark.slow
@each_case("form", ["html", "markdown", "card", "csv"])
def test_python_writes_the_same_bytes_again_and_the_time_if_asked(form: str) -> None:
    first, second = (getattr(macekit.estimate(**SAMPLE), f"to_{form}") for _ in range(2))

    assert first() == second()
    assert YEAR in first(dated=True)
    assert YEAR not in first()
