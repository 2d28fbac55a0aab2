"""The audit chains of replicas, cross-linked: each has now and then a line with where the others are.

A chain goes by the hash of its first line. One chain for all would have every answer wait for every other; with one a
replica, whoever cuts the end of one off, or makes it anew, is contradicted by the others (`mace verify --audit`).
"""

from __future__ import annotations

import time

from app.audit_file import AuditFile
from app.audit_links import LINKED, name_of
from app.store.database import Connection

INTERVAL = 60.0
"""Seconds between two such lines."""
TELL = """
    INSERT INTO mace.chain (first, last, told) VALUES ($1, $2, now())
    ON CONFLICT (first) DO UPDATE SET last = excluded.last, told = excluded.told
    """
OTHERS = (
    "SELECT first, last FROM mace.chain WHERE first <> $1 AND told > now() - interval '1 day' ORDER BY first"
)
FORGET = "DELETE FROM mace.chain WHERE told <= now() - interval '1 day'"


class Chains:
    """The chain of this replica, and those of the others."""

    def __init__(self, audit: AuditFile) -> None:
        self._audit = audit
        self._name: str | None = None
        self._at = 0.0

    async def link(self, connection: Connection) -> None:
        """Tell the others where this chain is, and have a line written of where they are."""
        if time.monotonic() < self._at:
            return
        self._at = time.monotonic() + INTERVAL
        await self.tell(connection)
        if self._name and (others := await connection.fetch(OTHERS, self._name)):
            self._audit.append({"event": LINKED, "chain": self._name, "others": dict(map(tuple, others))})

    async def tell(self, connection: Connection) -> None:
        """Tell the others where this chain is."""
        self._name = self._name or name_of(self._audit.path)
        if self._name is not None:
            await connection.execute(TELL, self._name, self._audit.last)

    async def forget(self, connection: Connection) -> None:
        """Let go of chains that nobody writes any more."""
        await connection.execute(FORGET)
