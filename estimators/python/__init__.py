"""What Python itself lacks: dataclasses that are quickly made, former names that go on working, caches that forget.

What is worked out for somebody's records is kept for the next look at them: bounded, and forgotten when told to. A
table that depends on numbers of records and options alone needs no more than ``functools.lru_cache``.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_FORGET: list[Callable[[], None]] = []


def cache_of_records(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep a function's last results, as many as this, until ``forget``."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        cache = lru_cache(maxsize=most)(function)
        _FORGET.append(cache.cache_clear)
        return cache  # type: ignore[return-value]  # it takes what the function takes

    return decorate


def forget() -> None:
    """Keep nothing of anybody's records: who asks next could tell by the time that it takes."""
    for each in _FORGET:
        each()
