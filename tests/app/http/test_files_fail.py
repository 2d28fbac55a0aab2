"""What becomes of a service whose audit file or file of keys fails, by a real process, real files and real signals."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import keys
from app.audit_file import verify
from app.keys import Key
from tests.app.http.asked import metric, slug
from tests.app.running import SERVE, Answer, Running, ready, running, start, until

BODY = json.dumps({"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 9]}).encode()
KEY = {"Authorization": "Bearer one"}


def keys_file(folder: Path) -> Path:
    path = folder / "keys.toml"
    keys.write(path, [Key(name="one", sha256=keys.digest_of(b"one"), scope=("ask", "metrics"))])
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with an audit file and a file of keys, which are good for four seconds once it cannot be used."""
    folder = tmp_path_factory.mktemp("kept")
    settings = {"audit_file": str(folder / "audit"), "keys_file": str(keys_file(folder)), "keys_grace": "4"}
    with ready(folder, **settings) as found:
        yield found


def ask(service: Running) -> Answer:
    return service.ask("/v1/advantage", "POST", BODY, {"Content-Type": "application/json"} | KEY)


def readiness(service: Running) -> tuple[int, str]:
    answer = service.ask("/readyz")
    return answer.status, answer.json().get("detail", "")


def works(service: Running) -> bool:
    return ask(service).status == 200 and readiness(service)[0] == 200


def fails(service: Running, reason: str) -> None:
    """Nothing is answered, readiness says why, and the service is alive."""
    refused = until(lambda: (answer := ask(service)).status != 200 and answer, service.process)
    status, detail = until(lambda: reason in (found := readiness(service))[1] and found, service.process)

    assert (refused.status, slug(refused), refused.headers["retry-after"]) == (503, "not-ready", "30")
    assert "advantage" not in refused.json()
    assert status == 503, detail
    assert service.ask("/healthz").status == 200


@pytest.mark.slow
def test_a_full_disk_stops_the_answers_and_their_return_is_by_itself(kept: Running) -> None:
    audit, pid = kept.folder / "audit", kept.process.pid
    assert works(kept)
    usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (audit.stat().st_size + 10, usual[1]))
    try:
        fails(kept, "the audit file cannot be written: ")
        assert metric(kept, "mace_audit_written", KEY) == 0
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)
    until(lambda: works(kept))

    assert metric(kept, "mace_audit_written", KEY) == 1
    assert "goes on" in audit.read_text()
    verify(audit)


@pytest.mark.slow
def test_an_audit_file_that_is_gone_or_another_stops_the_answers_until_it_is_back(kept: Running) -> None:
    audit, moved = kept.folder / "audit", kept.folder / "moved"
    assert works(kept)
    audit.rename(moved)
    fails(kept, "the file was moved or removed")
    audit.write_text("")
    fails(kept, "another has its place")
    moved.rename(audit)
    until(lambda: works(kept))

    verify(audit)


def test_signals_rotate_and_reopen_and_the_chain_goes_on(kept: Running) -> None:
    audit, pid = kept.folder / "audit", kept.process.pid
    assert works(kept)
    os.kill(pid, signal.SIGUSR1)
    until((kept.folder / "audit.000001").exists)
    until(lambda: works(kept))
    (kept.folder / "audit").rename(kept.folder / "audit.000002")  # as logrotate does
    os.kill(pid, signal.SIGHUP)
    until(lambda: works(kept))
    os.kill(pid, signal.SIGUSR2)
    assert works(kept)

    files = [kept.folder / "audit.000001", kept.folder / "audit.000002", audit]
    assert verify(audit)[0] == sum(len(path.read_text().splitlines()) for path in files)


@pytest.mark.slow
def test_a_second_service_on_one_audit_file_does_not_start_and_names_the_first(kept: Running, tmp_path: Path) -> None:
    with start(tmp_path, audit_file=str(kept.folder / "audit")) as process:
        try:
            status = process.wait(60)
        finally:
            process.kill()

    said = (tmp_path / "stderr").read_text()
    assert status == 2
    assert "MACE_AUDIT_FILE" in said
    assert f"another service writes it (process {kept.process.pid} of this machine)" in said


@pytest.mark.slow
def test_a_file_of_keys_that_went_bad_is_told_at_once_and_closes_the_service_after_a_while(kept: Running) -> None:
    path = kept.folder / "keys.toml"
    assert works(kept)
    sound, age = (metric(kept, f"mace_keys_{name}", KEY) for name in ("sound", "age_seconds"))
    path.chmod(0o660)
    until(lambda: readiness(kept)[0] == 503)
    at_once = ask(kept).status
    fails(kept, "keys.toml: others may write to it")
    metrics = kept.ask("/metrics", headers=KEY).status
    path.chmod(0o640)
    until(lambda: works(kept))

    assert (sound, age < 2, at_once, metrics) == (1, True, 200, 503)


def test_a_key_that_is_taken_back_is_gone_at_the_signal(kept: Running) -> None:
    assert works(kept)
    text = (kept.folder / "keys.toml").read_text()
    keys.write(kept.folder / "keys.toml", [])
    os.kill(kept.process.pid, signal.SIGHUP)
    until(lambda: ask(kept).status == 401)
    (kept.folder / "keys.toml").write_text(text)
    until(lambda: works(kept))


@pytest.mark.slow
def test_killed_again_and_again_it_goes_on_with_every_line_of_every_answer(tmp_path: Path) -> None:
    answered = 0
    for _ in range(3):  # after a start, after a kill, and after a kill of what a kill had left
        with running(tmp_path, audit_file=str(tmp_path / "audit"), audit_size="2000") as service:
            until(lambda: ask(service).status == 200)
            answered += 1
            for _ in range(9):
                answered += ask(service).status == 200
            service.process.kill()
            service.process.wait(30)
    files = [*tmp_path.glob("audit.0*"), tmp_path / "audit"]
    entries = [json.loads(line) for path in files for line in path.read_text().splitlines()]

    assert verify(tmp_path / "audit")[0] == len(entries)
    assert sum(entry.get("status") == 200 for entry in entries) == answered
    assert len(files) > 3


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGQUIT, signal.SIGTERM])
def test_it_ends_well_and_every_line_of_its_output_is_json(tmp_path: Path, sent: signal.Signals) -> None:
    """Standard output and standard error go to one file."""
    with (tmp_path / "all").open("wb") as output:
        bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
        process = subprocess.Popen(
            [sys.executable, *SERVE, "--port", "0"],
            env=bare | {"MACE_WORKERS": "1", "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=output,
        )
        try:
            told = ("workers confined", '"listening"')  # the one or the other comes first
            until(lambda: all(each in (tmp_path / "all").read_text() for each in told), process)
            began = time.monotonic()
            process.send_signal(sent)
            status = process.wait(60)
        finally:
            process.kill()

    lines = [json.loads(line) for line in (tmp_path / "all").read_text().splitlines()]
    assert status == 0
    assert time.monotonic() - began < 20
    assert [each["address"] for each in lines if each["event"] == "listening"]
