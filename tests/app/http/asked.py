"""Questions for the tests of the routes, in every format, and how they are sent."""

import gzip
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.openapi.examples import JSON_EXAMPLES
from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, PROBLEM
from tests.app.running import PATIENCE, Answer, Running, children, until
from tests.macekit.decoding.support import arrow_bytes, npy_bytes, npz_bytes

Floats = NDArray[np.float64]
WAITS = """
import time
from pathlib import Path
from macekit.operations import perform as work

def perform(call, body):
    reply = work(call, body)
    while not Path({folder!r}, "go").exists():
        time.sleep(0.005)
    return reply
"""


def world(records: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Scores of members and nonmembers, no two alike."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 1.0, records), rng.normal(0.0, 1.0, records + 7)


def as_json(members: Floats, nonmembers: Floats, **options: object) -> bytes:
    sides = {"members": members.tolist(), "nonmembers": nonmembers.tolist()}
    return json.dumps({**sides, **options}).encode()


def table(members: Floats, nonmembers: Floats, **columns: object) -> pa.Table:
    inside = np.arange(len(members) + len(nonmembers)) < len(members)
    return pa.table({"score": np.concatenate([members, nonmembers]), "member": inside, **columns})


as_arrow = arrow_bytes
as_csv, as_lines, as_parquet = (partial(arrow_bytes, media_type=each) for each in (CSV, NDJSON, PARQUET))


def as_npy(given: pa.Table) -> bytes:
    return npy_bytes(np.column_stack([given["score"].to_numpy(), given["member"].to_numpy()]))


def as_npz(given: pa.Table) -> bytes:
    columns = {name: given[name].to_numpy(zero_copy_only=False) for name in given.column_names}
    return npz_bytes({name: each.astype(str) if each.dtype.kind == "O" else each for name, each in columns.items()})


TABLES = {CSV: as_csv, NDJSON: as_lines, NPY: as_npy, NPZ: as_npz, ARROW: as_arrow, PARQUET: as_parquet}
ENCODERS = {"gzip": gzip.compress, "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True)}


def post(
    service: Running, path: str, body: Any, media_type: str = JSON, headers: Mapping[str, str] | None = None
) -> Answer:
    """The answer to a question; a body that is neither bytes nor text is sent as JSON."""
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    sent = text.encode() if isinstance(text, str) else text
    return service.ask(path, "POST", sent, {"Content-Type": media_type, **(headers or {})})


def ok(answer: Answer) -> Any:
    assert answer.status == 200, answer.body
    return answer.json()


def slug(answer: Answer) -> str:
    """The kind of the problem that an answer is, if it is as every problem should be."""
    found = answer.json()
    assert answer.headers["content-type"] == PROBLEM, answer.body
    assert len(answer.body) < 4096
    assert found["status"] == answer.status
    return str(found["type"].removeprefix("urn:mace:problem:"))


def example(operation: str) -> Any:
    """The first of the questions that the document shows."""
    return next(iter(JSON_EXAMPLES[operation].values())).value


def slow() -> bytes:
    """A question for /v1/compare that takes a worker many seconds: vectors, learned, many times over."""
    rng = np.random.default_rng(0)
    queries = {
        str(i): {
            "members": rng.normal(0.3, 1.0, (200, 2)).tolist(),
            "nonmembers": rng.normal(0.0, 1.0, (200, 2)).tolist(),
        }
        for i in range(10)
    }
    return json.dumps({"queries": queries, "estimator": {"kind": "learned"}}).encode()


@contextmanager
def begun(
    service: Running,
    path: str,
    body: bytes,
    declared: int | None = None,
    media_type: str = JSON,
    buffer: int | None = None,
) -> Iterator[socket.socket]:
    """A request whose answer is not awaited; one that declares more than it sends has not ended.

    So many bytes of the answer, if that is said, the system takes before anybody reads it.
    """
    length = len(body) if declared is None else declared
    with socket.socket() as connection:
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", service.port))
        connection.sendall(head(path, length, media_type) + body)
        yield connection


def head(path: str, length: int, media_type: str = JSON) -> bytes:
    """What stands before the body of a question."""
    lines = f"POST {path} HTTP/1.1", "Host: here", f"Content-Type: {media_type}", f"Content-Length: {length}"
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def answered(connection: socket.socket) -> Answer:
    """The answer to a request that was begun."""
    found = http.client.HTTPResponse(connection)
    found.begin()
    return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())


def metric(service: Running, name: str, headers: Mapping[str, str] | None = None) -> float:
    """The value of one of the service's own metrics."""
    lines = service.ask("/metrics", headers=headers).body.decode().splitlines()
    return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name + " ")))


def reached(service: Running, name: str, value: float) -> None:
    """Wait until a metric has a value."""
    until(lambda: metric(service, name) == value, service.process)


def workers_of(service: Running) -> list[int]:
    """Process ids of the workers: the children of the server's only child, from which they are forked."""
    return [worker for fork_server in children(service.process.pid) for worker in children(fork_server)]


def put_waiting_work(folder: Path) -> None:
    """Put `waits:perform` into a folder: workers that do it answer once there is a file called go in it."""
    (folder / "waits.py").write_text(WAITS.format(folder=str(folder)))
