"""What a process of the service gives up, as far as the system lets it: Linux has all of it, others pass it over.

The server: nobody may look into it, or make it write its memory down; the key leaves its environment. Workers, which
read what strangers send: the same, and no way to rights that they have not, no network, no capability of root's but to
read files; and of these none but what they need (`landlock`, `seccomp`).

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
