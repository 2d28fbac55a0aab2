"""Standard output: all of an answer, or a word about why not."""

from __future__ import annotations

import os
import sys


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


def let_go() -> None:
    """Send what is left nowhere, so that the interpreter does not stumble over it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
