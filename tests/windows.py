"""The command as on Windows, as far as that can be had here: without what only Unix has, in a process of its own.

python -m tests.windows gate scores.csv --max-advantage 0.1

Libraries are imported before, since they are other builds there. What stays: paths, the file system, how processes
are started.
"""

from __future__ import annotations

import importlib.abc
import os
import select
import signal
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any

LIBRARIES = [
    "asyncio",
    "cryptography",
    "http.client",
    "joblib",
    "multiprocessing",
    "numpy",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pydantic",
    "scipy.optimize",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
    "shutil",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.neighbors",
    "subprocess",
    "tempfile",
    "vl_convert",
    "zipfile",
]
MODULES = frozenset(
    ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty", "uvloop")
)
OF_OS = [
    "MFD_CLOEXEC",
    "O_CLOEXEC",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NONBLOCK",
    "O_PATH",
    "chown",
    "fchmod",
    "fchown",
    "fork",
    "forkpty",
    "getegid",
    "geteuid",
    "getgid",
    "getpgid",
    "getuid",
    "killpg",
    "memfd_create",
    "mkfifo",
    "openpty",
    "pidfd_open",
    "posix_fallocate",
    "pread",
    "pwrite",
    "sched_getaffinity",
    "sendfile",
    "set_blocking",
    "setsid",
    "sysconf",
]
OF_SIGNAL = [
    "SIGALRM",
    "SIGCHLD",
    "SIGHUP",
    "SIGKILL",
    "SIGPIPE",
    "SIGQUIT",
    "SIGUSR1",
    "SIGUSR2",
    "SIGWINCH",
    "alarm",
    "pthread_sigmask",
    "setitimer",
]


class NotThere(importlib.abc.MetaPathFinder):
    """Modules that cannot be imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """No other finder is asked."""
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def hide() -> None:
    """From here on, for this process."""
    for name in LIBRARIES:
        import_module(name)
    sys.meta_path.insert(0, NotThere())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (select, ["poll"])):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


if __name__ == "__main__":
    hide()
    sys.exit(import_module("macekit.__main__").main(sys.argv[1:]))
