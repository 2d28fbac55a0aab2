"""Answers as files: by suffix, whole or not at all, and never over another file unasked."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.call import ARROW, JSON
from app.cli.sources import Misuse
from app.cli.words import shown

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".csv", ".arrow", ".parquet")
"""Suffixes of files with a row for each record; all are made from the service's Arrow answer."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to write, checked before any work is done."""

    name: str
    path: Path
    suffix: str

    @property
    def accept(self) -> str:
        """The form of the answer it is made from."""
        return JSON if self.suffix == ".json" else ARROW

    def write(self, body: bytes | memoryview) -> None:
        """Write the answer beside its place, then move it there."""
        data = _CONVERTED[self.suffix](body)
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


def target_of(path: str, tables: bool, force: bool) -> Target:
    """Where to write, or why not: another format, a file that is there already, a folder that is not."""
    known = (".json", *TABLES) if tables else (".json",)
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise Misuse(f"{shown(path)}: the answer is written as {', '.join(known)}; this is none of them")
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


def notes_of(body: bytes | memoryview) -> dict[str, object]:
    """The sentence that travels with an Arrow answer."""
    import msgspec

    notes = _table(body).schema.metadata or {}
    found: dict[str, object] = msgspec.json.decode(notes.get(b"mace", b"{}"))
    return found


def _table(body: bytes | memoryview) -> pa.Table:
    import pyarrow as pa

    with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
        return reader.read_all()


def _as_parquet(body: bytes | memoryview) -> bytes | memoryview:
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(_table(body), sink)
    return memoryview(sink.getvalue())


def _as_csv(body: bytes | memoryview) -> bytes | memoryview:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(_table(body), sink)
    return memoryview(sink.getvalue())


def _as_it_is(body: bytes | memoryview) -> bytes | memoryview:
    return body


_CONVERTED: dict[str, Callable[[bytes | memoryview], bytes | memoryview]] = {
    ".json": _as_it_is,
    ".arrow": _as_it_is,
    ".csv": _as_csv,
    ".parquet": _as_parquet,
}
