"""Files: whole or not at all, and never over another file unasked."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.cli.sources import Misuse
from macekit.text import shown


@dataclass(frozen=True, slots=True)
class Target:
    """A file to write, checked before any work is done."""

    name: str
    path: Path
    suffix: str

    def write(self, data: bytes | memoryview) -> None:
        """Write the data beside its place, then move it there."""
        beside = self.path.with_name(f".mace-{secrets.token_hex(8)}.part")
        try:
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    if self.path.exists():
                        os.fchmod(file.fileno(), stat.S_IMODE(self.path.stat().st_mode))
                    os.fsync(file.fileno())
                beside.replace(self.path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise Misuse(f"{self.name}: cannot be written: {error.strerror}") from None


def target_of(path: str, suffixes: Sequence[str], force: bool) -> Target:
    """Where to write, or why not: another format, a file that is there already, a folder that is not."""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise Misuse(f"{shown(path)}: the answer is written as {', '.join(suffixes)}; this is none of them")
    try:
        real = Path(os.path.realpath(path))
        exists = real.exists()
        if exists and not stat.S_ISREG(real.stat().st_mode):
            raise Misuse(f"{shown(path)}: not a file")
        if not real.parent.is_dir():
            raise Misuse(f"{shown(path)}: there is no such folder")
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise Misuse(f"{shown(path)}: the folder cannot be written to")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise Misuse(f"{shown(path)}: {why}") from None
    if exists and not force:
        raise Misuse(f"{shown(path)}: is there already; --force replaces it")
    return Target(shown(path), real, suffix)


def folder_of(path: str) -> Path:
    """A folder to write to, made if it is not there."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise Misuse(f"{shown(path)}: not a folder") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise Misuse(f"{shown(path)}: cannot be made: {why}") from None
    return folder
