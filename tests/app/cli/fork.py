"""The command in a process of its own that is forked, not started: what it imports has been imported once.

Starting one takes seconds of CPU, nearly all of them imports. Everything else is as in a process that was started:
descriptors, folder, environment and exit status are the forked one's own. What a start itself does, and a seed of
hashing of its own, is held by the tests that use `files.mace`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[3]
IMPORTED = (
    "app.cli",
    "app.cli.ask",
    "macekit.operations",
    "macekit.reports.rendering",
    "pyarrow.csv",
    "pyarrow.parquet",
)
PATIENCE = 120.0


def run_mace(*arguments: str, folder: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The command, as `files.mace` runs it."""
    with TemporaryDirectory() as name:
        paths = {stream: f"{name}/{stream}" for stream in ("stdin", "stdout", "stderr")}
        Path(paths["stdin"]).write_bytes(stdin)
        question = {"arguments": arguments, "folder": str(folder), "environment": dict(os.environ), **paths}
        status = _ask(json.dumps(question, ensure_ascii=True).encode() + b"\n")
        out, err = (Path(paths[stream]).read_bytes().decode() for stream in ("stdout", "stderr"))
    return subprocess.CompletedProcess(["mace", *arguments], status, out, err)


def _ask(question: bytes) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(question)
    server.stdin.flush()
    if not select.select([server.stdout], [], [], PATIENCE)[0]:
        _server.cache_clear()
        server.kill()
        raise subprocess.TimeoutExpired(question.decode(), PATIENCE)
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[bytes]:
    """The process that forks; it ends when its standard input is closed."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.app.cli.fork"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(server.kill)
    return server


# --- what runs in that process ------------------------------------------------------------------------------


def serve() -> None:
    """Fork for each line of standard input, and print how that process ended."""
    for name in IMPORTED:
        import_module(name)
    while line := os.read(0, 2**20):
        while not line.endswith(b"\n"):
            line += os.read(0, 2**20)
        if (pid := os.fork()) == 0:
            os._exit(_run(**json.loads(line)))
        _, status = os.waitpid(pid, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


def _run(
    arguments: Sequence[str], folder: str, environment: dict[str, str], stdin: str, stdout: str, stderr: str
) -> int:
    """Become the process that would have been started, run the command, and return its exit status."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for target, descriptor in enumerate((_pipe(stdin), _file(stdout), _file(stderr))):
        os.dup2(descriptor, target)
        os.close(descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2))
    status: Any = 1
    try:
        status = sys.modules["app.cli"].main(arguments)
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return int(status)


def _file(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT)


def _pipe(path: str) -> int:
    """A pipe with what the file holds: a process of its own writes it."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        with open(writer, "wb", closefd=False) as sink:
            sink.write(Path(path).read_bytes())
        os._exit(0)
    os.close(writer)
    return reader


if __name__ == "__main__":
    serve()
