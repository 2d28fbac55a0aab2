"""uvicorn as this service runs it: our protocol, our logs, its own address printed, and a quiet end."""

from __future__ import annotations

import math
import signal
import socket
import sys
from importlib.metadata import version
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.http.connection import Connection
from app.http.service import Service

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 5
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where to look at a service that listens on every address of the machine."""


class Server(uvicorn.Server):
    """A server that says where it is once it is there, and whose end by a signal is a success."""

    def __init__(self, app: FastAPI) -> None:
        self.service: Service = app.state.service
        settings = self.service.settings
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
        """Listen, then say where."""
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        host = EVERYWHERE.get(host, host)
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        print(f"mace {version('mace')} is listening on {address}", file=sys.stderr)
        print(f"Page: {address}/", file=sys.stderr)
        print(f"Swagger UI: {address}/docs", file=sys.stderr, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain at once; a second interrupt from a keyboard does not wait.

        The signal is not raised again at the end, as uvicorn's own would be: that it was heeded is a success.
        """
        self.service.draining = True
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
