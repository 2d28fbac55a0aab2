"""Files and standard input as bodies: how they are written, whether they are compressed, how large they are."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, cast

from macekit.call import ARROW_FILE, PARQUET, READ, Body
from macekit.formats import COMPRESSED_SUFFIXES, HEAD, SUFFIXES, encoding_of, format_of, media_type_of
from macekit.text import shown

if TYPE_CHECKING:
    from types import TracebackType

    from _typeshed import WriteableBuffer

HELD = 64 * 2**20
"""Bytes of a pipe that are kept in memory; what is longer is a stream."""


class Misuse(Exception):
    """What cannot be done as asked; the text says why, and is fit to be printed."""


@dataclass(frozen=True, slots=True)
class Source:
    """One input, open until it is closed; ``size`` is None where only its end will tell."""

    name: str
    stem: str
    format: str
    encoding: str
    size: int | None
    head: bytes
    fd: int

    @property
    def media_type(self) -> str:
        """What the service calls the format."""
        return media_type_of(self.format, self.head)

    @property
    def indexed(self) -> bool:
        """Whether its index stands at its end, so that it cannot be read from its start."""
        return self.media_type in (PARQUET, ARROW_FILE)

    def body(self) -> Body:
        """The whole of it, mapped or in memory."""
        if self.fd < 0:
            return Body.of(self.head)
        return Body.of_descriptor(os.dup(self.fd)) if self.size is not None else self.stream(lambda _: None)

    def stream(self, progress: Callable[[int], None]) -> Body:
        """The same to be read once from its start; ``progress`` hears of each read how many bytes came."""
        head = b"" if self.size is not None and self.fd >= 0 else self.head
        return Body(None, cast("BinaryIO", io.BufferedReader(_Reported(head, self.fd, progress), READ)))

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd >= 0:
            os.close(self.fd)


def open_source(path: str, format_name: str | None = None) -> Source:
    """A file, or standard input for ``-``; ``format_name`` where neither its name nor its first bytes say it."""
    name = "standard input" if path == "-" else shown(path)
    try:
        fd = os.dup(0) if path == "-" else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except ValueError:
        raise Misuse(f"{name}: not a file name") from None
    except OSError as error:
        raise Misuse(f"{name}: {error.strerror}") from None
    try:
        return _source(name, path, format_name, fd)
    except OSError as error:
        raise Misuse(f"{name}: {error.strerror}") from None


def stem_of(path: str) -> str:
    """What a file is called in a comparison: its name without folders and suffixes."""
    pure = PurePath(path)
    if pure.suffix.lower() in COMPRESSED_SUFFIXES:
        pure = pure.with_suffix("")
    return pure.stem if pure.suffix.lower() in SUFFIXES else pure.name


def _source(name: str, path: str, format_name: str | None, fd: int) -> Source:
    with ExitStack() as undo:
        undo.callback(os.close, fd)
        status = os.fstat(fd)
        mapped = stat.S_ISREG(status.st_mode) and status.st_size > 0
        head = os.pread(fd, HEAD, 0) if mapped else _held(fd)
        size = status.st_size if mapped else len(head) if len(head) < HELD else None
        if not head:
            raise Misuse(f"{name}: empty")
        encoding = encoding_of(head)
        form = format_name or format_of(path, head)
        if not mapped and size is not None:
            return Source(name, stem_of(path), form, encoding, size, head, -1)
        undo.pop_all()
        return Source(name, stem_of(path), form, encoding, size, head, fd)


def _held(fd: int) -> bytes:
    """A pipe to its end, or as much as is kept."""
    parts, total = [], 0
    while total < HELD and (part := os.read(fd, min(READ, HELD - total))):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


class _Reported(io.RawIOBase):
    """A head that was read already, then the rest behind a descriptor; every read is reported."""

    def __init__(self, head: bytes, fd: int, progress: Callable[[int], None]) -> None:
        self._head = memoryview(head)
        self._file = io.FileIO(os.dup(fd)) if fd >= 0 else None
        self._progress = progress

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        """Fill the buffer from the head, then from the file."""
        target = memoryview(buffer).cast("B")
        if self._head:
            size = min(len(target), len(self._head))
            target[:size] = self._head[:size]
            self._head = self._head[size:]
        else:
            size = (self._file.readinto(target) if self._file is not None else 0) or 0
        self._progress(size)
        return size

    def close(self) -> None:
        """Close the file with it."""
        if self._file is not None:
            self._file.close()
        super().close()
