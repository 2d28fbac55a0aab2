"""A client made from the document by a program works, with types, against a real service."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.openapi.examples import JSON_EXAMPLES
from macekit.call import JSON
from tests.app.running import Running
from tests.cases import each_case

HERE = Path(__file__).parent
NAME = "made_for_mace"
FORGETFUL = Path("api", "work", "columns")
"""The generator forgets an import where a body has several forms, none of them JSON, and there are no options."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that holds the client; any warning of its maker fails."""
    folder = tmp_path_factory.mktemp("client")
    program = Path(sys.executable).parent / "openapi-python-client"
    document = HERE.parents[1] / "docs" / "openapi.json"
    done = subprocess.run(
        [
            program,
            "generate",
            "--path",
            document,
            "--meta",
            "none",
            "--output-path",
            folder / NAME,
            "--config",
            HERE / "client.yml",
            "--fail-on-warning",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    sys.path.insert(0, str(folder))
    yield folder / NAME
    sys.path.remove(str(folder))


@pytest.fixture
def client(made: Path, served: Running) -> Iterator[Any]:
    with module("client").Client(base_url=f"http://127.0.0.1:{served.port}") as found:
        yield found


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{NAME}.{name}")


def question(name: str, body: object) -> Any:
    return getattr(module("models"), name).from_dict(body)


def test_every_part_of_the_client_can_be_imported(made: Path) -> None:
    parts = [path.relative_to(made).with_suffix("") for path in made.rglob("*.py") if path.stem != "__init__"]

    assert len(parts) > 60
    for part in set(parts) - {FORGETFUL}:
        module(".".join(part.parts))


def test_the_first_example_is_answered_with_types_and_the_same_numbers(client: Any, served: Running) -> None:
    body = JSON_EXAMPLES["advantage"]["scores"].value
    raw = served.ask("/v1/advantage", "POST", json.dumps(body).encode(), {"Content-Type": JSON}).json()

    answer = module("api.work.advantage").sync(client=client, body=question("AdvantageQuestion", body))

    assert type(answer).__name__ == "AdvantageAnswer"
    assert answer.advantage.lower == raw["advantage"]["lower"]
    assert answer.verdict.decision == raw["verdict"]["decision"] == "fail"
    assert answer.roc.operating_points[0].upper == raw["roc"]["operating_points"][0]["upper"]
    assert answer.to_dict() == raw


QUESTIONS = {
    "individual_risk": "RiskQuestion",
    "metrics": "MetricsQuestion",
    "attack": "AttackQuestion",
    "compare": "CompareQuestion",
    "audit": "AuditQuestion",
    "report": "ReportQuestion",
    "gate": "GateQuestion",
    "plan": "PlanQuestion",
    "counts": "CountsQuestion",
    "theory_dp": "DpQuestion",
    "theory_convert": "ConvertQuestion",
    "theory_together": "TogetherQuestion",
    "theory_mip": "MipQuestion",
    "theory_mip_finite": "MipFiniteQuestion",
    "theory_mis": "MisQuestion",
    "theory_mis_overfitting": "MisOverfittingQuestion",
    "theory_mis_divergence": "MisDivergenceQuestion",
    "theory_mis_mean": "MisMeanQuestion",
    "theory_pmp_exponential": "PmpExponentialQuestion",
    "theory_pmp_finite": "PmpFiniteQuestion",
    "theory_pmp_gaussian": "PmpGaussianQuestion",
}


@each_case("operation", QUESTIONS)
def test_every_operations_first_example_comes_back_whole(
    operation: str, client: Any, served: Running
) -> None:
    tag = "theory" if operation.startswith("theory_") else "work"
    path = operation.replace("theory_", "theory/").replace("_", "-")
    body = next(iter(JSON_EXAMPLES[path].values())).value
    raw = served.ask(f"/v1/{path}", "POST", json.dumps(body).encode(), {"Content-Type": JSON}).json()

    answer = module(f"api.{tag}.{operation}").sync(client=client, body=question(QUESTIONS[operation], body))

    assert answer.to_dict() == raw


def test_what_is_only_read_is_typed_too(client: Any) -> None:
    presets = module("api.reference.presets").sync(client=client)
    versions = module("api.health.version").sync(client=client)

    assert "accuracy" in {preset.name for preset in presets.presets}
    assert versions.mace


def test_a_problem_comes_out_typed(client: Any) -> None:
    body = question("AdvantageQuestion", {"members": [1.0, 2.0], "nonmembers": [1.0, 2.0]})

    answer = module("api.work.advantage").sync_detailed(client=client, body=body)

    assert answer.status_code == 422
    assert type(answer.parsed).__name__ == "Problem"
    assert answer.parsed.type_ == "urn:mace:problem:too-few-records"
    assert answer.parsed.field == "members"
    assert answer.parsed.status == 422
