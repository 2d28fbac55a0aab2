"""What workers perform in these tests: each operation is one way in which a job can go."""

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from macekit.call import Body, Call, Reply
from macekit.problems import Problem

LARGE = 3 * 2**20 + 17


def perform(call: Call, body: Body) -> Reply:
    return globals()[call.operation](call, body)


def said(text: object, records: int = 0) -> Reply:
    return Reply(200, "text/plain", str(text).encode(), records=records)


def size(call: Call, body: Body) -> Reply:
    return said(len(body.view()), records=len(body.view()))


def checksum(call: Call, body: Body) -> Reply:
    stream, total, count = body.stream(), 0, 0
    while chunk := stream.read(2**16):
        count += len(chunk)
        total += int(np.frombuffer(chunk, np.uint8).sum(dtype=np.int64))
    return said(f"{count} {total}")


def options(call: Call, body: Body) -> Reply:
    return said(repr(call))


def process(call: Call, body: Body) -> Reply:
    return said(os.getpid())


def large(call: Call, body: Body) -> Reply:
    return Reply(200, "application/octet-stream", b"\x07" * LARGE)


def refuse(call: Call, body: Body) -> Reply:
    return Problem("too-few-records", "member scores: got 1, need 8", retry_after=3).reply()


def refuse_early(call: Call, body: Body) -> Reply:
    body.stream().read(10)
    return said("seen enough")


def killed(call: Call, body: Body) -> Reply:
    os.kill(os.getpid(), 9)
    raise AssertionError


def aborted(call: Call, body: Body) -> Reply:
    os.abort()


def raises(call: Call, body: Body) -> Reply:
    raise KeyError("secret-" + bytes(body.view()).decode())


def greedy(call: Call, body: Body) -> Reply:
    return said(np.ones(10**12 // 8).sum())


def greedy_arrow(call: Call, body: Body) -> Reply:
    import pyarrow as pa

    return said(pa.allocate_buffer(10**12).size)


def mebibytes(call: Call, body: Body) -> Reply:
    held = np.ones(int(bytes(body.view())) * 2**17)
    return said(held.nbytes)


def keeps(call: Call, body: Body) -> Reply:
    kept.append(np.ones(int(bytes(body.view())) * 2**17))
    return said(os.getpid())


kept: list[object] = []


def wait_for(call: Call, body: Body) -> Reply:
    """Say that the job has begun, then wait until a file appears."""
    gate = Path(os.fsdecode(bytes(body.view())))
    gate.with_suffix(f".began.{os.getpid()}").touch()
    while not gate.exists():
        time.sleep(0.005)
    return said(os.getpid())


def gated_checksum(call: Call, body: Body) -> Reply:
    """Read nothing until a file appears."""
    gate = Path(call.query[0][1])
    gate.with_suffix(f".began.{os.getpid()}").touch()
    while not gate.exists():
        time.sleep(0.005)
    return checksum(call, body)


def deaf(call: Call, body: Body) -> Reply:
    """Never read the body, never end."""
    while True:
        time.sleep(60)


def threads(call: Call, body: Body) -> Reply:
    return said(sorted(Path(f"/proc/self/task/{t}/comm").read_text().strip() for t in os.listdir("/proc/self/task")))


def descriptors(call: Call, body: Body) -> Reply:
    return said(
        "\n".join(
            os.readlink(f"/proc/self/fd/{fd}")
            for fd in os.listdir("/proc/self/fd")
            if os.path.lexists(f"/proc/self/fd/{fd}")
        )
    )


def session(call: Call, body: Body) -> Reply:
    return said(os.getsid(0))


def environment(call: Call, body: Body) -> Reply:
    return said(sorted(os.environ))


def attempted(call: Call, body: Body) -> Reply:
    """What came of an attempt: nothing, or the kind of error."""
    argument = bytes(body.view()).decode()
    try:
        ATTEMPTS[call.query[0][1]](argument)
    except OSError as error:
        return said(type(error).__name__)
    return said("done")


def _connect(port: str) -> None:
    socket.create_connection(("127.0.0.1", int(port)), 5).close()


ATTEMPTS: dict[str, Callable[[str], object]] = {
    "read": lambda path: Path(path).read_bytes(),
    "list": os.listdir,
    "write": lambda path: Path(path).write_bytes(b"x"),
    "append": lambda path: os.open(path, os.O_WRONLY | os.O_APPEND),
    "remove": os.remove,
    "run": lambda path: os.waitpid(os.posix_spawn(path, [path], {}), 0),
    "signal": lambda pid: os.kill(int(pid), 0),
    "connect": _connect,
}
