"""Landlock, by which a Linux process gives up files, programs, connections and signals for itself and its children.

The kernel has it from 5.13 on, if it was built and started with it; what its version does not know yet stays as it is.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

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


def version() -> int:
    """Which version the kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(_call(CREATE_RULESET, None, 0, ASK_VERSION), 0)


def needed() -> list[Path]:
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
    if not (abi := version()):
        return ()
    access = (1 << max(number for since, number in ACCESS_OF_VERSION.items() if since <= abi)) - 1
    no_tcp = abi >= 4 and not network
    kinds = struct.pack("=QQQ", access, TCP * no_tcp, SCOPES * (abi >= 6))
    ruleset = _call(CREATE_RULESET, kinds, len(kinds), 0)
    if ruleset < 0:
        return ()
    try:
        for path in readable:
            _allow(ruleset, path)
        if _call(RESTRICT_SELF, ruleset, 0) != 0:
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
        _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: bytes | int | None) -> int:
    values = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *values))
