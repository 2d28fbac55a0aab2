"""The audit file: a line for every question that was answered or refused, each with the hash of the line before it.

A line is written before its answer leaves, by a thread, for a disk may hang; where it cannot be written, the answer
does not leave. Lines are only appended. Who changes, drops or moves one breaks the chain from there on; who cuts the
end off does not, so the last hash is worth keeping elsewhere (`mace verify --audit` prints it).

A file that is large enough is called ``FILE.000001`` and so on, and the chain goes on in a new one. What goes on there
says so in its first line, and so does what begins anew beside a file that was broken.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from app.own_file import NotOwn, append, is_at, own, sync_folder

START = "0" * 64  # what the first line names as the hash before it
LONGEST_LINE = 64 * 1024
HASHED = re.compile(rb'(?P<body>\{.*),"hash":"(?P<hash>[0-9a-f]{64})"\}\n')
CONTINUES, BEGINS_ANEW = "continues", "begins anew"
"""Events of lines that a file may begin with, which are about no question."""
GOES_ON, WITHHELD = "goes on", "withheld"
"""Events after a time without lines: that there are again, and whose answer did not leave, late as its line was."""
LONGEST_WRITE = 5.0  # seconds for which an answer waits for its line
CHECKPOINT = ".checkpoint"
LINES_BETWEEN = 10_000  # lines after which it is noted how far the chain is known to hold
LOOK_AGAIN = 1.0  # seconds between attempts to write again

log = logging.getLogger(__name__)


class AuditError(ValueError):
    """The audit file cannot be continued, or is not whole; the text says where."""


@dataclass(slots=True)
class Entry:
    """A line that is to be written; ``outcome`` comes once it is, and is cancelled where nobody waits any more."""

    fields: Mapping[str, Any]
    outcome: Future[None] = field(default_factory=Future)


class AuditFile:
    """An audit file that is being written, by a thread of its own."""

    def __init__(self, path: Path, most: int = 0) -> None:
        """Go on where the file ends.

        Args:
            path: The file; it is made if there is none.
            most: Bytes from which on the next line goes into a new file; 0: never.

        Raises:
            AuditError: another service writes it, or it is not whole: a person must look at it.
        """
        self.path = path
        self.fault: str | None = None
        """Why no line can be written now."""
        self._most, self._lines, self._end = most, 0, 0
        self._owed: Mapping[str, Any] | None = None
        """The first line of the file that is written, as long as it lacks it: a full disk takes a name, and no line."""
        self._noted = path.with_name(path.name + CHECKPOINT)
        try:
            self._descriptor = own(path)
        except NotOwn as error:
            raise AuditError(str(error)) from None
        try:
            self.last = self._continue()
        except (OSError, AuditError) as error:
            os.close(self._descriptor)
            advice = f"look at it, and have a new one begin with: mace verify --audit {path} --begin-anew"
            raise AuditError(f"{error}; {advice}") from None
        self._end = os.fstat(self._descriptor).st_size
        self._to_do: queue.SimpleQueue[Entry | str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="audit", daemon=True)
        self._thread.start()

    def append(self, fields: Mapping[str, Any]) -> Entry:
        """Have a line written; its answer may leave once that is done, and not if it fails."""
        entry = Entry(fields)
        self._to_do.put(entry)
        return entry

    async def write(self, fields: Mapping[str, Any]) -> None:
        """Write a line, and wait for it, but not for ever.

        Raises:
            OSError: it could not be written whole, and nothing of it stays; or it takes too long, and if it is written
                after all, another says that its answer was withheld.
        """
        entry = self.append(fields)
        try:
            await asyncio.wait_for(asyncio.wrap_future(entry.outcome), LONGEST_WRITE)
        except TimeoutError:
            if not entry.outcome.cancelled():
                self.append({"event": WITHHELD, "request_id": fields.get("request_id")})
            error = OSError(f"to write a line took longer than {LONGEST_WRITE:g} seconds")
            self._fail(error)
            self._to_do.put("look")
            raise error from None

    def reopen(self) -> None:
        """Go on in a new file, if the one that is written was moved away or emptied."""
        self._to_do.put("reopen")

    def rotate(self) -> None:
        """Go on in a new file, and give the one that is written a number."""
        self._to_do.put("rotate")

    def close(self) -> None:
        """Have what was written reach the disk, and close."""
        self._to_do.put("close")
        self._thread.join(LONGEST_WRITE)

    # --- the thread -------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            try:
                task = self._to_do.get(timeout=LOOK_AGAIN if self.fault else None)
            except queue.Empty:
                self._try_again()
                continue
            if isinstance(task, Entry):
                self._write_for(task)
            elif task == "close":
                with suppress(OSError):
                    os.fsync(self._descriptor)
                    self._note_checkpoint()
                os.close(self._descriptor)
                return
            elif task != "look":
                self._begin_another(moved_only=task == "reopen")
            elif self.fault:
                self._try_again()

    def _write_for(self, entry: Entry) -> None:
        if not entry.outcome.set_running_or_notify_cancel():
            return
        try:
            self._write(entry.fields)
        except (OSError, TypeError, ValueError) as error:
            failure = error if isinstance(error, OSError) else OSError(f"it is no line ({type(error).__name__})")
            self._fail(failure)
            entry.outcome.set_exception(failure)
            return
        entry.outcome.set_result(None)
        if self._most and self._end >= self._most:
            self._begin_another(moved_only=False)
        elif self._lines >= LINES_BETWEEN:
            with suppress(OSError):
                self._note_checkpoint()

    def _write(self, fields: Mapping[str, Any] | None = None) -> None:
        """Write a line, after the one that is owed; nothing of a line stays where it cannot be written whole."""
        if not is_at(self.path, self._descriptor):
            raise OSError("another has its place" if self.path.exists() else "the file was moved or removed")
        if os.fstat(self._descriptor).st_size != self._end:
            raise OSError("the file was cut off, or written to by another")
        for each in filter(None, (self._owed, fields)):
            line, name = _line(each, self.last)
            append(self._descriptor, line)
            self.last, self._end, self._lines = name, self._end + len(line), self._lines + 1
            self._owed = None

    def _fail(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        if self.fault is None:
            log.error("the audit file cannot be written", extra={"fields": {"reason": reason}})
        self.fault = reason

    def _try_again(self) -> None:
        """Write that it goes on; then it does."""
        try:
            self._write({"event": GOES_ON, "after": self.fault})
        except OSError as error:
            self._fail(error)
        else:
            self.fault = None
            log.warning("the audit file is written again")

    def _begin_another(self, *, moved_only: bool) -> None:
        """Go on in a new file at the path."""
        try:
            here = is_at(self.path, self._descriptor)
            if here and os.fstat(self._descriptor).st_size == 0 < self._end:  # emptied in place
                self._begin(None)
            elif not here:
                descriptor = own(self.path)
                if os.fstat(descriptor).st_size:
                    os.close(descriptor)
                    raise OSError("another file has its place")
                self._take(descriptor, None)
            elif not moved_only and self._end:
                self._give_number()
            if self.fault:
                self._try_again()
        except (OSError, NotOwn) as error:
            self._fail(error if isinstance(error, OSError) else OSError(str(error)))

    def _give_number(self) -> None:
        numbered = files_before(self.path)
        number = int(numbered[-1].suffix[1:]) + 1 if numbered else 1
        former = self.path.with_name(f"{self.path.name}.{number:06d}")
        os.rename(self.path, former)
        try:
            descriptor = own(self.path, os.O_CREAT | os.O_EXCL)
        except (OSError, NotOwn):
            os.rename(former, self.path)
            raise
        self._take(descriptor, former.name)
        log.info("the audit file goes on in a new one", extra={"fields": {"former": former.name}})

    def _take(self, descriptor: int, former: str | None) -> None:
        """Write to this file from now on, first of all which one it continues."""
        with suppress(OSError):
            os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = descriptor
        self._begin(former)
        with suppress(OSError):
            sync_folder(self.path)
            self._note_checkpoint()

    def _begin(self, former: str | None) -> None:
        """Write the first line of an empty file, now or as soon as that can be done."""
        self._end, self._owed = 0, self._owed or {"event": CONTINUES, "file": former}
        self._write()

    # --- the start --------------------------------------------------------------------------------------

    def _continue(self) -> str:
        """The hash to go on from, once the chain was followed from where it was last known to hold."""
        if os.fstat(self._descriptor).st_size:
            with self.path.open("rb") as file:
                offset, last = self._checkpoint(file)
                file.seek(offset)
                place = f"after byte {offset}, " if offset else ""
                return _follow(file, last if offset else _first_previous(file), place)[1]
        numbered = files_before(self.path)
        if not numbered:
            return START
        self.last = _last_of(numbered[-1])
        try:
            self._begin(numbered[-1].name)
        except OSError as error:
            self._fail(error)
        return self.last

    def _checkpoint(self, file: BinaryIO) -> tuple[int, str]:
        """Up to where the chain is known to hold, and the hash there; the beginning if that is not to be believed."""
        try:
            noted = json.loads(self._noted.read_bytes())
            offset, last = int(noted["offset"]), str(noted["hash"])
            file.seek(max(0, offset - len(last) - len('"}\n')))
            if offset > 0 and file.read(len(last) + 3) == f'{last}"}}\n'.encode():
                return offset, last
        except (OSError, ValueError, KeyError, TypeError):
            return 0, START  # none, or none that a service left whole
        return 0, START

    def _note_checkpoint(self) -> None:
        self._lines = 0
        fresh = self._noted.with_name(f"{self._noted.name}.new")
        fresh.write_text(json.dumps({"offset": self._end, "hash": self.last}))
        fresh.replace(self._noted)


def begin_anew(path: Path) -> Path:
    """Put a file that is broken aside, and begin another that names its digest; where it is now.

    Raises:
        AuditError: another service writes it, or it cannot be done.
    """
    try:
        descriptor = own(path, 0)
    except NotOwn as error:
        raise AuditError(str(error)) from None
    try:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        aside = next(each for n in count(1) if not (each := path.with_name(f"{path.name}.aside-{n:06d}")).exists())
        os.rename(path, aside)
        new = own(path, os.O_CREAT | os.O_EXCL)
        about = {"event": BEGINS_ANEW, "file": aside.name, "file_sha256": digest}
        try:
            append(new, _line(about, START)[0], sync=True)
        except OSError:
            os.replace(aside, path)
            raise
        finally:
            os.close(new)
    except (OSError, NotOwn) as error:
        raise AuditError(f"it cannot be put aside ({error})") from None
    finally:
        os.close(descriptor)
    return aside


def verify(path: Path, notes: list[str] | None = None) -> tuple[int, str]:
    """How many lines a file and those numbered before it have, and the hash of the last, if their chain is whole.

    Raises:
        AuditError: a line was changed, dropped, moved or added.
    """
    paths, last, every, notes = [*files_before(path), path], START, 0, [] if notes is None else notes
    for number, each in enumerate(paths):
        name = f"{each.name}: " if len(paths) > 1 else ""
        try:
            with each.open("rb") as file:
                event = first_event(file)
                if event.get("event") == BEGINS_ANEW:
                    last = START
                    notes.append(f"{each.name} was begun anew after {event.get('file')}: its chain was broken")
                elif not number and event.get("event") == CONTINUES:
                    last = str(event.get("previous"))
                    notes.append(f"{each.name} continues a file that is not here, from the hash {last}")
                lines, last = _follow(file, last, name)
        except OSError as error:
            raise AuditError(f"{name}the file cannot be read ({type(error).__name__})") from None
        every += lines
    return every, last


def files_before(path: Path) -> list[Path]:
    """The files before this one, the first one first."""
    return sorted(each for each in path.parent.glob(f"{path.name}.*") if re.fullmatch(r"\.\d{6}", each.suffix))


def _line(fields: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """A line, and its hash."""
    entry = {"timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields, "previous": previous}
    body = json.dumps(entry, ensure_ascii=True, separators=(",", ":"))
    name = sha256(body.encode()).hexdigest()
    return f'{body[:-1]},"hash":"{name}"}}\n'.encode(), name


def _follow(file: BinaryIO, last: str, name: str) -> tuple[int, str]:
    """How many lines there are from here on, and the hash of the last, if each follows the one before it."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        last = _hash_of(line, last, f"{name}line {number}")
    return number, last


def first_event(file: BinaryIO) -> dict[str, Any]:
    """What the first line says, as far as it is one."""
    file.seek(0)
    try:
        entry = json.loads(file.readline(LONGEST_LINE))
    except ValueError:
        entry = {}
    file.seek(0)
    return entry if isinstance(entry, dict) else {}


def _first_previous(file: BinaryIO) -> str:
    """What the first line names as the hash before it, where it may name one."""
    event = first_event(file)
    return str(event.get("previous")) if event.get("event") == CONTINUES else START


def _last_of(former: Path) -> str:
    """The hash of the last line of a file that got a number."""
    with former.open("rb") as file:
        return _follow(file, _first_previous(file), f"{former.name}: ")[1]


def _hash_of(line: bytes, previous: str, place: str) -> str:
    """The hash of a line, if it is what it says and follows the one before it."""
    whole = HASHED.fullmatch(line)
    if whole is None:
        raise AuditError(f"{place} is no whole line of an audit file")
    body, name = whole["body"] + b"}", whole["hash"].decode("ascii")
    try:
        entry = json.loads(body)
    except ValueError:
        raise AuditError(f"{place} is no JSON") from None
    if sha256(body).hexdigest() != name:
        raise AuditError(f"{place} was changed: its hash is not that of what it says")
    if entry.get("previous") != previous:
        raise AuditError(f"{place} does not follow the one before it: lines were dropped, moved or added")
    return name
