"""HTTP/1.1 connections: uvicorn's protocol, with limits on a request's head, timers, and problems as answers.

uvicorn's parser limits neither the size of a head nor its time, goes on reading after an upgrade it does not offer,
and answers in plain text. A request that is not HTTP never reaches the app, so it is refused here. A head with both a
length and a transfer encoding, a head with two lengths, and a malformed chunk are errors of the parser and end the
connection, so nothing behind them is taken for a request.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from app.http.middleware import ALWAYS, HEADER
from app.telemetry.logs import Exchange
from macekit.problems import Problem

MOST_HEAD = 64 * 1024
MOST_ADDRESS = 16 * 1024
HEAD_SECONDS = 30.0
"""Seconds from the first byte of a head, or from a connection's start, until the head must be complete."""
MOST_DISCARDED = 2**20
"""Bytes of a body that are discarded after its request was answered; then the connection ends."""
LINGER_SECONDS = 2.0
"""Seconds before a refused connection is closed: closing at once would lose the answer on its way."""

log = logging.getLogger(__name__)


class Connection(HttpToolsProtocol):
    """One connection, and the requests on it."""

    _timer: asyncio.TimerHandle | None = None
    _closing = False
    _reading_head = False
    _head_size = 0
    _trailer_size = 0
    _upgrade_declined = False
    _discarded = 0
    _read_timer: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer: a connection that sends nothing is closed."""
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timer for a client that does not read: its answer stays in memory meanwhile."""
        super().pause_writing()
        self._start_read_timer()

    def resume_writing(self) -> None:
        """The client has read."""
        self._stop_read_timer()
        super().resume_writing()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body; once the request is answered, only a limited number of bytes more."""
        if self.cycle.response_complete:
            self._discarded += len(body)
            if self._discarded > MOST_DISCARDED:
                self.transport.close()
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and refuse what is not HTTP."""
        if self._closing:
            return
        self._unset_keepalive_if_required()
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, Problem) else Problem("bad-request", _reason(error)))
        else:
            self._head_size = self._head_size + len(data) if self._reading_head else 0
            if self._head_size > MOST_HEAD:
                self._refuse(_too_large())
            elif self._timer is None and self._under_way is None:
                self._start_head_timer()  # bytes that begin nothing, such as empty lines

    def _feed(self, data: bytes) -> None:
        """Parse; a request that asks for an upgrade is read again without asking, since none is on offer.

        The parser takes whatever follows such a head for another protocol, its body included.
        """
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            start = b"%s %s HTTP/%s" % (
                self.parser.get_method(),
                self.url,
                self.parser.get_http_version().encode(),
            )
            headers = [
                b"%s: %s" % pair for pair in self.headers if pair[0] not in {b"upgrade", b"connection"}
            ]
            self.parser = httptools.HttpRequestParser(self)
            self._upgrade_declined = True
            self.parser.feed_data(
                b"\r\n".join([start, *headers, b"connection: close", b"", data[upgrade.args[0] :]])
            )

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._reading_head = True
        self._trailer_size = self._discarded = 0
        self._start_head_timer()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those after the body are dropped: the app has long decided by those before it."""
        if self._reading_head:
            super().on_header(name, value)
        else:
            self._trailer_size += len(name) + len(value) + 4
            if self._trailer_size > MOST_HEAD:
                raise _too_large()

    def on_headers_complete(self) -> None:
        """Check the head as a whole before anything acts on it."""
        self._reading_head = False
        self._stop_timer()
        if len(self.url) > MOST_ADDRESS:
            raise Problem("too-long-address", f"the address is longer than {MOST_ADDRESS} bytes")
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MOST_HEAD:
            raise _too_large()
        http_version = self.parser.get_http_version()
        if http_version not in {"1.0", "1.1"}:
            raise Problem("bad-request", "this server speaks HTTP/1.1")
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and http_version == "1.1"):
            raise Problem("bad-request", "a request names its host, once")
        if not self.parser.should_upgrade():
            super().on_headers_complete()
        elif self._upgrade_declined or self.parser.get_method() == b"CONNECT":
            raise Problem("bad-request", "nothing but HTTP/1.1 is spoken here")

    def on_message_complete(self) -> None:
        """End a body; where an upgrade was asked for, it has not even begun."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _refuse(self, problem: Problem) -> None:
        """Answer that this cannot be read, unless another answer is under way, and end the connection.

        A cycle that has its whole body is an earlier request: it is answered first, and the connection closes then.
        """
        self._closing = True
        self._stop_timer()
        cycle = self._under_way
        if self.pipeline or (cycle is not None and cycle.response_started and cycle.more_body):
            self.transport.close()
        elif cycle is not None and not cycle.more_body:
            cycle.keep_alive = False
        else:
            if cycle is not None:  # its body turned out to be none: the reader of the rest must know
                cycle.disconnected = True
                cycle.message_event.set()
            self._write(problem)

    @property
    def _under_way(self) -> RequestResponseCycle | None:
        """The latest request, unless it is answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return None if cycle is None or cycle.response_complete else cycle

    def _write(self, problem: Problem) -> None:
        request_id = secrets.token_hex(16)
        reply = problem.reply(request_id)
        exchange = Exchange(request_id, "other", status=reply.status, problem=reply.problem)
        if (service := self.app_state.get("service")) is not None:
            service.metrics.count(exchange)
        fields = {"request_id": request_id, "status": reply.status, "problem": reply.problem}
        log.info("refused", extra={"fields": fields})
        headers = [
            *self.server_state.default_headers,
            (b"content-type", reply.media_type.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            (b"connection", b"close"),
            (HEADER, request_id.encode()),
            *ALWAYS,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[reply.status] + lines + b"\r\n" + bytes(reply.body))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _start_read_timer(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        service = self.app_state.get("service")
        seconds = HEAD_SECONDS if service is None else service.settings.stall_limit
        self._read_timer = self.loop.call_later(seconds, self._check_reader)

    def _check_reader(self) -> None:
        if self.transport.get_write_buffer_size() > self._unsent - MOST_HEAD:
            self.transport.abort()
        else:
            self._start_read_timer()

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _start_head_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._head_timed_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_timed_out(self) -> None:
        if self._reading_head:
            self._refuse(
                Problem("request-stalled", f"the head was not complete after {HEAD_SECONDS:g} seconds")
            )
        else:
            self.transport.close()


def _too_large() -> Problem:
    return Problem("too-large-head", f"the headers are larger than {MOST_HEAD} bytes")


def _reason(error: httptools.HttpParserError) -> str:
    """Say what is wrong, without the parser's own words, which may quote the request."""
    if isinstance(error, httptools.HttpParserInvalidMethodError):
        return "the request does not begin with a method of HTTP/1.1, in capitals"
    if isinstance(error, httptools.HttpParserInvalidURLError):
        return "the address is not one"
    return "this is not HTTP/1.1; the connection is closed"
