"""How often each key was used in the minute that ends now, at all replicas: one row a key, one statement a use.

A row holds the seconds of that minute in which the key was used, and how often in each, by the store's clock. What
falls into the second with which the minute begins counts, too, so that no minute, wherever it begins, has more uses
than the key may have. Tokens that are lent to replicas would save the round trip, and either grant more than that or
refuse one replica what another does not use. The table is not logged: a store that crashes begins its minutes anew.
"""

from __future__ import annotations

from app.refusals import too_fast
from app.store.database import Connection, Store

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
FORGET = "DELETE FROM mace.pace WHERE last < extract(epoch FROM now()) - 2 * $1"


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
        await connection.execute(FORGET, MINUTE)
