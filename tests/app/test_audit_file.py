"""The audit file: whole as it was written, and broken by whatever is done to it afterwards."""

import asyncio
import errno
import json
import os
import resource
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app import audit_file
from app.audit_file import START, AuditError, AuditFile, verify
from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient
from tests.app.running import until

BODY = {"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 9]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of ten lines, written in two goes."""
    path = tmp_path / "audit.jsonl"
    for start in (0, 5):
        file = AuditFile(path)
        for place in range(start, start + 5):
            file.append({"place": place, "text": "é\n\x00"}).outcome.result(5)
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
    "a value": ("line 4 was changed", lambda lines: [line.replace('"place":3', '"place":4') for line in lines]),
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

    with pytest.raises(AuditError, match=r"line 10 is no whole line.*mace verify --audit .* --begin-anew"):
        AuditFile(path)


def lines(*paths: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def write(file: AuditFile, *places: int) -> None:
    for place in places:
        file.append({"place": place}).outcome.result(5)


def test_only_a_regular_file_that_nobody_else_writes_is_taken(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AuditError, match="need a regular file"):
        AuditFile(tmp_path / "pipe")
    first = AuditFile(path)
    with pytest.raises(AuditError, match=rf"another service writes it \(process {os.getpid()} of this machine\)"):
        AuditFile(path)
    first.close()
    AuditFile(path).close()


def test_a_broken_chain_is_not_gone_on_with_and_another_begins_with_its_digest(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text(path.read_text().replace('"place":3', '"place":4'))
    path.with_name("audit.jsonl.checkpoint").unlink()
    broken = sha256(path.read_bytes()).hexdigest()
    with pytest.raises(AuditError, match="line 4 was changed"):
        AuditFile(path)

    assert main(["verify", "--audit", str(path), "--begin-anew"]) == 1
    file = AuditFile(path)
    write(file, 1, 2)
    file.close()

    (first, *_) = lines(path)
    assert (first["event"], first["file_sha256"], first["previous"]) == ("begins anew", broken, START)
    assert sha256((path.parent / first["file"]).read_bytes()).hexdigest() == broken
    assert verify(path)[0] == 3
    capsys.readouterr()
    assert main(["verify", "--audit", str(path)]) == 0
    assert f"begun anew after {first['file']}: its chain was broken" in capsys.readouterr().out


def test_the_chain_is_followed_at_the_start_from_where_it_was_known_to_hold(path: Path) -> None:
    """What was changed before that is for `mace verify` to find."""
    noted = path.with_name("audit.jsonl.checkpoint")
    assert json.loads(noted.read_text())["offset"] == path.stat().st_size
    file = AuditFile(path)
    write(file, 10, 11)
    file._thread.join(0.01)  # as if it were killed: no checkpoint is noted
    os.close(file._descriptor)
    whole = path.read_text()

    path.write_text(whole.replace('"place":11', '"place":12'))
    with pytest.raises(AuditError, match=r"after byte [0-9]+, line 2 was changed"):
        AuditFile(path)
    path.write_text(whole.replace('"place":3', '"place":4'))
    AuditFile(path).close()
    with pytest.raises(AuditError, match="line 4 was changed"):
        verify(path)
    noted.write_text('{"offset": 7, "hash": "x"}')
    with pytest.raises(AuditError, match="line 4 was changed"):
        AuditFile(path)


def test_the_chain_goes_on_over_files_that_got_a_number(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = AuditFile(path, most=path.stat().st_size + 1)
    write(file, 10, 11)  # the first of these is one too many
    file.rotate()
    write(file, 12)
    file.close()
    first, second = (path.with_name(f"audit.jsonl.00000{number}") for number in (1, 2))

    places = [each.get("place", each.get("event")) for each in lines(first, second, path)]
    assert places == [*range(11), "continues", 11, "continues", 12]
    assert lines(path)[0]["file"] == second.name
    assert verify(path) == (15, lines(path)[-1]["hash"])
    again = AuditFile(path)
    write(again, 13)
    again.close()
    assert verify(path)[0] == 16

    second.write_bytes(second.read_bytes().replace(b'"place":11', b'"place":10'))
    with pytest.raises(AuditError, match=f"{second.name}: line 2 was changed"):
        verify(path)
    second.unlink()
    with pytest.raises(AuditError, match=r"audit\.jsonl: line 1 does not follow"):
        verify(path)
    first.unlink()
    assert main(["verify", "--audit", str(path)]) == 0
    assert "continues a file that is not here" in capsys.readouterr().out


def test_a_file_that_was_moved_away_is_followed_by_another_when_told_so(path: Path) -> None:
    file = AuditFile(path)
    moved = path.with_name("moved")
    path.rename(moved)
    with pytest.raises(OSError, match="moved or removed"):
        write(file, 10)
    file.reopen()
    write(file, 11)
    os.truncate(path, 0)  # as copytruncate does
    with pytest.raises(OSError, match="cut off"):
        write(file, 12)
    file.reopen()
    write(file, 13)
    file.close()

    assert [each.get("place", each.get("event")) for each in lines(path)] == ["continues", "goes on", 13]
    assert verify(moved)[0] == 10
    assert verify(path)[0] == 3


def test_a_disk_that_fails_is_noticed_and_that_it_is_back_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_file, "LOOK_AGAIN", 0.05)
    file = AuditFile(path)
    real, failing = audit_file.append, OSError(errno.EROFS, "Read-only file system")

    def fails(descriptor: int, data: bytes) -> None:
        raise failing

    monkeypatch.setattr(audit_file, "append", fails)
    with pytest.raises(OSError, match="Read-only"):
        write(file, 10)
    assert file.fault == "Read-only file system"
    monkeypatch.setattr(audit_file, "append", real)
    until(lambda: file.fault is None)
    write(file, 11)
    file.close()

    assert lines(path)[-2] | {"event": "goes on", "after": "Read-only file system"} == lines(path)[-2]
    assert verify(path)[0] == 12


def fill(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let no write succeed, as on a full disk, which still renames files and makes empty ones; give back the space."""
    monkeypatch.setattr(audit_file, "LOOK_AGAIN", 0.05)
    real = audit_file.append

    def fails(descriptor: int, data: bytes, *, sync: bool = False) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(audit_file, "append", fails)
    return lambda: monkeypatch.setattr(audit_file, "append", real)


@pytest.mark.parametrize("way", ["rotated", "moved", "emptied"])
def test_a_file_that_was_begun_on_a_full_disk_first_says_what_it_continues(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, last = AuditFile(path), lines(path)[-1]["hash"]
    empty = fill(monkeypatch)
    if way == "rotated":
        file.rotate()
    elif way == "moved":
        path.rename(path.with_name("moved"))
        file.reopen()
    else:
        os.truncate(path, 0)
        file.reopen()
    until(lambda: file.fault is not None)
    file.rotate()  # an empty file needs no number
    with pytest.raises(OSError, match="No space left"):
        write(file, 10)
    empty()
    until(lambda: file.fault is None)
    write(file, 11)
    os.close(file._descriptor)  # as if it were killed

    first, second, *_ = lines(path)
    former = "audit.jsonl.000001" if way == "rotated" else None
    assert (first["event"], first["file"], first["previous"]) == ("continues", former, last)
    assert (second["event"], second["after"]) == ("goes on", "No space left on device")
    again = AuditFile(path)
    write(again, 12)
    again.close()
    assert verify(path)[0] == 4 + (10 if way == "rotated" else 0)
    for each in audit_file.files_before(path):
        each.rename(each.with_name("elsewhere"))
    assert verify(path)[0] == 4


def test_a_service_that_starts_on_a_full_disk_goes_on_once_there_is_space(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was killed between the file that got a number and the first line of the next one."""
    path.rename(path.with_name("audit.jsonl.000001"))
    empty = fill(monkeypatch)
    file = AuditFile(path)
    assert file.fault == "No space left on device"
    empty()
    until(lambda: file.fault is None)
    write(file, 10)
    file.close()

    assert [each.get("place", each.get("event")) for each in lines(path)] == ["continues", "goes on", 10]
    assert verify(path)[0] == 13


def test_a_broken_file_stays_where_it_is_if_none_can_begin_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = path.read_bytes()[:-10]
    path.write_bytes(broken)
    fill(monkeypatch)

    with pytest.raises(AuditError, match="No space left"):
        audit_file.begin_anew(path)
    assert path.read_bytes() == broken
    assert not [*path.parent.glob("*.aside-*")]


def test_a_line_that_takes_too_long_withholds_its_answer_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_file, "LONGEST_WRITE", 0.1)
    monkeypatch.setattr(audit_file, "LOOK_AGAIN", 0.05)
    file, real, go = AuditFile(path), audit_file.append, threading.Event()

    def slow(descriptor: int, data: bytes) -> None:
        go.wait(5)
        real(descriptor, data)

    monkeypatch.setattr(audit_file, "append", slow)
    with pytest.raises(OSError, match="took longer than"):
        asyncio.run(file.write({"request_id": "mine"}))
    with pytest.raises(OSError, match="took longer than"):  # it has not even begun, and never will
        asyncio.run(file.write({"request_id": "another"}))
    assert "took longer than" in (file.fault or "")
    go.set()
    until(lambda: file.fault is None)
    file.close()

    asked, withheld, goes_on = lines(path)[10:]
    assert (asked["request_id"], withheld["event"], withheld["request_id"]) == ("mine", "withheld", "mine")
    assert goes_on["event"] == "goes on"
    assert verify(path)[0] == 13


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


@pytest.mark.slow
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
    until(lambda: client.post("/v1/advantage", json=BODY).status_code == 200)
    assert verify(path)[0] == lines + 2  # that it goes on, and the answer
