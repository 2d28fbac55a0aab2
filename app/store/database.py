"""The database that replicas share: its tables, its connections, and whether it can be used now.

One connection is this replica's own. By it the replica does what is due each second and hears what others did
(LISTEN), so that no request, however large, keeps a lease from being renewed. Requests take connections of a pool.
Where anything fails, ``fault`` says why, whoever needs the store is refused at once, and each second it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import asyncpg

from app.refusals import SOON, not_ready

log = logging.getLogger(__name__)

CHANNEL = "mace"  # what replicas tell each other is heard here: a word, a blank, and the name of a job
MOST_CONNECTIONS = 8  # of the pool; each replica has one of its own beside them
LONGEST = 5.0  # seconds for which a connection, or a statement that moves no body, is waited for
BEAT, SELDOM = 1.0, 10.0
"""Seconds between two rounds of what is due each second, and of what is due now and then."""
LOCK = 0x6D616365  # the advisory lock under which tables are made
FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
OF_ONE = (TimeoutError, asyncpg.TransactionRollbackError, asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)
"""Failures that say nothing of the next request; if the store is slow for all, the replica's own connection sees it."""
UNUSABLE = "the store that replicas share cannot be used, and this needs it; ask again, or tell the operator"

Connection: TypeAlias = Any
Duty: TypeAlias = Callable[[Connection], Awaitable[None]]

VERSIONS = (
    """
    CREATE TABLE mace.job (
        id text PRIMARY KEY,
        operation text NOT NULL,
        owner text, -- the digest of its key
        holder text NOT NULL, -- whose share of what is kept it takes: a key, or an address
        request_id text NOT NULL,
        question bytea NOT NULL, -- the question but for its body, as JSON
        body_size bigint NOT NULL,
        replica text, -- who works on it
        turn int NOT NULL DEFAULT 1, -- how often it was begun
        deaths int NOT NULL DEFAULT 0, -- how often its replica did not come to an end
        leased_until timestamptz NOT NULL,
        began timestamptz NOT NULL DEFAULT now(),
        ended timestamptz,
        kept_until timestamptz,
        answer bytea, -- the answer but for its body, as JSON
        status int,
        size bigint NOT NULL DEFAULT 0 -- of the answer
    );
    CREATE INDEX job_leases ON mace.job (leased_until) WHERE ended IS NULL;
    CREATE INDEX job_ends ON mace.job (kept_until) WHERE ended IS NOT NULL;
    CREATE TABLE mace.part ( -- of a body: 1 MiB each
        job text NOT NULL REFERENCES mace.job ON DELETE CASCADE,
        of_answer boolean NOT NULL,
        number int NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (job, of_answer, number)
    );
    ALTER TABLE mace.part ALTER data SET STORAGE EXTERNAL;
    CREATE TABLE mace.run (
        run_id text PRIMARY KEY,
        look int NOT NULL,
        state text NOT NULL, -- the digest of the last one
        at timestamptz NOT NULL
    );
    CREATE INDEX run_rest ON mace.run (at);
    CREATE UNLOGGED TABLE mace.pace ( -- of a key: in which seconds it was used, and how often
        key text PRIMARY KEY,
        seconds bigint[] NOT NULL,
        uses int[] NOT NULL,
        last bigint NOT NULL
    );
    CREATE TABLE mace.chain ( -- of audit lines: the hash of its first line, and of its last when it was told
        first text PRIMARY KEY,
        last text NOT NULL,
        told timestamptz NOT NULL
    );
    """,
)
"""What makes the tables of each version from those of the one before it."""


class Unusable(Exception):
    """It cannot be used, for a reason of ours: the text says which, and repeats nothing of the address."""


class Store:
    """The database, for one replica."""

    def __init__(self, address: str) -> None:
        self.replica = secrets.token_hex(8)
        """Who this is, as long as it lives."""
        self.fault: str | None = "it has not been reached yet"
        """Why it cannot be used now."""
        self.duties: list[Duty] = []
        """What is due each second, by the replica's own connection."""
        self.chores: list[Duty] = []
        """What is due now and then."""
        self.last_words: Duty | None = None
        """What the others are told at the end."""
        self.listeners: list[Callable[[str, str], None]] = []
        """Who hears what replicas tell each other: a word, and the name of a job."""
        self._address = address
        self._options: Any = {
            "timeout": LONGEST,
            "command_timeout": LONGEST,
            "server_settings": {"application_name": CHANNEL},
        }
        self._own: Connection | None = None
        self._pool: Any = None
        self._chores_at = 0.0
        self._wake = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Reach it, or go on trying."""
        self._pool = await asyncpg.create_pool(
            self._address,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            reset=_nothing,  # nothing is set that would stay: a round trip saved for each request
            **self._options,
        )
        await self._round()
        self._work = asyncio.create_task(self._keep_up())

    async def close(self) -> None:
        """Let go of it."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        if self._own is not None and self.last_words is not None:
            with suppress(*FAILURES):
                await self.last_words(self._own)
        self.fault = "the service has ended"
        await self._drop()
        if self._pool is not None:
            with suppress(*FAILURES):
                async with asyncio.timeout(LONGEST):
                    await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection; whatever goes wrong with it is a 503.

        Raises:
            Problem: the store cannot be used.
        """
        if self.fault is not None:
            raise not_ready(UNUSABLE, SOON)
        try:
            async with self._pool.acquire(timeout=LONGEST) as connection:
                yield connection
        except FAILURES as error:
            if isinstance(error, OF_ONE):
                log.warning("store refused", extra={"fields": {"reason": type(error).__name__}})
            else:
                self._fail(error)
            raise not_ready(UNUSABLE, SOON) from None

    def wake(self) -> None:
        """Do what is due now."""
        self._wake.set()

    async def _keep_up(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await self._wake.wait()
            self._wake.clear()
            await self._round()

    async def _round(self) -> None:
        try:
            if self._own is None or self._own.is_closed():
                self._own = await self._reach()
            chores = self.chores if time.monotonic() >= self._chores_at else ()
            for duty in (*self.duties, *chores):
                await duty(self._own)
            if chores:
                self._chores_at = time.monotonic() + SELDOM
        except (*FAILURES, Unusable) as error:
            self._fail(error)
            await self._drop()
        except Exception:
            log.exception("a duty of the store failed")
        else:
            if self.fault is not None:
                self.fault = None
                log.info("store reached", extra={"fields": {"replica": self.replica}})

    async def _reach(self) -> Connection:
        """A connection that listens, once the tables are there."""
        try:
            connection = await asyncpg.connect(self._address, **self._options)
        except ValueError:
            raise Unusable("its address cannot be read") from None
        try:
            await make_tables(connection)
            await connection.add_listener(CHANNEL, self._hear)
        except BaseException:
            connection.terminate()
            raise
        return connection

    def _hear(self, _connection: Connection, _process: int, _channel: str, words: str) -> None:
        word, _, name = words.partition(" ")
        for listener in self.listeners:
            listener(word, name)

    def _fail(self, error: Exception) -> None:
        """Say what is wrong by its kind: the server's words may repeat a name or a value."""
        reason = str(error) if isinstance(error, Unusable) else type(error).__name__
        if self.fault is None:
            log.error("store lost", extra={"fields": {"reason": reason}})
        self.fault = reason

    async def _drop(self) -> None:
        if self._own is not None:
            self._own.terminate()
            self._own = None
        if self._pool is not None:
            await self._pool.expire_connections()  # they lead where nobody answers any more


async def make_tables(connection: Connection) -> None:
    """Make the tables, or bring them up to date, one replica at a time.

    Raises:
        Unusable: a later version of mace made them.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
        if await connection.fetchval("SELECT to_regnamespace('mace') IS NULL"):
            await connection.execute("CREATE SCHEMA mace")
        if await connection.fetchval("SELECT to_regclass('mace.version') IS NULL"):
            await connection.execute("CREATE TABLE mace.version (number int NOT NULL)")
            await connection.execute("INSERT INTO mace.version VALUES (0)")
        number = await connection.fetchval("SELECT number FROM mace.version")
        if number > len(VERSIONS):
            raise Unusable(f"its tables are of version {number}, and this mace knows {len(VERSIONS)}")
        for statements in VERSIONS[number:]:
            await connection.execute(statements)
        if number < len(VERSIONS):
            await connection.execute("UPDATE mace.version SET number = $1", len(VERSIONS))


async def tell(connection: Connection, word: str, name: str) -> None:
    """Have every replica hear it, once what was done with this connection holds."""
    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, f"{word} {name}")


async def _nothing(_connection: Connection) -> None:
    pass
