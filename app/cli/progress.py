"""A line on the terminal while something takes long: seconds, and bytes read where they are known."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

PATIENCE = 1.0
"""Seconds before anything is said."""

EVERY = 0.25
CLEAR = "\r\x1b[K"


class Progress:
    """What is said while work goes on; nothing, unless somebody watches."""

    def __init__(self, quiet: bool) -> None:
        self._speaks = not quiet
        self._wanted = not quiet and sys.stderr.isatty()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._doing = "reading"
        self._size: int | None = None
        self._bytes = 0

    def __enter__(self) -> Progress:
        if self._wanted:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._wanted:
            self._thread.join()

    def now(self, doing: str, size: int | None = None) -> None:
        """Say what is done from here on, to so many bytes if they are counted."""
        self._doing, self._size, self._bytes = doing, size, 0

    def say(self, text: str) -> None:
        """Say something that stays."""
        if self._speaks:
            print(f"{CLEAR if self._wanted else ''}mace: {text}", file=sys.stderr, flush=True)

    def read(self, size: int) -> None:
        """So many bytes more have been read."""
        self._bytes += size

    def _tell(self) -> None:
        start = time.monotonic()
        if self._done.wait(PATIENCE):
            return
        while not self._done.wait(EVERY):
            sys.stderr.write(f"{CLEAR}{self._line(time.monotonic() - start)}")
            sys.stderr.flush()
        sys.stderr.write(CLEAR)
        sys.stderr.flush()

    def _line(self, seconds: float) -> str:
        line = f"mace: {self._doing}, {seconds:.0f} s"
        if not self._bytes:
            return line
        mib = f"{self._bytes / 2**20:.0f}"
        if not self._size:
            return f"{line}, {mib} MiB"
        return f"{line}, {mib} of {self._size / 2**20:.0f} MiB ({min(1.0, self._bytes / self._size):.0%})"
