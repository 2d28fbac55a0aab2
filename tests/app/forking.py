"""A process forked from one that has imported what a service needs: importing it again takes two seconds of a core.

Everything else is as where a process is begun anew, except what the system keeps of its beginning: its command line
and the environment that `/proc` shows. Where a test looks at these, or at the beginning itself, it begins one anew.
"""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["app.cli.server", "app.main", "macekit.operations.imported", __name__])

OUTPUT = ("stdout", "stderr")


class Forked:
    """A forked process, with those methods of `Popen` that tests of a service call."""

    def __init__(self, program: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        for name in OUTPUT:
            (folder / name).write_bytes(b"")  # whoever looks finds it at once
        self._process = CONTEXT.Process(target=run, args=(program, dict(environment), folder), daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.join()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, sent: int) -> None:
        if self._process.exitcode is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(program: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    """In the forked process: what `python`, called with these arguments, does; its output goes to files."""
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(OUTPUT, 1):
        with (folder / name).open("ab") as file:
            os.dup2(file.fileno(), number)
        setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    option, what, *arguments = program
    sys.argv[:] = [option, *arguments]
    try:
        if option == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.modules["__main__"] = main = ModuleType("__main__")
            exec(compile(what, "<string>", "exec"), main.__dict__)
    finally:
        atexit._run_exitfuncs()
