"""The audit file: a line for every question that was answered or refused, each with the hash of the line before it.

A line is written before its answer leaves; where it cannot be written, the answer does not leave. Lines are only
appended. Who changes, drops or moves one breaks the chain from there on; who cuts the end off does not, so the last
hash is worth keeping elsewhere (`mace verify --audit` prints it).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

START = "0" * 64
"""What the first line names as the hash before it."""
LONGEST_LINE = 64 * 1024
HASHED = re.compile(rb'(?P<body>\{.*),"hash":"(?P<hash>[0-9a-f]{64})"\}\n')


class AuditError(ValueError):
    """The audit file cannot be continued, or is not whole; the text says where."""


@dataclass(slots=True)
class AuditFile:
    """An audit file that is being written."""

    path: Path
    descriptor: int
    last: str

    @classmethod
    def open(cls, path: Path) -> AuditFile:
        """Go on where the file ends; an unfinished last line, from a crash, is an error that a person must look at."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
        except OSError as error:
            raise AuditError(f"the file cannot be opened ({type(error).__name__})") from None
        try:
            return cls(path, descriptor, _last_hash(descriptor))
        except BaseException:
            os.close(descriptor)
            raise

    def append(self, fields: Mapping[str, Any]) -> None:
        """Write a line.

        Raises:
            OSError: it could not be written whole; nothing of it stays.
        """
        entry = {
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **fields,
            "previous": self.last,
        }
        body = json.dumps(entry, ensure_ascii=True, separators=(",", ":"))
        name = sha256(body.encode()).hexdigest()
        line = f'{body[:-1]},"hash":"{name}"}}\n'.encode()
        end = os.fstat(self.descriptor).st_size
        try:
            if os.write(self.descriptor, line) < len(line):
                raise OSError("the disk is full")
        except OSError:
            os.ftruncate(self.descriptor, end)
            raise
        self.last = name

    def close(self) -> None:
        """Have what was written reach the disk, and close."""
        os.fsync(self.descriptor)
        os.close(self.descriptor)


def verify(path: Path) -> tuple[int, str]:
    """How many lines a file has, and the hash of the last, if its chain is whole.

    Raises:
        AuditError: a line was changed, dropped, moved or added.
    """
    last, count = START, 0
    try:
        with path.open("rb") as file:
            for count, line in enumerate(_lines(file), 1):
                last = _hash_of(line, last, count)
    except OSError as error:
        raise AuditError(f"the file cannot be read ({type(error).__name__})") from None
    return count, last


def _lines(file: Any) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE):
        yield line


def _hash_of(line: bytes, previous: str, number: int) -> str:
    """The hash of a line, if it is what it says and follows the one before it."""
    whole = HASHED.fullmatch(line)
    if whole is None:
        raise AuditError(f"line {number} is no whole line of an audit file")
    body, name = whole["body"] + b"}", whole["hash"].decode("ascii")
    try:
        entry = json.loads(body)
    except ValueError:
        raise AuditError(f"line {number} is no JSON") from None
    if sha256(body).hexdigest() != name:
        raise AuditError(f"line {number} was changed: its hash is not that of what it says")
    if entry.get("previous") != previous:
        raise AuditError(
            f"line {number} does not follow the one before it: lines were dropped, moved or added"
        )
    return name


def _last_hash(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    if not size:
        return START
    end = os.pread(descriptor, LONGEST_LINE, max(0, size - LONGEST_LINE))
    line = end[end.rfind(b"\n", 0, -1) + 1 :]
    try:
        previous = json.loads(line)["previous"]
    except (ValueError, KeyError, TypeError):
        raise AuditError(
            "its last line is not whole; look at it, and move the file away or cut that line off"
        ) from None
    return _hash_of(line, previous, 0)  # whether it follows the line before it, `mace verify` says
