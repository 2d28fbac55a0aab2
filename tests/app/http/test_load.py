"""A short run of `benchmarks/load.py`: nobody is cut off, nothing stays behind. Times are the long run's business."""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Iterator
from random import Random

import pytest

from benchmarks import load
from macekit.call import JSON, NPY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are read from /proc"),
]
BODIES = load.small(), load.medium()


WORKERS = 2


def every_worker_is_there(service: load.Service) -> bool:
    """One that was just replaced is waited for."""
    return load.until(lambda: len(service.workers()) == service.metric("mace_workers") == WORKERS)


@pytest.fixture(scope="module")
def service() -> Iterator[load.Service]:
    with load.serving(workers=str(WORKERS), time_limit="3") as found:
        asyncio.run(load.closed(found.port, 4, 0.5, lambda n: BODIES[n % 2]))
        yield found


def test_more_clients_than_it_can_answer_are_answered_or_told_when_to_come_back(service: load.Service) -> None:
    which = load.mixture(mixed=True)
    many = asyncio.run(load.closed(service.port, 64, 1.0, which))
    often = asyncio.run(load.opened(service.port, 100.0, 1.0, which))

    for tally in (many, often):
        assert tally.statuses[200] > 0
        assert set(tally.statuses) <= {200, 503}
        assert tally.faults == 0


def test_requests_of_every_kind_keep_neither_descriptors_nor_processes(service: load.Service) -> None:
    kinds = [
        *(load.request(f"/v1/{name}", load.as_json(50), JSON) for name in ("advantage", "individual-risk", "counts")),
        *(load.request(f"/v1/counts?members={n}", load.as_npy(n), NPY) for n in (500, 5000)),
        load.request("/v1/advantage", b'{"members": [1, 2', JSON),
    ]
    tally = load.Tally()

    async def ask(times: int) -> tuple[int, int]:
        client = load.Client(service.port, tally)
        for number in range(times):
            await client.ask(kinds[number % len(kinds)])
        client.close()
        return load.settled(service), len(service.family())

    before, after = (asyncio.run(ask(times)) for times in (30, 150))

    assert before == after
    assert tally.statuses == {200: 150, 400: 30}


def test_processes_that_die_or_stop_under_load_fail_nobody_and_leave_nothing_behind(service: load.Service) -> None:
    """Workers and the fork server are stopped and killed, the server stops for a while and is killed at the end."""
    assert every_worker_is_there(service)
    before, rng = load.settled(service), Random(0)
    with load.asking(service) as tally:
        for victim in ("worker", "fork server"):
            for number in (signal.SIGKILL, signal.SIGSTOP):
                time.sleep(0.3)
                load.strike(service, victim, number, rng)
        time.sleep(0.3)
        service.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        service.process.send_signal(signal.SIGCONT)
        time.sleep(0.5)

    assert (tally.reset, tally.late) == (0, 0)
    assert every_worker_is_there(service)
    assert load.until(lambda: load.settled(service) <= before + WORKERS), "one that watches each orphan"
    assert service.files() == 0
    stop = threading.Event()
    with load.asking(service, stop):
        time.sleep(0.3)
        service.family()
        stop.set()
        service.process.kill()
        service.process.wait()
    assert load.until(lambda: not service.left(), 10)
    assert service.files() == 0
