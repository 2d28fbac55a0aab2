"""How much memory a worker may take: RLIMIT_DATA, which counts what a process allocates and not what it maps.

Linux counts private writable memory (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared
libraries. Other systems count less, or nothing: there the limit of the container or of the user must do.
"""

from __future__ import annotations

import gc
import resource
from dataclasses import dataclass
from pathlib import Path

PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a worker had when it began, what it is granted beyond, and the limit that makes of it."""

    baseline: int
    granted: int
    limit: int

    @classmethod
    def of_now(cls, granted: int) -> Allowance:
        """Limit this process to what it has now and as much again as is granted."""
        baseline = data_bytes()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = baseline + granted
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        return cls(baseline, granted, soft)

    def lift(self) -> None:
        """Make room for a last message: the process ends after it."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    def grown(self) -> bool:
        """Whether so much has stayed behind after a job that the next one would feel it.

        What the limit was raised by meanwhile is for what stays for good (``macekit.report.drawing``), and is not counted.
        """
        room = max(0, resource.getrlimit(resource.RLIMIT_DATA)[0] - self.limit)
        much = self.baseline + self.granted // 4 + room
        return data_bytes() > much and gc.collect() >= 0 and data_bytes() > much


def data_bytes() -> int:
    """Bytes of private writable memory, as RLIMIT_DATA counts them; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * PAGE
    except OSError:
        return 0
