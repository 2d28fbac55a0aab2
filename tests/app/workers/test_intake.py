"""Bodies arrive within limits, at a pace, and for clients that are still there; whatever happens, nothing is left."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.workers import admission
from app.workers.intake import PACE, Disconnected, Upload, _read_whole, answer
from app.workers.pool import Pool
from app.workers.uploads import PIPE_SIZE, Spool
from macekit.call import CSV, JSON, Call, Reply
from tests.app.workers.conftest import Workers
from tests.app.workers.support import Gate, alive, in_loop, refused, request, settings, until

MIB = 2**20
Receive = Callable[[], Awaitable[Any]]


async def ask(pool: Pool, operation: str, receive: Any, headers: Mapping[str, str] | None = None, **how: Any) -> Reply:
    return await answer(pool, Call(operation, CSV), receive, headers or {}, **how)


# --- how a body goes on ------------------------------------------------------------------------------------------


async def never() -> Any:
    await asyncio.Event().wait()


async def leave() -> Any:
    return {"type": "http.disconnect"}


async def unread() -> Any:
    raise AssertionError("the body was read")


def endless(chunk: bytes, pause: float = 0.0) -> Receive:
    async def receive() -> Any:
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": chunk, "more_body": True}

    return receive


def then(chunk: bytes, after: Receive) -> Receive:
    """A body that begins with a chunk and goes on otherwise."""
    begun = False

    async def receive() -> Any:
        nonlocal begun
        if begun:
            return await after()
        begun = True
        return {"type": "http.request", "body": chunk, "more_body": True}

    return receive


# --- what comes of it --------------------------------------------------------------------------------------------


@in_loop
async def test_a_small_body_stays_in_memory_and_a_larger_one_is_spooled() -> None:
    async def gathered(*chunks: bytes, declared: int | None = None) -> tuple[type, int]:
        headers = {} if declared is None else {"content-length": str(declared)}
        upload = Upload(request(*chunks), headers, MIB, 30.0)
        source = await _read_whole(upload, Pool(settings(inline_limit=1000)))
        if isinstance(source, Spool):
            with source:
                return Spool, os.fstat(source.fd).st_size
        return bytes, len(source)

    assert await gathered(b"") == (bytes, 0)
    assert await gathered(b"x" * 400, b"x" * 600) == (bytes, 1000)
    assert await gathered(b"x" * 400, b"x" * 601) == (Spool, 1001)
    assert await gathered(b"x" * 400, b"x" * 601, declared=1001) == (Spool, 1001)
    assert await gathered(b"", b"x", b"", b"") == (bytes, 1)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("size", [0, 10, PACE, 3 * MIB])
def test_a_body_reaches_the_worker_whole_whichever_way_it_goes(workers: Workers, size: int, streamed: bool) -> None:
    chunks = [b"\x05" * min(50_000, size - start) for start in range(0, size, 50_000)] or [b""]

    reply = workers.run(ask(workers.pool, "checksum", request(*chunks), streamed=streamed))

    assert reply.body == f"{size} {5 * size}".encode()


@in_loop
async def test_small_json_that_is_quick_is_answered_here_and_all_else_by_a_worker(workers: Workers) -> None:
    with workers.given(inline_limit=100) as pool:

        def quick(call: Call, body: bytes) -> bool:
            return b"slow" not in body

        async def here(call: Call, size: int = 10, start: bytes = b"") -> bool:
            reply = await answer(pool, call, request(start + b"x" * size), {}, inline=quick)
            return int(reply.body) == os.getpid()

        assert await here(Call("process", JSON))
        assert not await here(Call("process", JSON), start=b"slow")
        assert not await here(Call("process", JSON), size=101)
        assert not await here(Call("process", CSV))
        assert not await here(Call("process", JSON, "gzip"))


@in_loop
async def test_who_asks_several_things_at_once_gets_workers_while_others_ask_too(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workers.given(inline_limit=100) as pool:

        async def here(client: str) -> bool:
            await until(lambda: not pool.turns.busy)
            reply = await answer(pool, Call("process", JSON), request(b"x"), {}, client=client, inline=lambda *_: True)
            return int(reply.body) == os.getpid()

        assert await here("greedy")
        with pool.admission.count("greedy"):
            monkeypatch.setattr(admission, "LATELY", 0.0)
            assert await here("greedy")  # nobody else asks
            monkeypatch.undo()
            assert await here("modest")
            assert not await here("greedy")
            assert await here("modest")
        assert await here("greedy")  # one thing after another
        with pool.admission.count("greedy"):
            monkeypatch.setattr(admission, "LATELY", 0.0)
            assert await here("greedy")  # the others have gone


BOTH = False, True
ENDINGS: dict[str, tuple[str, Callable[[], Receive], dict[str, str], tuple[bool, ...]]] = {
    "declared too large": ("too-large", lambda: unread, {"content-length": "200001"}, BOTH),
    "grows too large": ("too-large", lambda: endless(b"x" * 10_000), {}, BOTH),
    "stops at once": ("upload-stalled", lambda: then(b"x" * 1000, never), {}, BOTH),
    "stops later": ("upload-stalled", lambda: then(b"x" * 2 * PACE, never), {}, BOTH),
    "trickles": ("upload-stalled", lambda: endless(b"x", pause=0.01), {}, BOTH),
    "shorter than declared": (
        "incomplete-body", lambda: request(b"x" * 10), {"content-length": "11"}, (False,),
    ),
}  # fmt: skip


@pytest.mark.slow
@in_loop
async def test_a_body_that_does_not_come_as_it_should_ends_as_its_own_problem(workers: Workers) -> None:
    with workers.given(body_limit=200_000, stream_limit=200_000, stall_limit=0.2) as pool:
        for name, (slug, receive, headers, ways) in ENDINGS.items():
            for streamed in ways:
                failed = await refused(ask(pool, "checksum", receive(), headers, streamed=streamed))

                assert failed.kind.slug == slug, (name, streamed)


@in_loop
async def test_a_worker_that_ends_or_does_not_read_or_answer_fails_its_upload(workers: Workers) -> None:
    with workers.given(time_limit=0.3) as pool:
        for operation, receive, slug in (
            ("killed", endless(b"x" * PACE), "worker-lost"),
            ("deaf", endless(b"x" * PACE), "time-limit"),
            ("deaf", request(b"x" * PACE, b"x" * PACE), "time-limit"),
        ):
            before = workers.kills("lost")

            failed = await refused(ask(pool, operation, receive, streamed=True))

            assert failed.kind.slug == slug
            # a body that was read as it came is not there for another worker
            assert workers.kills("lost") == before + (operation == "killed")


@in_loop
async def test_more_bodies_than_may_be_held_are_refused(workers: Workers) -> None:
    with workers.given(spool_limit=100_000) as pool:
        assert (await refused(ask(pool, "size", endless(b"x" * 10_000)))).kind.slug == "busy"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("start", [10, 5 * PACE])
@in_loop
async def test_nobody_is_answered_when_the_client_leaves_amid_its_body(
    workers: Workers, streamed: bool, start: int
) -> None:
    with pytest.raises(Disconnected):
        await ask(workers.pool, "checksum", then(b"x" * start, leave), streamed=streamed)


@pytest.mark.parametrize("size", [0, 100_000])
@in_loop
async def test_a_client_that_leaves_while_its_job_runs_ends_the_worker(
    workers: Workers, size: int, tmp_path: Path
) -> None:
    gate, before = Gate(tmp_path), workers.kills("cancelled")
    receive = request(b"x" * size, then=lambda: until(gate.began))

    with pytest.raises(Disconnected):
        await answer(workers.pool, gate.call(), receive, {})

    assert workers.kills("cancelled") == before + 1
    await until(lambda: not alive(gate.began()[0]))


@in_loop
async def test_an_upload_waits_for_a_worker_that_does_not_read_and_holds_little_meanwhile(
    workers: Workers, tmp_path: Path
) -> None:
    gate, total, taken = Gate(tmp_path), 16 * MIB, 0

    async def receive() -> Any:
        nonlocal taken
        if taken == total:
            await never()
        taken += PACE
        return {"type": "http.request", "body": b"\x01" * PACE, "more_body": taken < total}

    job = asyncio.create_task(answer(workers.pool, gate.call(), receive, {}, streamed=True))
    await until(lambda: gate.began() and taken > PIPE_SIZE)
    for _ in range(100):  # the loop turns, and no more is taken
        await asyncio.sleep(0)
    assert taken <= PIPE_SIZE + 2 * PACE
    gate.open()

    assert (await job).body == f"{total} {total}".encode()


def test_a_worker_that_has_seen_enough_answers_though_the_upload_goes_on(workers: Workers) -> None:
    reply = workers.run(ask(workers.pool, "refuse_early", endless(b"x" * PACE), streamed=True))

    assert reply.body == b"seen enough"


@pytest.mark.slow
@in_loop
async def test_a_slow_upload_costs_the_worker_none_of_its_time(workers: Workers) -> None:
    chunks = [b"\x01" * PACE] * 4

    async def receive() -> Any:
        await asyncio.sleep(0.2)
        if not chunks:
            await never()
        return {"type": "http.request", "body": chunks.pop(), "more_body": bool(chunks)}

    with workers.given(time_limit=0.3) as pool:
        reply = await ask(pool, "checksum", receive, streamed=True)

    assert reply.body == f"{4 * PACE} {4 * PACE}".encode()


@in_loop
async def test_uploads_that_arrive_slowly_leave_one_worker_to_everybody_else(workers: Workers) -> None:
    pool = workers.pool
    slow = [ask(pool, "checksum", then(b"x" * (2 * PACE), never), streamed=True) for _ in range(4)]
    uploads = [asyncio.create_task(each) for each in slow]
    await until(lambda: pool.snapshot().busy == 1)
    await until(lambda: pool.snapshot().streams_waiting == 3)

    reply = await ask(pool, "size", request(b"12345"))

    assert reply.body == b"5"
    assert pool.snapshot().busy == 1
    for upload in uploads:
        upload.cancel()
    await asyncio.gather(*uploads, return_exceptions=True)
