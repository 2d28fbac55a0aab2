"""Files and standard input as bodies: how they are written, whether they are compressed, how large they are."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePath
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from app.cli.terminal import in_shell
from estimators import MaceError
from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET, READ, Body, Call
from macekit.decoding import decode
from macekit.decoding.body import Column
from macekit.decoding.columns import refusals
from macekit.decoding.compression import expanded
from macekit.formats import (
    ARROW_MAGIC,
    COMPRESSED_SUFFIXES,
    HEAD,
    SUFFIXES,
    encoding_of,
    format_of,
    media_type_of,
)
from macekit.problems import Problem
from macekit.text import shown

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa
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

    def stream(self, told: Callable[[int], None]) -> Body:
        """The same to be read once from its start; ``told`` hears of each read how many bytes came."""
        head = b"" if self.size is not None and self.fd >= 0 else self.head
        return Body(None, cast("BinaryIO", io.BufferedReader(_Told(head, self.fd, told), READ)))

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd >= 0:
            os.close(self.fd)


def open_source(path: str, named: str | None = None) -> Source:
    """A file, or standard input for ``-``; ``named`` is its format, if its name and its first bytes do not tell."""
    name = "standard input" if path == "-" else shown(path)
    try:
        fd = os.dup(0) if path == "-" else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except ValueError:
        raise Misuse(f"{name}: not a file name") from None
    except OSError as error:
        raise Misuse(f"{name}: {error.strerror}") from None
    try:
        return _source(name, path, named, fd)
    except OSError as error:
        raise Misuse(f"{name}: {error.strerror}") from None


def stem_of(path: str) -> str:
    """What a file is called in a comparison: its name without folders and suffixes."""
    pure = PurePath(path)
    if pure.suffix.lower() in COMPRESSED_SUFFIXES:
        pure = pure.with_suffix("")
    return pure.stem if pure.suffix.lower() in SUFFIXES else pure.name


def _source(name: str, path: str, named: str | None, fd: int) -> Source:
    with ExitStack() as undo:
        undo.callback(os.close, fd)
        status = os.fstat(fd)
        mapped = stat.S_ISREG(status.st_mode) and status.st_size > 0
        head = os.pread(fd, HEAD, 0) if mapped else _held(fd)
        size = status.st_size if mapped else len(head) if len(head) < HELD else None
        if not head:
            raise Misuse(f"{name}: empty")
        encoding = encoding_of(head)
        form = named or format_of(path, head)
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


class _Told(io.RawIOBase):
    """A head that was read already, then the rest behind a descriptor; somebody is told of every read."""

    def __init__(self, head: bytes, fd: int, told: Callable[[int], None]) -> None:
        self._head = memoryview(head)
        self._file = io.FileIO(os.dup(fd)) if fd >= 0 else None
        self._tell = told

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
        self._tell(size)
        return size

    def close(self) -> None:
        """Close the file with it."""
        if self._file is not None:
            self._file.close()
        super().close()


# --- sides --------------------------------------------------------------------------------------------------
# Two files, one for each side: each becomes a table that says of all its records the same, read as any
# other.

MEMBER = "member"
TITLES = {"csv": "CSV", "tsv": "CSV", "npy": "NPY", "arrow": "Arrow", "parquet": "Parquet"}
SEPARATORS = (",", ";", "\t")
WIDEST = 2**16


def side_of(source: Source, call: Call) -> Column:
    """The scores of one side: the column of the file, or those named by --score."""
    about = Call(call.operation, source.media_type, source.encoding, expanded_limit=call.expanded_limit)
    try:
        with source.body() as body:
            table = _table(about, source, expanded(about, body))
        with refusals(TITLES[source.format]):  # names that are no text
            names = table.column_names
        return _decoded(table, _wanted(names, dict(call.query).get("score")))
    except Problem as problem:
        raise Misuse(f"{source.name}: {in_shell(problem.detail)}") from None
    except MaceError as error:
        raise Misuse(f"{source.name}: {error.message}") from None


def _table(call: Call, source: Source, body: memoryview) -> pa.Table:
    """The file as a table of one side's columns."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    if call.media_type == JSON:
        raise Problem("bad-option", "a JSON request holds both sides; give it alone, without --members")
    with refusals(TITLES[source.format]):
        if call.media_type == NPY:
            return _columns(_array(body))
        file = pa.BufferReader(pa.py_buffer(body))
        if call.media_type == CSV:
            first = bytes(body[:WIDEST]).split(b"\n", 1)[0].decode("utf-8", "replace")
            separator = max(SEPARATORS, key=first.count)
            reading = csv.ReadOptions(
                use_threads=False,
                block_size=min(
                    len(body) + 1, 2**31 - 1
                ),  # one block, so that types are guessed from all of it
                autogenerate_column_names=_number(first.split(separator)[0]),
            )
            found = csv.read_csv(file, reading, csv.ParseOptions(delimiter=separator))
            return (
                found.rename_columns([""] * found.num_columns) if reading.autogenerate_column_names else found
            )
        if source.format == "arrow":
            opened = pa.ipc.open_file if bytes(body[:6]) == ARROW_MAGIC else pa.ipc.open_stream
            return opened(file).read_all()
        return parquet.read_table(file, use_threads=False)


def _array(body: memoryview) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.lib.format.read_array(io.BytesIO(body), allow_pickle=False)
    except (TokenError, SyntaxError):  # of NumPy's reader of headers
        raise ValueError("header") from None
    return found


def _columns(array: NDArray[Any]) -> pa.Table:
    import pyarrow as pa

    if array.ndim not in (1, 2):
        raise Problem("bad-records", f"got an array of {array.ndim} dimensions, need 1 or 2")
    rows = array.reshape(len(array), -1) if array.size else array.reshape(0, 1)
    columns = [pa.array(np.ascontiguousarray(rows[:, place])) for place in range(rows.shape[1])]
    return pa.table(columns, names=[""] * len(columns))


def _number(text: str) -> bool:
    """Whether the first word of a file is a score already, and no header."""
    try:
        float(text.strip(' "\r\ufeff'))
    except ValueError:
        return False
    return True


def _wanted(names: list[str], asked: str | None) -> list[int]:
    """Places of the columns named; all columns where they have no names, or the only one."""
    if not any(names):
        return list(range(len(names)))
    usual = [place for place, name in enumerate(names) if name.lower() == "score"]
    if asked is None and len(usual) == 1:
        return usual
    if asked is None and len(names) == 1:
        return [0]
    if asked is None:
        message = f"score: {len(names)} columns could be the scores; say which with score=NAME"
        raise Problem("missing-field", message)
    wanted = [name.strip() for name in asked.split(",")]
    if any(names.count(name) != 1 for name in wanted):
        raise Problem("unknown-name", f"score: no single column of the {len(names)} has this name")
    return [names.index(name) for name in wanted]


def _decoded(table: pa.Table, places: list[int]) -> Column:
    """The columns by the decoder of tables, so that they are checked as they always are."""
    import pyarrow as pa

    names = [str(place) for place in range(len(places))]
    scores = pa.table([table.column(place) for place in places], names=names)
    whole = scores.append_column(MEMBER, pa.repeat(pa.scalar(True), len(scores)))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    call = Call("advantage", ARROW, query=(("score", ",".join(names)), ("member", MEMBER)))
    found = decode(call, Body.of(memoryview(sink.getvalue()))).samples[""].members
    return found if found is not None else []
