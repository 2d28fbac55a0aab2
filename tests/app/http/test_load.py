"""A short run of `benchmarks/load.py`: nobody is cut off, nothing stays behind. Times are the long run's business."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import sys
from pathlib import Path

import pytest

from benchmarks import load
from tests.app.running import Running, running, until

SECONDS = 1.0


def test_more_clients_than_it_can_answer_are_answered_or_told_when_to_come_back() -> None:
    which = load.mixture(mixed=True)
    with load.serving(workers="2") as service:
        many = asyncio.run(load.closed(service.port, 64, SECONDS, which))
        often = asyncio.run(load.opened(service.port, 150.0, SECONDS, which))

    for tally in (many, often):
        assert tally.statuses[200] > 0
        assert set(tally.statuses) <= {200, 503}
        assert tally.faults == 0
    assert many.statuses[503] == len(many.retry_after)


def test_others_are_answered_while_uploads_trickle_or_say_nothing() -> None:
    rows = list(load.holding(SECONDS, silent=200))

    assert len(rows) == 3
    assert [wrong for _, wrong in rows] == [0, 0, 0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="families of processes are read from /proc")
@pytest.mark.parametrize("victim", ["worker", "fork server"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_processes_that_die_under_load_fail_nobody_and_leave_nothing_behind(
    victim: str, number: signal.Signals
) -> None:
    row, wrong = load.faults_within(victim, number, 2)

    assert wrong == 0, row


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="families of processes are read from /proc")
def test_a_server_that_stops_for_a_while_or_is_killed_leaves_nothing_behind() -> None:
    for row, wrong in (load.server_stopped(2), load.server_killed(1)):
        assert wrong == 0, row


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="families of processes are read from /proc")
def test_requests_of_every_kind_keep_neither_descriptors_nor_processes() -> None:
    row, wrong = load.soak(300)

    assert wrong == 0, row


def test_more_connections_than_descriptors_fail_until_others_close(tmp_path: Path) -> None:
    few = (
        "import resource, sys, app.cli;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); sys.exit(app.cli.main(['serve']))"
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 256
    with running(tmp_path, ("-c", few)) as service:
        until(lambda: service.ask("/readyz").status == 200)
        connections = [socket.create_connection(("127.0.0.1", service.port), 10) for _ in range(100)]
        for connection in connections:
            connection.close()

        assert until(lambda: _alive(service)) == 200
        assert service.stop() == 0


def _alive(service: Running) -> int:
    try:
        return service.ask("/healthz").status
    except OSError:
        return 0
