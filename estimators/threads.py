"""One thread for other libraries' work: teams of threads that wait for each other on a shared machine spin."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import Any


def one_thread(*loaded: Hashable) -> AbstractContextManager[Any]:
    """One thread for whatever runs inside; afterwards as many as the caller had.

    The trees of a few thousand records are done before a team of threads has met: it cost 16 to 35 times the CPU.

    Args:
        loaded: What libraries are known to be loaded: looking for those that have threads takes milliseconds, so it is
            done once for each of these.
    """
    controller = _controller(loaded)
    return nullcontext() if controller is None else controller.limit(limits=1)


@lru_cache(maxsize=64)
def _controller(loaded: tuple[Hashable, ...]) -> Any:
    try:
        return import_module("threadpoolctl").ThreadpoolController()
    except ModuleNotFoundError:  # it comes with scikit-learn: without it nothing here has threads
        return None
