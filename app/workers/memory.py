"""The memory that a process may take: RLIMIT_DATA, which counts what it allocates and not what it maps.

Linux counts writable memory of its own (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared
libraries. Other systems count less, or nothing: there the limit of the container or of the user must do.
"""

from __future__ import annotations

import gc
import mmap
import resource
from dataclasses import dataclass
from pathlib import Path

PAGE = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """What a worker had when it began, and what it may take beyond."""

    baseline: int
    allowance: int

    @classmethod
    def apply(cls, allowance: int) -> MemoryLimit:
        """Limit this process to what it has now and the allowance on top."""
        baseline = data_bytes()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = baseline + allowance
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )
        return cls(baseline, allowance)

    def lift(self) -> None:
        """Make room for a last message: the process ends after it."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    def has_grown(self) -> bool:
        """Whether so much has stayed behind after a job that the next one would feel it."""
        most = self.baseline + self.allowance // 4
        return data_bytes() > most and gc.collect() >= 0 and data_bytes() > most


def data_bytes() -> int:
    """Bytes of writable memory of its own, as RLIMIT_DATA counts them; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * PAGE
    except OSError:
        return 0
