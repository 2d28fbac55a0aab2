"""The audit file: whole as it was written, and broken by whatever is done to it afterwards."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from app.audit import START, AuditError, AuditFile, verify
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


@pytest.mark.parametrize(
    ("line", "change", "why"),
    [
        (
            3,
            lambda lines: [*lines[:3], lines[3].replace('"place":3', '"place":4'), *lines[4:]],
            "line 4 was changed",
        ),
        (3, lambda lines: lines[:3] + lines[4:], "line 4 does not follow"),
        (3, lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "line 4 does not follow"),
        (3, lambda lines: lines[:4] + lines[3:], "line 5 does not follow"),
        (0, lambda lines: lines[1:], "line 1 does not follow"),
        (9, lambda lines: [*lines[:9], lines[9][:-3]], "line 10 is no whole line"),
        (5, lambda lines: [*lines[:5], "\n", *lines[5:]], "line 6 is no whole line"),
    ],
)
def test_whatever_is_changed_is_seen(path: Path, line: int, change: object, why: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(change(lines)))  # type: ignore[operator]

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


def test_each_question_has_its_line_and_nothing_else_has(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with TestClient(create_app(Settings(audit_file=path, workers=1))) as client:
        good = client.post("/v1/advantage", json=BODY)
        bad = client.post("/v1/advantage", json={})
        client.get("/healthz")
        client.get("/v1/methods")
        rows = client.post("/v1/individual-risk", json=BODY, headers={"Accept": "text/csv"})

    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(entry["route"], entry["status"], entry["problem"]) for entry in entries] == [
        ("/v1/advantage", 200, None),
        ("/v1/advantage", 422, bad.json()["type"].rpartition(":")[2]),
        ("/v1/individual-risk", 200, None),
    ]
    assert entries[0]["request_id"] == good.headers["x-request-id"]
    assert (
        entries[0]["input_sha256"] == good.json()["provenance"]["input_sha256"] == entries[2]["input_sha256"]
    )
    from hashlib import sha256

    assert [entries[at]["answer_sha256"] for at in (0, 2)] == [
        sha256(answer.content).hexdigest() for answer in (good, rows)
    ]
    assert verify(path)[0] == 3


def test_without_its_line_no_answer_leaves(tmp_path: Path) -> None:
    """A file that may not grow: the answer is withheld, nothing of the line stays, and later all is well again."""
    path = tmp_path / "audit.jsonl"
    script = f"""
import resource, signal
from pathlib import Path
from app.main import create_app
from app.settings import Settings
from app.audit import verify
from tests.app.client import TestClient
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path({str(path)!r})
with TestClient(create_app(Settings(audit_file=path, workers=1))) as client:
    ask = lambda: client.post("/v1/advantage", json={BODY!r})
    assert ask().status_code == 200
    size = path.stat().st_size
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, most[1]))
    refused = ask()
    resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert refused.status_code == 503, refused.text
    assert "audit file cannot be written" in refused.json()["detail"] and "advantage" not in refused.json()
    assert path.stat().st_size == size
    assert ask().status_code == 200
assert verify(path)[0] == 2
"""
    assert hasattr(resource, "RLIMIT_FSIZE")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, check=False
    )

    assert done.returncode == 0, done.stderr
