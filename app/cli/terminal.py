"""Standard output: all of an answer, or a word about why not. Standard error: as much as it takes."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from types import TracebackType
from typing import Any, TextIO, cast

import msgspec

from macekit.call import Reply
from macekit.catalogue import command, flag


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


# --- progress -----------------------------------------------------------------------------------------------
# A line on the terminal while something takes long: seconds, and bytes read where they are known.

PATIENCE = 1.0
"""Seconds before anything is said."""

EVERY = 0.25
CLEAR = "\r\x1b[K"


class Progress:
    """Progress messages; none, unless standard error is a terminal."""

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


# --- wording ------------------------------------------------------------------------------------------------
# Problems in the words of the shell: options and commands are called what they are called here.

RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r" in the query string\b"), lambda _: ""),
    (re.compile(r"\bbody\b"), lambda _: "input"),
    (
        re.compile(
            r"\b(score|member|group|unit|members|members_column|nonmembers_column|column)=(?=[A-Z]|label\b)"
        ),
        lambda found: f"{flag(found[1])} ",
    ),
    (re.compile(r"\b(?:estimator|metric)\.\w+"), lambda found: flag(found[0])),
    (re.compile(r"\bthreshold or width\b"), lambda _: f"{flag('threshold')} or {flag('width')}"),
    (re.compile(r"\bmax with metric\b"), lambda _: f"{flag('max')} with {flag('metric')}"),
    (re.compile(r"\bmax_(?:advantage|epsilon|group_risk)\b"), lambda found: flag(found[0])),
    (re.compile(r"/v1/([a-z-]+(?:/[a-z-]+)?)"), lambda found: command(found[1])),
)


def in_shell(detail: str) -> str:
    """What is wrong, as one who sits at a shell would put it."""
    for pattern, spoken in RULES:
        detail = pattern.sub(spoken, detail)
    return detail


def detail_of(reply: Reply) -> str:
    """What a problem says."""
    detail: str = msgspec.json.decode(reply.body)["detail"]
    return in_shell(detail)
