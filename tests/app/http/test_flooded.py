"""More small requests than can be answered, over real sockets: probes are, and the rest are told to come back."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.audit import verify
from app.workers.admission import MOST_SMALL
from macekit.call import JSON, PROBLEM
from tests.app.http.asked import answered, as_json, metric, post, workers_of, world
from tests.app.running import PATIENCE, SERVE, Answer, Running, running, start, until

SMALL = as_json(*world(350))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), workers="1", log_level="debug") as started:
        until(lambda: started.ask("/readyz").status == 200)
        post(started, "/v1/advantage", SMALL)
        yield started


@contextmanager
def stopped(service: Running) -> Iterator[None]:
    """The service does nothing meanwhile, so whatever was sent is there at once when it goes on."""
    service.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        service.process.send_signal(signal.SIGCONT)


def asked_at_once(service: Running, number: int, last: bytes = b"", *, anew: bool = True) -> list[Answer]:
    """The answers to so many small requests, all there before the first is looked at, and to one more after them."""
    head = f"POST /v1/advantage HTTP/1.1\r\nHost: here\r\nContent-Type: {JSON}\r\nContent-Length: {len(SMALL)}\r\n\r\n"
    requests = [head.encode() + SMALL] * number + [last] * bool(last)
    with ExitStack() as connected:

        def connect() -> list[socket.socket]:
            address = ("127.0.0.1", service.port)
            return [connected.enter_context(socket.create_connection(address, PATIENCE)) for _ in requests]

        connections = [] if anew else connect()
        service.ask("/version")  # on the last connection: those before it have been taken
        with stopped(service):
            connections = connections or connect()
            for connection, request in zip(connections, requests, strict=True):
                connection.sendall(request)
        return [answered(connection) for connection in connections]


@contextmanager
def begun_get(service: Running, path: str) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        yield connection


def requests_logged(service: Running) -> list[dict[str, Any]]:
    """Lines of answers, as far as they are whole."""
    lines = [json.loads(line) for line in service.logged().rpartition("\n")[0].splitlines()]
    return [line for line in lines if line["event"] == "request"]


def asked(service: Running, mark: str, number: int) -> list[str]:
    """Which addresses but /version were answered after a request of this id, in order, once there are so many."""
    answers = requests_logged(service)
    ids = [line["request_id"] for line in answers]
    after = answers[ids.index(mark) + 1 :] if mark in ids else []
    routes = [line["route"] for line in after if line["route"] != "/version"]
    return routes if len(routes) == number else []


@pytest.mark.parametrize(
    "anew", [False, True], ids=["on connections it has", "on connections it has yet to take"]
)
def test_a_probe_does_not_wait_for_all_the_small_requests_before_it(service: Running, anew: bool) -> None:
    mark = f"the-mark-{anew}"
    service.ask("/version", headers={"X-Request-ID": mark})

    answers = asked_at_once(service, MOST_SMALL, b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n", anew=anew)

    assert [answer.status for answer in answers] == [200] * (MOST_SMALL + 1)
    questions = until(lambda: asked(service, mark, MOST_SMALL + 1))
    assert questions.index("/healthz") < MOST_SMALL // 2


def test_more_small_requests_than_may_wait_are_told_when_to_come_back_and_none_is_dropped(
    service: Running,
) -> None:
    answers = asked_at_once(service, 8 * MOST_SMALL)

    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {200, 503}
    assert statuses[200] > MOST_SMALL
    for answer in answers:
        if answer.status == 503:
            assert answer.json()["type"] == "urn:mace:problem:busy"
            assert answer.json()["instance"] == "urn:mace:request:" + answer.headers["x-request-id"]
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["content-type"] == PROBLEM
            assert answer.headers["x-content-type-options"] == "nosniff"
    assert metric(service, 'mace_requests_total{operation="advantage",status="503"}') == statuses[503]
    assert metric(service, 'mace_problems_total{problem="busy"}') == statuses[503]
    assert post(service, "/v1/advantage", SMALL).status == 200
    assert metric(service, "mace_small_waiting") == 0.0


def test_of_a_flood_each_refusal_has_its_line_in_the_audit_file_too(tmp_path: Path) -> None:
    with running(tmp_path, audit_file=str(tmp_path / "audit")) as service:
        until(lambda: service.ask("/readyz").status == 200)
        answers = asked_at_once(service, 4 * MOST_SMALL)
        assert {answer.status for answer in answers} == {200, 503}
        assert service.stop() == 0

    assert verify(tmp_path / "audit")[0] == len(answers)


def test_a_refusal_names_its_client_in_the_log(service: Running) -> None:
    asked_at_once(service, 4 * MOST_SMALL)

    clients = until(
        lambda: {line["client"] for line in requests_logged(service) if line["problem"] == "busy"}
    )
    assert clients == {"127.0.0.1"}


def test_a_flood_of_small_requests_is_shared_with_workers_that_have_nothing_to_do(service: Running) -> None:
    (worker,) = workers_of(service)
    before = seconds_of(worker)

    asked_at_once(service, 4 * MOST_SMALL)

    assert seconds_of(worker) > before


def seconds_of(pid: int) -> float:
    """CPU ticks that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return float(fields[11]) + float(fields[12])


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    """A service, and the same on the port of its probes."""
    with running(tmp_path, probe_port="0", api_key="a-key-of-sixteen-letters") as started:
        (port,) = until(lambda: re.findall(r"Probes: port (\d+)", started.said()))
        yield started, Running(started.process, int(port), started.folder)


def test_probes_and_metrics_answer_on_a_port_of_their_own_though_the_service_cannot(
    apart: tuple[Running, Running],
) -> None:
    service, probes = apart
    key = {"Authorization": "Bearer a-key-of-sixteen-letters"}
    until(lambda: probes.ask("/readyz").status == 200)

    assert probes.ask("/healthz").json() == {"status": "ok"}
    assert b"mace_ready 1.0" in probes.ask("/metrics", headers=key).body
    assert probes.ask("/metrics").status == 401
    for path in ("/version", "/docs", "/v1/advantage", "/"):
        assert probes.ask(path, headers=key).status == 404
    assert service.ask("/healthz").status == 200


STUCK = (
    "import sys, app.http.probes as probes; probes.STUCK_SECONDS = 1.5;"
    "from app.cli.server import listen; from tests.app.waiting import steered; sys.exit(listen(steered()))"
)


def test_a_service_whose_event_loop_no_longer_turns_is_not_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDER", str(tmp_path))
    with running(tmp_path, ("-c", STUCK), probe_port="0") as service:
        (port,) = until(lambda: re.findall(r"Probes: port (\d+)", service.said()))
        probes = Running(service.process, int(port), service.folder)
        with begun_get(service, "/test/block") as connection:
            until((tmp_path / "waiting").exists)
            assert probes.ask("/metrics").status == 200
            stuck = until(lambda: (answer := probes.ask("/healthz")).status == 503 and answer)
            (tmp_path / "go").touch()
            assert answered(connection).body == b"done"
        until(lambda: probes.ask("/healthz").status == 200)

    assert stuck.json()["type"] == "urn:mace:problem:not-ready"


def test_a_port_of_probes_that_is_taken_stops_the_start(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        start(tmp_path, SERVE, probe_port=str(taken.getsockname()[1])) as process,
    ):
        assert process.wait(PATIENCE) == 1

    assert "Address already in use" in (tmp_path / "stdout").read_text()
