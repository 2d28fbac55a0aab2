"""Whatever becomes of one job, the pool has all its workers for the next."""

import asyncio
import gc
import json
import os
import resource
import signal
import socket
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from app.openapi.examples import JSON_EXAMPLES
from app.workers.forkserver import forgetting
from app.workers.pool import Pool
from app.workers.uploads import Spool
from estimators.adversary.lower_end import _reach
from estimators.audits.split import REMEMBERED
from estimators.privacy.share_ratio import _excess
from macekit.call import Body, Call
from macekit.operations import perform
from macekit.problems import Problem
from tests.app.workers import work
from tests.app.workers.conftest import Workers
from tests.app.workers.support import (
    Gate,
    alive,
    descriptors,
    do,
    fork_server,
    gone_when_called,
    halt_fork_server,
    in_loop,
    refused,
    running,
    settings,
    settled,
    until,
)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


# --- a pool that many tests use ----------------------------------------------------------------------------------


def test_a_job_gets_its_call_and_its_body_and_gives_its_reply(workers: Workers) -> None:
    call = Call("options", "text/csv", "gzip", (("prior", "0.3"), ("naïve", "✓")), "text/csv", 77)

    assert workers.run(workers.pool.run(call, b"scores")).body.decode() == repr(call)
    assert workers.do("size", b"x" * 10).records == 10


@pytest.mark.parametrize("size", [0, 1, 65_515, 300_000, 2**20, 5 * 2**20])
def test_bodies_arrive_whole_from_memory_and_from_a_spool(workers: Workers, size: int) -> None:
    expected = f"{size} {3 * size}".encode()
    with Spool(workers.pool.budget) as spool:
        for start in range(0, size, 100_000):
            spool.write(b"\x03" * min(100_000, size - start))
        assert workers.pool.snapshot().spooled == size

        assert workers.do("checksum", spool).body == expected
        assert workers.do("size", spool).body == str(size).encode()
    assert workers.do("checksum", b"\x03" * size).body == expected


@pytest.mark.slow
def test_a_large_reply_is_mapped_and_counts_as_held_until_it_is_let_go(workers: Workers) -> None:
    reply = workers.do("large")

    assert isinstance(reply.body, memoryview)
    assert reply.body == b"\x07" * work.LARGE
    assert workers.pool.budget.in_use == work.LARGE
    del reply
    gc.collect()
    assert workers.pool.budget.in_use == 0


def test_a_problem_is_a_reply_like_any_other(workers: Workers) -> None:
    reply = workers.do("refuse")

    assert (reply.status, reply.problem, reply.retry_after) == (422, "too-few-records", 3)


@pytest.mark.parametrize("operation", ["killed", "aborted"])
def test_a_job_that_ends_two_workers_fails_and_ends_no_third(
    workers: Workers, operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    before, cause = workers.kills("lost"), {"killed": "Killed", "aborted": "Aborted"}[operation]

    assert workers.run(refused(do(workers.pool, operation))).kind.slug == "worker-lost"
    assert workers.kills("lost") == before + 2
    workers.run(until(lambda: cause in str([getattr(each, "fields", {}) for each in caplog.records])))


@in_loop
async def test_a_worker_that_comes_to_a_request_that_is_gone_goes_to_the_next() -> None:
    async with running(workers=1, time_limit=5.0) as pool:
        holding, gone = (asyncio.create_task(do(pool, "size")) for _ in range(2))
        while not len(pool.admission.line):
            await asyncio.sleep(0)
        await gone_when_called(next(iter(pool.admission.line._small)), gone)

        assert (await holding).body == (await do(pool, "size")).body


@pytest.mark.parametrize("spooled", [False, True])
@in_loop
async def test_a_job_whose_worker_is_lost_is_done_by_another(
    workers: Workers, gate: Gate, spooled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with Spool(workers.pool.budget) as spool:
        spool.write(gate.source)
        job = asyncio.create_task(do(workers.pool, "wait_for", spool if spooled else gate.source))
        await until(lambda: len(gate.began()) == 1)
        os.kill(gate.began()[0], signal.SIGKILL)
        await until(lambda: len(gate.began()) == 2)
        gate.open()
        reply = await job

    assert int(reply.body) in gate.began()
    told = [record.fields for record in caplog.records if record.message == "request repeated"]  # type: ignore[attr-defined]
    assert told == [{"operation": "wait_for"}]


@pytest.mark.parametrize("operation", ["greedy", "greedy_arrow"])
def test_memory_beyond_all_bounds_is_refused_and_the_worker_replaced(workers: Workers, operation: str) -> None:
    before = workers.kills("memory-limit")

    reply = workers.do(operation)

    assert (reply.status, reply.problem) == (413, "memory-limit")
    assert b"256 MiB" in reply.body
    assert workers.kills("memory-limit") == before + 1


def test_memory_is_granted_up_to_the_limit_and_not_beyond(workers: Workers) -> None:
    assert workers.do("mebibytes", b"200").status == 200
    assert workers.do("mebibytes", b"270").problem == "memory-limit"


def test_a_worker_that_keeps_memory_is_replaced(workers: Workers) -> None:
    before = workers.kills("grown")

    first = int(workers.do("keeps", b"100").body)

    workers.run(until(lambda: not alive(first)))
    assert workers.kills("grown") == before + 1


def test_an_unexpected_error_is_logged_by_place_and_never_by_what_it_said(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    failed = workers.run(refused(do(workers.pool, "raises", b"0.123")))

    told = str([record.__dict__ for record in caplog.records])
    assert failed.kind.slug == "internal"
    assert "KeyError" in told
    assert "work.py" in told
    assert "secret" not in told + failed.detail


@in_loop
async def test_a_client_that_leaves_ends_its_worker(workers: Workers, gate: Gate) -> None:
    before = workers.kills("cancelled")
    job = asyncio.create_task(do(workers.pool, "wait_for", gate.source))
    await until(gate.began)

    job.cancel()

    with pytest.raises(asyncio.CancelledError):
        await job
    await until(lambda: not alive(gate.began()[0]))
    assert workers.kills("cancelled") == before + 1


def test_a_worker_that_dies_while_idle_is_replaced_before_anyone_needs_it(workers: Workers) -> None:
    worker, before = int(workers.do("process").body), workers.kills("lost")

    os.kill(worker, signal.SIGKILL)

    workers.run(until(lambda: workers.kills("lost") == before + 1))


@pytest.mark.slow
@in_loop
async def test_many_jobs_leave_no_descriptor_behind(workers: Workers) -> None:
    async def one(number: int) -> None:
        operation = ("size", "large", "greedy", "killed")[number % 4 if number % 20 < 4 else number % 2]
        with Spool(workers.pool.budget) as spool:
            spool.write(b"x" * 1000)
            source = spool if number % 3 else b"x" * 1000
            with pytest.raises(Problem) if operation == "killed" else nullcontext():
                await workers.pool.run(Call(operation), source)

    counts = []
    for jobs in (20, 60):
        await asyncio.gather(*map(one, range(jobs)))
        await settled(workers.pool)
        gc.collect()
        counts.append(descriptors())

    assert counts[0] == counts[1]


@in_loop
async def test_workers_hold_nothing_of_the_server_and_are_not_in_its_session(workers: Workers) -> None:
    pool = workers.pool
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        for _ in range(2):  # both workers are new
            killed = int((await do(pool, "process")).body)
            os.kill(killed, signal.SIGKILL)
            await until(lambda killed=killed: killed not in pool._workers)
            await settled(pool)
        held = bytes((await do(pool, "descriptors")).body).decode()

        assert f"socket:[{os.fstat(listening.fileno()).st_ino}]" not in held
    assert held.count("socket:") == 1
    assert int((await do(pool, "session")).body) != os.getsid(0)


def test_a_worker_has_one_thread_for_work_and_one_that_watches_the_server(workers: Workers) -> None:
    assert workers.do("threads").body.count(b"'") == 4


def test_workers_know_none_of_the_settings_which_hold_the_key(workers: Workers) -> None:
    seen = workers.do("environment").body

    assert b"MACE_" not in seen
    assert b"PATH" in seen


@pytest.mark.slow
def test_a_worker_keeps_nothing_of_the_rows_it_was_asked_about() -> None:
    call = Call("check")
    body = next(iter(JSON_EXAMPLES["check"].values())).value
    REMEMBERED.checks.clear()

    alone = perform(call, Body.of(json.dumps(body).encode()))
    kept = len(REMEMBERED.checks)
    answer = forgetting(perform)(call, Body.of(json.dumps(body).encode()))

    assert (kept, len(REMEMBERED.checks)) == (1, 0)
    assert bytes(answer.body) == bytes(alone.body)


def test_neither_a_worker_nor_the_server_keeps_what_it_worked_out_for_somebodys_records(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Call("advantage")
    body = json.dumps({"members": [*range(20, 60)], "nonmembers": [*range(40)]}).encode()
    monkeypatch.setattr(workers.pool, "_perform", lambda: perform)

    def in_use() -> list[bool]:
        return [each.cache_info().currsize > 0 for each in (_reach, _excess)]

    for ask in (forgetting(perform), workers.pool.answer):
        perform(call, Body.of(body))
        before = in_use()
        ask(call, Body.of(body))
        assert (before, in_use()) == ([True, True], [False, False])


def test_a_small_call_is_answered_in_this_process_by_the_same_function(workers: Workers) -> None:
    assert int(workers.pool.answer(Call("process"), Body.of(b"")).body) == os.getpid()
    with pytest.raises(Problem) as failed:
        workers.pool.answer(Call("raises"), Body.of(b""))

    assert failed.value.kind.slug == "internal"


@in_loop
async def test_a_reply_for_which_there_is_no_room_is_refused(workers: Workers) -> None:
    with workers.given(spool_limit=work.LARGE) as pool:
        assert (await refused(do(pool, "large"))).kind.slug == "busy"


@in_loop
async def test_a_job_past_the_time_limit_is_ended_and_says_what_to_do(workers: Workers) -> None:
    before = workers.kills("time-limit")
    with workers.given(time_limit=0.2) as pool:
        failed = await refused(do(pool, "deaf"))

    assert failed.kind.slug == "time-limit"
    assert workers.kills("time-limit") == before + 1
    assert not [word for word in ("0.2 seconds", "/v1/counts", "MACE_TIME_LIMIT") if word not in failed.detail]


# --- pools of their own ------------------------------------------------------------------------------------------


@pytest.mark.slow
@in_loop
async def test_no_one_waits_for_a_worker_longer_than_work_may_take() -> None:
    async with running(workers=1, time_limit=0.3) as pool:
        await halt_fork_server(pool)
        os.kill(*pool._workers, signal.SIGKILL)
        await until(lambda: not pool._workers)
        failed = await refused(do(pool, "size"))

        assert failed.kind.slug == "busy"
        assert failed.retry_after is not None
        assert pool.snapshot().waiting == 0


@pytest.mark.slow
@in_loop
async def test_workers_that_die_when_their_fork_server_has_are_not_counted_and_cost_nobody_an_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running() as pool:
        killed, orphans = fork_server(pool), list(pool._workers)
        os.kill(killed, signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{killed}").exists())  # reaped, though no worker is needed
        for orphan in orphans:
            os.kill(orphan, signal.SIGKILL)
        await until(lambda: not set(orphans) & set(pool._workers))

        assert pool.snapshot().kills["lost"] == 2
        for _ in range(2):
            assert (await refused(do(pool, "killed"))).kind.slug == "worker-lost"
        assert (await do(pool, "size", b"123")).body == b"3"
    lost = [record.fields for record in caplog.records if record.message == "fork server lost"]  # type: ignore[attr-defined]
    assert [fields["status"] for fields in lost] == [-signal.SIGKILL]
    assert "worker lost" in caplog.messages


@pytest.mark.slow
def test_workers_are_forked_however_many_descriptors_the_server_has() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("this system grants too few")

    async def scene() -> None:
        async with running() as pool:
            assert (await do(pool, "size", b"123")).body == b"3"

    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    with ExitStack() as opened:
        try:
            for _ in range(1100):
                opened.enter_context(Path(os.devnull).open())
            asyncio.run(scene())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@in_loop
async def test_a_fork_server_that_is_stuck_is_ended_and_another_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(workers=1) as pool:
        await halt_fork_server(pool)
        monkeypatch.setattr("app.workers.processes.SPAWN_SECONDS", 1.0)  # for this one, not for the next
        os.kill(*pool._workers, signal.SIGKILL)
        await until(lambda: "fork server stuck" in caplog.messages)
        monkeypatch.undo()

        assert (await do(pool, "size", b"123")).body == b"3"


@in_loop
async def test_waiting_for_a_worker_is_first_come_first_served_and_has_an_end(gate: Gate) -> None:
    order = []
    async with running(workers=1, queue=4) as pool:
        first = asyncio.create_task(do(pool, "wait_for", gate.source))
        await until(gate.began)

        async def later(number: int) -> None:
            await do(pool, "size")
            order.append(number)

        others = [asyncio.create_task(later(number)) for number in range(4)]
        await until(lambda: pool.snapshot().waiting == 4)
        failed = await refused(do(pool, "size"))
        others[1].cancel()
        gate.open()
        await first
        await asyncio.gather(*others, return_exceptions=True)

    assert order == [0, 2, 3]
    assert failed.kind.slug == "busy"
    assert failed.retry_after is not None
    assert 1 <= failed.retry_after <= 60


@in_loop
async def test_stopping_lets_work_under_way_finish_and_admits_no_more(gate: Gate) -> None:
    async with running(workers=1) as pool:
        working = asyncio.create_task(do(pool, "wait_for", gate.source))
        waiting = asyncio.create_task(do(pool, "size", b"12"))
        await until(lambda: gate.began() and pool.snapshot().waiting == 1)
        stop = asyncio.create_task(pool.stop())
        await until(lambda: not pool.ready)
        failed = await refused(do(pool, "size"))
        gate.open()

        assert int((await working).body) == gate.began()[0]
        assert (await waiting).body == b"2"
        assert failed.kind.slug == "shutting-down"
        await stop


@in_loop
async def test_work_that_outlasts_the_drain_limit_is_ended(gate: Gate) -> None:
    async with running(workers=1, drain_limit=0.2) as pool:
        jobs = [asyncio.create_task(do(pool, "wait_for", gate.source)) for _ in range(2)]
        await until(lambda: gate.began() and pool.snapshot().waiting == 1)
        await pool.stop()

        assert [(await refused(job)).kind.slug for job in jobs] == ["shutting-down"] * 2
        assert pool.snapshot().kills["drain"] == 1
    await until(lambda: not alive(gate.began()[0]))


@pytest.mark.slow
@in_loop
async def test_a_stopped_pool_leaves_no_process_and_no_descriptor() -> None:
    async def once() -> list[int]:
        async with running() as pool:
            await do(pool, "size")
            return [*pool._workers, fork_server(pool)]

    await once()
    before = descriptors()
    processes = await once()

    assert descriptors() == before
    await until(lambda: not any(map(alive, processes)))


@pytest.mark.slow
@in_loop
async def test_when_no_worker_can_be_started_nobody_waits_for_one(capfd: pytest.CaptureFixture[str]) -> None:
    pool = Pool(settings(), "tests.app.workers.work:nothing_of_that_name")
    await pool.start()
    try:
        failed = await refused(do(pool, "size"))
        assert not pool.ready
    finally:
        await pool.stop()

    assert failed.kind.slug == "worker-lost"
    assert "nothing_of_that_name" in capfd.readouterr().err
