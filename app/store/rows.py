"""What the database keeps of a job: the statements about its row, and its bodies in parts of 1 MiB.

Each statement is one by itself; whoever else is at a row is not waited for.
"""

from __future__ import annotations

import asyncio
import mmap
import os
from collections.abc import Iterator
from typing import Any
from weakref import finalize

import msgspec
from starlette.types import Message

from app.http.jobs import Outcome
from app.store.database import Connection, Store
from app.workers.intake import Disconnected
from app.workers.uploads import SMALL, Budget, Spool
from macekit.call import Reply

STORE = """
    INSERT INTO mace.job (id, operation, owner, holder, request_id, question, body_size, replica, leased_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9)
    """
RENEW = """
    UPDATE mace.job SET leased_until = now() + $3
    WHERE id IN (
        SELECT id FROM mace.job WHERE id = ANY($1) AND replica = $2 AND ended IS NULL FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id, turn
    """
"""One that is locked is being ended, or taken up by another."""
TAKE_UP = """
    UPDATE mace.job SET replica = $1, leased_until = now() + $2, turn = turn + 1,
        deaths = deaths + (replica IS NOT NULL)::int
    WHERE id = (
        SELECT id FROM mace.job WHERE ended IS NULL AND leased_until < now()
        ORDER BY leased_until LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id, question, body_size, request_id, turn, deaths
    """
LET_GO = """
    UPDATE mace.job SET replica = NULL, leased_until = now() + $4
    WHERE id = $1 AND replica = $2 AND turn = $3 AND ended IS NULL RETURNING id
    """
END = """
    UPDATE mace.job SET ended = now(), kept_until = now() + $4, answer = $5, status = $6, size = $7
    WHERE id = $1 AND replica = $2 AND turn = $3 AND ended IS NULL RETURNING id
    """
OF_OWNER = "id = $1 AND owner IS NOT DISTINCT FROM $2 AND (kept_until IS NULL OR kept_until > now())"
LOOK = f"""
    SELECT id, operation, status, answer, size, extract(epoch FROM coalesce(ended, now()) - began) AS seconds,
        extract(epoch FROM kept_until - now()) AS seconds_kept
    FROM mace.job WHERE {OF_OWNER}
    """
FETCHED = f"UPDATE mace.job SET kept_until = least(kept_until, now() + $3) WHERE {OF_OWNER} AND ended IS NOT NULL"
CANCEL = f"DELETE FROM mace.job WHERE {OF_OWNER} RETURNING id"
MAKE_ROOM = """
    WITH share AS (
        SELECT id, size, sum(size) OVER newer AS sizes, count(*) OVER newer AS number
        FROM mace.job WHERE ended IS NOT NULL
        WINDOW newer AS (PARTITION BY holder ORDER BY ended DESC, id)
    ), place AS (
        SELECT id, sum(size) OVER (ORDER BY sizes, id) AS total, row_number() OVER (ORDER BY number, id) AS number
        FROM share
    )
    DELETE FROM mace.job WHERE id IN (
        SELECT id FROM mace.job JOIN place USING (id) WHERE total > $1 OR place.number > $2
        FOR UPDATE OF job SKIP LOCKED
    )
    """
"""The oldest answer of whoever keeps most goes first, again and again until there is room. What a holder keeps is what
its oldest answer comes to together with all newer ones, so this is the order in which they go, and one statement."""
FORGET = """
    DELETE FROM mace.job WHERE id IN (
        SELECT id FROM mace.job WHERE kept_until <= now() FOR UPDATE SKIP LOCKED
    )
    """
STATES = """
    SELECT CASE WHEN ended IS NULL THEN 'working' WHEN status < 400 THEN 'done' ELSE 'failed' END AS state, count(*)
    FROM mace.job GROUP BY 1
    """


PART = 2**20  # bytes of a body in one row
MOVING = 60.0  # seconds that a body may take to the store, or from it
OF_REPLY = ("status", "media_type", "records", "problem", "retry_after", "input_sha256")
"""What is stored of a reply beside its body."""
PARTS = "SELECT data FROM mace.part WHERE job = $1 AND of_answer = $2 ORDER BY number"
NEXT_PART = "SELECT data FROM mace.part WHERE job = $1 AND NOT of_answer AND number = $2"


class Head(msgspec.Struct, frozen=True):
    """An answer but for its body."""

    status: int
    media_type: str
    records: int
    problem: str | None
    retry_after: int | None
    input_sha256: str | None
    headers: dict[str, str]
    sha256: str | None

    @classmethod
    def of(cls, outcome: Outcome) -> Head:
        """That of an answer."""
        reply = outcome.reply
        about = {name: getattr(reply, name) for name in OF_REPLY}
        return cls(**about, headers=dict(outcome.headers), sha256=outcome.sha256)

    def outcome(self, body: bytes | memoryview) -> Outcome:
        """The answer, with its body."""
        about: Any = {name: getattr(self, name) for name in OF_REPLY}
        return Outcome(Reply(**about, body=body), self.headers, self.sha256)


class StoredBody:
    """The body of a question on its way to the store: by a descriptor of its own, whatever becomes of the work."""

    def __init__(self) -> None:
        self._is_whole = asyncio.Event()
        self.size = 0
        self._bytes = b""
        self._descriptor: int | None = None

    def note(self, source: bytes | Spool) -> None:
        """This is the body."""
        if isinstance(source, Spool):
            self._descriptor, self.size = os.dup(source.fd), source.size
        else:
            self._bytes, self.size = source, len(source)
        self._is_whole.set()

    async def wait_or_end(self, task: asyncio.Task[Outcome]) -> None:
        """Wait until it is there, or the work on it has ended."""
        whole = asyncio.ensure_future(self._is_whole.wait())
        await asyncio.wait({task, whole}, return_when=asyncio.FIRST_COMPLETED)
        whole.cancel()

    def parts(self) -> Iterator[bytes]:
        """It, part by part."""
        for at in range(0, self.size, PART):
            if self._descriptor is None:
                yield self._bytes[at : at + PART]
            else:
                yield os.pread(self._descriptor, PART, at)

    def __enter__(self) -> StoredBody:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Replay:
    """A stored body as it would come from a client, who then says nothing more."""

    def __init__(self, store: Store, name: str, size: int) -> None:
        self._store, self._name = store, name
        self._number, self._parts = 0, -(-size // PART)

    async def receive(self) -> Message:
        """The next part."""
        if self._number > self._parts:
            await asyncio.Event().wait()
        data = b""
        if self._number < self._parts:
            async with self._store.connection() as connection:
                data = await connection.fetchval(NEXT_PART, self._name, self._number)
            if data is None:
                raise Disconnected  # it was cancelled, or answered by another
        self._number += 1
        more = self._number < self._parts
        self._number += not more  # the end has come
        return {"type": "http.request", "body": data, "more_body": more}


async def store_parts(connection: Connection, name: str, parts: Iterator[bytes], *, of_answer: bool) -> None:
    """Store a body beside its job."""
    await connection.copy_records_to_table(
        "part",
        schema_name="mace",
        columns=("job", "of_answer", "number", "data"),
        records=((name, of_answer, number, data) for number, data in enumerate(parts)),
        timeout=MOVING,
    )


async def answer_body(connection: Connection, name: str, size: int, budget: Budget) -> bytes | memoryview:
    """The body of an answer: a large one in a file in memory, which counts as held until it is let go."""
    if size <= SMALL:
        rows = await connection.fetch(PARTS, name, True)
        return b"".join(row["data"] for row in rows)
    spool = Spool(budget)
    try:
        async for row in connection.cursor(PARTS, name, True, prefetch=4, timeout=MOVING):
            spool.write(row["data"])
        mapped = mmap.mmap(spool.fd, 0, access=mmap.ACCESS_READ)
    except BaseException:
        spool.close()
        raise
    finalize(mapped, spool.close).atexit = False
    return memoryview(mapped)
