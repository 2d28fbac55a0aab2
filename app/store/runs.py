"""Runs of batches that any replica may judge: where each stands is one row, moved on in one statement."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta

from app.runs import MOST_RUNS, NOT_LAST, require_seal, seal_of, unknown_run
from app.store.database import Connection, Store
from macekit.call import Keeping, Step
from macekit.problems import Problem

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
FORGET = """
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
        await connection.execute(FORGET, self._rest, MOST_RUNS)

    def close(self) -> None:
        """Nothing is held here."""
