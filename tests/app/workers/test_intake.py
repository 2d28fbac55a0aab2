"""Bodies arrive within limits, at a pace, and for clients that are still there; whatever happens, nothing is left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.workers.intake import PACE, Disconnected, Upload, _read_whole, answer
from app.workers.pool import Pool
from app.workers.uploads import PIPE_SIZE, Spool
from macekit.call import CSV, JSON, Call, Reply
from macekit.problems import Problem
from tests.app.workers.conftest import Workers
from tests.app.workers.support import Gate, alive, request, running, settings, settled, until

MIB = 2**20


@asynccontextmanager
async def clean(**given: Any) -> AsyncIterator[Pool]:
    """A pool that must be whole and hold nothing once the test is through with it."""
    async with running(**given) as pool:
        yield pool
        await settled(pool)
        assert pool.budget.in_use == 0
        with pool.admit("the next"):
            assert pool._admission.under_way == 1


async def ask(
    pool: Pool, operation: str, receive: Any, headers: Mapping[str, str] | None = None, **how: Any
) -> Reply:
    return await answer(pool, Call(operation, CSV), receive, headers or {}, **how)


def slug_of(failing: Callable[[Pool], Awaitable[Any]], **given: Any) -> str:
    """The problem that a request ends with."""

    async def scene() -> str:
        async with clean(**given) as pool:
            with pytest.raises(Problem) as failed:
                await failing(pool)
            return failed.value.kind.slug

    return asyncio.run(scene())


async def never() -> Any:
    await asyncio.Event().wait()


def endless(chunk: bytes, pause: float = 0.0) -> Callable[[], Awaitable[Any]]:
    async def receive() -> Any:
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": chunk, "more_body": True}

    return receive


def test_a_small_body_stays_in_memory_and_a_larger_one_is_spooled() -> None:
    async def gathered(*chunks: bytes, declared: int | None = None) -> tuple[type, int]:
        headers = {} if declared is None else {"content-length": str(declared)}
        upload = Upload(request(*chunks), headers, MIB, 30.0)
        source = await _read_whole(upload, Pool(settings(inline_limit=1000)))
        if isinstance(source, Spool):
            with source:
                return Spool, os.fstat(source.fd).st_size
        return bytes, len(source)

    assert asyncio.run(gathered(b"")) == (bytes, 0)
    assert asyncio.run(gathered(b"x" * 400, b"x" * 600)) == (bytes, 1000)
    assert asyncio.run(gathered(b"x" * 400, b"x" * 601)) == (Spool, 1001)
    assert asyncio.run(gathered(b"x" * 400, b"x" * 601, declared=1001)) == (Spool, 1001)
    assert asyncio.run(gathered(b"", b"x", b"", b"")) == (bytes, 1)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("size", [0, 10, PACE, 3 * MIB])
def test_a_body_reaches_the_worker_whole_whichever_way_it_goes(
    workers: Workers, size: int, streamed: bool
) -> None:
    async def scene() -> Reply:
        pool = workers.pool
        chunks = [b"\x05" * min(50_000, size - start) for start in range(0, size, 50_000)] or [b""]
        return await ask(pool, "checksum", request(*chunks), streamed=streamed)

    assert workers.run(scene()).body == f"{size} {5 * size}".encode()


def test_small_json_that_is_quick_is_answered_here_and_all_else_by_a_worker() -> None:
    async def scene() -> list[bool]:
        async with clean(inline_limit=100) as pool:

            def quick(call: Call, body: bytes) -> bool:
                return b"slow" not in body

            async def here(call: Call, size: int = 10, start: bytes = b"") -> bool:
                reply = await answer(pool, call, request(start + b"x" * size), {}, inline=quick)
                return int(reply.body) == os.getpid()

            return [
                await here(Call("process", JSON)),
                await here(Call("process", JSON), start=b"slow"),
                await here(Call("process", JSON), size=101),
                await here(Call("process", CSV)),
                await here(Call("process", JSON, "gzip")),
            ]

    assert asyncio.run(scene()) == [True, False, False, False, False]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_declared_too_large_is_refused_before_it_is_read(streamed: bool) -> None:
    async def unread() -> Any:
        raise AssertionError("the body was read")

    slug = slug_of(
        lambda pool: ask(pool, "size", unread, {"content-length": "2001"}, streamed=streamed),
        body_limit=2000,
        stream_limit=2000,
    )

    assert slug == "too-large"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_that_grows_too_large_is_refused_when_it_does(streamed: bool) -> None:
    slug = slug_of(
        lambda pool: ask(pool, "checksum", endless(b"x" * 10_000), streamed=streamed),
        body_limit=200_000,
        stream_limit=200_000,
    )

    assert slug == "too-large"


def test_more_bodies_than_may_be_held_are_refused() -> None:
    assert slug_of(lambda pool: ask(pool, "size", endless(b"x" * 10_000)), spool_limit=100_000) == "busy"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("start", [1000, 2 * PACE])
def test_a_body_that_stops_arriving_is_ended(streamed: bool, start: int) -> None:
    slug = slug_of(
        lambda pool: ask(pool, "checksum", _then(b"x" * start, never), streamed=streamed), stall_limit=0.2
    )

    assert slug == "upload-stalled"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_that_only_trickles_is_ended(streamed: bool) -> None:
    slug = slug_of(
        lambda pool: ask(pool, "checksum", endless(b"x", pause=0.01), streamed=streamed), stall_limit=0.2
    )

    assert slug == "upload-stalled"


def test_a_body_shorter_than_declared_is_refused() -> None:
    slug = slug_of(lambda pool: ask(pool, "size", request(b"x" * 10), {"content-length": "11"}))

    assert slug == "incomplete-body"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("start", [10, 5 * PACE])
def test_nobody_is_answered_when_the_client_leaves_amid_its_body(
    workers: Workers, streamed: bool, start: int
) -> None:
    async def leave() -> Any:
        return {"type": "http.disconnect"}

    async def scene() -> None:
        pool = workers.pool
        with pytest.raises(Disconnected):
            await ask(pool, "checksum", _then(b"x" * start, leave), streamed=streamed)

    workers.run(scene())


@pytest.mark.parametrize("size", [0, 100_000])
def test_a_client_that_leaves_while_its_job_runs_ends_the_worker(
    workers: Workers, size: int, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    call = Call("gated_checksum", query=(("gate", str(gate.path)),))

    async def scene() -> int:
        pool = workers.pool
        before = pool.snapshot().kills["cancelled"]
        receive = request(b"x" * size, then=lambda: until(lambda: bool(gate.began())))
        with pytest.raises(Disconnected):
            await answer(pool, call, receive, {})
        assert pool.snapshot().kills["cancelled"] == before + 1
        await until(lambda: not alive(gate.began()[0]))
        return gate.began()[0]

    assert workers.run(scene()) > 0


def test_an_upload_waits_for_a_worker_that_does_not_read_and_holds_little_meanwhile(
    workers: Workers, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    call = Call("gated_checksum", query=(("gate", str(gate.path)),))
    total, taken = 16 * MIB, 0

    async def receive() -> Any:
        nonlocal taken
        if taken == total:
            await never()
        taken += PACE
        return {"type": "http.request", "body": b"\x01" * PACE, "more_body": taken < total}

    async def scene() -> Reply:
        pool = workers.pool
        job = asyncio.create_task(answer(pool, call, receive, {}, streamed=True))
        await until(lambda: bool(gate.began()) and taken > PIPE_SIZE)
        for _ in range(100):  # the loop turns, and no more is taken
            await asyncio.sleep(0)
        assert taken <= PIPE_SIZE + 2 * PACE
        gate.open()
        return await job

    assert workers.run(scene()).body == f"{total} {total}".encode()


def test_a_worker_that_has_seen_enough_answers_though_the_upload_goes_on(workers: Workers) -> None:
    async def scene() -> Reply:
        pool = workers.pool
        return await ask(pool, "refuse_early", endless(b"x" * PACE), streamed=True)

    assert workers.run(scene()).body == b"seen enough"


def test_a_worker_that_no_longer_reads_is_ended_by_the_time_limit() -> None:
    slug = slug_of(lambda pool: ask(pool, "deaf", endless(b"x" * PACE), streamed=True), time_limit=0.2)

    assert slug == "time-limit"


def test_a_worker_that_does_not_answer_after_the_end_is_ended_by_the_time_limit() -> None:
    slug = slug_of(
        lambda pool: ask(pool, "deaf", request(b"x" * PACE, b"x" * PACE), streamed=True), time_limit=0.2
    )

    assert slug == "time-limit"


def test_a_worker_that_dies_amid_an_upload_fails_it() -> None:
    assert slug_of(lambda pool: ask(pool, "killed", endless(b"x" * PACE), streamed=True)) == "worker-lost"


def test_a_slow_upload_costs_the_worker_none_of_its_time() -> None:
    chunks = [b"\x01" * PACE] * 4

    async def receive() -> Any:
        await asyncio.sleep(0.2)
        if not chunks:
            await never()
        return {"type": "http.request", "body": chunks.pop(), "more_body": bool(chunks)}

    async def scene() -> Reply:
        async with clean(time_limit=0.3) as pool:
            return await ask(pool, "checksum", receive, streamed=True)

    assert asyncio.run(scene()).body == f"{4 * PACE} {4 * PACE}".encode()


def test_uploads_that_arrive_slowly_leave_one_worker_to_everybody_else() -> None:
    async def scene() -> bytes | memoryview:
        async with clean(workers=2, queue=8) as pool:
            uploads = [
                asyncio.create_task(ask(pool, "checksum", _then(b"x" * (2 * PACE), never), streamed=True))
                for _ in range(4)
            ]
            await until(lambda: pool.snapshot().busy == 1)
            reply = await ask(pool, "size", request(b"12345"))
            for upload in uploads:
                upload.cancel()
            await asyncio.gather(*uploads, return_exceptions=True)
            return reply.body

    assert asyncio.run(scene()) == b"5"


def _then(chunk: bytes, after: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """A body that begins with a chunk and goes on otherwise."""
    begun = False

    async def receive() -> Any:
        nonlocal begun
        if begun:
            return await after()
        begun = True
        return {"type": "http.request", "body": chunk, "more_body": True}

    return receive
