"""The bearer key: without it nobody gets past, nor learns which addresses exist."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from hashlib import sha256

from starlette.types import ASGIApp, Receive, Scope, Send

from app.routes.addresses import Addresses, local_path
from app.routes.answers import refusal
from macekit.problems import Problem

NEEDED = "send the header Authorization: Bearer KEY"


class Access:
    """Asks for the key, if there is one, everywhere but at the addresses open to all."""

    def __init__(
        self, app: ASGIApp, addresses: Addresses, key: bytes | None, open_to_all: Collection[str]
    ) -> None:
        self.app = app
        self.addresses = addresses
        self.digest = None if key is None else sha256(key).digest()
        self.open_to_all = frozenset(open_to_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on whoever may pass."""
        if scope["type"] != "http" or self.digest is None or self._open(scope) or self._holds(scope):
            return await self.app(scope, receive, send)
        return await refusal(scope, Problem("unauthorized", NEEDED))(scope, receive, send)

    def _open(self, scope: Scope) -> bool:
        address = self.addresses.find(local_path(scope))
        return address is not None and address.template in self.open_to_all

    def _holds(self, scope: Scope) -> bool:
        """Whether the request carries the key; digests are of one length, so not even the key's length shows."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if self.digest is None or len(given) != 1:
            return False
        scheme, _, key = given[0].partition(b" ")
        right = hmac.compare_digest(sha256(key.strip()).digest(), self.digest)
        return right and scheme.lower() == b"bearer"
