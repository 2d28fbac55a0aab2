"""What is told while an audit of a model goes on: a sentence a step, or a bar in a terminal."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from macekit.problems import fault

Progress = Callable[[str], object]

QUIET_SECONDS = 0.5
"""Seconds before a bar is shown."""

BAR = 24
CLEAR = "\r\x1b[K"


class Steps:
    """What is told after each step: a sentence to a function, or a bar on standard error where it is a terminal."""

    def __init__(self, tell: Progress | None, live: bool) -> None:
        self._tell = tell
        self._live = live
        self._start = time.monotonic()
        self._is_visible = False

    @classmethod
    @contextmanager
    def reporting(cls, progress: Progress | bool | None) -> Iterator[Steps]:
        """Steps told as was asked; a bar is gone once all is done, or something is wrong."""
        terminal = sys.stderr is not None and sys.stderr.isatty()
        lines = partial(print, file=sys.stderr, flush=True) if progress is True and not terminal else None
        steps = cls(_takes_a_sentence(progress) or lines, terminal and progress in (None, True))
        try:
            yield steps
        finally:
            steps.clear()

    def __call__(self, number: int, total: int, what: str) -> None:
        """One more step is done."""
        sentence = f"{number} of {total} {what}"
        if self._tell is not None:
            self._tell(sentence)
        if self._live and time.monotonic() - self._start > QUIET_SECONDS:
            full = BAR * number // max(total, 1)
            sys.stderr.write(f"{CLEAR}[{'#' * full}{'.' * (BAR - full)}] {sentence}")
            sys.stderr.flush()
            self._is_visible = True

    def clear(self) -> None:
        """Remove the bar."""
        if self._is_visible:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _takes_a_sentence(progress: Progress | bool | None) -> Progress | None:
    """The function that is told, if one is; refused before any work if it could not be called so."""
    from estimators.errors import OptionError

    if progress is None or isinstance(progress, bool):
        return None
    try:
        inspect.signature(progress).bind("")
    except ValueError:  # a builtin that does not say what it takes
        pass
    except TypeError:
        detail = "need a function of one sentence, such as print, or True, False or None"
        raise fault(OptionError, "progress", detail) from None
    return progress
