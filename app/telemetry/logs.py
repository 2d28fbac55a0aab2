"""The exchange of a request and its answer, and the log: one line an event, as a JSON object or as text.

An exception is logged by its type and by where it was raised, never by its message, which may hold a value that was
submitted. A caller gives an event and named fields; nothing else is written.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
import time
import traceback
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from app.settings import Settings

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"})
CLIENT_LEFT = 499
"""The status in the log for a request whose client left before the answer; it is never sent."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request under way, for log lines written meanwhile."""


@dataclass(slots=True)
class Exchange:
    """What is known of a request so far: nothing that was submitted; ``operation`` is "none" where there is nothing."""

    request_id: str
    method: str
    route: str | None = None
    operation: str = "none"
    status: int = CLIENT_LEFT
    bytes_in: int = 0
    records: int = 0
    problem: str | None = None
    key: str | None = None
    key_sha256: str | None = None
    """Which key of this name it was."""
    owner: str | None = None
    """The digest of its key, wherever that comes from."""
    client: str | None = None
    input_sha256: str | None = None
    answer_sha256: str | None = None
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.began

    @property
    def holder(self) -> str:
        """Who has a share of what is short: a key, or where there are none an address."""
        return self.owner or self.client or ""

    def facts(self) -> dict[str, Any]:
        """Who asked what and got which answer, without a value that was submitted."""
        who = ("request_id", "client", "key", "key_sha256")
        what = ("method", "route", "status", "records", "problem", "input_sha256", "answer_sha256")
        return {name: getattr(self, name) for name in (*who, *what)}

    @classmethod
    def begin(cls, scope: Any, name: str) -> Exchange:
        """Begin the exchange of this scope, and leave it there for the code that answers."""
        exchange = cls(name, scope["method"] if scope["method"] in METHODS else "other")
        exchange.client = scope["client"][0] if scope.get("client") else None
        scope.setdefault("state", {})["exchange"] = exchange
        return exchange

    @classmethod
    def of(cls, scope: Any) -> Exchange:
        """Return the exchange of this scope; where none was begun, one that is never read."""
        exchange = scope.get("state", {}).get("exchange")
        return exchange if isinstance(exchange, cls) else cls("", "other")


SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.asgi")
QUIET = frozenset({"healthz", "readyz"})
"""Operations that probes ask every few seconds: logged at debug, unless something is wrong."""

BUSY = 503  # a status of 500 and more that is meant: the queue is full, or the end has come

access = logging.getLogger("app.access")


MOST_LINES = 10_000  # lines that may wait to be written; the next are dropped, and counted
LAST_SECONDS = 2.0  # seconds that what waits is given to be written when the process ends


class Writer(logging.Handler):
    """Writes lines in a thread of its own: whoever logs never waits for whoever reads the log."""

    lines_lost = 0
    """Lines that this process has dropped."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str] = queue.Queue(MOST_LINES)
        self._missing = 0
        self._counting = threading.Lock()
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Have the record's line written, or drop it."""
        try:
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self._drop(1)
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Wait until everything is written, but not for long."""
        end = time.monotonic() + LAST_SECONDS
        with self._lines.all_tasks_done:
            while self._lines.unfinished_tasks and (left := end - time.monotonic()) > 0:
                self._lines.all_tasks_done.wait(left)

    def _drop(self, number: int) -> None:
        with self._counting:
            self._missing += number
            Writer.lines_lost += number

    def _write_all(self) -> None:
        while True:
            lines = [self._lines.get()]
            while not self._lines.empty():
                lines.append(self._lines.get())
            number = len(lines)
            if self._missing:
                lines.append(self._missing_line())
            try:
                self._write("".join(lines))
            except (OSError, ValueError):  # a full disk or a closed pipe must not take requests down
                self._drop(number)
            for _ in range(number):
                self._lines.task_done()

    def _missing_line(self) -> str:
        with self._counting:
            number, self._missing = self._missing, 0
        record = logging.LogRecord(__name__, logging.WARNING, __file__, 0, "log lines dropped", (), None)
        record.fields = {"lines": number}
        return self.format(record) + "\n"

    def _write(self, text: str) -> None:
        """Write past the stream's buffer: its lock, held while nobody reads, would keep the process from ending."""
        try:
            descriptor = self._stream.fileno()
        except OSError:
            self._stream.write(text)
            return
        rest = memoryview(text.encode(errors="backslashreplace"))
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def configure(settings: Settings, stream: TextIO | None = None) -> None:
    """Send every log of this process, uvicorn's included, through the format asked for."""
    handler = Writer(stream or sys.stdout)
    handler.setFormatter(Lines() if settings.log_format == "text" else Objects())
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        if isinstance(old, Writer):
            old.flush()
    root.addHandler(handler)
    root.setLevel(settings.log_level.upper())
    for name in SERVERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)
    silent = logging.getLogger("uvicorn.access")  # it writes whole paths, query included; ours does not
    silent.handlers, silent.propagate = [], False
    logging.captureWarnings(True)
    logging.raiseExceptions = False


def log_exchange(exchange: Exchange) -> None:
    """Log one exchange."""
    level = logging.INFO
    if exchange.status >= 500:
        level = logging.WARNING if exchange.status == BUSY else logging.ERROR
    elif exchange.operation in QUIET:
        level = logging.DEBUG
    if not access.isEnabledFor(level):
        return
    values = {**exchange.facts(), "ms": round(exchange.seconds * 1000, 3), "bytes_in": exchange.bytes_in}
    access.log(level, "request", extra={"fields": values})


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a record, by name."""
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    event = record.getMessage()
    if record.name == "asyncio":  # the lines below the first show a task or a future, and in it what it holds
        event = event.partition("\n")[0]
    values: dict[str, Any] = {
        "timestamp": moment.replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": event.strip(),
    }
    if (current := request_id.get()) is not None:
        values["request_id"] = current
    values.update(getattr(record, "fields", {}))
    if record.exc_info and record.exc_info[1] is not None:
        values["error"] = type(record.exc_info[1]).__name__
        values["traceback"] = places(record.exc_info[2])
    return values


def places(trace: TracebackType | None) -> list[str]:
    """Where an exception came by, outermost first, without its message."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)[-20:]]


class Objects(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record's fields as JSON; line breaks within are escaped by it."""
        return json.dumps(fields(record), ensure_ascii=False, default=str)


class Lines(logging.Formatter):
    """One line of text: when, how bad, who, what, then ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record's fields as text; a value with anything odd in it is quoted, so a line stays a line."""
        values = fields(record)
        start = [
            values.pop("timestamp"),
            values.pop("level").upper(),
            values.pop("logger"),
            _plain(values.pop("event")),
        ]
        return " ".join(start + [f"{k}={_word(v)}" for k, v in values.items() if v is not None])


def _plain(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)


def _word(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if text.isprintable() and " " not in text else json.dumps(text)
