"""What holds for every route: 404 and 405 as problems, OPTIONS answered, HEAD as GET without its body."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.routes.addresses import Addresses, local_path
from app.routes.answers import NOT_FOUND, refusal
from macekit.problems import Problem


class Methods:
    """Lets through what some route answers, and answers the rest."""

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        self.app = app
        self.addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out whether the address exists and takes the method."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        method, address = scope["method"], self.addresses.find(local_path(scope))
        if address is None:
            problem = Problem("not-found", NOT_FOUND)
            return await refusal(scope, problem)(scope, receive, send)
        allow = {"Allow": address.allow}
        if method == "OPTIONS":
            return await Response(status_code=204, headers=allow)(scope, receive, send)
        if method not in address.methods:
            problem = Problem("method-not-allowed", f"this address takes {address.allow}")
            return await refusal(scope, problem, allow)(scope, receive, send)
        if method == "HEAD":
            return await self.app({**scope, "method": "GET"}, receive, _headless(send))
        return await self.app(scope, receive, send)


def _headless(send: Send) -> Send:
    """Send an answer's head and none of its body."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return sent
