"""Answers before the whole body has come, and to clients that close their side, over real sockets."""

import http.client
import socket
from collections.abc import Mapping

import pytest

from macekit.call import CSV, JSON
from tests.app.conftest import KEY, MIB
from tests.app.http.asked import answered, as_json, begun, metric, post, reached, slow, world
from tests.app.running import PATIENCE, Answer, Running, until

CANCELLED = 'mace_worker_kills_total{reason="cancelled"}'


def sent_first(service: Running, headers: Mapping[str, str], size: int) -> Answer:
    """The answer, as a client gets it that reads only when all is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
    try:
        connection.request("POST", "/v1/advantage", b" " * size, {"Content-Length": str(size), **headers})
        found = connection.getresponse()
        return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
    finally:
        connection.close()


WITH_KEY = {"Authorization": f"Bearer {KEY}"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "headers", "size"),
    [
        (401, {"Content-Type": JSON}, 20 * MIB),
        (415, {"Content-Type": "text/plain", **WITH_KEY}, 20 * MIB),
        (413, {"Content-Type": JSON, **WITH_KEY}, 24 * MIB + 1),
    ],
)
def test_a_refusal_reaches_a_client_that_sends_its_whole_body_first(
    locked: Running, status: int, headers: dict[str, str], size: int
) -> None:
    for _ in range(3):
        answer = sent_first(locked, headers, size)

        assert (answer.status, answer.headers["connection"]) == (status, "close")


def test_a_refused_client_that_sends_for_ever_is_cut_off(locked: Running) -> None:
    with pytest.raises(OSError, match=r"reset|Broken|aborted"):
        sent_first(locked, {"Content-Type": JSON}, 80 * MIB)


def test_a_refusal_of_a_body_that_has_come_leaves_the_connection_open(locked: Running) -> None:
    request = b"POST /v1/advantage HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", locked.port), PATIENCE) as connection:
        for _ in range(2):
            connection.sendall(request)
            answer = answered(connection)

            assert answer.status == 401
            assert "connection" not in answer.headers


@pytest.mark.parametrize("records", [30, 2000, 40_000])
def test_a_client_that_closes_its_side_after_its_request_is_answered(service: Running, records: int) -> None:
    before = metric(service, CANCELLED)
    with begun(service, "/v1/advantage", as_json(*world(records))) as connection:
        connection.shutdown(socket.SHUT_WR)

        assert answered(connection).status == 200
        assert connection.recv(1) == b""
    assert metric(service, CANCELLED) == before


def test_a_client_that_leaves_while_it_waits_ends_its_worker_and_the_next_is_answered(narrow: Running) -> None:
    before = metric(narrow, CANCELLED)
    with begun(narrow, "/v1/compare", slow()):
        reached(narrow, "mace_workers_busy", 1.0)

    reached(narrow, CANCELLED, before + 1.0)
    assert post(narrow, "/v1/advantage", as_json(*world(2000))).status == 200


@pytest.mark.parametrize("path", ["/v1/advantage", "/v1/counts"])
def test_a_client_that_closes_its_side_amid_its_body_has_left_and_leaves_nothing_behind(
    service: Running, path: str
) -> None:
    rows = b"score,member\n" + b"1,1\n" * 100_000
    with begun(service, path, rows, declared=10**7, media_type=CSV) as connection:
        until(lambda: metric(service, "mace_bodies_arriving") + metric(service, "mace_workers_busy") == 1.0)
        connection.shutdown(socket.SHUT_WR)

        assert connection.recv(100) == b""
    for name in ("mace_bodies_arriving", "mace_workers_busy", "mace_under_way", "mace_spooled_bytes"):
        reached(service, name, 0.0)
