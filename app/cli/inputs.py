"""Files and standard input as bodies, and what is wrong with them in the words of the shell."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, cast

import msgspec

from app.cli.parsing import Misuse
from estimators import MaceError
from estimators.python.dataclass import dataclass
from macekit import formats
from macekit.call import READ, READ_BYTES, Body, Reply
from macekit.catalogue import command, flag
from macekit.problems import Problem, pickle_problem
from macekit.text import nearest, printable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIPE_MEMORY = 64 * 2**20  # bytes of a pipe that are read into memory; a longer pipe is a stream


@dataclass(frozen=True, slots=True)
class Source:
    """One open input; ``size`` is None for a pipe that is longer than its head."""

    name: str
    stem: str
    format: str
    encoding: str
    size: int | None
    head: bytes
    fd: int
    path: str = ""
    """Of a file that can be read again as one of several; else empty."""

    @property
    def media_type(self) -> str:
        """What the service calls the format."""
        return formats.media_type_of(self.format, self.head)

    @property
    def indexed(self) -> bool:
        """Whether its index is at its end, so that it cannot be read as a stream."""
        return self.media_type in formats.INDEXED

    def body(self) -> Body:
        """The whole of it, mapped or in memory."""
        if self.fd < 0:
            return Body.of(self.head)
        return Body.of_descriptor(os.dup(self.fd)) if self.size is not None else self.stream(lambda _: None)

    def stream(self, progress: Callable[[int], None]) -> Body:
        """The same as a stream, to be read once; ``progress`` is called with the number of bytes of each read."""
        head = b"" if self.size is not None and self.fd >= 0 else self.head
        return Body(None, cast("BinaryIO", io.BufferedReader(_ProgressReader(head, self.fd, progress), READ)))

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            os.close(self.fd)


def open_source(path: str, format_name: str | None = None) -> Source:
    """A file, or standard input for ``-``; ``format_name`` wins over its suffix and its first bytes."""
    name = "standard input" if path == "-" else printable(path)
    try:
        fd = os.dup(0) if path == "-" else os.open(path, READ_BYTES)
    except ValueError:
        raise Misuse(f"{name}: not a file name") from None
    except OSError as error:
        raise Misuse(f"{name}: {_reason(error, path)}") from None
    try:
        return _source(name, path, format_name, fd)
    except OSError as error:
        raise Misuse(f"{name}: {_reason(error, path)}") from None


def _reason(error: OSError, path: str) -> str:
    """Why a file cannot be read, and what to name in its place."""
    if isinstance(error, IsADirectoryError):
        return "is a folder; name a file in it"
    if not isinstance(error, FileNotFoundError):
        return str(error.strerror)
    pure = PurePath(path)
    try:
        beside = os.listdir(pure.parent)
    except OSError:
        beside = []
    return f"{error.strerror}{nearest(pure.name, map(printable, beside))}"


def stem_of(path: str) -> str:
    """What a file is called in a comparison: its name without folders and suffixes."""
    pure = PurePath(path)
    if pure.suffix.lower() in formats.COMPRESSED_SUFFIXES:
        pure = pure.with_suffix("")
    return pure.stem if pure.suffix.lower() in formats.SUFFIXES else pure.name


def _first_bytes(fd: int) -> bytes:
    """Of a file, which is read from its start again afterwards."""
    os.lseek(fd, 0, os.SEEK_SET)
    head = os.read(fd, formats.HEAD)
    os.lseek(fd, 0, os.SEEK_SET)
    return head


def _source(name: str, path: str, format_name: str | None, fd: int) -> Source:
    with ExitStack() as undo:
        undo.callback(os.close, fd)
        status = os.fstat(fd)
        mapped = stat.S_ISREG(status.st_mode) and status.st_size > 0
        head = _first_bytes(fd) if mapped else _read_pipe(fd)
        size = status.st_size if mapped else len(head) if len(head) < PIPE_MEMORY else None
        if not head:
            raise Misuse(f"{name}: empty; look at what was to write it")
        if formats.holds_pickle(path, head):
            raise Misuse(f"{name}: {in_shell(pickle_problem().detail)}")
        encoding = formats.encoding_of(head)
        form = format_name or formats.format_of(path, head)
        if not mapped and size is not None:
            return Source(name, stem_of(path), form, encoding, size, head, -1)
        undo.pop_all()
        again = path if mapped and format_name is None else ""
        return Source(name, stem_of(path), form, encoding, size, head, fd, again)


def _read_pipe(fd: int) -> bytes:
    """A pipe to its end, or as much of it as memory is for."""
    parts, total = [], 0
    while total < PIPE_MEMORY and (part := os.read(fd, min(READ, PIPE_MEMORY - total))):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


class _ProgressReader(io.RawIOBase):
    """The first bytes from memory, then the rest of the file; calls ``progress`` after each read."""

    def __init__(self, head: bytes, fd: int, progress: Callable[[int], None]) -> None:
        self._head = memoryview(head)
        self._file = io.FileIO(os.dup(fd)) if fd >= 0 else None
        self._progress = progress

    def readable(self) -> bool:
        """Always true."""
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


RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r" in the query string\b"), lambda _: ""),
    (re.compile(r"\bbody\b"), lambda _: "input"),
    (
        re.compile(
            r"\b(score|member|group|unit|model|members|members_column|nonmembers_column|column)=(?=[A-Z]|label\b)"
        ),
        lambda match: f"{flag(match[1])} ",
    ),
    (re.compile(r"\bquery=(?=discrete\b)"), lambda _: f"{flag('query')} "),
    (re.compile(r"\b(?:estimator|metric)\.\w+"), lambda match: flag(match[0])),
    (re.compile(r"\bor width\b"), lambda _: f"or {flag('width')}"),
    (re.compile(r"\bmax with metric\b"), lambda _: f"{flag('max')} with {flag('metric')}"),
    (re.compile(r"^metric(?=: say which)|(?<=the limit )max\b"), lambda match: flag(match[0])),
    (re.compile(r"^groups(?=: max_group_\w+ needs a label)"), lambda _: f"{flag('group')} (groups in JSON)"),
    (
        re.compile(
            r"\b(?:max_(?:advantage|tpr|epsilon|group_(?:risk|advantage))|at_fpr|claimed_(?:epsilon|delta)|"
            r"(?<=with )noise_multiplier|records_per_model)\b"
            r"|^(?:delta|draw|max|model|n|utility)(?=: is required\b|: give\b)"
        ),
        lambda match: flag(match[0]),
    ),
    (re.compile(r"\banytime\b|^planned\b|^accept_(?:simulated|exposure)\b"), lambda match: flag(match[0])),
    (re.compile(r"/v1/([a-z-]+(?:/[a-z-]+)?)"), lambda match: command(match[1])),
)


def in_shell(detail: str) -> str:
    """The detail of a problem, in the shell's words."""
    if "a field is not known" in detail:
        return detail  # of a JSON request, whose fields are called as they are
    for pattern, replacement in RULES:
        detail = pattern.sub(replacement, detail)
    return detail


@contextmanager
def as_misuse(prefix: str = "") -> Iterator[None]:
    """What is wrong with what was typed or read, in the shell's words, after the name of what it is about."""
    try:
        yield
    except (Problem, MaceError) as error:
        raise Misuse(prefix + in_shell(Problem.of(error).local)) from None


def detail_of(reply: Reply) -> str:
    """The detail of a problem that came as an answer, in the shell's words."""
    detail: str = reply.local or msgspec.json.decode(reply.body)["detail"]
    return in_shell(detail)
