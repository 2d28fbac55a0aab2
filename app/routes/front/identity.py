"""A name for every request: the caller's, if it is a sane one, or one made here; every answer carries it."""

from __future__ import annotations

import re
import secrets

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.telemetry.exchange import request_id

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Identity:
    """Gives each request its id, for logs and answer alike."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Name the request and its answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        name = named(scope)

        async def signed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, name.encode())]
            await send(message)

        token = request_id.set(name)
        try:
            await self.app(scope, receive, signed)
        finally:
            request_id.reset(token)
        return None


def named(scope: Scope) -> str:
    """Return the id a request asks for, or a new one."""
    given = [value for name, value in scope["headers"] if name == HEADER]
    if len(given) == 1 and SANE.fullmatch(given[0]):
        return bytes(given[0]).decode("ascii")
    return secrets.token_hex(16)
