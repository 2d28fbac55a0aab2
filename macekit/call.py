"""What is asked and what is answered, free of HTTP and of the shell: the seam between the wire and the work.

A ``Call`` names an operation and says how its body is written; the body itself travels beside it
as a ``Body``. ``macekit.operations.perform`` turns both into a ``Reply``, in this process or in a worker.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__version__ = "0.1.0"
"""Of the distribution; every answer's page, log and measurement that states one states this."""

READ_BYTES = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""How a file is opened by its descriptor: Windows would translate ends of lines."""

JSON = "application/json"
CSV = "text/csv"
NDJSON = "application/x-ndjson"
NPY = "application/x-npy"
NPZ = "application/x-npz"
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"
PROBLEM = "application/problem+json"
BRIEF = "application/vnd.mace.brief+json"
FORM_DATA = "multipart/form-data"
HTML = "text/html"
MARKDOWN = "text/markdown"
SVG = "image/svg+xml"
PNG = "image/png"


@dataclass(frozen=True, slots=True)
class Keeping:
    """What a service that signs does about runs of batches: it names each that begins, and remembers where each
    stands; ``durable`` if it does so beyond its own end."""

    run_id: str
    durable: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of a run: digests of the state that came, None for the first, and of the one that goes out.

    ``seal`` is what the state that came had for one; whether it is one says who has the key.
    """

    run_id: str
    look: int
    before: str | None
    after: str
    seal: str | None


EXPANDED_LIMIT = 2**30  # bytes that a compressed body may expand to, where nobody says otherwise


@dataclass(frozen=True, slots=True)
class Call:
    """One question: the operation, how its body is written, its options, and how the answer should be.

    ``names`` says that whole numbers beside text are names, where that is not among the options in ``query``; ``looks``
    how many first rows of what is read in blocks have, beside them, the labels of columns that nobody named;
    ``keeping`` what the service does about runs of batches, None where nobody does anything. A report says when it was
    made if it is to be ``dated``: the same question without it is answered with the same bytes.
    """

    operation: str
    media_type: str = JSON
    encoding: str = "identity"
    query: tuple[tuple[str, str], ...] = ()
    accept: str = JSON
    expanded_limit: int = EXPANDED_LIMIT
    request_id: str | None = None
    names: bool = False
    looks: int = 0
    keeping: Keeping | None = None
    dated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, ready for the wire; ``problem`` is its kind if it is an error, ``records`` how many were counted,
    ``input_sha256`` the fingerprint of what was asked about, if there is one, and ``step`` that of a run of batches.

    ``local`` is the detail of a problem as it may be said to whoever has the data: no wire carries it.
    """

    status: int
    media_type: str
    body: bytes | memoryview
    records: int = 0
    problem: str | None = None
    retry_after: int | None = None
    input_sha256: str | None = None
    local: str | None = None
    step: Step | None = None


READ = 2**20  # bytes that reads of a stream are gathered to


class Body:
    """A body that can be read again and again (memory, a mapped file), or once from its start (a pipe).

    A file is mapped, so nothing is copied until it is looked at; it must not shrink meanwhile.
    """

    def __init__(self, view: memoryview | None, pipe: BinaryIO | None) -> None:
        self._view = view
        self._pipe = pipe
        self.seekable = pipe is None

    @classmethod
    def of(cls, data: bytes | memoryview) -> Body:
        """A body in memory."""
        return cls(memoryview(data).cast("B"), None)

    @classmethod
    def of_descriptor(cls, fd: int) -> Body:
        """A body behind a descriptor, which belongs to the body from here on."""
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return cls(None, cast("BinaryIO", io.BufferedReader(io.FileIO(fd), READ)))
        try:
            # Python's map keeps a descriptor of its own; an empty file cannot be mapped.
            mapped = mmap.mmap(fd, 0, access=mmap.ACCESS_READ) if status.st_size else b""
        finally:
            os.close(fd)
        return cls(memoryview(mapped), None)

    def view(self) -> memoryview:
        """The whole body without a copy; a pipe is read to its end first."""
        if self._view is None:
            self._view = memoryview(self.stream().read())
        return self._view

    def stream(self) -> BinaryIO:
        """The body from its start, each read as large as asked; a pipe has one such stream, wherever it has got to."""
        if self._view is not None:
            return cast("BinaryIO", io.BufferedReader(_Window(self._view), READ))
        if self._pipe is None:
            raise ValueError("the body is closed")
        return self._pipe

    def close(self) -> None:
        """Let go of the body; views handed out live on until they are dropped."""
        self._view = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Window(io.RawIOBase):
    """Memory, read from its start."""

    def __init__(self, view: memoryview) -> None:
        self._rest = view

    def readable(self) -> bool:
        """A window is for reading."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer as far as the memory goes."""
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
