"""Errors of the libraries that read tables, as problems that repeat nothing of what those libraries quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from estimators import MaceError
from macekit.problems import Problem

T = TypeVar("T")

ENDED = re.compile(
    r"truncated|unexpected end|end of (file|stream)|expected to (be able to )?read|length 0|too small|smaller than",
    re.I,
)


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Around calls that read what may be hostile: whatever they raise is the body's fault."""
    import pyarrow as pa

    try:
        yield
    except (Problem, MaceError):
        raise
    except MemoryError:
        raise Problem("memory-limit", f"reading this {name} body takes more memory than is granted") from None
    except NotImplementedError:  # Arrow's word for parts of a format that it does not read
        raise Problem("malformed-body", f"the body uses a part of {name} that is not read here") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        if ENDED.search(str(error)):
            raise Problem("incomplete-body", f"the {name} body ended before it was complete") from None
        raise Problem("malformed-body", f"the body is not {name}, or was damaged on the way") from None


def guarded(items: Iterator[T], name: str) -> Iterator[T]:
    """The same items; what goes wrong in taking the next is the body's fault, what is done with it is not."""
    while True:
        with refusals(name):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item
