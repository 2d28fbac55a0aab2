"""Workers live no longer than the server, and no shorter."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.workers.support import Gate, alive, until

SERVER = """
import asyncio, os, signal, sys
from tests.app.workers.support import do, fork_server, running

async def main(gates):
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, lambda: print("signal", flush=True))
    async with running() as pool:
        print(fork_server(pool), *pool._workers, flush=True)
        for gate in gates:
            print((await do(pool, "wait_for", os.fsencode(gate))).status, flush=True)

asyncio.run(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_workers_stay_at_work_while_their_server_gets_signals_and_end_even_at_work_when_it_is_killed(
    tmp_path: Path,
) -> None:
    first, second = (Gate(tmp_path / name) for name in ("first", "second"))
    for gate in (first, second):
        gate.path.parent.mkdir()
    command = [sys.executable, "-c", SERVER, str(first.path), str(second.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        try:
            assert server.stdout is not None
            processes = [int(word) for word in server.stdout.readline().split()]
            asyncio.run(until(first.began))
            for number in (signal.SIGINT, signal.SIGTERM):
                os.killpg(server.pid, number)
                assert server.stdout.readline() == "signal\n"
            first.open()
            assert server.stdout.readline() == "200\n"
            asyncio.run(until(second.began))
            assert len(processes) == 3
            assert all(map(alive, processes))
        finally:
            server.kill()
        asyncio.run(until(lambda: not any(map(alive, processes))))


FIRST_PROCESS = """
import asyncio, ctypes, os, signal
from tests.app.running import children
from tests.app.workers.support import do, fork_server, running, settled, until

PR_SET_CHILD_SUBREAPER = 36  # orphans become its children, as they do those of the first process

async def main():
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    async with running() as pool:
        orphans = list(pool._workers)
        os.kill(fork_server(pool), signal.SIGKILL)
        await until(lambda: set(children(os.getpid())) == set(orphans))
        print((await do(pool, "size", b"123")).body)
        for orphan in orphans:
            os.kill(orphan, signal.SIGKILL)
        await until(lambda: not set(orphans) & set(pool._workers))
        await settled(pool)
        await until(lambda: children(os.getpid()) == [fork_server(pool)])
        print((await do(pool, "size", b"1234")).body)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody but the first process gets orphans")
def test_as_first_process_of_a_container_it_reaps_workers_whose_fork_server_is_gone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PROCESS], capture_output=True, text=True, check=False, timeout=120
    )

    assert (done.stdout, done.returncode) == ("b'3'\nb'4'\n", 0), done.stderr
