"""Reports and pictures in workers: within their memory, and what makes pixels in no other process."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from macekit.call import HTML, JSON, PNG
from tests.app.running import Answer, Running, running

LEAST = str(64 * 2**20)
"""The smallest memory limit that may be set."""

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what is limited")
pytestmark = [pytest.mark.slow, LINUX]


def test_a_worker_draws_within_the_least_memory_and_the_server_never_loads_what_makes_pixels(tmp_path: Path):
    with running(tmp_path, memory_limit=LEAST) as service:
        assert drawn(service, JSON).status == 200
        before = workers(service)
        page = drawn(service, HTML)
        after, loaded = workers(service), _has_loaded(str(service.process.pid))
        picture = drawn(service, PNG)
        loaded |= _has_loaded(str(service.process.pid))

    assert (page.status, picture.status) == (200, 200)
    assert [answer.headers["content-type"].partition(";")[0] for answer in (page, picture)] == [HTML, PNG]
    assert b"<svg" in page.body
    assert picture.body.startswith(b"\x89PNG")
    assert after == before != set()
    assert not loaded


def _has_loaded(pid: str) -> bool:
    """Whether a process has loaded what makes pixels, as far as that is shown."""
    return os.geteuid() == 0 and "vl_convert" in Path(f"/proc/{pid}/maps").read_text()


def body() -> bytes:
    rng = np.random.default_rng(0)
    sides = {"members": rng.normal(0.5, 1, 500).tolist(), "nonmembers": rng.normal(0, 1, 500).tolist()}
    return json.dumps(sides).encode()


def drawn(service: Running, form: str) -> Answer:
    return service.ask("/v1/report", "POST", body(), {"Content-Type": JSON, "Accept": form})


def workers(service: Running) -> set[str]:
    """The processes that were forked to work: the children of the server's children."""
    found: dict[str, str] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[status.parent.name] = status.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    fork_servers = {pid for pid, parent in found.items() if parent == str(service.process.pid)}
    return {pid for pid, parent in found.items() if parent in fork_servers}
