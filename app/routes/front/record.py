"""Every request is logged, counted and, if asked for, traced: by its route's template, whatever became of it."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.routes.addresses import Addresses, local_path
from app.routes.service import Service
from app.telemetry import logs
from app.telemetry.exchange import Exchange, request_id


class Record:
    """Keeps the exchange of each request, and tells it at its end."""

    def __init__(self, app: ASGIApp, service: Service, addresses: Addresses) -> None:
        self.app = app
        self.service = service
        self.addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch one request from its head to the end of its answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        exchange = Exchange.begin(scope, request_id.get() or "")
        if (address := self.addresses.find(local_path(scope))) is not None:
            exchange.route, exchange.operation = address.template, address.operation

        async def received() -> Message:
            message = await receive()
            exchange.bytes_in += len(message.get("body", b""))
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)

        try:
            with self.service.traces.span(scope, exchange):
                await self.app(scope, received, sent)
        finally:
            self.service.metrics.count(exchange)
            logs.tell(exchange)
        return None
