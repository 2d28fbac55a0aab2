"""Every mistake is refused in one line that says what to do, by every door by which it can be made."""

import re
from pathlib import Path
from typing import Any

import pytest

import macekit
from app.cli.parsing import MISUSE
from macekit.call import CSV, JSON
from tests.app import mistakes, mistakes_in_files
from tests.app.cli.files import refused, typed
from tests.app.http.asked import post, slug
from tests.app.mistakes import HOLDOUT, SCORES, TRAIN, Mistake
from tests.app.running import Running
from tests.cases import each_case

MISTAKES = mistakes.MISTAKES + mistakes_in_files.MISTAKES
FILES = mistakes.FILES | mistakes_in_files.FILES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (place / "none").mkdir()
    return place


def test_there_are_a_hundred_and_many_by_every_door() -> None:
    assert len({each.name for each in MISTAKES}) == len(MISTAKES) >= 100
    for door in ("shell", "python", "http"):
        assert sum(getattr(each, door) is not None for each in MISTAKES) >= 60


@pytest.mark.slow
@each_case("mistake", [each for each in MISTAKES if each.shell is not None])
def test_in_the_shell_a_mistake_is_one_line_and_nothing_is_written(
    mistake: Mistake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())

    done = typed(mistake.shell or "")

    first, *others = done.err.splitlines()
    assert (done.status, done.out) == (MISUSE, "")
    assert re.match(r"mace( [a-z-]+){0,2}: ", first)
    assert re.search(mistake.says, first)
    assert all(line.startswith(("See mace ", "commands: ")) for line in others)
    assert sorted(folder.iterdir()) == before
    assert (folder / "there.html").read_text() == "dear"


@each_case("mistake", [each for each in MISTAKES if each.python is not None])
def test_from_python_a_mistake_is_one_line_of_an_error_of_ours_or_of_a_call(
    mistake: Mistake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert mistake.python is not None

    with pytest.raises((ValueError, TypeError, AttributeError), match=mistake.says) as raised:
        mistake.python()

    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


@each_case("mistake", [each for each in MISTAKES if each.http is not None])
def test_over_http_a_mistake_is_a_problem_whose_detail_is_one_line(mistake: Mistake, service: Running) -> None:
    assert mistake.http is not None

    answer = post(service, f"/v1/{mistake.http[0]}", *mistake.http[1:])

    assert 400 <= answer.status < 500
    assert slug(answer)
    assert re.search(mistake.says, answer.json()["detail"])
    assert "\n" not in answer.json()["detail"]


SECRET = "SECRET_COLUMN"
SECRET_SIDES = {side: {**TRAIN, SECRET: TRAIN["p_0"]} for side in ("train", "holdout")}
SECRET_TABLES = {**SECRET_SIDES, "synthetic": SECRET_SIDES["train"]}
ONE, SEVERAL = ("truth", "unit", "group", "control"), ("predictions", "features", "leave_out", "categories")


@each_case(
    "path, body",
    *(("model", {**SECRET_SIDES, option: f"{SECRET}2"}) for option in ONE),
    *(("model", {**SECRET_SIDES, option: [f"{SECRET}2"]}) for option in SEVERAL),
    ("check", {**SECRET_SIDES, "use": [f"{SECRET}2"]}),
    ("synthetic", {**SECRET_TABLES, "unit": f"{SECRET}2"}),
    ("release-size", {**SECRET_TABLES, "leave_out": [f"{SECRET}2"]}),
    (f"advantage?score={SECRET}2", SCORES.replace("score", SECRET)),
)
def test_what_is_sent_names_no_column_that_came(service: Running, path: str, body: Any) -> None:
    answer = post(service, f"/v1/{path}", body, CSV if isinstance(body, str) else JSON)

    assert answer.status == 422
    assert "column" in answer.json()["detail"]
    assert SECRET.encode() not in answer.body


def test_a_long_table_is_not_listed_whole_and_the_nearest_come_first(tmp_path: Path) -> None:
    names = [f"x{place}" for place in range(50)] + ["loss"]
    (tmp_path / "wide.csv").write_text(",".join(["member", *names]) + "\n" + ",".join(["1"] * 52) + "\n")

    said = refused(f"estimate {tmp_path}/wide.csv --score los")
    assert "there are 'loss', 'member', 'x0', " in said.replace(" and 40 more", "")


@each_case(
    "headers, status, says",
    ({"Content-Encoding": "gzip, gzip"}, 415, "need identity, gzip or zstd"),
    ({"Content-Encoding": "gzip"}, 400, "is not gzip"),
    ({"Content-Encoding": "br"}, 415, "need identity, gzip or zstd"),
)
def test_a_wrong_encoding_is_said(service: Running, headers: dict[str, str], status: int, says: str) -> None:
    answer = post(service, "/v1/advantage", SCORES, CSV, headers)

    assert (answer.status, slug(answer) != "") == (status, True)
    assert says in answer.json()["detail"]


def test_a_dataset_that_is_not_there_is_said(service: Running) -> None:
    answer = service.ask("/v1/advantage?data=nothing.csv", "POST", b"")

    assert 400 <= answer.status < 500
    assert slug(answer)
    assert answer.json()["detail"] == "nothing.csv: no such file or folder"


@pytest.mark.slow
def test_a_release_that_is_the_training_table_is_noticed_at_every_door(
    folder: Path, monkeypatch: pytest.MonkeyPatch, service: Running
) -> None:
    monkeypatch.chdir(folder)
    said = "is it the right file?"

    here = macekit.audit_synthetic("train.csv", "holdout.csv", "train.csv")
    there = post(service, "/v1/synthetic", {"train": TRAIN, "holdout": HOLDOUT, "synthetic": TRAIN}).json()

    for answer in (here.answer, there):
        assert any(said in each["message"] for each in answer["warnings"])
