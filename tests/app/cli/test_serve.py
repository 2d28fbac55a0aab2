"""`mace serve` as an operator runs it: a process, its port, its output, its signals and its exit status."""

import json
import signal
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.app.cli.files import Done, typed_with
from tests.app.http.asked import workers_of
from tests.app.running import PATIENCE, SERVE, Running, children, running, start, until
from tests.cases import each_case

KEY = "correct-horse-battery-staple"
SCORE = "0.12345678"
WAITING = ("-m", "tests.app.waiting")
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that is told where to listen by its options, and by the environment elsewhere; it logs as text."""
    options = ("--host", "127.0.0.1", "--port", "0")
    settings = {"port": "1", "host": "192.0.2.1", "workres": "3", "log_format": "text"}
    with running(tmp_path_factory.mktemp("plain"), (*SERVE, *options), anew=True, **settings) as service:
        yield service


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service beyond this machine, with its key in a file, that says all it can and waits for nothing at its end."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "key").write_text(KEY + "\n")
    settings = {"api_key_file": str(folder / "key"), "log_level": "debug", "drain_limit": "0"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDER", str(folder))
        with running(folder, WAITING, host="0.0.0.0", **settings) as service:
            yield service


@pytest.mark.slow
def test_it_listens_where_its_options_say_and_says_where_it_is(plain: Running) -> None:
    assert plain.port > 1
    assert plain.ask("/healthz").status == 200
    assert f"Swagger UI: http://127.0.0.1:{plain.port}/docs\n" in plain.said()
    assert plain.ask("/docs").status == 200
    assert "MACE_WORKRES is not a setting; did you mean MACE_WORKERS?" in plain.said()


def test_it_is_ready_once_its_workers_are_up(plain: Running) -> None:
    until(lambda: plain.ask("/readyz").status == 200)

    assert "mace_workers 1.0" in plain.ask("/metrics").body.decode()


@pytest.mark.slow
def test_it_ends_well_when_told_to_and_no_worker_outlives_it(plain: Running) -> None:
    until(lambda: plain.ask("/readyz").status == 200)
    family = [*children(plain.process.pid), *workers_of(plain)]
    plain.ask("/version", headers={"X-Request-ID": "mine-1"})

    assert plain.stop() == 0

    assert len(family) == 2
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in family))
    assert "Traceback" not in plain.said() + plain.logged()
    (line,) = (line for line in plain.logged().splitlines() if "mine-1" in line)
    told = " INFO app.access request request_id=mine-1 client=127.0.0.1 method=GET route=/version status=200 "
    assert told in line


def test_logs_name_requests_and_hold_neither_scores_nor_keys_nor_queries(guarded: Running) -> None:
    body = json.dumps({"members": [float(SCORE)] * 50, "nonmembers": [0.5] * 50}).encode()
    headers = {**BEARER, "X-Request-ID": "mine-1", "Content-Type": "application/json"}
    guarded.ask(f"/v1/advantage?prior={SCORE}", "POST", body, headers)
    guarded.ask(f"/nowhere/{SCORE}?score={SCORE}", headers={"Authorization": f"Bearer {KEY}x"})
    guarded.send(f"GET /{SCORE} HTTP/9\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode())
    until(lambda: '"problem": "bad-request"' in guarded.logged())

    told = [json.loads(line) for line in guarded.logged().splitlines()]
    (mine,) = (line for line in told if line["event"] == "request" and line.get("request_id") == "mine-1")
    assert (mine["method"], mine["route"], mine["bytes_in"]) == ("POST", "/v1/advantage", len(body))
    assert {"bad-request", "unauthorized"} <= {line.get("problem") for line in told}
    for output in (guarded.logged(), guarded.said()):
        assert SCORE not in output
        assert KEY not in output
        assert "nowhere" not in output
        assert "Traceback" not in output


@pytest.mark.slow
def test_at_its_end_it_finishes_what_is_under_way_and_takes_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDER", str(tmp_path))
    asked = b"GET /test/wait HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
    with running(tmp_path, WAITING) as service:
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


def test_what_outlasts_the_drain_limit_is_told_so(guarded: Running) -> None:
    asked = f"GET /test/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", guarded.port), PATIENCE) as connection:
        connection.sendall(asked.encode())
        until((guarded.folder / "waiting").exists)
        guarded.process.send_signal(signal.SIGINT)
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert received.startswith(b"HTTP/1.1 503")
    assert b"urn:mace:problem:shutting-down" in received
    assert guarded.process.wait(PATIENCE) == 0
    assert "Traceback" not in guarded.said() + guarded.logged()


# --- what does not start ----------------------------------------------------------------------------------------


def serve(line: str = "", **settings: str) -> Done:
    """What is said in this process, which is for settings that are refused before anything listens."""
    return typed_with(settings, f"serve {line}")


@each_case(
    "ask, words",
    (partial(serve, "--port 70000"), ["--port: Input should be less than or equal to 65535"]),
    (partial(serve, "--port http"), ["--port: Input should be a valid integer"]),
    (partial(serve, "--host 0.0.0.0"), ["the host is not an address of this machine alone, and there is no key"]),
    (partial(serve, host="0.0.0.0"), ["MACE_API_KEY", "MACE_OPEN_TO_EVERYONE=true"]),
)
def test_what_cannot_be_used_is_refused_by_its_name(ask: Callable[[], Done], words: list[str]) -> None:
    done = ask()

    assert (done.status, done.out) == (2, "")
    assert all(each in done.err for each in words)
    assert "Traceback" not in done.err


@each_case("settings", [{"api_key": "sesame"}, {"port": "sesame"}, {"otlp_endpoint": "sesame"}])
def test_a_bad_setting_is_a_readable_line_without_its_value(settings: dict[str, str]) -> None:
    done = serve(**settings)

    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[0] == "mace cannot start:"
    assert f"MACE_{next(iter(settings)).upper()}" in done.err
    for word in ("sesame", "pydantic", "Traceback"):
        assert word not in done.err


@pytest.mark.slow
@each_case("setting, said", [("port", "address already in use"), ("probe_port", "Address already in use")])
def test_a_port_that_is_taken_stops_the_start(setting: str, said: str, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        start(tmp_path, SERVE, **{setting: str(taken.getsockname()[1])}) as process,
    ):
        assert process.wait(PATIENCE) == 1

    assert said in (tmp_path / "stdout").read_text()


def reachable(service: Running) -> bool:
    try:
        socket.create_connection(("127.0.0.1", service.port), PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True
