"""What several holders have of one thing that is short - turns, places, memory -, and who gives way when it runs out.

Nobody is granted a fixed part: who is alone may have all of it. Turns go round by holder, and where there is no room,
whoever has most makes it. So what anybody has depends on how many others ask, not on how much he asks for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing", bound=Hashable)


class Shares(Generic[Thing]):
    """Things by their holders, each in the order in which they came, and how large each is."""

    def __init__(self) -> None:
        self._things: dict[str, dict[Thing, int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._things.values()))

    def __iter__(self) -> Iterator[Thing]:
        return (thing for things in self._things.values() for thing in things)

    @property
    def size(self) -> int:
        """The sizes of all."""
        return sum(sum(things.values()) for things in self._things.values())

    def add(self, holder: str, thing: Thing, size: int = 0) -> None:
        """One more of this holder."""
        self._things.setdefault(holder, {})[thing] = size

    def discard(self, thing: Thing) -> None:
        """Take it out, if it is there."""
        for holder, things in self._things.items():
            if thing in things:
                self._take(holder, thing)
                return

    def next(self) -> Thing | None:
        """Take out the oldest of the holder whose turn it is."""
        for holder, things in self._things.items():
            thing = self._take(holder, next(iter(things)))
            if things:
                self._things[holder] = self._things.pop(holder)  # behind all others
            return thing
        return None

    def may_give_way(self, holder: str) -> bool:
        """Whether somebody has more than this holder would have with one thing more."""
        return self._larger(holder, None) is not None

    def give_way(self, holder: str, size: int | None = None) -> Thing | None:
        """Take out the newest of whoever has most, if that is more than this holder would have with one thing more.

        What counts is the number of things, or if a size is given, their sizes.
        """
        largest = self._larger(holder, size)
        return None if largest is None else self._take(largest, next(reversed(self._things[largest])))

    def oldest_of_largest(self, *, by_size: bool) -> Thing | None:
        """Take out the oldest of whoever has most."""
        largest = max(self._things, key=lambda each: self._has(each, by_size=by_size), default=None)
        return None if largest is None else self._take(largest, next(iter(self._things[largest])))

    def _larger(self, holder: str, size: int | None) -> str | None:
        by_size = size is not None
        largest = max(self._things, key=lambda each: self._has(each, by_size=by_size), default=holder)
        more = 1 if size is None else size
        has_more = self._has(largest, by_size=by_size) > self._has(holder, by_size=by_size) + more
        return largest if has_more else None

    def _has(self, holder: str, *, by_size: bool) -> int:
        things = self._things.get(holder, {})
        return sum(things.values()) if by_size else len(things)

    def _take(self, holder: str, thing: Thing) -> Thing:
        things = self._things[holder]
        del things[thing]
        if not things:
            del self._things[holder]
        return thing
