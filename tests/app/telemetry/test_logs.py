import asyncio
import io
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.settings import Settings
from app.telemetry import logs
from app.telemetry.logs import Exchange, request_id
from tests.cases import each_case

Written = Callable[..., list[dict[str, Any]]]
SECRET = "0.123456"
LOG = logging.getLogger("app.x")


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


def lines_of(*calls: Callable[[], object], **settings: Any) -> list[str]:
    stream = io.StringIO()
    logs.configure(Settings(**settings), stream)
    for call in calls:
        call()
    for handler in logging.getLogger().handlers:
        handler.flush()
    return stream.getvalue().splitlines()


@pytest.fixture
def written(untouched: None) -> Written:
    """What is logged by calls, line by line, none of which may hold the secret."""

    def write(*calls: Callable[[], object], **settings: Any) -> list[dict[str, Any]]:
        lines = lines_of(*calls, **settings)
        assert not [line for line in lines if SECRET in line]
        return [json.loads(line) for line in lines]

    return write


def told(*exchanges: Exchange) -> list[Callable[[], object]]:
    return [lambda each=each: logs.log_exchange(each) for each in exchanges]  # type: ignore[misc]


def test_a_log_line_is_a_json_object_with_a_time_in_utc(written: Written) -> None:
    (found,) = written(lambda: LOG.info("started %d", 3))

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.pop("timestamp"))
    assert found == {"level": "info", "logger": "app.x", "event": "started 3"}


def test_an_exchange_is_told_by_its_route_and_not_by_its_path(written: Written) -> None:
    exchange = Exchange("abc", "POST", "/v1/advantage", "advantage", 200, bytes_in=17, records=800)

    (found,) = written(*told(exchange))

    names = "event", "request_id", "method", "route", "status", "bytes_in", "records"
    assert [found[name] for name in names] == ["request", "abc", "POST", "/v1/advantage", 200, 17, 800]
    assert found["ms"] >= 0


def test_an_exception_is_told_by_its_type_and_place_and_never_by_its_message(written: Written) -> None:
    def fail() -> None:
        try:
            raise ValueError(f"the score was {SECRET}")
        except ValueError:
            LOG.exception("a request failed")

    (found,) = written(fail)

    assert found["error"] == "ValueError"
    assert found["traceback"][-1].endswith(" fail")


def test_uvicorns_logs_take_the_same_way_and_its_access_log_is_off(written: Written) -> None:
    lines = written(
        lambda: logging.getLogger("uvicorn.error").warning("Invalid HTTP request received."),
        lambda: logging.getLogger("uvicorn.access").info("GET /?secret=1"),
    )

    assert [line["logger"] for line in lines] == ["uvicorn.error"]
    assert not logging.getLogger("uvicorn.access").hasHandlers()


def test_a_forgotten_tasks_exception_is_logged_without_its_message(written: Written) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_exception_handler(
            {"message": "Task exception was never retrieved", "future": f"ValueError('{SECRET}')"}
        )

    (found,) = written(lambda: asyncio.run(main()))

    assert found["event"] == "Task exception was never retrieved"


def test_whoever_logs_during_a_request_names_it(written: Written) -> None:
    def act() -> None:
        token = request_id.set("r-1")
        LOG.warning("a worker was ended")
        request_id.reset(token)

    (found,) = written(act)

    assert found["request_id"] == "r-1"


def test_text_is_one_line_whatever_is_logged(untouched: None) -> None:
    fields = {"fields": {"a": "b\nc", "n": 1}}

    (line,) = lines_of(lambda: LOG.warning("one\ntwo", extra=fields), log_format="text")

    assert line.endswith(r'WARNING app.x "one\ntwo" a="b\nc" n=1')


def test_the_level_is_the_least_that_is_written(written: Written) -> None:
    lines = written(lambda: LOG.info("no"), lambda: LOG.warning("yes"), log_level="warning")

    assert [line["event"] for line in lines] == ["yes"]


@each_case(
    "status, operation, level",
    (200, "advantage", "info"),
    (422, "advantage", "info"),
    (503, "advantage", "warning"),
    (500, "none", "error"),
)
def test_a_mistake_of_ours_is_an_error_and_a_full_queue_a_warning(
    written: Written, status: int, operation: str, level: str
) -> None:
    (found,) = written(*told(Exchange("abc", "GET", "/x", operation, status)))

    assert found["level"] == level


def test_probes_are_not_logged_unless_something_is_wrong(written: Written) -> None:
    lines = written(*told(*(Exchange("abc", "GET", "/readyz", "readyz", status) for status in (200, 503))))

    assert [line["status"] for line in lines] == [503]


def test_a_line_that_finds_no_room_is_dropped_and_counted(untouched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocked(io.StringIO):
        """A stream that takes nothing until it is opened."""

        written_to, opened = threading.Event(), threading.Event()

        def write(self, text: str) -> int:
            self.written_to.set()
            self.opened.wait()
            return super().write(text)

    monkeypatch.setattr(logs, "MOST_LINES", 200)
    stream, before = Blocked(), logs.Writer.lines_lost
    logs.configure(Settings(), stream)
    LOG.info("the first")
    assert stream.written_to.wait(60)
    for number in range(3 * logs.MOST_LINES):
        LOG.info("line %d", number)
    stream.opened.set()
    (handler,) = logging.getLogger().handlers
    handler.flush()
    LOG.info("the last")
    handler.flush()

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    missing = [line["lines"] for line in lines if line["event"] == "log lines dropped"]
    assert sum(missing) == logs.Writer.lines_lost - before == 2 * logs.MOST_LINES
    assert len(lines) - len(missing) + sum(missing) == 3 * logs.MOST_LINES + len(["the first", "the last"])
    assert lines[-1]["event"] == "the last"
