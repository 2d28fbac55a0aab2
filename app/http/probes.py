"""Probes and metrics on a port and a thread of their own: they answer whatever the service has to do.

The thread has an event loop of its own, and the app's own layers and routes; nothing else is answered there. `/healthz`
says there whether the service's event loop still turns, which it could not say itself.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.connection import Connection
from app.http.service import NOT_FOUND, Service, refusal
from macekit.problems import Problem

if TYPE_CHECKING:
    from app.settings import Settings

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
STUCK_SECONDS = 30.0
"""Seconds without a turn after which an event loop is taken for dead."""
KEEP_ALIVE_SECONDS = 5


class Probes:
    """The port, and the thread that answers there."""

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
