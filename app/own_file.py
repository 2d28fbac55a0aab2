"""A file that one service writes, for itself: locked, regular, and whole after every line."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

LOCKS = Path("/proc/locks")


class NotOwn(ValueError):
    """The file cannot be this service's own; the text says why."""


def own(path: Path, how: int = os.O_CREAT) -> int:
    """A descriptor of the file that nobody else has for himself; the lock goes with the file that takes its place.

    Raises:
        NotOwn: another service has it, it cannot be opened, or it is no file in which anything stays.
    """
    import fcntl  # noqa: PLC0415 - settings are read on systems that have no such locks, and no service

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | how, 0o640)
    except OSError as error:
        raise NotOwn(f"the file cannot be opened: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotOwn("need a regular file")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"another service writes it{_holder(status)}; each needs a file of its own"
            raise NotOwn(message) from None
        if not is_at(path, descriptor):
            raise NotOwn("another file took its place while it was opened")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_at(path: Path, descriptor: int) -> bool:
    """Whether whoever opens the path finds this very file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def append(descriptor: int, data: bytes, *, sync: bool = False) -> None:
    """All of it, or nothing; if asked for, on the disk.

    Raises:
        OSError: it could not be written whole.
    """
    end = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError("the disk is full")
        if sync:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, end)
        raise


def sync_folder(path: Path) -> None:
    """Have the name of a file reach the disk."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _holder(status: os.stat_result) -> str:
    """Which process has the lock, where the system says so."""
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError):
        if holder := re.search(rf"FLOCK +\w+ +WRITE +(\d+) +{place} ", LOCKS.read_text("ascii")):
            return f" (process {holder[1]} of this machine)"
    return ""
