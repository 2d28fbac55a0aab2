import json
import os
import subprocess
import sys

import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from app.main import create_app
from app.settings import BadSettings, Settings
from tests.app.client import TestClient
from tests.contract.document import unfold

HEAVY = (
    "scipy.stats", "scipy.optimize", "pandas", "sklearn", "pyarrow", "opentelemetry.sdk", "asyncpg",
    "app.store",
)  # fmt: skip


SCRIPT = f"""
import json, os, sys
import app.main
try:
    app.main.app
except Exception as error:
    refused = f"{{type(error).__name__}}: {{error}}"
del os.environ["MACE_PORT"]
from app.main import app as told
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps([refused, heavy, type(told).__name__, told is app.main.app]))
"""


@pytest.mark.slow
def test_importing_the_module_reads_no_settings_and_loads_nothing_heavy_and_it_has_the_app_for_uvicorn() -> None:
    environment = {**os.environ, "MACE_PORT": "none"}

    found = subprocess.check_output([sys.executable, "-c", SCRIPT], env=environment, timeout=120)

    refused, *others = json.loads(found)
    assert refused.startswith("BadSettings: MACE_PORT")
    assert others == [[], "FastAPI", True]


def test_an_unknown_attribute_of_the_module_is_an_error() -> None:
    import app.main

    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = app.main.nothing_of_the_kind


@pytest.fixture
def made(client: TestClient) -> FastAPI:
    assert isinstance(client.app, FastAPI)
    return client.app


def test_fastapis_own_telemetry_is_off(made: FastAPI) -> None:
    assert not made._native_telemetry.enabled()
    assert not made._telemetry["auto_configure"]


def test_an_endpoint_for_traces_that_is_none_stops_the_start() -> None:
    with pytest.raises(BadSettings, match="MACE_OTLP_ENDPOINT"):
        create_app(Settings(otlp_endpoint="nowhere"))


def test_every_operation_has_a_name_of_its_own_and_says_what_a_mistake_of_ours_looks_like(made: FastAPI) -> None:
    document = unfold(made.openapi())
    operations = [operation for item in document["paths"].values() for operation in item.values()]

    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert {"healthz", "readyz", "version", "metrics", "advantage", "presets", "methods"} <= set(names)
    failures = [operation["responses"]["500"]["content"] for operation in operations]
    assert all("application/problem+json" in content for content in failures)


@pytest.mark.slow
def test_a_document_says_where_the_key_is_needed_only_if_there_is_one(made: FastAPI) -> None:
    locked = create_app(Settings(api_key="correct-horse-battery")).openapi()

    assert "securitySchemes" not in made.openapi()["components"]
    assert locked["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert locked["paths"]["/v1/advantage"]["post"]["security"] == [{"key": []}]
    assert locked["paths"]["/metrics"]["get"]["security"] == [{"key": []}]
    assert locked["paths"]["/healthz"]["get"]["security"] == []
    assert "correct-horse" not in json.dumps(locked)


def test_a_store_without_the_package_that_asks_it_is_refused_by_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("app.store")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(BadSettings, match=r"MACE_STORE: .*pip install 'macekit\[replicas\]'"):
        create_app(Settings(store=SecretStr("postgresql://mace@nowhere.invalid/mace")))
