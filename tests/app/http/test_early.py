"""Answers before the whole body has come, and to clients that close their side or read slowly, over real sockets."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from macekit.call import CSV, JSON
from tests.app.http.asked import answered, as_csv, as_json, begun, metric, post, reached, slow, table, world
from tests.app.running import PATIENCE, Answer, Running, running, until

KEY = "a-key-of-sixteen-letters"
MIB = 2**20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), api_key=KEY, body_limit=str(24 * MIB)) as started:
        until(lambda: started.ask("/readyz").status == 200)
        yield started


def sent_first(service: Running, headers: Mapping[str, str], size: int = 20 * MIB, length: int = 0) -> Answer:
    """The answer, as a client gets it that reads only when all is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
    try:
        more = {"Content-Length": str(length or size), **headers}
        connection.request("POST", "/v1/advantage", b" " * size, more)
        found = connection.getresponse()
        return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("status", "headers", "size"),
    [
        (401, {"Content-Type": JSON}, 20 * MIB),
        (415, {"Content-Type": "text/plain", "Authorization": f"Bearer {KEY}"}, 20 * MIB),
        (413, {"Content-Type": JSON, "Authorization": f"Bearer {KEY}"}, 24 * MIB + 1),
    ],
)
def test_a_refusal_reaches_a_client_that_sends_its_whole_body_first(
    service: Running, status: int, headers: dict[str, str], size: int
) -> None:
    for _ in range(3):
        answer = sent_first(service, headers, size)

        assert answer.status == status
        assert answer.headers["connection"] == "close"


def test_a_refused_client_that_sends_for_ever_is_cut_off(service: Running) -> None:
    with pytest.raises(OSError, match=r"reset|Broken|aborted"):
        sent_first(service, {"Content-Type": JSON}, 80 * MIB)


def test_a_refusal_of_a_body_that_has_come_leaves_the_connection_open(service: Running) -> None:
    request = b"POST /v1/advantage HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
        for _ in range(2):
            connection.sendall(request)
            answer = answered(connection)

            assert answer.status == 401
            assert "connection" not in answer.headers


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service")) as started:
        until(lambda: started.ask("/readyz").status == 200)
        yield started


@pytest.mark.parametrize("records", [30, 2000, 40_000])
def test_a_client_that_closes_its_side_after_its_request_is_answered(
    open_service: Running, records: int
) -> None:
    before = metric(open_service, 'mace_worker_kills_total{reason="cancelled"}')
    with begun(open_service, "/v1/advantage", as_json(*world(records))) as connection:
        connection.shutdown(socket.SHUT_WR)

        answer = answered(connection)

        assert answer.status == 200
        assert connection.recv(1) == b""
    assert metric(open_service, 'mace_worker_kills_total{reason="cancelled"}') == before


def test_a_client_that_closes_its_side_and_waits_long_is_answered(tmp_path: Path) -> None:
    with running(tmp_path, time_limit="0.5") as hasty:
        until(lambda: hasty.ask("/readyz").status == 200)
        with begun(hasty, "/v1/compare", slow()) as connection:
            connection.shutdown(socket.SHUT_WR)

            answer = answered(connection)

    assert (answer.status, answer.json()["type"]) == (503, "urn:mace:problem:time-limit")


def test_a_client_that_leaves_while_it_waits_ends_its_worker(open_service: Running) -> None:
    cancelled = 'mace_worker_kills_total{reason="cancelled"}'
    before = metric(open_service, cancelled)
    with begun(open_service, "/v1/compare", slow()):
        reached(open_service, "mace_workers_busy", 1.0)

    reached(open_service, cancelled, before + 1.0)


def test_a_client_that_closes_its_side_amid_its_body_has_left(open_service: Running) -> None:
    with begun(open_service, "/v1/advantage", b"{", declared=1000) as connection:
        reached(open_service, "mace_bodies_arriving", 1.0)
        connection.shutdown(socket.SHUT_WR)

        assert connection.recv(100) == b""
    reached(open_service, "mace_bodies_arriving", 0.0)


def test_a_slow_reader_that_keeps_the_pace_gets_the_whole_answer(tmp_path: Path) -> None:
    scores = np.linspace(0.0, 1.0, 100_000).round(5)
    body = as_csv(table(scores[::2], scores[1::2]))
    with running(tmp_path, stall_limit="1") as impatient:
        whole = post(impatient, "/v1/individual-risk", body, CSV)
        with begun(impatient, "/v1/individual-risk", body, media_type=CSV) as connection:
            received = 0
            while chunk := connection.recv(64 * 1024):
                received += len(chunk)
                time.sleep(len(chunk) / (700 * 1024))

        dropped = impatient.logged().count("answer dropped")

    assert whole.status == 200
    assert len(whole.body) > 7 * MIB
    assert received > len(whole.body)
    assert dropped == 0
