"""The engine in workers: forked, limited, used again, and lost without harm."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from macekit.call import HTML, JSON, PNG
from tests.app.running import Answer, Running, running

LEAST = str(64 * 2**20)
"""The smallest memory limit that may be set."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what is limited"),
]


def test_a_worker_draws_within_the_least_memory_and_the_server_never_loads_the_engine(tmp_path: Path) -> None:
    with running(tmp_path, memory_limit=LEAST) as service:
        assert drawn(service, JSON).status == 200
        before = workers(service)
        found = [drawn(service, form) for form in (HTML, PNG)]
        after = workers(service)
        loaded = {pid for pid in (str(service.process.pid), *after) if _has_loaded(pid)}

    assert [answer.status for answer in found] == [200] * 2
    assert [answer.headers["content-type"].partition(";")[0] for answer in found] == [HTML, PNG]
    assert b"<svg" in found[0].body
    assert after == before != set()
    if os.geteuid() == 0:  # what the service has mapped is shown to root alone
        assert loaded == after


def _has_loaded(pid: str) -> bool:
    """Whether a process has loaded the engine, as far as that is shown."""
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


def test_where_the_engine_is_not_granted_what_it_needs_one_request_fails_and_the_service_goes_on(
    tmp_path: Path,
) -> None:
    limit = 500 * 2**20
    begin = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}));"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); from app.cli import main; sys.exit(main(['serve']))"
    )
    with running(tmp_path, ("-c", begin), memory_limit=LEAST) as service:
        found = drawn(service, HTML)
        after = drawn(service, JSON)

    problem = found.json()
    assert found.status >= 500
    assert re.match("urn:mace:problem:", problem["type"])
    assert after.status == 200


RAISED = """
import resource
from macekit.memory import MemoryLimit
from macekit.reports.drawing import ROOM, vega_svg

limit = MemoryLimit.apply(64 * 2**20)
for _ in range(2):
    vega_svg({"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a", "type": "nominal"}}})
raised, _ = resource.getrlimit(resource.RLIMIT_DATA)
print(raised - limit.limit == ROOM, limit.has_grown())
"""


def test_a_limit_is_raised_once_by_what_the_engine_needs_which_is_no_growth() -> None:
    found = subprocess.run([sys.executable, "-c", RAISED], capture_output=True, check=True, text=True)

    assert found.stdout.split() == ["True", "False"]
