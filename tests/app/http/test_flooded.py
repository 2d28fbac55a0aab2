"""More small requests than can be answered, over real sockets: probes are, and the rest are told to come back."""

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

from app.audit_file import verify
from app.workers.admission import MOST_SMALL
from tests.app.conftest import KEY
from tests.app.http.asked import answered, as_json, head, metric, post, slug, workers_of, world
from tests.app.running import PATIENCE, Answer, Running, until

SMALL = as_json(*world(350))
QUESTION = head("/v1/advantage", len(SMALL)) + SMALL


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
    requests = [QUESTION] * number + [last] * bool(last)
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


@pytest.mark.slow
@pytest.mark.parametrize("anew", [False, True], ids=["on connections it has", "on connections it has yet to take"])
def test_a_probe_does_not_wait_for_all_the_small_requests_before_it(audited: Running, anew: bool) -> None:
    post(audited, "/v1/advantage", SMALL)  # what the first loads is loaded
    mark = f"the-mark-{anew}"
    audited.ask("/version", headers={"X-Request-ID": mark})

    answers = asked_at_once(audited, MOST_SMALL, b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n", anew=anew)

    assert [answer.status for answer in answers] == [200] * (MOST_SMALL + 1)
    assert until(lambda: asked(audited, mark, MOST_SMALL + 1)).index("/healthz") < MOST_SMALL // 2


def ticks_of(pids: list[int]) -> int:
    """CPU ticks that processes have had."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields)


def refusals(service: Running) -> list[int]:
    """How many questions were told that it is busy, by their statuses and by their problems."""
    text = service.ask("/metrics").body.decode()
    names = r'mace_requests_total{operation="advantage",status="503"}', r'mace_problems_total{problem="busy"}'
    return [sum(int(n) for n in re.findall(rf"^{re.escape(name)} (\d+)", text, re.MULTILINE)) for name in names]


@pytest.mark.slow
def test_more_small_requests_than_may_wait_are_told_when_to_come_back_and_none_is_dropped(audited: Running) -> None:
    workers, audit = workers_of(audited), audited.folder / "audit"
    ticks, lines, before = ticks_of(workers), verify(audit)[0], refusals(audited)

    answers = asked_at_once(audited, 8 * MOST_SMALL)

    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {200, 503}
    assert statuses[200] > MOST_SMALL
    for answer in answers:
        if answer.status == 503:
            assert slug(answer) == "busy"
            assert answer.json()["instance"] == "urn:mace:request:" + answer.headers["x-request-id"]
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["x-content-type-options"] == "nosniff"
    assert refusals(audited) == [each + statuses[503] for each in before]
    assert post(audited, "/v1/advantage", SMALL).status == 200
    assert metric(audited, "mace_small_waiting") == 0.0
    assert ticks_of(workers) > ticks, "a worker that has nothing to do takes its share"
    assert verify(audit)[0] == lines + len(answers) + 1
    busy = until(lambda: [line for line in requests_logged(audited) if line["problem"] == "busy"])
    assert {line["client"] for line in busy} == {"127.0.0.1"}


def test_probes_and_metrics_answer_on_a_port_of_their_own_though_the_service_cannot(locked: Running) -> None:
    probes, key = locked.probes(), {"Authorization": f"Bearer {KEY}"}

    assert probes.ask("/healthz").json() == {"status": "ok"}
    assert b"mace_ready 1.0" in probes.ask("/metrics", headers=key).body
    assert probes.ask("/metrics").status == 401
    for path in ("/version", "/docs", "/v1/advantage", "/"):
        assert probes.ask(path, headers=key).status == 404
    assert locked.ask("/healthz").status == 200


@pytest.mark.slow
def test_a_service_whose_event_loop_no_longer_turns_is_not_alive(service: Running) -> None:
    probes = service.probes()
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
        connection.sendall(b"GET /test/block HTTP/1.1\r\nHost: here\r\n\r\n")
        until((service.folder / "waiting").exists)
        assert probes.ask("/metrics").status == 200
        stuck = until(lambda: (answer := probes.ask("/healthz")).status == 503 and answer)
        (service.folder / "go").touch()
        assert answered(connection).body == b"done"
    until(lambda: probes.ask("/healthz").status == 200)

    assert slug(stuck) == "not-ready"
