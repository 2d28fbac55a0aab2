"""uvicorn as this service runs it: our protocol, our logs, our address printed, and an end by a signal is a success."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import resource
import signal
import socket
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.connection import Connection
from app.http.service import NOT_FOUND, Service, refusal
from app.telemetry import logs
from app.workers.privileges import forbid_looks, forget_variable
from macekit.call import __version__
from macekit.problems import Problem

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.settings import Settings

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
STUCK_SECONDS = 30.0  # seconds without a turn after which an event loop is taken for dead


class Probes:
    """Probes and metrics on a port and a thread of their own, with an event loop: they answer at all times.

    The app's own layers and routes answer; nothing else is answered there. `/healthz` says there whether the service's
    event loop still turns, which it could not say itself.
    """

    def __init__(self, app: ASGIApp, service: Service, port: int) -> None:
        self._app = app
        self._service = service
        self._socket = _listening(service.settings, port)
        config = uvicorn.Config(
            self._answer,
            loop="asyncio",
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._socket.getsockname()[1]
        return port

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        self._server.should_exit = True
        self._thread.join(2.0)
        self._socket.close()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in PATHS:
            return await refusal(scope, Problem("not-found", NOT_FOUND))(scope, receive, send)
        if scope["path"] == "/healthz" and time.monotonic() - self._service.last_turn > STUCK_SECONDS:
            problem = Problem("not-ready", f"the service has done nothing for {STUCK_SECONDS:g} seconds")
            return await refusal(scope, problem)(scope, receive, send)
        return await self._app(scope, receive, send)


def _listening(settings: Settings, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, port), family=family, backlog=128)


log = logging.getLogger(__name__)

BACKLOG = 2048
MOST_DESCRIPTORS = 65_536
KEEP_ALIVE_SECONDS = 5
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""The address to print for a service that listens on every address of the machine."""


class Server(uvicorn.Server):
    """A server that prints its address once it listens; stopping it by a signal is a success."""

    def __init__(self, app: FastAPI) -> None:
        self.service: Service = app.state.service
        settings = self.service.settings
        self.probes = None if settings.probe_port is None else Probes(app, self.service, settings.probe_port)
        proxies = settings.trusted_proxies
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                loop="auto",
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=True,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),
                backlog=BACKLOG,
                workers=1,  # not by WEB_CONCURRENCY: the work is done in processes of our own
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=math.ceil(settings.drain_limit),
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then print the address."""
        if self.probes is not None:
            self.probes.start()
        await super().startup(sockets)
        self.service.pool.turns.watch(each.fileno() for server in self.servers for each in server.sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        host = EVERYWHERE.get(host, host)
        self._heed_signals()  # before the address is said: who reads it may send one
        self._say_where(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")

    def _say_where(self, address: str) -> None:
        """On standard error, in one piece: it may go to the same place as the log, and then looks like it."""
        probes = None if self.probes is None else self.probes.port
        if self.service.settings.log_format == "json" and not sys.stderr.isatty():
            record = logging.LogRecord(__name__, logging.INFO, __file__, 0, "listening", (), None)
            record.fields = {"version": __version__, "address": address, "probe_port": probes}
            text = logs.Objects().format(record)
        else:
            text = f"mace {__version__} is listening on {address}\nPage: {address}/\n"
            text += f"Probes: port {probes}\n" * (probes is not None) + f"Swagger UI: {address}/docs"
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def _heed_signals(self) -> None:
        """What each signal does beside those that uvicorn looks after."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self.service.reload)
        loop.add_signal_handler(signal.SIGQUIT, self.handle_exit, signal.SIGQUIT, None)
        loop.add_signal_handler(signal.SIGUSR1, self._rotate)
        loop.add_signal_handler(signal.SIGUSR2, lambda: None)

    def _rotate(self) -> None:
        if self.service.audit is not None:
            self.service.audit.rotate()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is under way finish; probes are answered until then."""
        await super().shutdown(sockets)
        if self.probes is not None:
            self.probes.stop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain at once; a second interrupt from a keyboard does not wait.

        Unlike uvicorn's own handler, this one does not raise the signal again at the end: stopping is a success.
        """
        self.service.draining = True
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def allow_descriptors() -> None:
    """Open as many connections as this process may, instead of the few that are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(app: FastAPI) -> int:
    """Serve this app by its own settings; the exit status."""
    settings: Settings = app.state.service.settings
    gc.freeze()  # what is there by now stays until the end: no collection looks through it
    logs.configure(settings)
    allow_descriptors()
    forbid_looks()
    for name in ("MACE_API_KEY", "MACE_STORE"):
        forget_variable(name)
    try:
        server = Server(app)
    except OSError as error:
        log.error("the port of the probes cannot be used", extra={"fields": {"error": os.strerror(error.errno or 0)}})
        return 1
    try:
        server.run()
    except SystemExit:  # how uvicorn says that it cannot start; why is in the log
        return 1
    return 0 if server.started else 1
