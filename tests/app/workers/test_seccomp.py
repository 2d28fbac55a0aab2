"""System calls that a worker gives up: each goes well, or fails for its arguments, before; and is forbidden after."""

import json
import os
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from app.workers import privileges

pytestmark = pytest.mark.skipif(
    platform.machine() not in privileges.ARCHITECTURES, reason="the filter knows x86-64 and ARM on Linux"
)

TRY = """
import ctypes, errno, json, os, signal, sys, threading
from app.workers import privileges
column = privileges.ARCHITECTURES[os.uname().machine][1]
numbers = {}
for kind in (privileges.NETWORK, privileges.SERVERS, privileges.PROGRAMS, privileges.OTHER_PROCESSES,
             privileges.NAMESPACES, privileges.KERNEL, privileges.CLONE, privileges.CLONE3):
    numbers |= {name: number[column] for name, number in kind.items()}
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    made = libc.syscall(ctypes.c_long(numbers[name]), *map(ctypes.c_long, arguments))
    return errno.errorcode.get(ctypes.get_errno(), "none") if made < 0 else "none"
def tried():
    return {
        "socket": call("socket", 2, 1, 0), "connect": call("connect", -1, 0, 0), "bind": call("bind", -1, 0, 0),
        "listen": call("listen", -1, 0), "accept": call("accept", -1, 0, 0), "accept4": call("accept4", -1, 0, 0, 0),
        "execve": call("execve", 0, 0, 0), "execveat": call("execveat", -1, 0, 0, 0, 0),
        "kill": call("kill", os.getpid(), 0), "tkill": call("tkill", os.getpid(), 0),
        "process_vm_readv": call("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0),
        "process_vm_writev": call("process_vm_writev", os.getpid(), 0, 0, 0, 0, 0),
        "pidfd_send_signal": call("pidfd_send_signal", -1, 0, 0, 0), "pidfd_getfd": call("pidfd_getfd", -1, 0, 0),
        "unshare": call("unshare", 0), "setns": call("setns", -1, 0), "personality": call("personality", 0xFFFFFFFF),
        "keyctl": call("keyctl", 0, -3, 0), "add_key": call("add_key", 0, 0, 0, 0, 0),
        "adjtimex": call("adjtimex", 0), "clone of users": call("clone", 0x10000000 | 0x200, 0, 0, 0, 0),
        "clone3": call("clone3", 0, 0),
    }
before = tried()
assert libc.prctl(38, 1, 0, 0, 0) == 0
given_up = privileges.refuse_calls(network=sys.argv[1] == "network")
after = tried()
thread = threading.Thread(target=int)
thread.start()
thread.join()
child = os.fork()
if not child:
    os._exit(7)
print(json.dumps([given_up, before, after, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]))
"""


def tried(network: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", TRY, network], stdout=subprocess.PIPE, check=True, timeout=60, env=os.environ
    )
    found: list[object] = json.loads(done.stdout)
    return found


def test_what_went_well_is_forbidden_and_processes_and_threads_can_still_be_made() -> None:
    given_up, before, after, child = tried("none")

    assert (given_up, child) == (["calls"], 7)
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert "EPERM" not in before.values(), before
    assert after.pop("clone3") == "ENOSYS"
    assert after == dict.fromkeys(after, "EPERM")


def test_a_worker_that_reads_from_a_bucket_keeps_the_network_and_serves_nobody() -> None:
    after = tried("network")[2]

    assert isinstance(after, dict)
    assert [after[name] for name in ("socket", "connect", "bind")] == ["none", "EBADF", "EBADF"]
    assert {after[name] for name in ("listen", "accept", "accept4", "execve", "kill", "unshare")} == {"EPERM"}


@pytest.mark.parametrize("machine", privileges.ARCHITECTURES)
@pytest.mark.parametrize("network", [True, False])
def test_each_jump_leads_where_it_says(machine: str, network: bool) -> None:
    """A literal reading of the program by the kernel's rules, for each call there could be."""
    architecture, column = privileges.ARCHITECTURES[machine]
    program = list(struct.iter_unpack("HBBI", privileges._filter(architecture, column, network=network)))
    refused = set(privileges.numbers_to_refuse(column, network=network))
    clone, clone3 = privileges.CLONE["clone"][column], privileges.CLONE3["clone3"][column]

    def outcome(number: int, of: int = architecture, first: int = 0) -> int:
        memory = {privileges.OF_NUMBER: number, privileges.OF_ARCHITECTURE: of, privileges.OF_FIRST_ARGUMENT: first}
        held = at = 0
        while True:
            code, if_so, if_not, value = program[at]
            if code == privileges.RETURN:
                return value
            if code == privileges.LOAD:
                held, at = memory[value], at + 1
                continue
            so = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += 1 + (if_so if so else if_not)

    for number in range(500):
        usual = 0x50026 if number == clone3 else 0x50001 if number in refused else 0x7FFF0000
        assert outcome(number) == usual, number
        assert outcome(number, of=architecture ^ 1) == 0x50001
        assert outcome(number | 0x40000000) == 0x50001
    flags = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
    assert {outcome(clone, first=flag) for flag in flags} == {0x50001}
    assert outcome(clone, first=0x3D0F00) == 0x7FFF0000, "the flags of a thread"


HEADERS = (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm-generic/unistd.h"))


@pytest.mark.parametrize("column", [0, 1])
def test_the_numbers_are_those_of_the_systems_headers(column: int) -> None:
    if not HEADERS[column].exists():
        pytest.skip("the system has no such header")
    numbers = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[column].read_text()))
    kinds = (
        privileges.NETWORK,
        privileges.SERVERS,
        privileges.PROGRAMS,
        privileges.OTHER_PROCESSES,
        privileges.NAMESPACES,
    )
    for name, known in [
        pair for kind in (*kinds, privileges.KERNEL, privileges.CLONE, privileges.CLONE3) for pair in kind.items()
    ]:
        number = known[column]
        assert (None if number is None else str(number)) == numbers.get(name), name
