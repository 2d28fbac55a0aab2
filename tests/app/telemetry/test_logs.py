from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.settings import Settings
from app.telemetry import logs
from app.telemetry.logs import Exchange, request_id


@pytest.fixture
def untouched() -> Iterator[None]:
    """Give the loggers back as they were."""
    names = [None, *logs.SERVERS, "uvicorn.access"]
    before = [(logging.getLogger(name), logging.getLogger(name).__dict__.copy()) for name in names]
    handlers = {logger: logger.handlers[:] for logger, _ in before}
    yield
    logging.captureWarnings(False)
    logging.raiseExceptions = True
    for logger, state in before:
        logger.handlers = handlers[logger]
        logger.propagate = state["propagate"]
        logger.setLevel(state["level"])


def written(untouched: None, settings: Settings, *calls: Any) -> list[str]:
    stream = io.StringIO()
    logs.configure(settings, stream)
    for call in calls:
        call()
    for handler in logging.getLogger().handlers:
        handler.flush()
    return stream.getvalue().splitlines()


def fail() -> None:
    try:
        raise ValueError("the score was 0.123456")
    except ValueError:
        logging.getLogger("app.somewhere").exception("a request failed")


def test_a_log_line_is_a_json_object_with_a_time_in_utc(untouched: None) -> None:
    (line,) = written(untouched, Settings(), lambda: logging.getLogger("app.x").info("started %d", 3))

    found = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.pop("timestamp"))
    assert found == {"level": "info", "logger": "app.x", "event": "started 3"}


def test_an_exchange_is_told_by_its_route_and_not_by_its_path(untouched: None) -> None:
    exchange = Exchange("abc", "POST", "/v1/advantage", "advantage", 200, bytes_in=17, records=800)
    (line,) = written(untouched, Settings(), lambda: logs.log_exchange(exchange))

    found = json.loads(line)
    assert found["event"] == "request"
    assert {
        name: found[name] for name in ("request_id", "method", "route", "status", "bytes_in", "records")
    } == {
        "request_id": "abc",
        "method": "POST",
        "route": "/v1/advantage",
        "status": 200,
        "bytes_in": 17,
        "records": 800,
    }
    assert found["ms"] >= 0


def test_an_exception_is_told_by_its_type_and_place_and_never_by_its_message(untouched: None) -> None:
    (line,) = written(untouched, Settings(), fail)

    found = json.loads(line)
    assert found["error"] == "ValueError"
    assert found["traceback"][-1].endswith(" fail")
    assert "0.123456" not in line


def test_uvicorns_logs_take_the_same_way_and_its_access_log_is_off(untouched: None) -> None:
    lines = written(
        untouched,
        Settings(),
        lambda: logging.getLogger("uvicorn.error").warning("Invalid HTTP request received."),
        lambda: logging.getLogger("uvicorn.access").info("GET /?secret=1"),
    )

    assert [json.loads(line)["logger"] for line in lines] == ["uvicorn.error"]
    assert not logging.getLogger("uvicorn.access").hasHandlers()


def test_a_forgotten_tasks_exception_is_logged_without_its_message(untouched: None) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_exception_handler(
            {"message": "Task exception was never retrieved", "future": "ValueError('0.123456')"}
        )

    (line,) = written(untouched, Settings(), lambda: asyncio.run(main()))

    assert json.loads(line)["event"] == "Task exception was never retrieved"


def test_whoever_logs_during_a_request_names_it(untouched: None) -> None:
    def act() -> None:
        token = request_id.set("r-1")
        logging.getLogger("app.workers").warning("a worker was ended")
        request_id.reset(token)

    (line,) = written(untouched, Settings(), act)

    assert json.loads(line)["request_id"] == "r-1"


def test_text_is_one_line_whatever_is_logged(untouched: None) -> None:
    settings = Settings(log_format="text")
    log = logging.getLogger("app.x")
    lines = written(
        untouched, settings, lambda: log.warning("one\ntwo", extra={"fields": {"a": "b\nc", "n": 1}})
    )

    assert len(lines) == 1
    assert lines[0].endswith(r'WARNING app.x "one\ntwo" a="b\nc" n=1')


def test_the_level_is_the_least_that_is_written(untouched: None) -> None:
    log = logging.getLogger("app.x")
    lines = written(
        untouched, Settings(log_level="warning"), lambda: log.info("no"), lambda: log.warning("yes")
    )

    assert [json.loads(line)["event"] for line in lines] == ["yes"]


@pytest.mark.parametrize(
    ("status", "operation", "level"),
    [
        (200, "advantage", "info"),
        (422, "advantage", "info"),
        (503, "advantage", "warning"),
        (500, "none", "error"),
    ],
)
def test_a_mistake_of_ours_is_an_error_and_a_full_queue_a_warning(
    untouched: None, status: int, operation: str, level: str
) -> None:
    exchange = Exchange("abc", "GET", "/x", operation, status)
    (line,) = written(untouched, Settings(), lambda: logs.log_exchange(exchange))

    assert json.loads(line)["level"] == level


def test_probes_are_not_logged_unless_something_is_wrong(untouched: None) -> None:
    good, bad = (Exchange("abc", "GET", "/readyz", "readyz", status) for status in (200, 503))
    lines = written(untouched, Settings(), lambda: logs.log_exchange(good), lambda: logs.log_exchange(bad))

    assert [json.loads(line)["status"] for line in lines] == [503]


def test_a_line_that_finds_no_room_is_dropped_and_counted(
    untouched: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MOST_LINES", 200)

    class Blocked(io.StringIO):
        """A stream that takes nothing until it is opened."""

        opened = threading.Event()

        def write(self, text: str) -> int:
            self.opened.wait()
            return super().write(text)

    stream, before = Blocked(), logs.Writer.lines_lost
    logs.configure(Settings(), stream)
    for number in range(3 * logs.MOST_LINES):
        logging.getLogger("app.x").info("line %d", number)
    stream.opened.set()
    (handler,) = logging.getLogger().handlers
    handler.flush()
    logging.getLogger("app.x").info("the last")
    handler.flush()

    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    (missing,) = (line["lines"] for line in told if line["event"] == "log lines dropped")
    assert missing == logs.Writer.lines_lost - before > logs.MOST_LINES
    assert len(told) - 2 + missing == 3 * logs.MOST_LINES
    assert told[-1]["event"] == "the last"
