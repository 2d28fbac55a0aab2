"""The memory that a process may take: RLIMIT_DATA, which counts what it allocates and not what it maps.

Linux counts writable memory of its own (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared
libraries. Other systems count less, or nothing: there the limit of the container or of the user must do.

A worker sets its limit by this module and the drawing engine raises it by this module, so that what the engine needs
is not taken for memory that a job has left behind.
"""

from __future__ import annotations

import gc
import mmap
from dataclasses import dataclass
from pathlib import Path

try:
    import resource
except ImportError:  # Windows, which has no such limit, and no workers
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

PAGE = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """What a worker had when it began, what it may take beyond, and the limit that follows."""

    baseline: int
    allowance: int
    limit: int

    @classmethod
    def apply(cls, allowance: int) -> MemoryLimit:
        """Limit this process to what it has now and the allowance on top."""
        baseline = data_bytes()
        return cls(baseline, allowance, _set_limit(baseline + allowance))

    def lift(self) -> None:
        """Make room for a last message: the process ends after it."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    def has_grown(self) -> bool:
        """Whether so much has stayed behind after a job that the next one would feel it.

        What the limit was raised by since is meant to stay (``raise_limit``), and does not count.
        """
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        most = self.baseline + self.allowance // 4 + max(0, limit - self.limit)
        return data_bytes() > most and gc.collect() >= 0 and data_bytes() > most


def raise_limit(size: int) -> None:
    """Raise the limit of this process, if it has one, by what something that stays for good needs."""
    if not HAS_LIMITS:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if soft != resource.RLIM_INFINITY:
        _set_limit(soft + size)


def data_bytes() -> int:
    """Bytes of writable memory of its own, as RLIMIT_DATA counts them; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * PAGE
    except OSError:
        return 0


def _set_limit(size: int) -> int:
    """Set the limit, as far as this process may; return what it is now."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    return limit
