"""File formats: media types, suffixes, compression, and how a file's first bytes or its name tell them."""

from __future__ import annotations

import zlib
from pathlib import PurePath

from macekit.call import ARROW, ARROW_FILE, CSV, HTML, JSON, MARKDOWN, NPY, PARQUET, PNG, SVG

FORMATS = {"csv": CSV, "tsv": CSV, "npy": NPY, "parquet": PARQUET, "arrow": ARROW, "json": JSON}
"""Formats by their short names, as the service calls them."""

SUFFIXES = {f".{name}": name for name in FORMATS} | {
    ".pq": "parquet",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}

TABLES = {FORMATS[name]: name for name in ("csv", "npy", "arrow", "parquet")}
"""The suffix, without its dot, of each media type of scores other than JSON."""

REPORTS = {HTML: "html", MARKDOWN: "md", CSV: "csv", SVG: "svg", PNG: "png"}
"""The suffix, without its dot, of each form of a report."""

ENCODINGS = ("identity", "gzip", "zstd")
"""How a body may be compressed, as ``Content-Encoding`` calls it."""

ARROW_MAGIC = b"ARROW1"
"""What the form of Arrow begins with that is a file, not a stream."""

MAGIC = {b"\x93NUMPY": "npy", b"PAR1": "parquet", ARROW_MAGIC: "arrow", b"\xff\xff\xff\xff": "arrow"}
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED_SUFFIXES = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}

HEAD = 4096
"""First bytes of a file that are enough to tell."""


def format_of(path: str, head: bytes) -> str:
    """The short name of a file's format: a magic is never an accident; without one, its suffix is the best word."""
    plain = _expanded(head, encoding_of(head))
    return _by_magic(plain) or format_named(path) or _by_first_letter(plain)


def encoding_of(head: bytes) -> str:
    """How a file is compressed."""
    return next((encoding for magic, encoding in COMPRESSED.items() if head.startswith(magic)), "identity")


def media_type_of(form: str, head: bytes) -> str:
    """What the service calls a format; the two forms of Arrow share a name and differ in their first bytes."""
    return ARROW_FILE if head.startswith(ARROW_MAGIC) else FORMATS[form]


def format_named(path: str) -> str | None:
    """The short name of the format that a file's name speaks of, compressed or not."""
    pure = PurePath(path)
    if encoding_named(path) is not None:
        pure = pure.with_suffix("")
    return SUFFIXES.get(pure.suffix.lower())


def encoding_named(path: str) -> str | None:
    """How a file is compressed, if its name says so."""
    return COMPRESSED_SUFFIXES.get(PurePath(path).suffix.lower())


def _by_magic(head: bytes) -> str | None:
    return next((form for magic, form in MAGIC.items() if head.startswith(magic)), None)


def _by_first_letter(head: bytes) -> str:
    return "json" if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv"


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
