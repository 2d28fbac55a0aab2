from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from app.main import create_app
from app.settings import BadSettings, Settings
from tests.app.client import TestClient
from tests.app.waiting import steered
from tests.contract.document import unfold

HEAVY = ("scipy.stats", "scipy.optimize", "pandas", "sklearn", "pyarrow", "opentelemetry.sdk")


def test_importing_the_service_loads_nothing_heavy() -> None:
    code = f"""
import json, sys, time
from pathlib import Path
began = time.perf_counter()
import app.main
app.main.create_app()
seconds = time.perf_counter() - began
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
mebibytes = int(peak.split()[1]) / 1024
print(json.dumps([[name for name in {HEAVY!r} if name in sys.modules], seconds, mebibytes]))
"""
    loaded, seconds, mebibytes = json.loads(subprocess.check_output([sys.executable, "-c", code], timeout=60))

    print(f"\nimport and create: {seconds:.2f} s, {mebibytes:.0f} MiB")  # noqa: T201  seen with pytest -s
    assert loaded == []


def test_importing_the_module_reads_no_settings_and_asking_for_the_app_does() -> None:
    code = "import app.main; print('imported'); app.main.app"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MACE_PORT": "none"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout == "imported\n"
    assert "BadSettings: MACE_PORT" in done.stderr


def test_the_module_has_the_app_that_uvicorn_is_told_of() -> None:
    code = "from app.main import app; import app.main as m; print(type(app).__name__, app is m.app)"

    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60) == "FastAPI True\n"


def test_an_unknown_attribute_of_the_module_is_an_error() -> None:
    import app.main

    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = app.main.nothing_of_the_kind


def test_fastapis_own_telemetry_is_off() -> None:
    made = create_app(Settings())

    assert not made._native_telemetry.enabled()
    assert not made._telemetry["auto_configure"]


def test_an_endpoint_for_traces_that_is_none_stops_the_start() -> None:
    with pytest.raises(BadSettings, match="MACE_OTLP_ENDPOINT"):
        create_app(Settings(otlp_endpoint="nowhere"))


def test_the_workers_run_while_the_app_does() -> None:
    made = create_app(Settings(workers=1))
    pool = made.state.service.pool
    with TestClient(made) as client:
        while client.get("/readyz").status_code == 503:
            pass
        assert pool.snapshot().workers == 1

    assert made.state.service.draining
    assert not pool.ready


def test_every_operation_has_a_name_of_its_own_and_says_what_a_mistake_of_ours_looks_like() -> None:
    document = unfold(create_app(Settings()).openapi())
    operations = [operation for item in document["paths"].values() for operation in item.values()]

    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert {"healthz", "readyz", "version", "metrics", "advantage", "presets", "methods"} <= set(names)
    assert all(
        "application/problem+json" in operation["responses"]["500"]["content"] for operation in operations
    )


def test_a_document_says_where_the_key_is_needed_only_if_there_is_one() -> None:
    open_document = create_app(Settings()).openapi()
    locked = create_app(Settings(api_key="correct-horse-battery")).openapi()

    assert "securitySchemes" not in open_document["components"]
    assert locked["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert locked["paths"]["/v1/advantage"]["post"]["security"] == [{"key": []}]
    assert locked["paths"]["/metrics"]["get"]["security"] == [{"key": []}]
    assert locked["paths"]["/healthz"]["get"]["security"] == []
    assert "correct-horse" not in json.dumps(locked)


def test_the_document_is_served_and_names_the_path_a_proxy_shows_it_under() -> None:
    served = TestClient(create_app(Settings(root_path="/privacy"))).get("/privacy/openapi.json")

    assert served.status_code == 200
    assert served.json()["servers"] == [{"url": "/privacy"}]


def test_under_a_proxys_path_every_address_is_found_with_and_without_it() -> None:
    client = TestClient(steered(Settings(root_path="/privacy", api_key="correct-horse-battery")))

    assert client.get("/privacy/healthz").status_code == 200
    assert client.get("/healthz").status_code == 200
    assert client.get("/privacy/version").status_code == 401
    assert client.get("/privacyhealthz").status_code == 401
