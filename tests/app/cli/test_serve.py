"""`mace serve` as an operator runs it: a process, its port, its output, its signals and its exit status."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import pytest

from tests.app.running import PATIENCE, SERVE, Running, running, start, until

KEY = "correct-horse-battery-staple"
SCORE = "0.12345678"


def refused(folder: Path, **settings: str) -> tuple[int, str]:
    with start(folder, SERVE, **settings) as process:
        status = process.wait(PATIENCE)
    assert (folder / "stdout").read_text() == ""
    return status, (folder / "stderr").read_text()


def test_it_says_where_it_is_once_it_is_there(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        assert service.ask("/healthz").status == 200
        assert f"Swagger UI: http://127.0.0.1:{service.port}/docs\n" in service.said()
        assert service.ask("/docs").status == 200


def test_it_is_ready_once_its_workers_are_up(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        until(lambda: service.ask("/readyz").status == 200)

        assert "mace_workers 1.0" in service.ask("/metrics").body.decode()


def test_it_listens_where_its_options_say_whatever_the_environment_says(tmp_path: Path) -> None:
    options = ("--host", "127.0.0.1", "--port", "0")
    with running(tmp_path, (*SERVE, *options), port="1", host="192.0.2.1") as service:
        assert service.port > 1
        assert service.ask("/healthz").status == 200


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--port", "70000"), "--port: Input should be less than or equal to 65535"),
        (("--port", "http"), "--port: Input should be a valid integer"),
        (("--host", "0.0.0.0"), "the host is not an address of this machine alone, and there is no key"),
    ],
)
def test_options_that_cannot_be_used_are_refused_by_their_names(
    tmp_path: Path, options: tuple[str, str], why: str
) -> None:
    with start(tmp_path, (*SERVE, *options)) as process:
        status = process.wait(PATIENCE)

    assert status == 2
    assert why in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_well_when_told_to(tmp_path: Path, sent: signal.Signals) -> None:
    with running(tmp_path) as service:
        service.process.send_signal(sent)

        assert service.process.wait(PATIENCE) == 0
        assert "Traceback" not in service.said() + service.logged()


def test_at_its_end_it_finishes_what_is_under_way_and_takes_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDER", str(tmp_path))
    asked = b"GET /test/wait HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
    with running(tmp_path, ("-m", "tests.app.waiting")) as service:
        until(lambda: service.ask("/readyz").status == 200)
        with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
            connection.sendall(asked)
            until((tmp_path / "waiting").exists)
            service.process.send_signal(signal.SIGTERM)
            until(lambda: not reachable(service))
            (tmp_path / "go").touch()
            received = b"".join(iter(lambda: connection.recv(65536), b""))

        first, second = received.split(b"HTTP/1.1 ")[1:]
        assert first.startswith(b"200")
        assert first.endswith(b"done")
        assert second.startswith(b"503")
        assert b"urn:mace:problem:shutting-down" in second
        assert service.process.wait(PATIENCE) == 0


def test_what_outlasts_the_drain_limit_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER", str(tmp_path))
    with running(tmp_path, ("-m", "tests.app.waiting"), drain_limit="0") as service:
        with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
            connection.sendall(b"GET /test/wait HTTP/1.1\r\nHost: x\r\n\r\n")
            until((tmp_path / "waiting").exists)
            service.process.send_signal(signal.SIGTERM)
            received = b"".join(iter(lambda: connection.recv(65536), b""))

        assert received.startswith(b"HTTP/1.1 503")
        assert b"urn:mace:problem:shutting-down" in received
        assert service.process.wait(PATIENCE) == 0


def test_logs_name_requests_and_hold_neither_scores_nor_keys_nor_queries(tmp_path: Path) -> None:
    body = json.dumps({"members": [float(SCORE)] * 50, "nonmembers": [0.5] * 50}).encode()
    with running(tmp_path, api_key=KEY, log_level="debug") as service:
        bearer = {
            "Authorization": f"Bearer {KEY}",
            "X-Request-ID": "mine-1",
            "Content-Type": "application/json",
        }
        service.ask(f"/v1/advantage?prior={SCORE}", "POST", body, bearer)
        service.ask(f"/nowhere/{SCORE}?score={SCORE}", headers={"Authorization": f"Bearer {KEY}x"})
        service.send(f"GET /{SCORE} HTTP/9\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode())
        assert service.stop() == 0

    told = [json.loads(line) for line in service.logged().splitlines()]
    (mine,) = (line for line in told if line["event"] == "request" and line.get("request_id") == "mine-1")
    assert (mine["method"], mine["route"], mine["bytes_in"]) == ("POST", "/v1/advantage", len(body))
    assert {"bad-request", "unauthorized"} <= {line.get("problem") for line in told}
    for output in (service.logged(), service.said()):
        assert SCORE not in output
        assert KEY not in output
        assert "nowhere" not in output


def test_logs_are_text_if_told_so(tmp_path: Path) -> None:
    with running(tmp_path, log_format="text") as service:
        service.ask("/version", headers={"X-Request-ID": "mine-1"})
        service.stop()

    (line,) = (line for line in service.logged().splitlines() if "mine-1" in line)
    assert (
        " INFO app.access request request_id=mine-1 client=127.0.0.1 method=GET route=/version status=200 "
        in line
    )


def test_with_a_key_in_a_file_only_who_has_it_is_answered(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    with running(tmp_path, api_key_file=str(tmp_path / "key")) as service:
        assert service.ask("/version").status == 401
        assert service.ask("/version", headers={"Authorization": f"Bearer {KEY}"}).status == 200
        assert service.ask("/healthz").status == 200


def test_beyond_this_machine_it_does_not_start_without_a_key(tmp_path: Path) -> None:
    status, said = refused(tmp_path, host="0.0.0.0")

    assert status == 2
    assert "MACE_API_KEY" in said
    assert "MACE_OPEN_TO_EVERYONE=true" in said
    assert "Traceback" not in said


def test_beyond_this_machine_it_starts_with_one(tmp_path: Path) -> None:
    with running(tmp_path, host="0.0.0.0", api_key=KEY) as service:
        assert service.ask("/version").status == 401


@pytest.mark.parametrize("settings", [{"api_key": "sesame"}, {"port": "sesame"}, {"otlp_endpoint": "sesame"}])
def test_a_bad_setting_is_a_readable_line_without_its_value(tmp_path: Path, settings: dict[str, str]) -> None:
    status, said = refused(tmp_path, **settings)

    assert status == 2
    assert said.splitlines()[0] == "mace cannot start:"
    assert f"MACE_{next(iter(settings)).upper()}" in said
    assert "sesame" not in said
    assert "pydantic" not in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        start(tmp_path, SERVE, port=str(taken.getsockname()[1])) as process,
    ):
        status = process.wait(PATIENCE)

    assert status == 1
    assert "address already in use" in (tmp_path / "stdout").read_text()


def test_a_variable_that_is_no_setting_is_reported(tmp_path: Path) -> None:
    with running(tmp_path, workres="3") as service:
        assert "MACE_WORKRES is not a setting; did you mean MACE_WORKERS?" in service.said()


def test_no_worker_outlives_the_service(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        until(lambda: service.ask("/readyz").status == 200)
        children = descendants(service.process.pid)
        service.stop()

    assert children
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def reachable(service: Running) -> bool:
    try:
        socket.create_connection(("127.0.0.1", service.port), PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


def descendants(parent: int) -> set[int]:
    """Processes that come from this one, by what the system says of each."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    while more := {child for child, of in parents.items() if of in found | {parent}} - found:
        found |= more
    return found
