"""Standard output and standard error, which may fail, and messages on progress."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from shutil import get_terminal_size
from typing import Any, TextIO, cast

NARROWEST = 80  # columns that tables are fitted to where the terminal has fewer
NO_TERMINAL = (100, 24)  # columns and lines, if the answer goes elsewhere


class CannotPrintError(Exception):
    """Standard output cannot be written to, because a disk is full, say; a closed pipe is a ``BrokenPipeError``."""


def write_line(text: str) -> None:
    """Print a text and flush it, so that an error is noticed."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotPrintError(f"the answer cannot be printed: {error.strerror}") from None


def screen_width() -> int:
    """Columns that tables are fitted to."""
    return max(NARROWEST, get_terminal_size(NO_TERMINAL).columns)


def flush() -> None:
    """Flush what ``print`` wrote, so that an error is noticed."""
    if sys.stdout is None or sys.stdout.closed:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotPrintError(f"the answer cannot be printed: {error.strerror}") from None


def discard(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, so that the interpreter does not fail when it flushes it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class ErrorProofStream:
    """A stream whose errors are ignored, because it may be full, broken or closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as much as is possible."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as much as is possible."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def ignore_stderr_errors() -> Iterator[None]:
    """Errors of standard error change no exit status: status 1 is the decision of a gate, not a full disk."""
    stream = sys.stderr
    with open(os.devnull, "w") as nowhere, redirect_stderr(cast("TextIO", ErrorProofStream(stream or nowhere))):
        try:
            yield
        finally:
            try:
                (stream or nowhere).flush()
            except OSError:
                discard(stream or nowhere)


QUIET_SECONDS = 1.0  # seconds before the first message

REFRESH_SECONDS = 0.25
CLEAR = "\r\x1b[K"


class Progress:
    """A line while something takes long, with bytes read if they are known; none but on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._verbose = not quiet
        self._live = not quiet and sys.stderr.isatty()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._doing = "reading"
        self._size: int | None = None
        self._bytes = 0

    def __enter__(self) -> Progress:
        if self._live:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._live:
            self._thread.join()

    def now(self, doing: str, size: int | None = None) -> None:
        """Name the step that begins, and how many bytes it reads, if that is known."""
        self._doing, self._size, self._bytes = doing, size, 0

    def say(self, text: str) -> None:
        """Print a message that is not overwritten."""
        if self._verbose:
            print(f"{CLEAR if self._live else ''}mace: {text}", file=sys.stderr, flush=True)

    def read(self, size: int) -> None:
        """Add to the bytes read so far."""
        self._bytes += size

    def _refresh(self) -> None:
        start = time.monotonic()
        if self._end.wait(QUIET_SECONDS):
            return
        while not self._end.wait(REFRESH_SECONDS):
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
