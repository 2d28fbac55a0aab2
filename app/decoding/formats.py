"""How a file is written and whether it is compressed: by its name, or by its first bytes."""

from __future__ import annotations

import zlib
from pathlib import PurePath

from app.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET

FORMATS = {"csv": CSV, "tsv": CSV, "npy": NPY, "parquet": PARQUET, "arrow": ARROW, "json": JSON}
"""Formats by their short names, as the service calls them."""

SUFFIXES = {f".{name}": name for name in FORMATS} | {
    ".pq": "parquet",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
MAGIC = {b"\x93NUMPY": "npy", b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED_SUFFIXES = {".gz", ".zst", ".zstd"}

HEAD = 4096
"""First bytes of a file that are enough to tell."""

ARROW_MAGIC = b"ARROW1"


def format_of(path: str, head: bytes) -> str:
    """The short name of a file's format: its suffix says, or else its first bytes."""
    return _by_name(path) or _by_first_bytes(_expanded(head, encoding_of(head)))


def encoding_of(head: bytes) -> str:
    """How a file is compressed."""
    return next((known for magic, known in COMPRESSED.items() if head.startswith(magic)), "identity")


def media_type_of(form: str, head: bytes) -> str:
    """What the service calls a format; the two forms of Arrow share a name and differ in their first bytes."""
    return ARROW_FILE if head.startswith(ARROW_MAGIC) else FORMATS[form]


def _by_name(path: str) -> str | None:
    pure = PurePath(path)
    if pure.suffix.lower() in COMPRESSED_SUFFIXES:
        pure = pure.with_suffix("")
    return SUFFIXES.get(pure.suffix.lower())


def _by_first_bytes(head: bytes) -> str:
    known = next((form for magic, form in MAGIC.items() if head.startswith(magic)), None)
    if known is not None:
        return known
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
