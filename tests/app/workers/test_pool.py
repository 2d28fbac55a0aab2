"""Whatever becomes of one job, the pool has all its workers for the next."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.workers.pool import Pool
from app.workers.uploads import Spool
from macekit.call import Body, Call
from macekit.problems import Problem
from tests.app.workers import work
from tests.app.workers.conftest import Workers
from tests.app.workers.support import WORK, Gate, alive, descriptors, do, running, settings, settled, until


def test_a_job_gets_its_call_and_its_body_and_gives_its_reply(workers: Workers) -> None:
    call = Call("options", "text/csv", "gzip", (("prior", "0.3"), ("naïve", "✓")), "text/csv", 77)

    reply = workers.run(workers.pool.run(call, b"scores"))

    assert reply.body.decode() == repr(call)
    assert workers.do("size", b"x" * 10).records == 10


@pytest.mark.parametrize("size", [0, 1, 65_515, 300_000, 2**20, 5 * 2**20])
def test_bodies_in_memory_arrive_whole(workers: Workers, size: int) -> None:
    reply = workers.do("checksum", b"\x03" * size)

    assert reply.body == f"{size} {3 * size}".encode()


@pytest.mark.parametrize("size", [0, 1, 5 * 2**20])
@pytest.mark.parametrize("operation", ["size", "checksum"])
def test_spooled_bodies_arrive_whole(workers: Workers, operation: str, size: int) -> None:
    async def spooled() -> Any:
        with Spool(workers.pool.budget) as spool:
            for start in range(0, size, 100_000):
                spool.write(b"\x03" * min(100_000, size - start))
            assert workers.pool.snapshot().spooled == size
            return (await do(workers.pool, operation, spool)).body

    assert workers.run(spooled()).split()[0] == str(size).encode()


def test_a_large_reply_is_mapped_and_not_copied(workers: Workers) -> None:
    reply = workers.do("large")

    assert isinstance(reply.body, memoryview)
    assert reply.body == b"\x07" * work.LARGE


def test_a_problem_is_a_reply_like_any_other(workers: Workers) -> None:
    reply = workers.do("refuse")

    assert (reply.status, reply.problem, reply.retry_after) == (422, "too-few-records", 3)


@pytest.mark.parametrize("operation", ["killed", "aborted"])
def test_a_job_that_ends_two_workers_fails_and_ends_no_third(workers: Workers, operation: str) -> None:
    before = workers.pool.snapshot().kills["lost"]

    with pytest.raises(Problem) as failed:
        workers.do(operation)

    assert failed.value.kind.slug == "worker-lost"
    assert workers.pool.snapshot().kills["lost"] == before + 2


@pytest.mark.parametrize("spooled", [False, True])
def test_a_job_whose_worker_is_lost_is_done_by_another(
    workers: Workers, tmp_path: Path, spooled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate(tmp_path)

    async def scene() -> tuple[list[int], Any]:
        with Spool(workers.pool.budget) as spool:
            spool.write(gate.source)
            job = asyncio.create_task(do(workers.pool, "wait_for", spool if spooled else gate.source))  # type: ignore[arg-type]
            await until(lambda: len(gate.began()) == 1)
            os.kill(gate.began()[0], signal.SIGKILL)
            await until(lambda: len(gate.began()) == 2)
            gate.open()
            return gate.began(), await job

    began, reply = workers.run(scene())
    assert int(reply.body) in began
    assert [record.fields for record in caplog.records if record.message == "request repeated"] == [  # type: ignore[attr-defined]
        {"operation": "wait_for"}
    ]


def test_a_large_reply_counts_as_held_until_it_is_let_go(workers: Workers) -> None:
    reply = workers.do("large")

    assert workers.pool.budget.in_use == work.LARGE
    del reply
    gc.collect()
    assert workers.pool.budget.in_use == 0


def test_a_reply_for_which_there_is_no_room_is_refused() -> None:
    async def scene() -> str:
        async with running(spool_limit=work.LARGE) as pool:
            with pytest.raises(Problem) as failed:
                await do(pool, "large")
            await settled(pool)
            assert pool.budget.in_use == 0
            return failed.value.kind.slug

    assert asyncio.run(scene()) == "busy"


def test_no_one_waits_for_a_worker_longer_than_work_may_take() -> None:
    async def scene() -> Problem:
        async with running(workers=1, time_limit=0.3) as pool:
            fork_server = pool._fork_server._process
            assert fork_server is not None
            os.kill(fork_server.pid, signal.SIGSTOP)
            os.kill(*pool._workers, signal.SIGKILL)
            await until(lambda: not pool._workers)
            with pytest.raises(Problem) as failed:
                await do(pool, "size")
            assert pool.snapshot().waiting == 0
            return failed.value

    failed = asyncio.run(scene())

    assert failed.kind.slug == "busy"
    assert failed.retry_after is not None


def test_workers_that_die_when_their_fork_server_has_are_not_counted_and_cost_nobody_an_answer() -> None:
    async def scene() -> tuple[bytes | memoryview, int]:
        async with running() as pool:
            fork_server = pool._fork_server._process
            assert fork_server is not None
            os.kill(fork_server.pid, signal.SIGKILL)
            fork_server.wait()
            orphans = list(pool._workers)
            for orphan in orphans:
                os.kill(orphan, signal.SIGKILL)
            await until(lambda: not set(orphans) & set(pool._workers))
            lost = pool.snapshot().kills["lost"]
            return (await do(pool, "size", b"123")).body, lost

    assert asyncio.run(scene()) == (b"3", 2)


def test_workers_are_forked_however_many_descriptors_the_server_has() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("this system grants too few")

    async def scene() -> bytes | memoryview:
        async with running() as pool:
            return (await do(pool, "size", b"123")).body

    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    with ExitStack() as opened:
        try:
            for _ in range(1100):
                opened.enter_context(Path(os.devnull).open())
            assert asyncio.run(scene()) == b"3"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_fork_server_that_is_stuck_is_ended_and_another_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> bytes | memoryview:
        async with running(workers=1) as pool:
            fork_server = pool._fork_server._process
            assert fork_server is not None
            os.kill(fork_server.pid, signal.SIGSTOP)
            (worker,) = pool._workers
            monkeypatch.setattr("app.workers.processes.SPAWN_SECONDS", 1.0)  # for this one, not for the next
            os.kill(worker, signal.SIGKILL)
            await until(lambda: "fork server stuck" in caplog.messages)
            monkeypatch.undo()
            return (await do(pool, "size", b"123")).body

    assert asyncio.run(scene()) == b"3"


def test_the_log_says_of_what_a_worker_died(workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Problem):
        workers.do("killed")

    workers.run(until(lambda: "'cause': 'Killed'" in str([getattr(r, "fields", {}) for r in caplog.records])))


@pytest.mark.parametrize("operation", ["greedy", "greedy_arrow"])
def test_memory_beyond_all_bounds_is_refused_and_the_worker_replaced(
    workers: Workers, operation: str
) -> None:
    before = workers.pool.snapshot().kills["memory-limit"]

    reply = workers.do(operation)

    assert (reply.status, reply.problem) == (413, "memory-limit")
    assert b"256 MiB" in reply.body
    assert workers.pool.snapshot().kills["memory-limit"] == before + 1


def test_memory_is_granted_up_to_the_limit_and_not_beyond(workers: Workers) -> None:
    assert workers.do("mebibytes", b"200").status == 200
    assert workers.do("mebibytes", b"270").problem == "memory-limit"


def test_a_worker_that_keeps_memory_is_replaced(workers: Workers) -> None:
    before = workers.pool.snapshot().kills["grown"]

    first = int(workers.do("keeps", b"100").body)

    workers.run(until(lambda: not alive(first)))
    assert workers.pool.snapshot().kills["grown"] == before + 1


def test_an_unexpected_error_is_logged_by_place_and_never_by_what_it_said(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Problem) as failed:
        workers.do("raises", b"0.123")

    told = str([record.__dict__ for record in caplog.records])
    assert failed.value.kind.slug == "internal"
    assert "KeyError" in told
    assert "work.py" in told
    assert "secret" not in told
    assert "secret" not in failed.value.detail


def test_a_client_that_leaves_ends_its_worker(workers: Workers, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    before = workers.pool.snapshot().kills["cancelled"]

    async def leaving() -> int:
        job = asyncio.create_task(do(workers.pool, "wait_for", gate.source))
        await until(lambda: bool(gate.began()))
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        return gate.began()[0]

    worker = workers.run(leaving())

    workers.run(until(lambda: not alive(worker)))
    assert workers.pool.snapshot().kills["cancelled"] == before + 1


def test_a_worker_that_dies_while_idle_is_replaced_before_anyone_needs_it(workers: Workers) -> None:
    worker = int(workers.do("process").body)
    before = workers.pool.snapshot().kills["lost"]

    os.kill(worker, signal.SIGKILL)

    workers.run(until(lambda: workers.pool.snapshot().kills["lost"] == before + 1))


def test_two_hundred_jobs_leave_no_descriptor_behind(workers: Workers) -> None:
    async def many() -> None:
        async def one(number: int) -> None:
            operation = ("size", "large", "greedy", "killed")[number % 4 if number % 20 < 4 else number % 2]
            with Spool(workers.pool.budget) as spool:
                spool.write(b"x" * 1000)
                source = spool if number % 3 else b"x" * 1000
                with pytest.raises(Problem) if operation == "killed" else nullcontext():
                    await workers.pool.run(Call(operation), source)

        await asyncio.gather(*map(one, range(200)))
        await settled(workers.pool)

    workers.run(many())
    gc.collect()
    before = descriptors()

    workers.run(many())
    gc.collect()

    assert descriptors() == before


def test_workers_hold_nothing_of_the_server_and_are_not_in_its_session(workers: Workers) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        workers.run(_replaced(workers.pool))
        held = workers.do("descriptors").body.decode()

        assert f"socket:[{os.fstat(listening.fileno()).st_ino}]" not in held
    assert held.count("socket:") == 1
    assert int(workers.do("session").body) != os.getsid(0)


def _left(pool: Pool, pid: int) -> bool:
    return pid not in pool._workers


async def _replaced(pool: Pool) -> None:
    for _ in range(2):
        killed = int((await do(pool, "process")).body)
        os.kill(killed, signal.SIGKILL)
        await until(partial(_left, pool, killed))
        await settled(pool)


def test_a_worker_has_one_thread_for_work_and_one_that_watches_the_server(workers: Workers) -> None:
    assert workers.do("threads").body.count(b"'") == 4


def test_a_small_call_is_answered_in_this_process_by_the_same_function(workers: Workers) -> None:
    assert int(workers.pool.answer(Call("process"), Body.of(b"")).body) == os.getpid()


def test_a_mistake_in_this_process_is_a_problem_too(workers: Workers) -> None:
    with pytest.raises(Problem) as failed:
        workers.pool.answer(Call("raises"), Body.of(b""))

    assert failed.value.kind.slug == "internal"


def test_a_job_past_the_time_limit_is_ended_and_says_what_to_do() -> None:
    async def late() -> str:
        async with running(time_limit=0.2) as pool:
            with pytest.raises(Problem) as failed:
                await do(pool, "deaf")
            assert failed.value.kind.slug == "time-limit"
            assert pool.snapshot().kills["time-limit"] == 1
            await settled(pool)
            assert (await do(pool, "size", b"123")).body == b"3"
            return failed.value.detail

    detail = asyncio.run(late())

    assert "0.2 seconds" in detail
    assert "/v1/counts" in detail
    assert "MACE_TIME_LIMIT" in detail


def test_waiting_for_a_worker_is_first_come_first_served(tmp_path: Path) -> None:
    gate, order = Gate(tmp_path), []

    async def queued() -> None:
        async with running(workers=1) as pool:
            first = asyncio.create_task(do(pool, "wait_for", gate.source))
            await until(lambda: bool(gate.began()))

            async def later(number: int) -> None:
                await do(pool, "size")
                order.append(number)

            others = [asyncio.create_task(later(number)) for number in range(4)]
            await until(lambda: pool.snapshot().waiting == 4)
            others[1].cancel()
            gate.open()
            await first
            await asyncio.gather(*others, return_exceptions=True)

    asyncio.run(queued())

    assert order == [0, 2, 3]


def test_more_than_the_queue_takes_is_refused_with_a_time_to_come_back(tmp_path: Path) -> None:
    gate = Gate(tmp_path)

    async def crowded() -> Problem:
        async with running(workers=1, queue=2) as pool:
            jobs = [asyncio.create_task(do(pool, "wait_for", gate.source)) for _ in range(3)]
            await until(lambda: pool.snapshot().waiting == 2)
            with pytest.raises(Problem) as refused:
                await do(pool, "size")
            gate.open()
            await asyncio.gather(*jobs)
            assert (await do(pool, "size")).status == 200
            return refused.value

    refused = asyncio.run(crowded())

    assert refused.kind.slug == "busy"
    assert refused.retry_after is not None
    assert 1 <= refused.retry_after <= 60


def test_one_client_may_have_so_many_under_way_and_another_still_gets_in() -> None:
    pool = Pool(settings(per_client=2), WORK)
    pool._admission.closed = False

    with pool.admit("a"), pool.admit("a"):
        with pytest.raises(Problem) as refused, pool.admit("a"):
            pass
        with pool.admit("b"):
            pass
    with pool.admit("a"):
        pass

    assert (refused.value.kind.slug, refused.value.retry_after) == ("too-many-requests", 1)


def test_stopping_lets_work_under_way_finish_and_admits_no_more(tmp_path: Path) -> None:
    gate = Gate(tmp_path)

    async def stopping() -> tuple[Any, Any]:
        async with running(workers=1) as pool:
            working = asyncio.create_task(do(pool, "wait_for", gate.source))
            waiting = asyncio.create_task(do(pool, "size", b"12"))
            await until(lambda: bool(gate.began()) and pool.snapshot().waiting == 1)
            stop = asyncio.create_task(pool.stop())
            await until(lambda: not pool.ready)
            with pytest.raises(Problem) as refused:
                await do(pool, "size")
            assert refused.value.kind.slug == "shutting-down"
            gate.open()
            replies = await working, await waiting
            await stop
            return replies

    worked, waited = asyncio.run(stopping())

    assert int(worked.body) == gate.began()[0]
    assert waited.body == b"2"


def test_work_that_outlasts_the_drain_limit_is_ended(tmp_path: Path) -> None:
    gate = Gate(tmp_path)

    async def stopping() -> tuple[list[Any], dict[str, int]]:
        async with running(workers=1, drain_limit=0.2) as pool:
            jobs = [asyncio.create_task(do(pool, "wait_for", gate.source)) for _ in range(2)]
            await until(lambda: bool(gate.began()) and pool.snapshot().waiting == 1)
            await pool.stop()
            return await asyncio.gather(*jobs, return_exceptions=True), dict(pool.snapshot().kills)

    failed, kills = asyncio.run(stopping())

    assert [problem.kind.slug for problem in failed] == ["shutting-down", "shutting-down"]
    assert kills["drain"] == 1
    asyncio.run(until(lambda: not alive(gate.began()[0])))


def test_a_stopped_pool_leaves_no_process_and_no_descriptor() -> None:
    async def once() -> list[int]:
        async with running() as pool:
            await do(pool, "size")
            return [*pool._workers, pool._fork_server._process.pid]  # type: ignore[union-attr]

    asyncio.run(once())
    before = descriptors()
    processes = asyncio.run(once())

    assert descriptors() == before
    asyncio.run(until(lambda: not any(map(alive, processes))))


def test_a_fork_server_that_was_killed_is_respawned(caplog: pytest.LogCaptureFixture) -> None:
    async def orphaned() -> bytes | memoryview:
        async with running() as pool:
            fork_server = pool._fork_server._process
            assert fork_server is not None
            os.kill(fork_server.pid, signal.SIGKILL)
            for _ in range(2):
                with pytest.raises(Problem):
                    await do(pool, "killed")
            return (await do(pool, "size", b"123")).body

    assert asyncio.run(orphaned()) == b"3"
    lost = [record.fields for record in caplog.records if record.message == "fork server lost"]  # type: ignore[attr-defined]
    assert [fields["status"] for fields in lost] == [-signal.SIGKILL]
    assert "worker lost" in caplog.messages


def test_when_no_worker_can_be_started_nobody_waits_for_one(capfd: pytest.CaptureFixture[str]) -> None:
    async def hopeless() -> str:
        pool = Pool(settings(), "tests.app.workers.work:nothing_of_that_name")
        await pool.start()
        try:
            with pytest.raises(Problem) as failed:
                await do(pool, "size")
            assert not pool.ready
            return failed.value.kind.slug
        finally:
            await pool.stop()

    assert asyncio.run(hopeless()) == "worker-lost"
    assert "nothing_of_that_name" in capfd.readouterr().err


def test_workers_know_none_of_the_settings_which_hold_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_API_KEY", "0123456789abcdef")

    async def scene() -> str:
        async with running(workers=1) as pool:
            return bytes((await do(pool, "environment")).body).decode()

    seen = asyncio.run(scene())

    assert "MACE_" not in seen
    assert "PATH" in seen
