"""What a process of the service gives up, as far as the system lets it: Linux has all of it, others pass it over.

The server: nobody may look into it, or make it write its memory down; the key leaves its environment. Workers, which
read what strangers send: the same, and no way to rights that they have not, no network, no capability of root's but to
read files; and of these none but what they need (Landlock, by which a Linux process gives up files, programs,
connections and signals for itself and its children: from kernel 5.13 on, if it was built and started with it, and what
its version does not know yet stays as it is).

And the memory that a process may take: RLIMIT_DATA, which counts what it allocates and not what it maps. Linux counts
writable memory of its own (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared libraries.
Other systems count less, or nothing: there the limit of the container or of the user must do.

And system calls (seccomp). Of libraries for it, pyseccomp needs libseccomp on the system, and the others are bindings
that its own build makes; a filter that refuses by number is a table and thirty lines. What is refused fails with EPERM,
as if it were forbidden by rights: a worker that is taken over gets no signal to try again by, and one that is not goes
on.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import mmap
import os
import platform
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


Numbers = dict[str, tuple[int, int | None]]
"""The number of each call on x86-64 and on ARM; None where the second has no such call."""

NETWORK: Numbers = {"socket": (41, 198), "connect": (42, 203), "bind": (49, 200)}
SERVERS: Numbers = {"listen": (50, 201), "accept": (43, 202), "accept4": (288, 242)}
PROGRAMS: Numbers = {"execve": (59, 221), "execveat": (322, 281)}
OTHER_PROCESSES: Numbers = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
NAMESPACES: Numbers = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
}
KERNEL: Numbers = {
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "personality": (135, 92),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
}
CLONE: Numbers = {"clone": (56, 220)}
CLONE3: Numbers = {"clone3": (435, 435)}
"""Its flags lie in memory, which a filter cannot read: it is refused as unknown, and libraries then use `clone`."""
NEW_NAMESPACES = 0x7E020000
"""The flags of `clone` that make a namespace: of mounts, groups of control, names, messages, users, processes, net."""

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""How the kernel names each, and which of the numbers are its own."""
OTHER_TABLE = 0x40000000  # from here on x86-64 has the same calls a second time, with short pointers

LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
OF_NUMBER, OF_ARCHITECTURE, OF_FIRST_ARGUMENT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_SECCOMP, MODE_FILTER = 22, 2


def refuse_calls(*, network: bool = False) -> tuple[str, ...]:
    """From here on make none of these calls; return "calls" if the kernel holds to it.

    It holds for this thread and whatever comes of it, so it must be the only one. ``network`` is kept where needed.
    """
    if sys.platform != "linux" or (machine := platform.machine()) not in ARCHITECTURES:
        return ()
    program = _filter(*ARCHITECTURES[machine], network=network)
    of_program = ctypes.create_string_buffer(program, len(program))
    pointer = struct.pack("HP", len(program) // 8, ctypes.addressof(of_program))
    status = ctypes.CDLL(None).prctl(PR_SET_SECCOMP, MODE_FILTER, pointer, 0, 0)
    return ("calls",) if status == 0 else ()


def numbers_to_refuse(column: int, *, network: bool) -> list[int]:
    """The numbers of the calls that are refused whatever their arguments."""
    kinds = [SERVERS, PROGRAMS, OTHER_PROCESSES, NAMESPACES, KERNEL, *([] if network else [NETWORK])]
    numbers = (pair[column] for kind in kinds for pair in kind.values())
    return [number for number in numbers if number is not None]


def _filter(architecture: int, column: int, *, network: bool) -> bytes:
    """The program that the kernel runs at each call; jumps count the steps that they pass over."""
    numbers = numbers_to_refuse(column, network=network)
    steps = [
        (LOAD, 0, 0, OF_ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (LOAD, 0, 0, OF_NUMBER),
        (JUMP_IF_AT_LEAST, len(numbers) + 5, 0, OTHER_TABLE),
        *((JUMP_IF_EQUAL, len(numbers) + 4 - place, 0, number) for place, number in enumerate(numbers)),
        (JUMP_IF_EQUAL, 5, 0, CLONE3["clone3"][column]),
        (JUMP_IF_EQUAL, 0, 2, CLONE["clone"][column]),
        (LOAD, 0, 0, OF_FIRST_ARGUMENT),
        (JUMP_IF_ANY_BIT, 1, 0, NEW_NAMESPACES),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
