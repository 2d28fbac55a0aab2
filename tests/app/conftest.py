"""Services that many tests ask, each started once: whoever fills one, ends its workers or stops it leaves it whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pytest

from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient
from tests.app.running import Running, ready
from tests.macekit.sources import support

KEY = "a-key-of-sixteen-letters"
MIB = 2**20
BODY_LIMIT, EXPANDED_LIMIT = 4_000_000, 600_000

STEERED = (
    "import resource, sys, app.http.probes as probes; probes.STUCK_SECONDS = 1.5;"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (150, resource.getrlimit(resource.RLIMIT_NOFILE)[1]));"
    "from app.cli.server import listen; from tests.app.waiting import steered; sys.exit(listen(steered()))"
)
HASTY = (
    "import sys, app.cli, app.http.connection as connection;"
    "connection.HEAD_SECONDS = 1.0; sys.exit(app.cli.main(['serve']))"
)


@pytest.fixture(scope="session")
def client() -> TestClient:
    """A service in this process, whose workers were not started."""
    return TestClient(create_app(Settings()), follow_redirects=False)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data with much that must not be read, beside a file that lies outside of it."""
    root, records = tmp_path_factory.mktemp("place"), support.table()
    data = support.folder(root / "data", records)
    pyarrow.csv.write_csv(records, root / "outside.csv")
    pyarrow.csv.write_csv(records, data / "all.csv")
    (data / "kept.json").write_text(json.dumps({"members": [0.1, 0.2] * 20, "nonmembers": [0.2, 0.3] * 20}))
    (data / "links").mkdir()
    (data / "links" / "outside.csv").symlink_to(root / "outside.csv")
    (data / "links" / "up").symlink_to(root)
    (data / "inside.csv").symlink_to(data / "all.csv")
    os.mkfifo(data / "pipe")
    (data / ".hidden.csv").write_text("score,member\n1,1\n2,0\n")
    return root


@pytest.fixture(scope="session")
def service(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with data, with routes that a test steers, and with fewer descriptors than usual to begin with."""
    folder = tmp_path_factory.mktemp("service")
    hosts = "mace.example, 127.0.0.1, [::1], here, x"
    settings = {
        "workers": "2",
        "queue": "200",
        "allowed_hosts": hosts,
        "probe_port": "0",
        "data": str(place / "data"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDER", str(folder))
        with ready(folder, ("-c", STEERED), **settings) as found:
            yield found


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that asks for a key."""
    settings = {"api_key": KEY, "body_limit": str(24 * MIB), "probe_port": "0"}
    with ready(tmp_path_factory.mktemp("locked"), **settings) as found:
        yield found


@pytest.fixture(scope="session")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker, one place in the queue, small bodies, little memory; a second to go on sending, or reading."""
    limits = {"body_limit": BODY_LIMIT, "expanded_limit": EXPANDED_LIMIT, "memory_limit": 64 * MIB}
    settings = {"queue": "1", "stall_limit": "1", **{name: str(limit) for name, limit in limits.items()}}
    with ready(tmp_path_factory.mktemp("narrow"), **settings) as found:
        yield found


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Half a second for a request, as much for a body to go on arriving, and one request a client."""
    settings = {"time_limit": "0.5", "stall_limit": "0.5", "per_client": "1"}
    with ready(tmp_path_factory.mktemp("hasty"), ("-c", HASTY), **settings) as found:
        yield found


@pytest.fixture(scope="session")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two workers, and two seconds to go on sending, or reading."""
    with ready(tmp_path_factory.mktemp("impatient"), workers="2", stall_limit="2") as found:
        yield found
