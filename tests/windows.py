"""The command as on Windows, as far as that can be had here: without what only Unix has, in a process of its own.

python -m tests.windows "gate scores.csv --max-advantage 0.1" "config --toml"

What each line says stands on a line of its own, in JSON: the exit status, standard output and standard error.
Libraries are imported before, since they are other builds there. What stays: paths, the file system, how processes
are started.
"""

import importlib.abc
import io
import json
import os
import select
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any

LIBRARIES = [
    "asyncio", "cryptography", "http.client", "joblib", "multiprocessing", "numpy", "pyarrow.csv",
    "pyarrow.dataset", "pyarrow.fs", "pyarrow.parquet", "pydantic", "scipy.optimize", "scipy.signal",
    "scipy.special", "scipy.stats", "shutil", "sklearn.ensemble", "sklearn.linear_model", "sklearn.neighbors",
    "subprocess", "tempfile", "vl_convert", "zipfile",
]  # fmt: skip
MODULES = frozenset(("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty", "uvloop"))
OF_OS = [
    "MFD_CLOEXEC", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "chown", "fchmod",
    "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg",
    "memfd_create", "mkfifo", "openpty", "pidfd_open", "posix_fallocate", "pread", "pwrite",
    "sched_getaffinity", "sendfile", "set_blocking", "setsid", "sysconf",
]  # fmt: skip
OF_SIGNAL = [
    "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH",
    "alarm", "pthread_sigmask", "setitimer",
]  # fmt: skip


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


def said(line: str) -> tuple[int, str, str]:
    """What the command says to a line."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = import_module("macekit.__main__").main(line.split())
    return status, *(stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]


if __name__ == "__main__":
    hide()
    for each in sys.argv[1:]:
        sys.stdout.write(json.dumps(said(each)) + "\n")
