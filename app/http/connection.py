"""HTTP/1.1 connections: uvicorn's protocol, with limits on a request's head, timers, and problems as answers.

uvicorn's parser limits neither the size of a head nor its time, goes on reading after an upgrade it does not offer,
and answers in plain text. A request that is not HTTP never reaches the app, so it is refused here. A head with both a
length and a transfer encoding, a head with two lengths, and a malformed chunk are errors of the parser and end the
connection, so nothing behind them is taken for a request.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import secrets
import socket
import termios
from array import array
from collections.abc import Callable
from contextlib import suppress

import httptools
from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from app.http.access import key_of
from app.http.middleware import ALWAYS, HEADER, request_name
from app.telemetry.logs import Exchange, log_exchange
from macekit.call import JSON
from macekit.catalogue import OPERATIONS
from macekit.problems import Problem, fault

MOST_HEAD = 64 * 1024
MOST_ADDRESS = 16 * 1024
HEAD_SECONDS = 30.0
"""Seconds from the first byte of a head, or from a connection's start, until the head must be complete."""
LINGER_SECONDS = 2.0
"""Seconds before a refused connection is closed: closing at once would lose the answer on its way."""
DISCARD_SECONDS = 30.0
"""Seconds for which the rest of a body is read and dropped after its request was answered: many clients read the answer
only then, and closing before would lose it."""
PACE = 2**16  # bytes of an answer that must be taken within the stall limit, on average
MOST_CREDIT = 8 * PACE
"""Bytes that a client may have taken in advance: a system takes an answer in large steps, however evenly it is read."""
LEFT_SECONDS = 0.25
"""Seconds between looks at a client that sends no more: whether it has left, or only said all it had to say."""
ASK_SECONDS = 5.0
"""Seconds between messages to such a client; its system answers the next one once it has left."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CLOSED = 7  # the state of a TCP connection that is no more (TCP_CLOSE), first of what TCP_INFO tells
ONCE = (b"content-type", b"content-encoding")  # headers of which a second would be another meaning
BY_PATH = {f"/v1/{row.name}": row.name.replace("-", "_").replace("/", "_") for row in OPERATIONS}
"""The operation at each address that takes a body."""

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
    _credit = float(PACE)
    _look_time = 0.0
    _lingering = False
    _half_closed = False
    _ask_again = 0.0

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

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends no more: it may have left, or wait for the answer to what it has sent."""
        if self._half_closed:
            return True
        if self._lingering or self._closing or self._under_way is None or self.cycle.more_body:
            return False
        self._half_closed = True
        self._stop_timer()
        self.cycle.keep_alive = False
        self._timer = self.loop.call_later(LEFT_SECONDS, self._ask_whether_left)
        return True

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body; once the request is answered, only as many bytes more as a body may have."""
        if self.cycle.response_complete:
            self._discarded += len(body)
            service = self.app_state.get("service")
            if self._discarded > (MOST_HEAD if service is None else service.settings.body_limit):
                self.transport.abort()
        super().on_body(body)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Begin to answer; an answer that comes before the whole body ends the connection, once the rest has come."""
        cycle.transport = _Lingering(self.transport, self._end)  # type: ignore[assignment]

        async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            async def note_start(message: ASGISendEvent) -> None:
                if message["type"] == "http.response.start" and cycle.more_body:
                    cycle.keep_alive = False
                await send(message)

            await (self._refusal(cycle) or app)(scope, receive, note_start)

        super()._start_asgi_task(cycle, answer)

    def _refusal(self, cycle: RequestResponseCycle) -> ASGI3Application | None:
        """What refuses a request for which there is no room, at a small part of the cost of an answer.

        It stands before every layer of the app; pages of other origins need what those add, and so does the audit file,
        so it is not for them.
        """
        service = self.app_state.get("service")
        operation = BY_PATH.get(cycle.scope["path"])
        if service is None or service.draining or service.settings.cors_origins or service.audit is not None:
            return None
        if operation is None or cycle.scope["method"] != "POST":
            return None
        length, media_type = b"", b""
        for name, value in cycle.scope["headers"]:
            if name == b"content-length":
                length = value
            elif name == b"content-type":
                media_type = value
        if not length.isdigit():
            return None
        client = cycle.scope["client"]
        holder = client[0] if client else ""
        if service.keys is not None:
            try:
                key = key_of(service.keys, cycle.scope)  # type: ignore[arg-type]
            except Problem:
                key = None
            if key is None:
                return None  # which is said at its place
            holder = key.sha256
        problem = service.pool.overload(holder, int(length), json=media_type.startswith(JSON.encode()))
        if problem is None:
            return None

        path = cycle.scope["path"]

        async def refuse(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            await asyncio.sleep(service.pool.refusals.delay(self.loop.time()))
            request_id = request_name(cycle.scope)  # type: ignore[arg-type]
            reply = problem.reply(request_id)
            exchange = Exchange(request_id, "POST", path, operation, reply.status, problem=reply.problem)
            exchange.client = client[0] if client else None
            headers = [
                (b"content-type", reply.media_type.encode()),
                (b"content-length", str(len(reply.body)).encode()),
                (b"retry-after", str(reply.retry_after).encode()),
                (HEADER, request_id.encode()),
                *ALWAYS,
            ]
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({"type": "http.response.body", "body": bytes(reply.body)})
            service.metrics.count(exchange)
            log_exchange(exchange)

        return refuse

    def _end(self) -> None:
        """End the connection after its last answer; while the client still sends, it is listened to for a while."""
        if not self.cycle.response_complete or not self.cycle.more_body:
            self.transport.close()
            return
        self._lingering = True
        self._stop_timer()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._timer = self.loop.call_later(DISCARD_SECONDS, self.transport.abort)

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
            start = b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
            headers = [b"%s: %s" % pair for pair in self.headers if pair[0] not in {b"upgrade", b"connection"}]
            self.parser = httptools.HttpRequestParser(self)
            self._upgrade_declined = True
            self.parser.feed_data(b"\r\n".join([start, *headers, b"connection: close", b"", data[upgrade.args[0] :]]))

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
        if self._lingering:  # the connection is closed for good
            return
        self._stop_timer()
        if len(self.url) > MOST_ADDRESS:
            raise Problem("too-long-address", f"the address is longer than {MOST_ADDRESS} bytes")
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MOST_HEAD:
            raise _too_large()
        http_version = self.parser.get_http_version()
        if http_version not in {"1.0", "1.1"}:
            raise Problem("bad-request", "this server speaks HTTP/1.1")
        if not self.url.startswith((b"/", b"*")) and b"://" in self.url:
            self._take_host_of_target()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and http_version == "1.1"):
            raise Problem("bad-request", "a request names its host, once")
        self._require_one_meaning()
        if not self.parser.should_upgrade():
            super().on_headers_complete()
        elif self._upgrade_declined or self.parser.get_method() == b"CONNECT":
            raise Problem("bad-request", "nothing but HTTP/1.1 is spoken here")

    def _take_host_of_target(self) -> None:
        """Where the target names a host, that is the one which is asked, whatever the header says (RFC 9112, 3.2.2)."""
        authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0].rpartition(b"@")[2]
        others = [(name, value) for name, value in self.headers if name != b"host"]
        hosts = [(name, authority) for name, _ in self.headers if name == b"host"] or [(b"host", authority)]
        self.headers[:] = hosts + others

    def _require_one_meaning(self) -> None:
        """Refuse a body that may be read in two ways: coded in a way unknown here, or said to be two things."""
        codings = b",".join(value for name, value in self.headers if name == b"transfer-encoding")
        if codings and codings.strip().lower() != b"chunked":
            raise Problem("bad-request", "Transfer-Encoding: chunked alone is known here")
        for name in ONCE:
            if sum(each == name for each, _ in self.headers) > 1:
                title = name.decode().title()
                raise fault("bad-request", title, "a request says it once")

    def on_message_complete(self) -> None:
        """End a body; where an upgrade was asked for, it has not even begun."""
        if self._lingering:
            self.transport.close()
        elif not self.parser.should_upgrade():
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

    @property
    def _stall_limit(self) -> float:
        service = self.app_state.get("service")
        return HEAD_SECONDS if service is None else service.settings.stall_limit

    def _start_read_timer(self) -> None:
        self._unsent, self._look_time = self._untaken(), self.loop.time()
        self._credit = max(self._credit, PACE)
        self._read_timer = self.loop.call_later(self._stall_limit / 8, self._check_reader)

    def _untaken(self) -> int:
        """Bytes that the client's system has not taken: those that wait here, and those that wait in this system."""
        queue = array("i", [0])
        with suppress(OSError):
            fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queue)
        return self.transport.get_write_buffer_size() + queue[0]

    def _check_reader(self) -> None:
        """End the connection once less was taken than the pace asks for, what was taken in advance included."""
        untaken, now = self._untaken(), self.loop.time()
        credit = min(self._credit + max(self._unsent - untaken, 0), MOST_CREDIT)
        self._credit = credit - PACE * (now - self._look_time) / self._stall_limit
        if self._credit < 0:
            self._drop_answer(untaken)
            return
        self._unsent, self._look_time = untaken, now
        self._read_timer = self.loop.call_later(self._stall_limit / 8, self._check_reader)

    def _drop_answer(self, untaken: int) -> None:
        if (service := self.app_state.get("service")) is not None:
            service.metrics.count_dropped_answer()
        name = Exchange.of(self.cycle.scope).request_id
        log.warning("answer dropped", extra={"fields": {"request_id": name, "bytes_left": untaken}})
        self.transport.abort()

    def _ask_whether_left(self) -> None:
        """Send what every client passes over: the system of one that has left says so, and the request is given up."""
        self._timer = None
        cycle = self._under_way
        if cycle is None or self.transport.is_closing():
            return
        if _tcp_state(self.transport) == CLOSED:
            self.transport.abort()
            return
        again = self.loop.time() >= self._ask_again
        if again and not cycle.response_started and not self.pipeline and cycle.scope["http_version"] == "1.1":
            self.transport.write(CONTINUE)
            self._ask_again = self.loop.time() + ASK_SECONDS
        self._timer = self.loop.call_later(LEFT_SECONDS, self._ask_whether_left)

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
            self._refuse(Problem("request-stalled", f"the head was not complete after {HEAD_SECONDS:g} seconds"))
        else:
            self.transport.close()


class _Lingering:
    """A connection as one answer sees it; closing it is left to the connection."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = close


def _tcp_state(transport: asyncio.Transport) -> int:
    """The state of a connection by the system's own numbers; 0 where it does not say."""
    try:
        return transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]  # type: ignore[no-any-return]
    except (OSError, AttributeError):
        return 0


def _too_large() -> Problem:
    return Problem("too-large-head", f"the headers are larger than {MOST_HEAD} bytes")


def _reason(error: httptools.HttpParserError) -> str:
    """Say what is wrong, without the parser's own words, which may quote the request."""
    if isinstance(error, httptools.HttpParserInvalidMethodError):
        return "the request does not begin with a method of HTTP/1.1, in capitals"
    if isinstance(error, httptools.HttpParserInvalidURLError):
        return "the address is not one"
    return "this is not HTTP/1.1; the connection is closed"
