"""How many values the columns of a Parquet file hold, read off its footer without Arrow.

Arrow's own reader of this number ends the process where the footer contradicts itself elsewhere. The footer is a struct
of Thrift's compact protocol: fields by their number, each of which says its type, so that others can be passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from macekit.problems import Problem

MAGIC = b"PAR1"
LONGEST = 2**24
"""Bytes of a footer that is looked through."""

DEEPEST = 16
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
ROW_GROUPS, COLUMNS, META_DATA, PATH, VALUES = 4, 1, 3, 3, 5


def value_counts(body: memoryview) -> dict[tuple[str, ...], int]:
    """How many values each column holds, by its path."""
    size = int.from_bytes(body[-8:-4], "little")
    if bytes(body[-4:]) != MAGIC or size > len(body) - 8:
        raise Problem("malformed-body", "the body is not Parquet, or was damaged on the way")
    if size > LONGEST:
        raise Problem("too-large", f"the footer of the Parquet file is longer than {LONGEST} bytes")
    try:
        return _Footer(bytes(body[len(body) - 8 - size : -8])).counts()
    except (IndexError, UnicodeDecodeError, RecursionError):
        raise Problem("malformed-body", "the footer of the Parquet file cannot be read") from None


class _Footer:
    """A place in the bytes of a footer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def counts(self) -> dict[tuple[str, ...], int]:
        """The values of each column, over all row groups."""
        counts: dict[tuple[str, ...], int] = {}
        for field, kind in self._fields():
            if field != ROW_GROUPS or kind != LIST:
                self._pass(kind)
                continue
            for _ in self._items():
                for path, values in self._row_group():
                    counts[path] = counts.get(path, 0) + values
        return counts

    def _row_group(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for field, kind in self._fields():
            if field != COLUMNS or kind != LIST:
                self._pass(kind)
                continue
            for _ in self._items():
                yield self._column()

    def _column(self) -> tuple[tuple[str, ...], int]:
        path: tuple[str, ...] = ()
        values = 0
        for field, kind in self._fields():
            if field != META_DATA or kind != STRUCT:
                self._pass(kind)
                continue
            for inner, inner_kind in self._fields():
                if inner == PATH and inner_kind == LIST:
                    path = tuple(self._binary().decode() for _ in self._items())
                elif inner == VALUES:
                    values = max(0, self._signed())
                else:
                    self._pass(inner_kind)
        return path, values

    def _fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field of a struct; whoever takes one reads its value."""
        field = 0
        while (head := self._byte()) != STOP:
            step, kind = head >> 4, head & 15
            field = field + step if step else self._signed()
            yield field, kind

    def _items(self) -> range:
        """The items of a list, each of which is to be read."""
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        if size > len(self._data) - self._at:
            raise IndexError
        return range(size)

    def _pass(self, kind: int, depth: int = 0, item: bool = False) -> None:
        """Pass over a value."""
        if depth > DEEPEST:
            raise RecursionError
        if kind in (TRUE, FALSE):
            self._at += item
        elif kind == BYTE:
            self._at += 1
        elif kind == DOUBLE:
            self._at += 8
        elif kind == BINARY:
            self._binary()
        elif kind in (LIST, SET):
            inner = self._data[self._at] & 15
            for _ in self._items():
                self._pass(inner, depth + 1, True)
        elif kind == MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            if size > len(self._data):
                raise IndexError
            for _ in range(size):
                self._pass(kinds >> 4, depth + 1, True)
                self._pass(kinds & 15, depth + 1, True)
        elif kind == STRUCT:
            for _, inner in self._fields():
                self._pass(inner, depth + 1)
        else:
            self._unsigned()
        if self._at > len(self._data):
            raise IndexError

    def _binary(self) -> bytes:
        size = self._unsigned()
        self._at += size
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - size : self._at]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise IndexError

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
