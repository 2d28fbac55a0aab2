"""Standard output: all of an answer, or a word about why not. Standard error: as much as it takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from typing import Any, TextIO, cast


class CannotPrintError(Exception):
    """Standard output takes no more: a full disk, say. A reader who has read enough is another matter."""


def put(text: str) -> None:
    """Print, and see that it arrives."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotPrintError(f"the answer cannot be printed: {error.strerror}") from None


def flush() -> None:
    """See that what others printed arrives, too."""
    if sys.stdout is None or sys.stdout.closed:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotPrintError(f"the answer cannot be printed: {error.strerror}") from None


def let_go(stream: TextIO) -> None:
    """Send what is left nowhere, so that the interpreter does not stumble over it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class Heedless:
    """A stream that may be full, broken or gone: what cannot be said is not said."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as much as it takes."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as much as it takes."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def heedless() -> Iterator[None]:
    """Standard error that changes no exit status, for 1 is a decision of a gate and not a full disk."""
    stream = sys.stderr
    with open(os.devnull, "w") as nowhere, redirect_stderr(cast("TextIO", Heedless(stream or nowhere))):
        try:
            yield
        finally:
            _emptied(stream or nowhere)


def _emptied(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:
        let_go(stream)
