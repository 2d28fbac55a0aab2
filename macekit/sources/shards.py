"""Files that are one table together: a list of them, a folder, a pattern, or an address in a bucket.

Every file is read by the decoder of its format, in blocks, where it lies; nothing is copied here first. Folders called
``key=value`` are columns of the files in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from macekit.call import ARROW_FILE, PARQUET, READ, Body, Call
from macekit.decoding import arrow, parquet, tables
from macekit.formats import HEAD, encoding_of, format_named, format_of, holds_pickle, media_type_of
from macekit.problems import Problem, pickle_problem
from macekit.sources.blocks import Block, ahead, blamed
from macekit.text import printable

if TYPE_CHECKING:
    from typing import BinaryIO

    import pyarrow.fs as arrow_fs

ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<path>[^?]*)(?P<query>\?.*)?", re.DOTALL)
"""``s3://bucket/key?endpoint_override=...``; the query is for the file system."""

PATTERN = re.compile(r"[*?\[]")
HIDDEN_NAMES = ("_", ".")
"""How names begin of files that belong to whoever wrote the folder: ``_SUCCESS``, ``.part.crc``."""

MISSING = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called whose rows have no value."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One file: what messages call it, where it lies, and what the folders above it say."""

    name: str
    path: str
    files: arrow_fs.FileSystem
    keys: dict[str, str]

    def blocks(self, call: Call) -> Iterator[Block]:
        """The file in blocks, by the reader of its format."""
        import pyarrow as pa

        with blamed(self.name):
            with _refusing(self.name):
                file = self.files.open_input_file(self.path)
                head = file.read(HEAD)
                file.seek(0)
            with file:
                about = self._about(call, head)
                if about.encoding == "identity" and about.media_type in (PARQUET, ARROW_FILE):
                    read = parquet.blocks if about.media_type == PARQUET else arrow.blocks
                    blocks = read(about, file, self.keys)
                else:
                    buffered = pa.BufferedInputStream(file, READ)
                    blocks = tables(about, Body(None, cast("BinaryIO", buffered)))
                for table, roles in blocks:
                    yield Block(self.name, table, roles)

    def _about(self, call: Call, head: bytes) -> Call:
        if not head:
            raise Problem("incomplete-body", "the file is empty")
        if holds_pickle(self.path, head):
            raise pickle_problem()
        media_type = media_type_of(format_of(self.path, head), head)
        return replace(call, media_type=media_type, encoding=encoding_of(head))


@dataclass(frozen=True, slots=True)
class Shards:
    """Several files, read one after another as one table."""

    name: str
    shards: tuple[Shard, ...]

    def blocks(self, call: Call) -> Iterator[Block]:
        """All blocks of all files; the next is read while one is looked at."""
        yield from ahead(block for shard in self.shards for block in shard.blocks(call))


def is_address(path: str) -> bool:
    """Whether a path means files elsewhere, or several: an address, a folder, or a pattern that is no file's name."""
    return bool(ADDRESS.fullmatch(path)) or os.path.isdir(path) or (_is_pattern(path) and not _exists(path))


def are_paths(values: Sequence[object]) -> bool:
    """Whether a list is one of paths, and not of scores that are text."""
    return bool(values) and all(
        isinstance(each, os.PathLike)
        or (isinstance(each, str) and (is_address(each) or _exists(each) or format_named(each) is not None))
        for each in values
    )


def shards_of(paths: Sequence[str | os.PathLike[str]]) -> Shards:
    """The files that paths, folders, patterns and addresses stand for, each once and in order."""
    files = [shard for path in paths for shard in _shards(os.fspath(path))]
    places = [(shard.files.type_name, shard.path) for shard in files]
    twice = next((shard for at, shard in enumerate(files) if places[at] in places[:at]), None)
    if twice is not None:
        raise Problem("bad-records", f"{twice.name}: is named twice; its records would count twice")
    name = os.path.basename(_name(os.fspath(paths[0])).rstrip("/"))
    return Shards(name if len(paths) == 1 else f"{len(files)} files", tuple(files))


def _name(path: str) -> str:
    """What messages call a path: without the key that an address may hold."""
    address = ADDRESS.fullmatch(path)
    if address is None:
        return printable(path)
    bucket, slash, rest = address["path"].partition("/")
    return printable(f"{address['scheme']}://{bucket.rpartition('@')[2]}{slash}{rest}")


def _is_pattern(path: str) -> bool:
    return PATTERN.search(path) is not None


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except ValueError:  # a NUL
        return False


def _shards(path: str) -> Iterator[Shard]:
    """The files of one path."""
    import pyarrow.fs as arrow_fs

    name = _name(path)
    address = ADDRESS.fullmatch(path)
    whole = path if address is None else address["path"]
    segments = whole.split("/")
    wild = next((at for at, segment in enumerate(segments) if _is_wild(segment, address)), len(segments))
    base = "/".join(segments[:wild])
    with _refusing(name):
        if address is None:
            files: arrow_fs.FileSystem = arrow_fs.LocalFileSystem()
            root = os.path.abspath(base or ("/" if path.startswith("/") else "."))
        else:
            files, root = arrow_fs.FileSystem.from_uri(
                f"{address['scheme']}://{base}{address['query'] or ''}"
            )
        info = files.get_file_info(root)
        if info.type == arrow_fs.FileType.NotFound:
            raise Problem("bad-records", f"{name}: no such file or folder")
        if info.type == arrow_fs.FileType.File:
            if wild < len(segments):
                raise Problem("bad-records", f"{name}: no file is called so")
            yield Shard(name, root, files, _keys(root))
            return
        entries = files.get_file_info(arrow_fs.FileSelector(root, recursive=True))
    patterns = [segment for segment in segments[wild:] if segment]
    below = len(root.rstrip("/")) + 1
    paths = sorted(each.path for each in entries if each.type == arrow_fs.FileType.File)
    readers = [each for each in paths if _matches(each[below:].split("/"), patterns)]
    if not readers:
        what = "matches no file" if patterns else "the folder holds no file"
        raise Problem("bad-records", f"{name}: {what} (names that begin with _ or . do not count)")
    for each in readers:
        yield Shard(printable(each[below:]), each, files, _keys(each))


def _is_wild(segment: str, address: re.Match[str] | None) -> bool:
    return _is_pattern(segment) if address is None else "*" in segment


def _matches(segments: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path fits a pattern, or lies below a folder that does; what is hidden fits only by its own name."""
    if not patterns:
        return not any(segment.startswith(HIDDEN_NAMES) for segment in segments)
    if not segments:
        return False
    first, *others = patterns
    if first == "**":
        is_hidden = segments[0].startswith(HIDDEN_NAMES)
        return _matches(segments, others) or (not is_hidden and _matches(segments[1:], patterns))
    if segments[0].startswith(HIDDEN_NAMES) and not first.startswith(HIDDEN_NAMES):
        return False
    return _expression(first).fullmatch(segments[0]) is not None and _matches(segments[1:], others)


@lru_cache(maxsize=64)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _keys(path: str) -> dict[str, str]:
    """What the folders of a path say: ``region=eu`` is a column."""
    pairs = (segment.partition("=") for segment in path.split("/")[:-1])
    return {
        unquote(key): unquote(value) for key, equals, value in pairs if key and equals and value != MISSING
    }


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """What a file system says, as a problem: no file, no permission, no bucket, no key."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise Problem("bad-records", f"{name}: cannot be read: {printable(reason)[:300]}") from None
