"""What replicas share beside their jobs: runs of batches, the pace of keys, and where their audit chains are.

``share`` has a service keep them in the store in the place of what it would keep by itself.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import timedelta

from app.audit_file import AuditFile
from app.audit_links import LINKED, name_of
from app.http.service import Service
from app.refusals import too_fast
from app.runs import MOST_RUNS, NOT_LAST, require_seal, seal_of, unknown_run
from app.settings import STATES
from app.store.database import Connection, Store
from app.store.jobs import JobsInStore
from macekit.call import Keeping, Step
from macekit.problems import Problem

# Runs that any replica may judge: where each stands is one row, moved on in one statement.

BEGIN = """
    INSERT INTO mace.run AS run (run_id, look, state, at) VALUES ($1, $2, $3, now())
    ON CONFLICT (run_id) DO UPDATE SET at = now() WHERE run.state = excluded.state
    RETURNING run_id
    """
GO_ON = """
    UPDATE mace.run SET look = $2, state = $3, at = now()
    WHERE run_id = $1 AND state IN ($3, $4) AND at > now() - $5::interval
    RETURNING run_id
    """
"""Either the state that comes is the last one, or the one that goes out: then its answer was lost, and comes again."""
IS_KNOWN = "SELECT 1 FROM mace.run WHERE run_id = $1 AND at > now() - $2::interval"
FORGET_RUNS = """
    DELETE FROM mace.run WHERE at <= now() - $1::interval
    OR run_id IN (SELECT run_id FROM mace.run ORDER BY at DESC OFFSET $2)
    """


class RunsInStore:
    """Runs that all replicas know, on the store's disk before an answer leaves."""

    def __init__(self, store: Store, keys: Sequence[bytes], days: float) -> None:
        self.keys = list(keys)
        self._store, self._rest = store, timedelta(days=days)

    def keeping(self) -> Keeping:
        """What the work needs to know: a name for a run that begins, and that it is remembered."""
        return Keeping(secrets.token_hex(16), durable=True)

    async def seal(self, step: Step) -> str:
        """Remember one step of a run, and return the seal of the state that goes out.

        Raises:
            Problem: the state that came is none of this service's, or not the last of its run; or the store is gone.
        """
        require_seal(self.keys, step)
        async with self._store.connection() as connection:
            about = (step.run_id, step.look, step.after)
            if step.before is None:
                is_next = await connection.fetchval(BEGIN, *about)
            else:
                is_next = await connection.fetchval(GO_ON, *about, step.before, self._rest)
            if is_next is None:
                if await connection.fetchval(IS_KNOWN, step.run_id, self._rest) is None:
                    raise unknown_run(self._rest / timedelta(days=1), "none that began before its store did")
                raise Problem("outdated-state", NOT_LAST, field="state")
        return seal_of(self.keys[0], step)

    async def forget(self, connection: Connection) -> None:
        """Let go of runs that rested too long, and of those beyond the most."""
        await connection.execute(FORGET_RUNS, self._rest, MOST_RUNS)

    def close(self) -> None:
        """Nothing is held here."""


# How often each key was used in the minute that ends now, at all replicas: one row a key, one statement a use.
#
# A row holds the seconds of that minute in which the key was used, and how often in each, by the store's clock. What
# falls into the second with which the minute begins counts, too, so that no minute, wherever it begins, has more uses
# than the key may have. Tokens that are lent to replicas would save the round trip, and either grant more than that or
# refuse one replica what another does not use. The table is not logged: a store that crashes begins its minutes anew.

MINUTE = 60
AHEAD = 10
"""Seconds by which a use may seem to come later than one that waited for it; what is further ahead was written before
the store's clock was set back, and counts no more."""
KEEP = """
    WITH now AS (SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS second)
    INSERT INTO mace.pace AS pace (key, seconds, uses, last)
    SELECT $1, ARRAY[second], ARRAY[1], second FROM now
    ON CONFLICT (key) DO UPDATE SET
        (seconds, uses) = (
            SELECT array_agg(second ORDER BY second), array_agg(number ORDER BY second) FROM (
                SELECT second, sum(number)::int AS number FROM (
                    SELECT * FROM unnest(pace.seconds, pace.uses) AS each (second, number)
                    WHERE second BETWEEN excluded.last - $3 AND excluded.last + $4
                    UNION ALL SELECT excluded.last, 1
                ) AS uses GROUP BY second
            ) AS sums
        ),
        last = greatest(pace.last, excluded.last)
    WHERE (
        SELECT coalesce(sum(number), 0) FROM unnest(pace.seconds, pace.uses) AS each (second, number)
        WHERE second BETWEEN excluded.last - $3 AND excluded.last + $4
    ) < $2
    RETURNING key
    """
WAIT = """
    SELECT $2 + 1 + min(second) - extract(epoch FROM clock_timestamp())
    FROM mace.pace, unnest(seconds) AS second
    WHERE key = $1 AND second >= floor(extract(epoch FROM clock_timestamp())) - $2
    """
FORGET_KEYS = "DELETE FROM mace.pace WHERE last < extract(epoch FROM now()) - 2 * $1"


class PaceInStore:
    """The pace of keys, whichever replica they ask."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def count(self, key: str, most: int, why: str) -> None:
        """Count a use, or refuse it.

        Raises:
            Problem: there were as many as there may be; or the store cannot be used, for without it nobody knows.
        """
        async with self._store.connection() as connection:
            if await connection.fetchval(KEEP, key, most, MINUTE, AHEAD) is None:
                raise too_fast(why, float(await connection.fetchval(WAIT, key, MINUTE) or 1))

    async def forget(self, connection: Connection) -> None:
        """Let go of keys that rested."""
        await connection.execute(FORGET_KEYS, MINUTE)


# The audit chains of replicas, cross-linked: each has now and then a line with where the others are.
#
# A chain goes by the hash of its first line. One chain for all would have every answer wait for every other; with one a
# replica, whoever cuts the end of one off, or makes it anew, is contradicted by the others (`mace verify --audit`).

INTERVAL = 60.0  # seconds between two such lines
TELL = """
    INSERT INTO mace.chain (first, last, told) VALUES ($1, $2, now())
    ON CONFLICT (first) DO UPDATE SET last = excluded.last, told = excluded.told
    """
OTHERS = "SELECT first, last FROM mace.chain WHERE first <> $1 AND told > now() - interval '1 day' ORDER BY first"
FORGET_CHAINS = "DELETE FROM mace.chain WHERE told <= now() - interval '1 day'"


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
        await connection.execute(FORGET_CHAINS)


def share(service: Service, address: str) -> None:
    """Share jobs, runs of batches, the pace of keys and the ends of audit chains by the store at this address."""
    settings, pool = service.settings, service.pool
    store = Store(address)

    def has_room() -> bool:
        return pool.ready and not service.draining

    jobs = JobsInStore(store, pool.budget, settings.keep_answers, has_room, settings.processes)
    pace = PaceInStore(store)
    service.store, service.jobs, service.pace = store, jobs, pace
    store.duties.append(jobs.keep_up)
    store.chores += [jobs.forget, pace.forget]
    store.listeners.append(jobs.hear)
    if service.signer is not None:
        runs = RunsInStore(store, service.signer.derived_keys(STATES), settings.keep_runs)
        service.runs = runs
        store.chores.append(runs.forget)
    if service.audit is not None:
        chains = Chains(service.audit)
        store.duties.append(chains.link)
        store.chores.append(chains.forget)
        store.last_words = chains.tell
