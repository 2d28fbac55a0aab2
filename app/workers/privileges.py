"""What a process of the service gives up, as far as the system lets it: Linux has all of it, others pass it over.

The server: nobody may look into it, or make it write its memory down; the key leaves its environment. Workers, which
read what strangers send: the same, and no way to rights that they have not, no network, no capability of root's but to
read files; and of these none but what they need (Landlock, by which a Linux process gives up files, programs,
connections and signals for itself and its children: from kernel 5.13 on, if it was built and started with it, and what
its version does not know yet stays as it is; `seccomp`).

And the memory that a process may take: RLIMIT_DATA, which counts what it allocates and not what it maps. Linux counts
writable memory of its own (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared libraries.
Other systems count less, or nothing: there the limit of the container or of the user must do.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
CAPABILITY_VERSION = 0x20080522
CAN_READ = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: what root needs to import modules from somebody's home."""
ENV_START, ENV_END = 47, 48
"""Where `/proc/self/stat` says, after the name of the process, in which memory its environment lies."""


def forbid_looks() -> None:
    """Write no core, and let no process of this user trace this one or read its memory, files and environment."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def forget_variable(name: str) -> None:
    """Take a variable out of the environment, and out of the memory where the system shows it to others."""
    for variable_name in [variable for variable in os.environ if variable.upper() == name]:
        del os.environ[variable_name]
        with suppress(OSError, ValueError, IndexError):
            fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
            start, end = int(fields[ENV_START]), int(fields[ENV_END])
            block = ctypes.string_at(start, end - start)
            at = (b"\0" + block).index(b"\0" + os.fsencode(variable_name) + b"=")
            value = at + len(os.fsencode(variable_name)) + 1
            ctypes.memset(start + value, ord("*"), block.index(b"\0", value) - value)


def give_up_rights(*, network: bool = False) -> tuple[str, ...]:
    """In a process that does strangers' work: have no network, and as few rights as the system lets it give up.

    ``network`` is kept where it is needed. Return what was given up.
    """
    if network:
        apart = False
    elif os.geteuid() == 0:
        apart = _call("unshare", CLONE_NEWNET)
    else:
        user, group = os.geteuid(), os.getegid()
        if apart := _call("unshare", CLONE_NEWUSER | CLONE_NEWNET):
            with suppress(OSError):
                Path("/proc/self/setgroups").write_text("deny")
                Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
                Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    head = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    capabilities = CAN_READ if os.geteuid() == 0 else 0
    _call("capset", head, (ctypes.c_uint32 * 6)(capabilities, capabilities, 0, 0, 0, 0))
    alone = _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return (*["rights"] * alone, *["network"] * apart)


def _call(name: str, *arguments: object) -> bool:
    """Call the system's library, where it has such a function; whether that went well."""
    try:
        return bool(getattr(ctypes.CDLL(None), name)(*arguments) == 0)
    except (AttributeError, OSError):
        return False


PAGE = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """What a worker had when it began, and what it may take beyond."""

    baseline: int
    allowance: int

    @classmethod
    def apply(cls, allowance: int) -> MemoryLimit:
        """Limit this process to what it has now and the allowance on top."""
        baseline = data_bytes()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = baseline + allowance
        resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
        return cls(baseline, allowance)

    def lift(self) -> None:
        """Make room for a last message: the process ends after it."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    def has_grown(self) -> bool:
        """Whether so much has stayed behind after a job that the next one would feel it."""
        most = self.baseline + self.allowance // 4
        return data_bytes() > most and gc.collect() >= 0 and data_bytes() > most


def data_bytes() -> int:
    """Bytes of writable memory of its own, as RLIMIT_DATA counts them; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * PAGE
    except OSError:
        return 0


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""The numbers of the system calls, the same on every kind of machine; the system's library has no names for them."""
ASK_VERSION = 1
PATH_BENEATH = 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
ACCESS_OF_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many kinds of access to files are known from a version on."""
TCP = 0b11  # to bind and to connect, from version 4 on
SCOPES = 0b11  # to connect to abstract sockets of others and to send them signals, from version 6 on

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
FONTS = ("/usr/share/fonts", "/usr/share/fontconfig", "/usr/local/share/fonts", "/etc/fonts")
ABOUT_THE_MACHINE = ("/proc", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom", "/dev/null")
"""Of other processes in /proc nothing can be read: whoever has given up files may not look into who has not."""
TIME = ("/usr/share/zoneinfo", "/etc/localtime")


def landlock_version() -> int:
    """Which version the kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(_system_call(CREATE_RULESET, None, 0, ASK_VERSION), 0)


def files_needed() -> list[Path]:
    """What a worker reads: Python, the packages, the system's libraries, fonts, and what is known of the machine."""
    packages = Path(__file__).parents[2]
    return [
        *(Path(prefix, folder) for prefix in {sys.prefix, sys.base_prefix} for folder in ("lib", "lib64")),
        *(Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")),
        *(packages / name for name in ("app", "macekit", "estimators")),
        *map(Path, (*LIBRARIES, *FONTS, *ABOUT_THE_MACHINE, *TIME)),
    ]


def confine(readable: Iterable[Path], *, network: bool = False) -> tuple[str, ...]:
    """From here on open nothing but these, and these only to read; run no program; return what else was given up.

    It holds for this thread and whatever comes of it, so it must be the only one.
    """
    if not (abi := landlock_version()):
        return ()
    access = (1 << max(number for since, number in ACCESS_OF_VERSION.items() if since <= abi)) - 1
    no_tcp = abi >= 4 and not network
    kinds = struct.pack("=QQQ", access, TCP * no_tcp, SCOPES * (abi >= 6))
    ruleset = _system_call(CREATE_RULESET, kinds, len(kinds), 0)
    if ruleset < 0:
        return ()
    try:
        for path in readable:
            _allow(ruleset, path)
        if _system_call(RESTRICT_SELF, ruleset, 0) != 0:
            return ()
    finally:
        os.close(ruleset)
    return ("files", *["tcp"] * no_tcp, *["signals"] * (abi >= 6))


def _allow(ruleset: int, path: Path) -> None:
    """Let a file, or all that lies in a folder, be read."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on this system
        return
    try:
        access = READ_FILE | READ_DIR if path.is_dir() else READ_FILE
        _system_call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    finally:
        os.close(descriptor)


def _system_call(number: int, *arguments: bytes | int | None) -> int:
    values = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *values))
