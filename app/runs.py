"""What a service that signs does about runs of batches, so that no forged or rewound run gets a signed answer.

A state that goes out is sealed, by a key that follows from the signing key: its digest, the run's name and its number
of looks. A state that comes has to be sealed, and to be the last of its run: an earlier one with another batch would be
a second try, and the best of several tries keeps no level. The batch whose answer was lost may be sent again, for the
same state and batch give the same answer.

The last state of each run stands in a file, in a line that has reached the disk before the answer leaves. Lines are
only appended; now and then the file is written anew with the last line of each run, beside the old one, and takes its
place. One service writes one file. Without a file the runs are remembered as long as the service lives.
"""

import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Protocol

import msgspec
from anyio import to_thread

from app.own_file import NotOwn, append, is_at, own, sync_folder
from app.refusals import not_ready
from estimators.python.dataclass import asdict, dataclass
from macekit.call import Keeping, Step
from macekit.problems import Problem, fault

log = logging.getLogger(__name__)

MOST_RUNS = 100_000  # runs that are remembered at once; the one that rested longest goes for the next
SPARE_LINES = 1000  # lines beyond two for each run, after which the file is written anew

DAY = 86_400.0

BEGINNING = b'{"run_id":'  # how each line begins; one that was cut off is ours if it does, too

NOT_OURS = (
    "state: was not given out by this service, or was changed since; give back the state of the last answer as it "
    "came, or begin a new run"
)
NOT_LAST = (
    "state: is not the last one of its run, for another batch was judged from it, or from a later one. Give back the "
    "state of the run's last answer; if that answer was lost, send its batch again as it was, with the state before "
    "it; or begin a new run"
)
UNWRITTEN = "the file of runs cannot be written, so no batch of a run is answered, but all else is; tell the operator"


class RunsError(ValueError):
    """The file of runs cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Last:
    """Where a run stands: its number of looks, the digest of its state, and since when, in seconds since 1970."""

    look: int
    state: str
    at: float


class RunsFile:
    """The file in which the last state of each run stands."""

    def __init__(self, path: Path) -> None:
        """Open it, for this service alone.

        Raises:
            RunsError: it cannot be opened, or another service writes it.
        """
        self._path = path
        try:
            self._descriptor = own(path)
        except NotOwn as error:
            raise RunsError(str(error)) from None
        self._lines = 0
        self._most = 0

    def read(self) -> dict[str, Last]:
        """The last line of each run, the one that rested longest first; a line that a crash cut off is dropped."""
        runs: dict[str, Last] = {}
        with self._path.open("rb") as file:
            whole = 0
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n") and _is_cut_off(line):
                    os.ftruncate(self._descriptor, whole)  # its answer has not left
                    break
                whole += len(line)
                try:
                    entry = msgspec.json.decode(line, type=_Line)
                except msgspec.MsgspecError:
                    raise RunsError(f"line {number} is no line of a file of runs") from None
                runs.pop(entry.run_id, None)
                runs[entry.run_id] = Last(entry.look, entry.state, entry.at)
                self._lines = number
        return runs

    def append(self, run_id: str, last: Last, runs: Mapping[str, Last]) -> None:
        """Write where a run stands, and see it on the disk; ``runs`` are all, this one included.

        Raises:
            OSError: it could not be written whole, and nothing of it stays; or another file has its place.
        """
        if not self._is_in_place():
            self.write_anew(runs)
            return
        if self._lines >= max(self._most, 2 * len(runs) + SPARE_LINES):
            try:
                self.write_anew(runs)
                return
            except OSError as error:
                self._most = 2 * self._lines
                reason = error.strerror or str(error)
                log.warning("the file of runs cannot be written anew", extra={"fields": {"reason": reason}})
        append(self._descriptor, _line(run_id, last), sync=True)
        self._lines += 1

    def _is_in_place(self) -> bool:
        """Whether the next start would find this file; false if it was removed."""
        if is_at(self._path, self._descriptor):
            return True
        if self._path.exists():
            raise OSError("another file has its place")
        return False

    def write_anew(self, runs: Mapping[str, Last]) -> None:
        """Have a file with these lines alone take the place of this one."""
        new = self._path.with_name(f"{self._path.name}.new")
        with suppress(FileNotFoundError):
            new.unlink()
        try:
            descriptor = own(new, os.O_CREAT | os.O_EXCL)
        except NotOwn as error:
            raise OSError(str(error)) from None
        try:
            append(descriptor, b"".join(_line(run_id, last) for run_id, last in runs.items()), sync=True)
            new.replace(self._path)
        except OSError:
            os.close(descriptor)
            raise
        os.close(self._descriptor)
        self._descriptor, self._lines, self._most = descriptor, len(runs), 0
        sync_folder(self._path)

    def close(self) -> None:
        """Let another service have it."""
        os.close(self._descriptor)


class _Line(msgspec.Struct, frozen=True):
    run_id: str
    look: int
    state: str
    at: float


def _line(run_id: str, last: Last) -> bytes:
    return json.dumps({"run_id": run_id, **asdict(last)}, separators=(",", ":")).encode() + b"\n"


def _is_cut_off(line: bytes) -> bool:
    """Whether it is the beginning of a line of ours, as a crash leaves it: some file systems fill up with zeros."""
    line = line.rstrip(b"\0")
    return line.startswith(BEGINNING) or BEGINNING.startswith(line)


class Sealing(Protocol):
    """Seals the states of runs, and takes none but the last of each, wherever these are remembered."""

    keys: list[bytes]
    """What seals, and what sealed before."""

    def keeping(self) -> Keeping:
        """What the work needs to know: a name for a run that begins, and what is remembered."""

    async def seal(self, step: Step) -> str:
        """Remember one step of a run, and return the seal of the state that goes out, or refuse it by a problem."""

    def close(self) -> None:
        """Let go of what is remembered here."""


class Runs:
    """Remembers runs in a file, or in memory."""

    def __init__(self, key: bytes, days: float, file: RunsFile | None = None, former: Sequence[bytes] = ()) -> None:
        """Begin with what the file says.

        Args:
            key: What seals; it follows from the signing key, and is not that key.
            days: How long a run is remembered that rests.
            file: Where it is remembered beyond the life of this service.
            former: What sealed before, and is still believed.

        Raises:
            RunsError: the file is not one of runs.
        """
        self.keys = [key, *former]
        self._seconds, self._file = days * DAY, file
        self._runs: dict[str, Last] = {} if file is None else file.read()
        self._lock = Lock()
        if self._forget(time.time()) and file is not None:
            with suppress(OSError):
                file.write_anew(self._runs)

    def keeping(self) -> Keeping:
        """What the work needs to know: a name for a run that begins, and what is remembered."""
        return Keeping(secrets.token_hex(16), self._file is not None)

    async def seal(self, step: Step) -> str:
        """Take a step beside the event loop, for a disk may be slow."""
        return await to_thread.run_sync(self.take, step)

    def take(self, step: Step) -> str:
        """Remember one step of a run, and return the seal of the state that goes out.

        Raises:
            Problem: the state that came is none of this service's, or not the last of its run; or the file is full.
        """
        require_seal(self.keys, step)
        with self._lock:
            now = time.time()
            self._forget(now)
            last = self._runs.get(step.run_id)
            if last is None or last.state != step.after:  # else its answer was lost, and is the same again
                self._require_last(step, last)
                self._remember(step.run_id, Last(step.look, step.after, now))
        return seal_of(self.keys[0], step)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _require_last(self, step: Step, last: Last | None) -> None:
        """Refuse a state that is not the last; without a file, one from another life of the service cannot be told."""
        if step.before is None or (last is not None and last.state == step.before):
            return
        elsewhere = last is None or step.look - 1 > last.look
        if elsewhere and self._file is None:
            return
        if last is None:
            raise unknown_run(self._seconds / DAY, "none of another service")
        raise Problem("outdated-state", NOT_LAST, field="state")

    def _remember(self, run_id: str, last: Last) -> None:
        before = self._runs.pop(run_id, None)
        self._runs[run_id] = last
        try:
            if self._file is not None:
                self._file.append(run_id, last, self._runs)
        except OSError as error:
            del self._runs[run_id]
            if before is not None:
                self._runs[run_id] = before
            reason = error.strerror or str(error)
            log.error("the file of runs cannot be written", extra={"fields": {"reason": reason}})
            raise not_ready(UNWRITTEN) from None

    def _forget(self, now: float) -> bool:
        """Let go of runs that rested too long, and of those beyond the most; whether there are such."""
        before = len(self._runs)
        while self._runs:
            oldest = next(iter(self._runs))
            if len(self._runs) <= MOST_RUNS and now - self._runs[oldest].at <= self._seconds:
                break
            del self._runs[oldest]
        return len(self._runs) < before


def require_seal(keys: Sequence[bytes], step: Step) -> None:
    """Refuse a state that none of these keys has sealed; a run that begins has none."""
    if step.before is None:
        return
    seal = (step.seal or "").encode()
    seals = (_seal(key, step.run_id, step.look - 1, step.before) for key in keys)
    if not any(hmac.compare_digest(each.encode(), seal) for each in seals):
        raise Problem("bad-option", NOT_OURS, field="state")


def seal_of(key: bytes, step: Step) -> str:
    """The seal of the state that goes out."""
    return _seal(key, step.run_id, step.look, step.after)


def unknown_run(days: float, which: str) -> Problem:
    """The run rested too long, or began elsewhere."""
    detail = (
        f"this service does not know the run any more: it remembers one that rests for {days:g} days "
        f"(MACE_KEEP_RUNS), and {which}; begin a new run"
    )
    return fault("outdated-state", "state", detail)


def _seal(key: bytes, run_id: str, look: int, state: str) -> str:
    return hmac.new(key, f"{run_id} {look} {state}".encode(), sha256).hexdigest()
