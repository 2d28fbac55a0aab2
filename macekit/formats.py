"""File formats: one table of them, compression, and how a file's first bytes or its name tell which it is.

Imports nothing heavy: `mace --help` and the table of operations read this table, too.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import PurePath

from macekit import call

ARROW_MAGIC = b"ARROW1"  # what the form of Arrow begins with that is a file, not a stream

JSON_LINES = ("application/jsonl", "application/ndjson", "application/x-jsonlines")
ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How scores may be written: what it is called, and how a file of it is called and begins.

    ``macekit/decoding/NAME.py`` reads it; files of it are called ``.NAME``, too.
    """

    name: str
    title: str
    media_types: tuple[str, ...]
    """The usual one first; those of one format differ in its first bytes."""
    suffixes: tuple[str, ...] = ()
    """Further ends of files' names, without their dots."""
    magic: tuple[bytes, ...] = ()
    aliases: tuple[str, ...] = ()
    """Further media types by which it goes."""
    also: tuple[str, ...] = ()
    """Further short names, and ends of files' names."""

    @property
    def media_type(self) -> str:
        """The usual one."""
        return self.media_types[0]


FILE_FORMATS = (
    FileFormat("csv", "CSV", (call.CSV,), also=("tsv",)),
    FileFormat("jsonl", "JSON lines", (call.NDJSON,), ("ndjson",), aliases=JSON_LINES),
    FileFormat("npy", "NPY", (call.NPY,), magic=(b"\x93NUMPY",)),
    FileFormat("npz", "NPZ", (call.NPZ,), magic=(ZIP,)),
    FileFormat("parquet", "Parquet", (call.PARQUET,), ("pq",), (b"PAR1",)),
    FileFormat(
        "arrow",
        "Arrow",
        (call.ARROW, call.ARROW_FILE),
        ("arrows", "feather", "ipc"),
        (ARROW_MAGIC, b"\xff\xff\xff\xff"),
    ),
    FileFormat("json", "JSON", (call.JSON,)),
)
"""Every format: whoever needs a list of them iterates over this one."""

_BY_NAME = {row.name: row for row in FILE_FORMATS}

FORMATS = {name: row.media_type for row in FILE_FORMATS for name in (row.name, *row.also)}
"""Formats by their short names, as the service calls them."""

SUFFIXES = {f".{name}": name for name in FORMATS}
SUFFIXES |= {f".{suffix}": row.name for row in FILE_FORMATS for suffix in row.suffixes}
MAGIC = {magic: row.name for row in FILE_FORMATS for magic in row.magic}
ALIASES = {alias: row.media_type for row in FILE_FORMATS for alias in row.aliases}
"""Media types by which a format goes, too."""

INDEXED = (call.PARQUET, call.ARROW_FILE)
"""Media types whose index is at the end of the file, which cannot be read as a stream."""

TABLES = {row.media_type: row.name for row in FILE_FORMATS if row.media_type not in (call.JSON, *INDEXED)}
TABLES |= {row.media_type: row.name for row in FILE_FORMATS if row.media_type in INDEXED}
"""The suffix, without its dot, of each media type of scores other than JSON; those with an index at their end last."""

READERS = {call.JSON: "json"} | {each: name for name in TABLES.values() for each in _BY_NAME[name].media_types}
READERS |= {call.FORM_DATA: "multipart"}
"""The module of ``macekit/decoding`` that reads a media type."""

TITLES = {each: row.title for row in FILE_FORMATS for each in row.media_types}
"""What messages call a media type."""

REPORTS = {call.HTML: "html", call.MARKDOWN: "md", call.CSV: "csv", call.SVG: "svg", call.PNG: "png"}
"""The suffix, without its dot, of each form of a report."""

ENCODINGS = ("identity", "gzip", "zstd")  # how a body may be compressed, as ``Content-Encoding`` calls it

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED_SUFFIXES = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}

HEAD = 4096  # first bytes of a file that are enough to tell

PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".pt", ".pth"})
"""What files of pickles are called."""

PICKLE = re.compile(
    rb"\x80[\x02-\x05]"  # protocols 2 to 5 say which they are; the two before them begin with a value:
    rb"|\(?c[A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(p\d+\n|q|\()"  # something to import, then to be called
    rb"|\([ldt]p\d+\n|\([ldt]\.|\([FIL]-?\d[-+.\deE]*L?\n"  # a list, a dictionary or a tuple, in text
    rb"|[\]}\)][q.]|\(?[\]}]q|\(G[?@\xbf\xc0].{7}[Gt]",  # the same in bytes
    re.DOTALL,
)
"""How a pickle begins."""

ZLIB = tuple(b"\x78" + level for level in (b"\x01", b"\x5e", b"\x9c", b"\xda"))
"""How what joblib compresses begins, where it does so by zlib."""


def format_of(path: str, head: bytes) -> str:
    """The short name of a file's format: a magic is never an accident; without one, its suffix is the best word."""
    plain = _expanded(head, encoding_of(head))
    return _by_magic(plain) or format_named(path) or _by_first_letter(plain)


def encoding_of(head: bytes) -> str:
    """How a file is compressed."""
    return next((encoding for magic, encoding in COMPRESSED.items() if head.startswith(magic)), "identity")


def media_type_of(form: str, head: bytes) -> str:
    """What the service calls a format; the two forms of Arrow share a name and differ in their first bytes."""
    return call.ARROW_FILE if head.startswith(ARROW_MAGIC) else FORMATS[form]


def format_named(path: str) -> str | None:
    """The short name of the format that a file's name speaks of, compressed or not."""
    pure = PurePath(path)
    if encoding_named(path) is not None:
        pure = pure.with_suffix("")
    return SUFFIXES.get(pure.suffix.lower())


def encoding_named(path: str) -> str | None:
    """How a file is compressed, if its name says so."""
    return COMPRESSED_SUFFIXES.get(PurePath(path).suffix.lower())


def is_pickle(head: bytes) -> bool:
    """Whether what begins like this is a pickle: of any protocol, joblib's, or PyTorch's, which is a ZIP of one."""
    if head.startswith(ZIP):
        return b".pkl" in head
    return PICKLE.match(_inflated(head) if head.startswith(ZLIB) else head) is not None


def holds_pickle(path: str, head: bytes) -> bool:
    """Whether a file is a pickle, compressed or not; its suffix counts if nothing in it says otherwise."""
    plain = _expanded(head, encoding_of(head))
    if is_pickle(plain):
        return True
    pure = PurePath(path)
    if encoding_named(path) is not None:
        pure = pure.with_suffix("")
    return pure.suffix.lower() in PICKLE_SUFFIXES and _by_magic(plain) is None


def _inflated(head: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(head[:HEAD], HEAD)
    except zlib.error:
        return b""


def _by_magic(head: bytes) -> str | None:
    return next((form for magic, form in MAGIC.items() if head.startswith(magic)), None)


def _by_first_letter(head: bytes) -> str:
    """JSON begins with a brace; if its first line is an object and another begins below it, each line is one."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"{"):
        return "csv"
    line, _, rest = text.partition(b"\n")
    return "jsonl" if rest.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") else "json"


def _expanded(head: bytes, encoding: str) -> bytes:
    """The first bytes of what was compressed, as far as the head goes."""
    if encoding == "gzip":
        try:
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
        except zlib.error:
            return b""
    if encoding == "zstd":
        import pyarrow as pa

        try:
            with pa.CompressedInputStream(pa.BufferReader(head), "zstd") as stream:
                return bytes(stream.read(64))
        except OSError:
            return b""
    return head
