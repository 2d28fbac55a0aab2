"""Clients that are slow, silent or many, over real sockets: whoever sends at a usual pace is answered meanwhile."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.workers.admission import MOST_ARRIVING, MOST_STREAMS
from macekit.call import CSV, JSON
from tests.app.http.asked import as_csv, as_json, begun, metric, post, reached, slow, table, world
from tests.app.running import Running, running, until

STREAM = b"score,member\n" + b"1,1\n" * 17_000


def ready(service: Running) -> int:
    return service.ask("/readyz").status


@contextmanager
def uploads(
    service: Running, path: str, number: int, start: bytes, media_type: str
) -> Iterator[list[socket.socket]]:
    """Bodies that have begun, and of which no more comes."""
    head = f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {media_type}\r\nContent-Length: 200000000\r\n\r\n"
    with ExitStack() as opened:
        sockets = []
        for _ in range(number):
            one = opened.enter_context(socket.create_connection(("127.0.0.1", service.port), 30))
            one.sendall(head.encode() + start)
            sockets.append(one)
        yield sockets


@contextmanager
def fed(sockets: list[socket.socket], piece: bytes, seconds: float) -> Iterator[None]:
    """Send a piece on each socket again and again."""
    end = threading.Event()

    def feed() -> None:
        while not end.wait(seconds):
            for one in sockets:
                try:
                    one.sendall(piece)
                except OSError:
                    continue

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        yield
    finally:
        end.set()
        feeding.join()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), workers="2", queue="32") as started:
        until(lambda: ready(started) == 200)
        yield started


def test_trickled_counts_leave_every_other_request_its_place(service: Running) -> None:
    with uploads(service, "/v1/counts", 40, STREAM, CSV) as sockets, fed(sockets, b"1,1\n", 0.2):
        reached(service, "mace_streams_waiting", float(MOST_STREAMS))
        reached(service, "mace_bodies_arriving", 39.0 - MOST_STREAMS)

        small = post(service, "/v1/advantage", as_json(*world(30)))
        larger = post(service, "/v1/advantage", as_json(*world(2000)))
        waiting, places = metric(service, "mace_under_way"), metric(service, "mace_places")

        assert (small.status, larger.status, ready(service)) == (200, 200, 200)
        assert (waiting, places) == (1.0, 34.0)
    reached(service, "mace_under_way", 0.0)


def test_a_count_takes_the_worker_of_one_that_trickles(tmp_path: Path) -> None:
    body = as_csv(table(*world(50_000)))
    with (
        running(tmp_path, workers="2", stall_limit="2") as impatient,
        uploads(impatient, "/v1/counts", 1, STREAM, CSV) as sockets,
        fed(sockets, b"1,1\n" * 1200, 0.1),
    ):
        reached(impatient, "mace_workers_busy", 1.0)

        answer = post(impatient, "/v1/counts", body, CSV)

        assert answer.status == 200
        assert b" 503 " in sockets[0].recv(100)


def test_a_count_is_held_in_memory_where_no_worker_can_read_it_as_it_comes(tmp_path: Path) -> None:
    body = as_csv(table(*world(50_000)))
    with (
        running(tmp_path, workers="2", stall_limit="2") as impatient,
        uploads(impatient, "/v1/counts", 1, STREAM, CSV) as sockets,
        fed(sockets, b"1,1\n" * 20_000, 0.1),
    ):
        reached(impatient, "mace_workers_busy", 1.0)

        assert post(impatient, "/v1/counts", body, CSV).status == 200
        assert metric(impatient, "mace_workers_busy") == 1.0


def test_as_many_silent_uploads_as_may_arrive_keep_nobody_out(service: Running) -> None:
    with uploads(service, "/v1/advantage", MOST_ARRIVING, b"", JSON) as sockets:
        reached(service, "mace_bodies_arriving", float(MOST_ARRIVING))

        answers = [post(service, "/v1/advantage", as_json(*world(n))).status for n in (30, 2000)]

        assert (answers, ready(service)) == ([200, 200], 200)
        assert b" 503 " in sockets[0].recv(100)
        assert metric(service, "mace_bodies_arriving") <= MOST_ARRIVING


def test_slow_bodies_that_fill_the_memory_of_all_give_way_to_the_next(tmp_path: Path) -> None:
    with (
        running(tmp_path, spool_limit=str(2**22), stall_limit="10") as filled,
        uploads(filled, "/v1/advantage", 3, b" " * 1_200_000, JSON) as sockets,
    ):
        until(lambda: metric(filled, "mace_spooled_bytes") == 3_600_000)

        answers = [post(filled, "/v1/advantage", as_json(*world(n))).status for n in (2000, 20_000)]

        assert answers == [200, 200]
        assert b" 503 " in sockets[0].recv(100)


def test_small_requests_are_answered_while_large_ones_fill_the_queue(tmp_path: Path) -> None:
    with running(tmp_path, workers="1", queue="1") as crowded, ExitStack() as under_way:
        until(lambda: ready(crowded) == 200)
        for _ in range(2):
            under_way.enter_context(begun(crowded, "/v1/compare", slow()))
        until(lambda: metric(crowded, "mace_under_way") == 2.0)

        refused = post(crowded, "/v1/advantage", as_json(*world(2000)))

        assert (refused.status, refused.json()["type"]) == (503, "urn:mace:problem:busy")
        assert int(refused.headers["retry-after"]) >= 1
        assert post(crowded, "/v1/advantage", as_json(*world(30))).status == 200
        assert (ready(crowded), metric(crowded, "mace_ready")) == (200, 1.0)


FEW = (
    "import resource, sys, app.cli; resource.setrlimit(resource.RLIMIT_NOFILE,"
    " (150, resource.getrlimit(resource.RLIMIT_NOFILE)[1])); sys.exit(app.cli.main(['serve']))"
)


def test_silent_connections_beyond_the_usual_number_keep_nobody_out(tmp_path: Path) -> None:
    with (
        running(tmp_path, ("-c", FEW)) as service,
        uploads(service, "/v1/advantage", 300, b"", JSON),
    ):
        reached(service, "mace_bodies_arriving", 300.0)

        assert post(service, "/v1/advantage", as_json(*world(2000))).status == 200
