"""Why the service does not answer, or not now, and when to ask again: everything it refuses for want of something."""

from __future__ import annotations

import math

from macekit.problems import Problem

LONGEST_WAIT = 60
SOON = 5  # seconds after which to ask again where nothing says how long it takes
WHEN_MENDED = 30  # the same where a person has to do something first

SEND_LESS = "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about"


def busy(detail: str, seconds: float = SOON) -> Problem:
    """There is no room now, but likely in so many seconds."""
    return Problem("busy", detail, retry_after=min(max(math.ceil(seconds), 1), LONGEST_WAIT))


def too_many(who: str, most: int) -> Problem:
    """Somebody has as many requests under way as it may."""
    return Problem(
        "too-many-requests",
        f"this {who} has {most} requests under way, as many as it may; wait for an answer before sending the next",
        retry_after=1,
    )


def too_fast(what: str, seconds: float) -> Problem:
    """A key has asked as often as it may in a minute."""
    return Problem("rate-limit", what, retry_after=max(1, math.ceil(seconds)))


def not_ready(detail: str, seconds: int = WHEN_MENDED) -> Problem:
    """Something is missing without which nothing is answered."""
    return Problem("not-ready", detail, retry_after=seconds)


def shutting_down() -> Problem:
    """The request comes too late."""
    detail = "the service is shutting down; send the request to another instance"
    return Problem("shutting-down", detail, retry_after=SOON)


def too_long(seconds: float) -> Problem:
    """The request wanted more time than it gets."""
    return Problem(
        "time-limit",
        f"the request took longer than the {seconds:g} seconds granted to one; {SEND_LESS}, "
        "or ask the operator to raise MACE_TIME_LIMIT",
    )


def out_of_memory(limit: int) -> Problem:
    """The request wanted more memory than it gets."""
    return Problem(
        "memory-limit",
        f"the request needs more than the {limit // 2**20} MiB of memory granted to one; {SEND_LESS}, "
        "or ask the operator to raise MACE_MEMORY_LIMIT",
    )


def worker_lost() -> Problem:
    """The process that worked on the request died."""
    return Problem(
        "worker-lost",
        "the processes that worked on this request ended before they answered, most likely for want of memory; "
        + SEND_LESS,
    )


def internal_error() -> Problem:
    """The service itself made an error."""
    return Problem("internal", "the service made a mistake; its log has the details under this request's id")
