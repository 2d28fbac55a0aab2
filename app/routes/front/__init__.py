"""What every request passes before its route, outermost first; each layer is plain ASGI and one step."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute

from app.routes.addresses import Addresses
from app.routes.front.access import Access
from app.routes.front.errors import Errors
from app.routes.front.headers import Headers
from app.routes.front.identity import Identity
from app.routes.front.methods import Methods
from app.routes.front.record import Record
from app.routes.service import Service

PREFLIGHT = 600
"""Seconds a browser may remember what another origin is allowed."""


def front(service: Service, routes: Sequence[BaseRoute], open_to_all: Collection[str]) -> list[Middleware]:
    """The layers in front of an app's routes.

    Errors stand inside the record, so that a failure is counted and its answer has the headers; other origins' pages
    are answered before the key is asked for, because a browser's preflight carries none and a refusal must be readable.
    """
    addresses = Addresses(routes)
    origins = service.settings.cors_origins
    others = [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "HEAD", "POST"],
            allow_headers=[
                "Authorization",
                "Content-Encoding",
                "Content-Type",
                "X-Request-ID",
                "traceparent",
            ],
            expose_headers=["Retry-After", "X-Request-ID"],
            max_age=PREFLIGHT,
        )
    ]
    return [
        Middleware(Identity),
        Middleware(Record, service=service, addresses=addresses),
        Middleware(Headers),
        Middleware(Errors, service=service),
        *(others if origins else []),
        Middleware(Access, addresses=addresses, key=service.settings.key, open_to_all=open_to_all),
        Middleware(Methods, addresses=addresses),
    ]
