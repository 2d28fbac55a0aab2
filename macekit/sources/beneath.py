"""Files below one folder, and nothing beside it, whatever is put in whose place while they are opened.

A path is resolved part by part from a descriptor of the folder; links are read here and never followed by the system,
so that what is opened lies below, by whichever links. It does not depend on Landlock, which is a second lock.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from macekit.problems import Problem, fault
from macekit.schemas.query_string import DATA
from macekit.text import printable

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.fs as arrow_fs

MOST_ENTRIES = 100_000  # files and folders that are looked at to find those that a pattern means
LONGEST_LISTING = 10.0  # seconds that this may take
MOST_LINKS = 40  # links on the way to one file: as many as Linux follows

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
JUST_LOOK = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
"""Neither waits for the other end of a pipe nor wakes a device."""


class Beneath:
    """The folder, as far as `macekit.sources.shards` asks a file system."""

    type_name = "beneath"

    def __init__(self, place: str) -> None:
        self._place = os.path.realpath(place)
        self._looked_at = 0
        self._end = time.monotonic() + LONGEST_LISTING

    def open_input_file(self, path: str) -> pa.NativeFile:
        """A file to read."""
        import pyarrow as pa

        descriptor = self._open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Problem("bad-records", f"{printable(path)}: is neither a file nor a folder")
            with suppress(OSError):
                return pa.OSFile(f"/proc/self/fd/{descriptor}")  # this very file, however it is called by now
            return pa.PythonFile(os.fdopen(os.dup(descriptor), "rb"))
        finally:
            os.close(descriptor)

    def get_file_info(self, what: str | arrow_fs.FileSelector) -> arrow_fs.FileInfo | list[arrow_fs.FileInfo]:
        """What is at a path, or all that is in a folder."""
        if isinstance(what, str):
            return self._info(what)
        return list(self._listing(what.base_dir, recursive=what.recursive))

    def _info(self, path: str) -> arrow_fs.FileInfo:
        import pyarrow.fs as arrow_fs

        try:
            descriptor = self._open(path, JUST_LOOK)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                raise
            return arrow_fs.FileInfo(path, arrow_fs.FileType.NotFound)
        try:
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if stat.S_ISREG(status.st_mode):
            return arrow_fs.FileInfo(path, arrow_fs.FileType.File, size=status.st_size)
        kind = arrow_fs.FileType.Directory if stat.S_ISDIR(status.st_mode) else arrow_fs.FileType.Unknown
        return arrow_fs.FileInfo(path, kind)

    def _listing(self, folder: str, *, recursive: bool) -> Iterator[arrow_fs.FileInfo]:
        """What is in a folder and, if asked for, below it, but for folders that are hidden."""
        import pyarrow.fs as arrow_fs

        folders = [folder]
        while folders:
            here = folders.pop()
            descriptor = self._open(here, FOLDER)
            try:
                with os.scandir(descriptor) as entries:
                    infos = [self._entry(here, each) for each in entries]
            finally:
                os.close(descriptor)
            for info, is_link in infos:
                if recursive and info.type == arrow_fs.FileType.Directory and not is_hidden(info.base_name):
                    if is_link:
                        name = printable(info.path.removeprefix(folder).removeprefix("/"))
                        raise Problem(
                            "bad-records",
                            f"{name}: is a link to a folder, which is not followed; name it, or what it leads to",
                        )
                    folders.append(info.path)
                yield info

    def _entry(self, folder: str, entry: os.DirEntry[str]) -> tuple[arrow_fs.FileInfo, bool]:
        """What an entry of a folder is, or leads to if it is a link; nothing if that leads out."""
        import pyarrow.fs as arrow_fs

        self._count()
        path = f"{folder}/{entry.name}".removeprefix("/")
        if entry.is_symlink():
            try:
                return self._info(path), True
            except (OSError, Problem):
                return arrow_fs.FileInfo(path, arrow_fs.FileType.NotFound), True
        kinds = arrow_fs.FileType
        kind = kinds.Directory if entry.is_dir() else kinds.File if entry.is_file() else kinds.Unknown
        return arrow_fs.FileInfo(path, kind), False

    def _count(self) -> None:
        self._looked_at += 1
        if self._looked_at > MOST_ENTRIES:
            raise _refusal(f"more than {MOST_ENTRIES} files and folders would be looked at; name a folder with fewer")
        if time.monotonic() > self._end:
            raise _refusal(
                f"to look at the files took longer than {LONGEST_LISTING:g} seconds; name a folder with fewer"
            )

    def _open(self, path: str, how: int) -> int:
        """A descriptor of what a path leads to."""
        folders = [os.open(self._place, FOLDER)]
        parts, links = path.split("/")[::-1], 0
        try:
            while parts:
                part = parts.pop()
                if part == "..":
                    if len(folders) == 1:
                        raise _refusal("leads out of the folder of the data")
                    os.close(folders.pop())
                elif part not in ("", "."):
                    if (target := _target(part, folders[-1])) is not None:
                        links += 1
                        if links > MOST_LINKS:
                            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                        if target.startswith("/"):
                            target = self._from_top(target)
                            while len(folders) > 1:
                                os.close(folders.pop())
                        parts += target.split("/")[::-1]
                    elif any(parts):
                        folders.append(_open_at(part, FOLDER, folders[-1]))
                    else:
                        return _open_at(part, how, folders[-1])
            return _open_at(".", how, folders[-1])
        finally:
            for descriptor in folders:
                os.close(descriptor)

    def _from_top(self, target: str) -> str:
        """Where below the folder a link with a whole path leads to."""
        real = os.path.realpath(target)
        if os.path.commonpath((self._place, real)) != self._place:
            raise _refusal("leads out of the folder of the data")
        return os.path.relpath(real, self._place)


def is_hidden(name: str) -> bool:
    """Whether a file belongs to whoever wrote the folder: ``_SUCCESS``, ``.part.crc``."""
    return name.startswith(("_", "."))


def _target(part: str, folder: int) -> str | None:
    """Where a link leads to; None if it is none."""
    try:
        return os.readlink(part, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _open_at(part: str, how: int, folder: int) -> int:
    return os.open(part, how | os.O_NOFOLLOW, dir_fd=folder)


def _refusal(why: str) -> Problem:
    return fault("bad-option", DATA, why)
