"""Seccomp, by which a Linux process gives up system calls for itself and its children.

Of libraries for it, pyseccomp needs libseccomp on the system, and the others are bindings that its own build makes; a
filter that refuses by number is a table and thirty lines. What is refused fails with EPERM, as if it were forbidden by
rights: a worker that is taken over gets no signal to try again by, and one that is not goes on.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

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
