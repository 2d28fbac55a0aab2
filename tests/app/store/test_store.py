"""The statements of the store, against a real PostgreSQL: what they keep under many hands, and a slow twin of each."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import numpy as np
import pytest

from app.store.database import VERSIONS, Store, make_tables
from app.store.jobs import LEASE
from app.store.rows import MAKE_ROOM, TAKE_UP
from app.store.sharing import PaceInStore, RunsInStore
from app.workers.shares import Shares
from macekit.call import Step
from macekit.problems import Problem
from tests.app.store.databases import database

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    return database(postgres, "statements")


@asynccontextmanager
async def stores(address: str, number: int) -> AsyncIterator[list[Store]]:
    """Replicas that reached it."""
    found = [Store(address) for _ in range(number)]
    await asyncio.gather(*(store.start() for store in found))
    try:
        yield found
    finally:
        await asyncio.gather(*(store.close() for store in found))


async def outcomes(work: list[Awaitable[Any]]) -> Counter[str]:
    """How often it was refused, by kind, or not."""
    found = await asyncio.gather(*work, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, Problem):
            raise each
    return Counter(each.kind.slug if isinstance(each, Problem) else "done" for each in found)


def test_replicas_that_start_together_make_the_tables_once(address: str) -> None:
    async def work() -> list[str | None]:
        async with stores(address, 6) as found, found[0].connection() as connection:
            assert await connection.fetchval("SELECT array_agg(number) FROM mace.version") == [len(VERSIONS)]
            return [store.fault for store in found]

    assert asyncio.run(work()) == [None] * 6


def test_tables_of_a_later_version_are_left_alone(address: str) -> None:
    async def work() -> list[str | None]:
        async with stores(address, 1) as (first,):
            async with first.connection() as connection:
                await connection.execute("UPDATE mace.version SET number = number + 1")
                later = Store(address)
                await later.start()
                faults = [later.fault]
                await connection.execute("UPDATE mace.version SET number = number - 1")
            await later._round()
            faults.append(later.fault)
            await later.close()
            return faults

    fault, after = asyncio.run(work())
    assert fault == f"its tables are of version {len(VERSIONS) + 1}, and this mace knows {len(VERSIONS)}"
    assert after is None


@pytest.mark.parametrize("words", ["postgresql://mace:hunter2@nowhere.invalid/mace", "postgresql://mace:hunter2@h:x/m"])
def test_what_is_wrong_with_an_address_repeats_nothing_of_it(words: str) -> None:
    async def work() -> str:
        store = Store(words)
        await store.start()
        fault = store.fault or ""
        with pytest.raises(Problem) as refused:
            async with store.connection():
                pass
        assert (refused.value.kind.slug, refused.value.retry_after) == ("not-ready", 5)
        await store.close()
        return fault

    fault = asyncio.run(work())
    assert fault
    assert "hunter2" not in fault
    assert "nowhere" not in fault


def test_a_key_has_its_pace_over_all_replicas_however_many_ask_at_once(address: str) -> None:
    async def work() -> tuple[Counter[str], Counter[str], float]:
        async with stores(address, 3) as found:
            paces = [PaceInStore(store) for store in found]
            many = await outcomes([paces[at % 3].count("one", 37, "so often") for at in range(120)])
            other = await outcomes([paces[at % 3].count("two", 5, "so often") for at in range(5)])
            try:
                await paces[0].count("one", 37, "so often")
            except Problem as problem:
                return many, other, problem.retry_after or 0
            raise AssertionError("it is not refused")

    many, other, wait = asyncio.run(work())
    assert many == {"done": 37, "rate-limit": 83}
    assert other == {"done": 5}
    assert 50 < wait <= 61


@pytest.mark.parametrize(("ago", "free"), [(60, False), (62, True), (-3600, True)])
def test_a_minute_ends_for_a_key_and_a_clock_that_is_set_back_locks_nobody_out(
    address: str, ago: int, free: bool
) -> None:
    """The uses were so many seconds ago; those in the future were written before the clock was set back."""
    key = secrets.token_hex(8)

    async def work() -> Counter[str]:
        async with stores(address, 1) as (store,):
            pace = PaceInStore(store)
            await outcomes([pace.count(key, 3, "so often") for _ in range(3)])
            async with store.connection() as connection:
                earlier = "last = last - $2, seconds = ARRAY(SELECT unnest(seconds) - $2)"
                await connection.execute(f"UPDATE mace.pace SET {earlier} WHERE key = $1", key, ago)
            return await outcomes([pace.count(key, 3, "so often") for _ in range(4)])

    assert asyncio.run(work()) == ({"done": 3, "rate-limit": 1} if free else {"rate-limit": 4})


def seals(work: Callable[[list[RunsInStore]], Awaitable[Any]], address: str) -> Any:
    async def with_runs() -> Any:
        async with stores(address, 2) as found:
            return await work([RunsInStore(store, [b"k" * 32], 10.0) for store in found])

    return asyncio.run(with_runs())


def test_of_many_batches_that_follow_one_state_one_is_taken(address: str) -> None:
    async def work(runs: list[RunsInStore]) -> tuple[Counter[str], str, str]:
        name = runs[0].keeping().run_id
        seal = await runs[0].seal(Step(name, 1, None, "a", None))
        tries = [runs[at % 2].seal(Step(name, 2, "a", f"b{at}", seal)) for at in range(20)]
        found = await outcomes(tries)
        async with runs[0]._store.connection() as connection:
            state = await connection.fetchval("SELECT state FROM mace.run WHERE run_id = $1", name)
        again = await runs[1].seal(Step(name, 2, "a", state, seal))
        return found, again, await runs[0].seal(Step(name, 2, "a", state, seal))

    found, again, once_more = seals(work, address)
    assert found == {"done": 1, "outdated-state": 19}
    assert again == once_more, "an answer that was lost comes again"


def test_a_state_of_another_key_and_a_run_that_rested_too_long_are_refused(address: str) -> None:
    async def work(runs: list[RunsInStore]) -> list[Counter[str]]:
        name = runs[0].keeping().run_id
        seal = await runs[0].seal(Step(name, 1, None, "a", None))
        forged = await outcomes([runs[1].seal(Step(name, 2, "a", "b", seal[::-1]))])
        async with runs[0]._store.connection() as connection:
            await connection.execute("UPDATE mace.run SET at = at - $2::interval WHERE run_id = $1", name, 11 * DAY)
            late = await outcomes([runs[1].seal(Step(name, 2, "a", "b", seal))])
            await runs[0].forget(connection)
            left = await connection.fetchval("SELECT count(*) FROM mace.run WHERE run_id = $1", name)
        return [forged, late, Counter(left=left)]

    assert seals(work, address) == [{"bad-option": 1}, {"outdated-state": 1}, {"left": 0}]


async def add(connection: Any, holder: str, size: int, order: int, *, ended: bool = True) -> str:
    name = secrets.token_hex(8)
    await connection.execute(
        "INSERT INTO mace.job (id, operation, holder, request_id, question, body_size, replica, leased_until, ended, "
        "kept_until, size) VALUES ($1, 'gate', $2, '', '', 0, 'dead', now() - $6::interval, "
        "CASE WHEN $5 THEN now() + $4 * interval '1 second' END, now() + interval '1 hour', $3)",
        name,
        holder,
        size,
        order,
        ended,
        DAY,
    )
    return name


@pytest.mark.parametrize("seed", range(4))
def test_who_keeps_most_makes_room_as_the_shares_of_one_service_say(address: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    holders, sizes = rng.choice(["a", "b", "c"], 60, p=[0.6, 0.3, 0.1]), rng.integers(1, 100, 60)
    most, most_kept = 900, 25

    async def work() -> set[int]:
        async with stores(address, 1) as (store,), store.connection() as connection:
            await connection.execute("TRUNCATE mace.job CASCADE")
            names = {
                await add(connection, str(holder), int(size), at): at
                for at, (holder, size) in enumerate(zip(holders, sizes, strict=True))
            }
            await connection.execute(MAKE_ROOM, most, 10**6)
            await connection.execute(MAKE_ROOM, 10**9, most_kept)
            return {names[row["id"]] for row in await connection.fetch("SELECT id FROM mace.job")}

    shares: Shares[int] = Shares()
    for at, (holder, size) in enumerate(zip(holders, sizes, strict=True)):
        shares.add(str(holder), at, int(size))
    while shares.size > most:
        shares.oldest_of_largest(by_size=True)
    while len(shares) > most_kept:
        shares.oldest_of_largest(by_size=False)
    kept = asyncio.run(work())

    sums = lambda numbers: Counter(str(holders[at]) for at in numbers)  # noqa: E731
    assert sums(kept) == sums(shares)
    assert kept == set(shares)


def test_a_job_that_is_nobody_s_is_taken_up_by_one(address: str) -> None:
    async def work() -> tuple[list[Any], Any]:
        async with stores(address, 4) as found:
            async with found[0].connection() as connection:
                await connection.execute("TRUNCATE mace.job CASCADE")
                await add(connection, "a", 0, 0, ended=False)

            async def take(store: Store) -> Any:
                async with store.connection() as connection:
                    return await connection.fetchrow(TAKE_UP, store.replica, LEASE)

            rows = await asyncio.gather(*(take(store) for store in found for _ in range(5)))
            async with found[0].connection() as connection:
                return [row for row in rows if row], await connection.fetchrow("SELECT turn, deaths FROM mace.job")

    rows, kept = asyncio.run(work())
    assert [(row["turn"], row["deaths"]) for row in rows] == [(2, 1)]
    assert (kept["turn"], kept["deaths"]) == (2, 1)


def test_the_role_that_the_documents_name_is_enough_and_may_make_nothing_else(address: str) -> None:
    async def work() -> None:
        async with stores(address, 1) as (store,):
            assert store.fault is None
        connection = await asyncpg.connect(address)
        await make_tables(connection)
        for words in ("CREATE SCHEMA another", "CREATE TABLE public.another ()"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(words)
        await connection.close()

    asyncio.run(work())
