"""The audit file: whole as it was written, and broken by whatever is done to it afterwards."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from app.audit_file import START, AuditError, AuditFile, verify
from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient

BODY = {"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 9]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of ten lines, written in two goes."""
    path = tmp_path / "audit.jsonl"
    for start in (0, 5):
        file = AuditFile.open(path)
        for place in range(start, start + 5):
            file.append({"place": place, "text": "é\n\x00"})
        file.close()
    return path


def test_lines_follow_each_other_from_the_first_over_restarts(path: Path) -> None:
    entries = [json.loads(line) for line in path.read_text().splitlines()]

    assert [entry["place"] for entry in entries] == list(range(10))
    assert entries[0]["previous"] == START
    assert [each["previous"] for each in entries[1:]] == [each["hash"] for each in entries[:-1]]
    assert verify(path) == (10, entries[-1]["hash"])
    assert path.stat().st_mode & 0o777 == 0o640


Lines = list[str]
CHANGES: dict[str, tuple[str, Callable[[Lines], Lines]]] = {
    "a value": (
        "line 4 was changed",
        lambda lines: [line.replace('"place":3', '"place":4') for line in lines],
    ),
    "a line less": ("line 4 does not follow", lambda lines: lines[:3] + lines[4:]),
    "two lines the other way round": (
        "line 4 does not follow",
        lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    ),
    "a line twice": ("line 5 does not follow", lambda lines: lines[:4] + lines[3:]),
    "no first line": ("line 1 does not follow", lambda lines: lines[1:]),
    "half a last line": ("line 10 is no whole line", lambda lines: [*lines[:9], lines[9][:-3]]),
    "an empty line": ("line 6 is no whole line", lambda lines: [*lines[:5], "\n", *lines[5:]]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_is_seen(path: Path, change: str) -> None:
    why, changed = CHANGES[change]
    path.write_text("".join(changed(path.read_text().splitlines(keepends=True))))

    with pytest.raises(AuditError, match=why):
        verify(path)
    assert main(["verify", "--audit", str(path)]) == 1


def test_any_byte_that_is_changed_is_seen(path: Path) -> None:
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        broken = bytearray(content)
        broken[at] ^= 1
        path.write_bytes(broken)
        with pytest.raises(AuditError):
            verify(path)


def test_a_file_is_not_gone_on_with_behind_an_unfinished_line(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])

    with pytest.raises(AuditError, match="its last line is not whole"):
        AuditFile.open(path)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestClient, Path]:
    """A service in this process, whose workers were not started, and its audit file."""
    path = tmp_path_factory.mktemp("audited") / "audit.jsonl"
    return TestClient(create_app(Settings(audit_file=path))), path


def test_each_question_has_its_line_and_nothing_else_has(audited: tuple[TestClient, Path]) -> None:
    client, path = audited
    before = verify(path)[0]
    good = client.post("/v1/advantage", json=BODY)
    bad = client.post("/v1/advantage", json={})
    client.get("/healthz")
    client.get("/v1/methods")
    rows = client.post("/v1/individual-risk", json=BODY, headers={"Accept": "text/csv"})

    first, second, third = [json.loads(line) for line in path.read_text().splitlines()][before:]
    assert [(entry["route"], entry["status"], entry["problem"]) for entry in (first, second, third)] == [
        ("/v1/advantage", 200, None),
        ("/v1/advantage", 422, bad.json()["type"].rpartition(":")[2]),
        ("/v1/individual-risk", 200, None),
    ]
    assert first["request_id"] == good.headers["x-request-id"]
    assert first["input_sha256"] == good.json()["provenance"]["input_sha256"] == third["input_sha256"]
    assert first["answer_sha256"] == sha256(good.content).hexdigest()
    assert third["answer_sha256"] == sha256(rows.content).hexdigest()
    assert verify(path)[0] == before + 3


def test_without_its_line_no_answer_leaves(audited: tuple[TestClient, Path]) -> None:
    """A file that may not grow: the answer is withheld, nothing of the line stays, and later all is well again."""
    client, path = audited
    assert client.post("/v1/advantage", json=BODY).status_code == 200
    size, lines, most = path.stat().st_size, verify(path)[0], resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, most[1]))
    try:
        refused = client.post("/v1/advantage", json=BODY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)

    assert refused.status_code == 503, refused.text
    assert "audit file cannot be written" in refused.json()["detail"]
    assert "advantage" not in refused.json()
    assert path.stat().st_size == size
    assert client.post("/v1/advantage", json=BODY).status_code == 200
    assert verify(path)[0] == lines + 1
