"""Files that are one table together: a list of them, a folder, a pattern, or an address in a bucket.

Every file is read by the decoder of its format, in blocks, where it lies; nothing is copied here first. Folders called
``key=value`` are columns of the files in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from estimators.python.dataclass import dataclass, replace
from macekit.call import JSON, READ, Body, Call
from macekit.decoding import reader_of
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.compression import expanded
from macekit.decoding.json import body_of_counts
from macekit.decoding.json_values import parse_object
from macekit.decoding.unnamed_columns import LATER, ROWS_LATER, each_once
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.formats import HEAD, INDEXED, encoding_of, format_named, format_of, holds_pickle, media_type_of
from macekit.problems import Problem, fault, pickle_problem
from macekit.questions.counts.work import document_of, merged
from macekit.schemas.query_string import DATA
from macekit.sources.beneath import Beneath, is_hidden
from macekit.sources.blocks import Block, ahead, blamed
from macekit.text import printable

if TYPE_CHECKING:
    from typing import BinaryIO

    import pyarrow as pa
    import pyarrow.fs as arrow_fs


ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<path>[^?]*)(?P<query>\?.*)?", re.DOTALL)
"""``s3://bucket/key?endpoint_override=...``; the query is for the file system."""

PATTERN = re.compile(r"[*?\[]")
MOST_PARTS, LONGEST_PART = 32, 255
"""What the name of a dataset may have between slashes; no file of a usual system has a longer name."""

MISSING = "__HIVE_DEFAULT_PARTITION__"  # what a folder is called whose rows have no value


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

        with self.open(call) as (file, about):
            if about.encoding == "identity" and about.media_type in INDEXED:
                blocks = reader_of(about).tables(about, file, self.keys)
            else:
                buffered = pa.BufferedInputStream(file, READ)
                blocks = reader_of(about).tables(about, Body(None, cast("BinaryIO", buffered)), self.keys)
            for table, roles in blocks:
                yield Block(self.name, table, roles)

    @contextmanager
    def open(self, call: Call) -> Iterator[tuple[pa.NativeFile, Call]]:
        """The file, and the call with what its first bytes say of its format; what is wrong inside names the file."""
        with blamed(self.name):
            with _refusing(self.name):
                file = self.files.open_input_file(self.path)
                head = file.read(HEAD)
                file.seek(0)
            with file:
                yield file, self._about(call, head)

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

    @property
    def nbytes(self) -> int:
        """Bytes of all files, as they lie there."""
        return sum(shard.files.get_file_info(shard.path).size or 0 for shard in self.shards)

    @property
    def again(self) -> bool:
        """Files may be read twice."""
        return True

    def blocks(self, call: Call) -> Iterator[Block]:
        """All blocks of all files; the next is read while one is looked at."""
        yield from ahead(self._blocks(call))

    def head(self, call: Call) -> None:
        """Of files only the labels of the first rows of some are read."""

    def _blocks(self, call: Call) -> Iterator[Block]:
        rows, every = 0, -(-len(self.shards) // LATER)
        for at, shard in enumerate(self.shards):
            looks = LOOKS if rows < LOOKS else ROWS_LATER if at % every == 0 else 0
            for block in shard.blocks(replace(call, looks=min(call.looks, looks))):
                yield block
                rows += block.rows if call.looks else 0


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
    places: set[tuple[str, str]] = set()
    for shard in files:
        place = shard.files.type_name, shard.path
        if place in places:
            raise Problem("bad-records", f"{shard.name}: is named twice; its records would count twice")
        places.add(place)
    name = os.path.basename(safe_name(os.fspath(paths[0])).rstrip("/"))
    return Shards(name if len(paths) == 1 else f"{len(files)} files", tuple(files))


def shards_below(place: str, name: str) -> Shards:
    """The files that a relative name stands for below a folder or an address, none of which is hidden.

    Their paths are relative, too.
    """
    import pyarrow.fs as arrow_fs

    segments = name.removesuffix("/").split("/")
    if any(not segment or is_hidden(segment) or "\0" in segment for segment in segments):
        detail = (
            "need the name of a file, a folder or a pattern, such as run-7/*.parquet: relative, and no part "
            "empty or beginning with . or _"
        )
        raise fault("bad-option", DATA, detail)
    for problem, is_too_much in (
        ("bad-request", len(segments) > MOST_PARTS),
        ("bad-option", max(map(len, segments)) > LONGEST_PART),
    ):
        if is_too_much:
            about = f"need at most {MOST_PARTS} parts between slashes, of at most {LONGEST_PART} characters each"
            raise fault(problem, DATA, about)
    title = printable(name)
    with _refusing(title):
        if ADDRESS.fullmatch(place):
            inner, root = arrow_fs.FileSystem.from_uri(place)
            files = arrow_fs.SubTreeFileSystem(root, inner)
        else:
            files = cast("arrow_fs.FileSystem", Beneath(place))
    wild = next((at for at, segment in enumerate(segments) if _is_pattern(segment)), len(segments))
    return Shards(title, tuple(_files_at(title, files, "/".join(segments[:wild]), segments[wild:])))


def safe_name(path: str) -> str:
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
    import pyarrow.fs as arrow_fs

    name = safe_name(path)
    address = ADDRESS.fullmatch(path)
    whole = path if address is None else address["path"]
    segments = whole.split("/")
    special = PATTERN if address is None else re.compile(r"\*")
    wild = next((at for at, each in enumerate(segments) if special.search(each)), len(segments))
    base = "/".join(segments[:wild])
    with _refusing(name):
        if address is None:
            files: arrow_fs.FileSystem = arrow_fs.LocalFileSystem()
            root = os.path.abspath(base or ("/" if path.startswith("/") else "."))
        else:
            files, root = arrow_fs.FileSystem.from_uri(f"{address['scheme']}://{base}{address['query'] or ''}")
    yield from _files_at(name, files, root, segments[wild:])


def _files_at(name: str, files: arrow_fs.FileSystem, root: str, patterns: Sequence[str]) -> Iterator[Shard]:
    """The file at a path, or those below it; ``patterns`` are the parts of their paths from there on."""
    import pyarrow.fs as arrow_fs

    with _refusing(name):
        info = files.get_file_info(root)
        if info.type == arrow_fs.FileType.NotFound:
            raise Problem("bad-records", f"{name}: no such file or folder")
        if info.type == arrow_fs.FileType.Unknown:
            raise Problem("bad-records", f"{name}: is neither a file nor a folder")
        if info.type == arrow_fs.FileType.File:
            if patterns:
                raise Problem("bad-records", f"{name}: no file is called so")
            yield Shard(name, root, files, _keys(root))
            return
        patterns = [segment for segment in patterns if segment]
        paths = sorted(set(_below(files, root, patterns)))
    if not paths:
        what = "matches no file" if patterns else "the folder holds no file"
        raise Problem("bad-records", f"{name}: {what} (names that begin with _ or . do not count)")
    beginning = len(root.rstrip("/")) + (1 if root else 0)
    for path in paths:
        yield Shard(printable(path[beginning:]), path, files, _keys(path))


def _below(files: arrow_fs.FileSystem, folder: str, patterns: Sequence[str]) -> Iterator[str]:
    """Files below a folder that fit; folders that cannot hold any are not looked into."""
    import pyarrow.fs as arrow_fs

    if not patterns or patterns[0] == "**":
        beginning = len(folder.rstrip("/")) + (1 if folder else 0)
        for path in _all_below(files, folder):
            if _matches(path[beginning:].split("/"), patterns):
                yield path
        return
    first, *others = patterns
    for each in files.get_file_info(arrow_fs.FileSelector(folder)):
        if not _fits(each.base_name, first):
            continue
        if each.type == arrow_fs.FileType.Directory:
            yield from _below(files, each.path, others)
        elif each.type == arrow_fs.FileType.File and not others:
            yield each.path


def _all_below(files: arrow_fs.FileSystem, folder: str) -> Iterator[str]:
    """Every file below a folder; a link to a folder is refused, for it may lead in a circle or to the same files."""
    import pyarrow.fs as arrow_fs

    if not isinstance(files, arrow_fs.LocalFileSystem):
        entries = files.get_file_info(arrow_fs.FileSelector(folder, recursive=True))
        yield from (each.path for each in entries if each.type == arrow_fs.FileType.File)
        return
    for path, folders, names in os.walk(folder, onerror=_raise):
        links = (each for each in folders if os.path.islink(os.path.join(path, each)) and not is_hidden(each))
        link = next(links, None)
        if link is not None:
            name = printable(os.path.relpath(os.path.join(path, link), folder))
            detail = f"{name}: is a link to a folder, which is not followed; name it, or what it leads to"
            raise Problem("bad-records", detail)
        here = path.rstrip("/") + "/"
        yield from (here + name for name in names if os.path.isfile(os.path.join(path, name)))


def _raise(error: OSError) -> None:
    raise error


def _matches(segments: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path fits a pattern, or lies below a folder that does; what is hidden fits only by its own name.

    Part by part, with all places of the pattern that the parts so far may have come to: no more work than their number
    times that of parts.
    """
    end, places = len(patterns), {0}
    for number, segment in enumerate(segments):
        for place in range(end):
            if place in places and patterns[place] == "**":
                places.add(place + 1)  # it may stand for nothing
        if end in places and not any(map(is_hidden, segments[number:])):
            return True
        several = {place for place in places if place < end and patterns[place] == "**"}
        others = {place + 1 for place in places - several if place < end and _fits(segment, patterns[place])}
        places = others if is_hidden(segment) else several | others
        if not places:
            return False
    return end in places


def _fits(segment: str, pattern: str) -> bool:
    """Whether a part of a path fits a part of a pattern; what is hidden fits only by its own name."""
    if is_hidden(segment) and not is_hidden(pattern):
        return False
    return _expression(pattern).fullmatch(segment) is not None


@lru_cache(maxsize=64)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _keys(path: str) -> dict[str, str]:
    """What the folders of a path say: ``region=eu`` is a column."""
    pairs = (segment.partition("=") for segment in path.split("/")[:-1])
    return {unquote(key): unquote(value) for key, equals, value in pairs if key and equals and value != MISSING}


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """What a file system says, as a problem: no file, no permission, no bucket, no key."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else str(error).partition("\n")[0]
        raise Problem("bad-records", f"{name}: cannot be read: {printable(reason)[:300]}") from None


def hold_counts(files: Shards, call: Call) -> bool:
    """Whether files are JSON, as counts are and records in blocks are not."""
    first = files.shards[0]
    if format_named(first.path) != "json":
        return False
    with first.open(call) as (_, about):
        return about.media_type == JSON


def counts_together(files: Shards, call: Call, options: Mapping[str, object], textual: bool) -> DecodedBody:
    """The counts of all files, or what is asked to bring them together."""
    if call.query:
        raise Problem("bad-option", f"{files.name}: counts have no columns; name columns to mace counts")
    parts = [_part(each, call) for each in files.shards]
    shards = [part.samples[""].counts for part in parts]
    signs = each_once(sign for part in parts for sign in part.samples[""].signs or ())
    notes = each_once(note for part in parts for note in part.cautions)
    if call.operation == "counts":
        samples, options, notes = {}, {**options, "shards": shards}, (*notes, *signs)
    else:
        samples, options = {"": Sample(counts=document_of(*merged(shards)), signs=signs or None)}, dict(options)
    return DecodedBody(
        samples,
        options,
        textual,
        columns=tuple(dict.fromkeys(column for part in parts for column in part.columns)),
        cautions=notes,
    )


def _part(file: Shard, call: Call) -> DecodedBody:
    with file.open(call) as (content, about):
        is_json = about.media_type == JSON
        data = expanded(about, Body.of(memoryview(content.read_buffer()))) if is_json else b""
        body = body_of_counts(parse_object(bytes(data))) if is_json else None
    if body is None:
        what = "JSON files, and files beside one, are read together only if mace counts wrote them"
        raise Problem("bad-records", f"{file.name}: {what}")
    return body
