"""Reports hold no clock unless one is asked for: the same question has the same bytes, at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import macekit
from app.cli import main
from app.main import create_app
from app.openapi.examples import SAMPLE
from macekit.call import CSV, HTML, JSON, MARKDOWN
from macekit.reports import model
from tests.app.client import TestClient

BODY = json.dumps({**SAMPLE, "max_advantage": 0.1}).encode()
REPORTS = (HTML, MARKDOWN, CSV)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that never says the same twice."""
    minutes = iter(range(60))
    monkeypatch.setattr(model, "minute", lambda: f"2031-02-03T04:{next(minutes):02}Z")
    monkeypatch.setattr("macekit.operations.options.minute", model.minute)
    monkeypatch.setattr("app.cli.ask.minute", model.minute)


@pytest.fixture(scope="module")
def service() -> Iterator[TestClient]:
    with TestClient(create_app()) as client:
        yield client


def posted(service: TestClient, query: str, accept: str, body: bytes = BODY, form: str = JSON) -> str:
    headers = {"Content-Type": form, "Accept": accept}
    answer = service.post(f"/v1/advantage{query}", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("accept", REPORTS)
def test_a_service_answers_the_same_request_with_the_same_bytes(accept: str, service: TestClient) -> None:
    plain = [posted(service, query, accept) for query in ("", "", "?dated=false")]

    assert plain[0] == plain[1] == plain[2]
    assert "Report made by" in plain[0]
    assert "2031" not in plain[0]


@pytest.mark.parametrize("accept", REPORTS)
def test_a_service_says_when_a_report_was_made_if_asked(accept: str, service: TestClient) -> None:
    for table in (BODY, JSON), (b"score,member\n" + b"0.5,1\n0.25,0\n" * 8, CSV):
        text = posted(service, "?dated=true", accept, *table)

        assert "Report made" in text.replace("Report made by", "")


def test_json_has_no_clock_to_ask_for(service: TestClient) -> None:
    assert posted(service, "?dated=true", JSON) == posted(service, "", JSON)


@pytest.mark.parametrize(
    ("query", "kind"),
    [("?dated=yes", "wrong-type"), ("?dated=", "wrong-type"), ("?dated=true&dated=true", "bad-option")],
)
def test_what_is_neither_true_nor_false_is_refused(query: str, kind: str, service: TestClient) -> None:
    answer = service.post(f"/v1/advantage{query}", content=BODY, headers={"Content-Type": JSON})

    assert (answer.status_code, answer.json()["type"]) == (422, f"urn:mace:problem:{kind}")
    assert answer.json()["field"] == "dated"


def test_the_command_writes_the_same_bytes_again_and_the_time_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text("score,member\n" + "0.5,1\n0.25,0\n" * 8, encoding="utf-8")
    for name in ("one", "two", "dated"):
        main(["estimate", "scores.csv", "-o", f"{name}.md", "-q", *["--dated"] * (name == "dated")])

    one, two, dated = (Path(f"{name}.md").read_text(encoding="utf-8") for name in ("one", "two", "dated"))
    assert one == two
    assert "| Input | scores.csv |" in one
    assert [line for line in dated.splitlines() if line not in one.splitlines()] == [
        "| Report made | 2031-02-03T04\\:00Z |"
    ]
    assert main(["estimate", "scores.csv", "--dated"]) == 2
    assert "--dated: goes with -o" in capsys.readouterr().err


def test_a_kept_answer_is_dated_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    macekit.estimate(SAMPLE["members"], SAMPLE["nonmembers"]).to_json("kept.json")

    main(["report", "kept.json", "-o", "kept.md", "-q", "--dated"])

    assert "| Report made | 2031-02-03T04" in Path("kept.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["html", "markdown", "card", "csv"])
def test_python_writes_the_same_bytes_again_and_the_time_if_asked(form: str) -> None:
    first, second = (macekit.estimate(SAMPLE["members"], SAMPLE["nonmembers"]) for _ in range(2))

    assert getattr(first, f"to_{form}")() == getattr(second, f"to_{form}")()
    assert "2031" in getattr(first, f"to_{form}")(dated=True)
    assert "2031" not in getattr(first, f"to_{form}")()
