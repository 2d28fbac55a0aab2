"""The last resort: whatever is raised becomes a problem that says nothing but where to look."""

from __future__ import annotations

import asyncio
import logging

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.jobs.intake import Disconnected
from app.routes.answers import OURS, refusal
from app.routes.service import Service
from macekit.problems import Problem

log = logging.getLogger(__name__)


class Errors:
    """Answers for a route that raised, or that the end of the service cut short."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer in the route's place if need be.

        Once an answer has begun it cannot be taken back: then the exception goes on, and the server cuts the
        connection, so that half an answer does not look like a whole one.
        """
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except (ClientDisconnect, Disconnected):
            if begun:
                raise
        except asyncio.CancelledError:
            if self.service.draining and not begun:
                late = Problem(
                    "shutting-down", "the service is shutting down; send the request again", retry_after=5
                )
                await refusal(scope, late)(scope, receive, send)
            raise
        except Exception:
            log.exception("a request failed")
            if begun:
                raise
            await refusal(scope, Problem("internal", OURS))(scope, receive, send)
        return None
