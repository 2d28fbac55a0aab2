"""Bodies that are held while they arrive: written by the server, mapped by a worker, in nobody's heap."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from types import TracebackType

from macekit.problems import Problem


def anonymous_file() -> int:
    """A new file without a name, in memory where the system can (elsewhere in the temporary directory)."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("mace", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write everything; one call may take less than it is given."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[os.write(fd, rest) :]


@dataclass(slots=True)
class Budget:
    """Bytes of all bodies held at once, and how many there may be."""

    most: int
    used: int = 0

    def take(self, size: int) -> None:
        """Count bytes that are about to be held."""
        if self.used + size > self.most:
            raise Problem(
                "busy",
                f"the bodies under way would take more than the {self.most} bytes this service holds at once; "
                "try again later, or post counts (POST /v1/counts), which are small",
                retry_after=5,
            )
        self.used += size

    def give(self, size: int) -> None:
        """Count bytes that are held no longer."""
        self.used -= size


class Spool:
    """One body in a nameless file, for one job; whoever makes it closes it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0
        self.fd = anonymous_file()

    def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Add what has come."""
        self._budget.take(len(chunk))
        self.size += len(chunk)
        write_all(self.fd, memoryview(chunk))

    def hand_over(self) -> None:
        """Let go of the file, now that a worker has it: the last to let go frees its pages, which takes a while."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def close(self) -> None:
        """Let go of the file and of its share of the budget."""
        self.hand_over()
        self._budget.give(self.size)
        self.size = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
