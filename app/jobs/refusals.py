"""What a request is told that its job could not be done: who ended it, and what to do about it."""

from __future__ import annotations

from macekit.problems import Problem


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


def out_of_memory(granted: int) -> Problem:
    """The problem of a request that wanted more memory than it gets."""
    return Problem(
        "memory-limit",
        f"the request needs more than the {granted // 2**20} MiB of memory granted to one; "
        "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about, "
        "or ask the operator to raise MACE_MEMORY_LIMIT",
    )


def lost() -> Problem:
    """The problem of a request whose process died."""
    return Problem(
        "worker-lost",
        "the process that worked on this request ended before it answered, most likely for want of memory; "
        "send less: fewer records, or their counts (POST /v1/counts) where scores are asked about; or try again",
    )


def failed() -> Problem:
    """The problem of a request that met a mistake of ours."""
    return Problem("internal", "the service made a mistake; its log has the details under this request's id")
