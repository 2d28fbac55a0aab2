import platform

import numpy as np
import pytest

from app.main import create_app
from app.settings import Settings
from estimators import VERSION
from tests.app.client import TestClient
from tests.app.running import until


def test_it_is_alive_before_its_workers_are(client: TestClient) -> None:
    answer = client.get("/readyz")

    assert client.get("/healthz").json() == {"status": "ok"}
    assert answer.status_code == 503
    assert answer.json()["type"] == "urn:mace:problem:not-ready"
    assert answer.headers["retry-after"] == "1"


@pytest.mark.slow
def test_it_is_ready_while_its_workers_are_up_and_not_while_it_drains() -> None:
    made = create_app(Settings(workers=1))
    pool = made.state.service.pool
    with TestClient(made) as client:
        answer = until(lambda: (found := client.get("/readyz")).status_code == 200 and found)
        assert answer.json() == {"status": "ready"}
        assert pool.snapshot().workers == 1
        made.state.service.draining = True
        answer = client.get("/readyz")
        made.state.service.draining = False

    assert answer.status_code == 503
    assert answer.json()["type"] == "urn:mace:problem:shutting-down"
    assert made.state.service.draining
    assert not pool.ready


def test_it_says_which_versions_answer(client: TestClient) -> None:
    found = client.get("/version").json()

    assert set(found) == {"mace", "methods", "python", "numpy", "scipy", "scikit_learn"}
    versions = VERSION, platform.python_version(), np.__version__
    assert (found["methods"], found["python"], found["numpy"]) == versions


def test_metrics_count_by_operation_and_never_by_path() -> None:
    client = TestClient(create_app(Settings()))
    for path in ("/version", "/version?score=0.5", "/nowhere/1", "/nowhere/2"):
        client.get(path)

    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert 'mace_requests_total{operation="version",status="200"} 2.0' in lines
    assert 'mace_requests_total{operation="none",status="404"} 2.0' in lines
    assert 'mace_problems_total{problem="not-found"} 2.0' in lines
    assert "nowhere" not in answer.text
    for name in ("mace_queue_waiting", "mace_workers", "mace_workers_busy", "mace_spooled_bytes"):
        assert f"{name} 0.0" in lines
    assert 'mace_worker_kills_total{reason="time-limit"} 0.0' in lines
