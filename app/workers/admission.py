"""How many requests may be under way and how many bodies may arrive, and the problems of those that are refused.

A body that is arriving takes no place in the queue: a client that sends slowly, or nothing, must not keep others from
being answered. The memory that such bodies take is bounded by the budget of the spools.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from macekit.problems import Problem

# --- refusals -----------------------------------------------------------------------------------------------
# Why a job could not be done, and what to do about it.


def shutting_down() -> Problem:
    """The problem of a request that comes too late."""
    return Problem(
        "shutting-down", "the service is shutting down; send the request to another instance", retry_after=5
    )


def too_long(seconds: float) -> Problem:
    """The problem of a request that wanted more time than it gets."""
    return Problem(
        "time-limit",
        f"the request took longer than the {seconds:g} seconds granted to one; "
        "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about, "
        "or ask the operator to raise MACE_TIME_LIMIT",
    )


def out_of_memory(limit: int) -> Problem:
    """The problem of a request that wanted more memory than it gets."""
    return Problem(
        "memory-limit",
        f"the request needs more than the {limit // 2**20} MiB of memory granted to one; "
        "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about, "
        "or ask the operator to raise MACE_MEMORY_LIMIT",
    )


def worker_lost() -> Problem:
    """The problem of a request whose process died."""
    return Problem(
        "worker-lost",
        "the process that worked on this request ended before it answered, most likely for want of memory; "
        "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about; or try again",
    )


def internal_error() -> Problem:
    """The problem of a request that met an error of the service itself."""
    return Problem("internal", "the service made a mistake; its log has the details under this request's id")


# --- admission ----------------------------------------------------------------------------------------------

LONGEST_WAIT = 60
MOST_ARRIVING = 1024
"""Bodies that may arrive at once."""


class Admission:
    """Requests under way, of everybody and of each client."""

    def __init__(self, processes: int, queue: int, per_client: int) -> None:
        self.under_way = 0
        self.arriving = 0
        self.closed = False
        self._processes = processes
        self._most = processes + queue
        self._per_client = per_client
        self._clients: Counter[str] = Counter()
        self._seconds = 1.0

    @contextmanager
    def admit(self, client: str) -> Iterator[None]:
        """Count one request while it lasts, or refuse it."""
        self._check(client)
        self.under_way += 1
        self._clients[client] += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._leave(client)

    @contextmanager
    def receive(self, client: str) -> Iterator[None]:
        """Count one body while it arrives, or refuse it."""
        self._check(client)
        if self.arriving >= MOST_ARRIVING:
            raise Problem(
                "busy",
                f"{MOST_ARRIVING} bodies arrive at once, as many as may",
                retry_after=self.retry_after(),
            )
        self.arriving += 1
        self._clients[client] += 1
        try:
            yield
        finally:
            self.arriving -= 1
            self._leave(client)

    def record_duration(self, seconds: float) -> None:
        """Keep the moving average of how long jobs take, over about ten."""
        self._seconds += (seconds - self._seconds) / 10

    def retry_after(self) -> int:
        """Seconds until a place is likely free: requests under way are half done on average, spread over processes."""
        expected = self._seconds * self.under_way / self._processes / 2
        return min(max(math.ceil(expected), 1), LONGEST_WAIT)

    def _leave(self, client: str) -> None:
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]

    def _check(self, client: str) -> None:
        if self.closed:
            raise shutting_down()
        if self._per_client and self._clients[client] >= self._per_client:
            raise Problem(
                "too-many-requests",
                f"this client has {self._per_client} requests under way, as many as it may; "
                "wait for an answer before sending the next",
                retry_after=1,
            )
        if self.under_way >= self._most:
            raise Problem(
                "busy",
                f"{self.under_way} requests are under way, as many as this service takes; try again later",
                retry_after=self.retry_after(),
            )
