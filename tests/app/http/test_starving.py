"""Clients that are slow, silent or many, over real sockets: whoever sends at a usual pace is answered meanwhile."""

import http.client
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.workers.admission import MOST_ARRIVING, MOST_STREAMS
from macekit.call import CSV, JSON
from tests.app.conftest import MIB
from tests.app.http.asked import as_csv, as_json, begun, metric, post, reached, table, world
from tests.app.running import Running, ready, until

STREAM = b"score,member\n" + b"1,1\n" * 17_000
SILENT = b" 503 "
"""What one whose upload was ended for others is told."""


@contextmanager
def uploads(
    service: Running, path: str, number: int, start: bytes, media_type: str = JSON
) -> Iterator[list[socket.socket]]:
    """Bodies that have begun, and of which no more comes."""
    with ExitStack() as opened:
        yield [opened.enter_context(begun(service, path, start, 200_000_000, media_type)) for _ in range(number)]


@contextmanager
def fed(sockets: list[socket.socket], piece: bytes, seconds: float) -> Iterator[None]:
    """Send a piece on each socket every so many seconds; one who comes late sends what is due."""
    end, begin = threading.Event(), time.monotonic()

    def feed() -> None:
        sent = 0
        while not end.wait(seconds):
            due = int((time.monotonic() - begin) / seconds) - sent
            sent += due
            for one in sockets:
                try:
                    one.sendall(piece * due)
                except OSError:
                    continue

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        yield
    finally:
        end.set()
        feeding.join()


def statuses(service: Running, *sizes: int) -> list[int]:
    """The statuses of questions about so many records."""
    return [post(service, "/v1/advantage", as_json(*world(size))).status for size in sizes]


def test_trickled_counts_leave_every_other_request_its_place(service: Running) -> None:
    places = metric(service, "mace_places")
    with uploads(service, "/v1/counts", 40, STREAM, CSV) as sockets, fed(sockets, b"1,1\n", 0.2):
        reached(service, "mace_streams_waiting", float(MOST_STREAMS))
        reached(service, "mace_bodies_arriving", 39.0 - MOST_STREAMS)

        assert statuses(service, 30, 2000) == [200, 200]
        assert service.ask("/readyz").status == 200
        assert (metric(service, "mace_under_way"), metric(service, "mace_places")) == (1.0, places)
    assert places == 202.0
    reached(service, "mace_under_way", 0.0)


@pytest.mark.slow
def test_a_count_takes_the_worker_of_one_that_trickles(audited: Running) -> None:
    body = as_csv(table(*world(20_000)))
    with uploads(audited, "/v1/counts", 1, STREAM, CSV) as sockets, fed(sockets, b"1,1\n" * 1200, 0.1):
        reached(audited, "mace_workers_busy", 1.0)

        def is_told() -> bool:
            """Whether the one that trickles hears something after a further count, which is answered in any case."""
            assert post(audited, "/v1/counts", body, CSV).status == 200
            return bool(select.select(sockets, [], [], 0.0)[0])

        until(is_told)  # time in which the service itself was slow is not counted against an upload
        assert SILENT in sockets[0].recv(100)
    reached(audited, "mace_workers_busy", 0.0)


@pytest.mark.slow
def test_a_count_is_held_in_memory_where_no_worker_can_read_it_as_it_comes(audited: Running) -> None:
    body = as_csv(table(*world(20_000)))
    with uploads(audited, "/v1/counts", 1, STREAM, CSV) as sockets, fed(sockets, b"1,1\n" * 20_000, 0.1):
        reached(audited, "mace_workers_busy", 1.0)

        assert post(audited, "/v1/counts", body, CSV).status == 200
        assert metric(audited, "mace_workers_busy") == 1.0
    reached(audited, "mace_workers_busy", 0.0)


@pytest.mark.slow
def test_a_slow_reader_that_keeps_the_pace_gets_the_whole_answer(narrow: Running) -> None:
    """More than twice as long as one may take that reads nothing."""
    body, dropped = as_json(*world(24_000)), metric(narrow, "mace_answers_dropped_total")
    with begun(narrow, "/v1/individual-risk", body, buffer=64 * 1024) as connection:
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        expected, received, begin = int(answer.headers["content-length"]), 0, time.monotonic()
        while chunk := answer.read(64 * 1024):
            received += len(chunk)
            time.sleep(max(0.0, begin + received / (2 * MIB) - time.monotonic()))

    assert answer.status == 200
    assert received == expected > 5 * MIB
    assert metric(narrow, "mace_answers_dropped_total") == dropped


def test_as_many_silent_uploads_as_may_arrive_keep_nobody_out(service: Running) -> None:
    with uploads(service, "/v1/advantage", MOST_ARRIVING, b"") as sockets:
        reached(service, "mace_bodies_arriving", float(MOST_ARRIVING))

        assert statuses(service, 30, 2000) == [200, 200]
        assert service.ask("/readyz").status == 200
        assert SILENT in sockets[0].recv(100)
        assert metric(service, "mace_bodies_arriving") <= MOST_ARRIVING
    reached(service, "mace_bodies_arriving", 0.0)


@pytest.mark.slow
def test_slow_bodies_that_fill_the_memory_of_all_give_way_to_the_next(tmp_path: Path) -> None:
    with (
        ready(tmp_path, spool_limit=str(2**22), stall_limit="10") as filled,
        uploads(filled, "/v1/advantage", 3, b" " * 1_200_000) as sockets,
    ):
        until(lambda: metric(filled, "mace_spooled_bytes") == 3_600_000)

        assert statuses(filled, 2000, 20_000) == [200, 200]
        assert SILENT in sockets[0].recv(100)
