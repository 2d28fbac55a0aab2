"""What a real service gives up: cores, looks from outside, the key in its environment, the rights of its workers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.workers import privileges
from tests.app.conftest import KEY
from tests.app.http.asked import workers_of
from tests.app.running import Running, environment_shown, until

TRACE = 1 << 19
"""CAP_SYS_PTRACE, which lets root look into any process."""

AS_A_WORKER = """
import sys
from app.workers.privileges import give_up_rights
give_up_rights()
for pid in sys.argv[1:]:
    for name in ("environ", "mem", "maps"):
        try:
            open(f"/proc/{pid}/{name}", "rb").read(1)
        except OSError as error:
            print(type(error).__name__)
"""


@pytest.fixture
def family(locked: Running) -> list[int]:
    """The server, its fork server and its worker."""
    (worker,) = until(lambda: workers_of(locked))
    return [locked.process.pid, int(status(worker, "PPid")), worker]


def status(pid: int, name: str) -> str:
    text = Path(f"/proc/{pid}/status").read_text()
    return re.findall(rf"^{name}:\s*(\S+)$", text, flags=re.MULTILINE)[0]  # type: ignore[no-any-return]


def test_no_process_of_it_writes_a_core(family: list[int]) -> None:
    for pid in family:
        limits = Path(f"/proc/{pid}/limits").read_text()

        assert re.search(r"^Max core file size +0 +0 ", limits, flags=re.MULTILINE)


def test_a_process_with_the_rights_of_a_worker_cannot_look_into_any_of_it(family: list[int]) -> None:
    found = subprocess.check_output([sys.executable, "-c", AS_A_WORKER, *map(str, family)], text=True)

    assert found.split() == ["PermissionError"] * 9


def test_workers_can_gain_no_rights_and_have_none_that_would_let_them_trace(family: list[int]) -> None:
    for pid in family[1:]:
        assert status(pid, "NoNewPrivs") == "1"
        assert int(status(pid, "CapEff"), 16) & TRACE == 0
        assert int(status(pid, "CapPrm"), 16) & TRACE == 0


def test_the_log_says_what_workers_have_given_up(locked: Running) -> None:
    (line,) = until(lambda: [line for line in locked.logged().splitlines() if "workers confined" in line])

    given_up = json.loads(line)["given_up"]
    assert "rights" in given_up
    assert ("files" in given_up) == (privileges.landlock_version() > 0)


def test_the_key_is_in_no_environment(locked: Running, family: list[int]) -> None:
    for pid in family:
        assert KEY.encode() not in environment_shown(pid)
    assert locked.ask("/version").status == 401
    assert locked.ask("/version", headers={"Authorization": f"Bearer {KEY}"}).status == 200


def test_workers_have_no_network_where_the_system_lets_them_give_it_up(family: list[int]) -> None:
    spaces = [Path(f"/proc/{pid}/ns/net") for pid in family]
    if os.geteuid() != 0:  # they are shown to root alone
        with pytest.raises(PermissionError):
            spaces[0].readlink()
        return
    code = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x40000000) != 0)"
    if subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode:
        pytest.skip("this system does not")
    server, fork_server, worker = (space.readlink() for space in spaces)

    assert server == Path("/proc/self/ns/net").readlink()
    assert fork_server == worker != server
