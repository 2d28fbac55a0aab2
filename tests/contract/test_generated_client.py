"""A client made from the document by a program works, with types, against a real service."""

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.openapi.examples import JSON_EXAMPLES, file_bytes, files_of
from macekit.call import JSON
from macekit.catalogue import BY_NAME, OPERATIONS
from macekit.operation import Operation
from macekit.schemas.by_operation import ANSWERS, QUESTIONS
from tests.app.running import Running
from tests.cases import each_case
from tests.contract.conftest import Ask
from tests.contract.document import document

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
NAME = "made_for_mace"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that holds the client; any warning of its maker fails."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(document()), encoding="utf-8")
    program = Path(sys.executable).parent / "openapi-python-client"
    from_to = ("--path", folder / "openapi.json", "--output-path", folder / NAME)
    command = [program, "generate", "--meta", "none", "--config", HERE / "client.yml", "--fail-on-warning"]
    done = subprocess.run([*command, *from_to], capture_output=True, text=True, timeout=120, check=False)
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


def function(row: Operation) -> ModuleType:
    return module(f"api.{'theory' if row.paper else 'work'}.{row.name.replace('/', '_').replace('-', '_')}")


def question(row: Operation, body: object) -> Any:
    return getattr(module("models"), QUESTIONS[row.name].__name__).from_dict(body)


def test_every_part_of_the_client_can_be_imported(made: Path) -> None:
    parts = [path.relative_to(made).with_suffix("") for path in made.rglob("*.py") if path.stem != "__init__"]

    assert len(parts) > 60
    for part in parts:
        module(".".join(part.parts))


@each_case("name", [each.name for each in OPERATIONS if JSON in each.bodies])
def test_the_first_example_of_every_operation_comes_back_whole_and_typed(name: str, client: Any, ask_once: Ask) -> None:
    row = BY_NAME[name]
    body = next(iter(JSON_EXAMPLES[row.name].values())).value
    raw = ask_once(f"/v1/{row.name}", JSON, json.dumps(body).encode()).json()

    answer = function(row).sync(client=client, body=question(row, body))

    assert type(answer).__name__ == ANSWERS[row.name].__name__
    assert answer.to_dict() == raw


@each_case("name", [each.name for each in OPERATIONS if JSON not in each.bodies])
def test_an_operation_of_tables_alone_takes_one(name: str, client: Any, ask_once: Ask) -> None:
    """Of several forms that are all bytes to it, the client sends the last that the document has."""
    row = BY_NAME[name]
    file = next(file for file, form in files_of(name).items() if form == row.bodies[-1])
    raw = ask_once(f"/v1/{name}", row.bodies[-1], file_bytes(file)).json()

    answer = function(row).sync(client=client, body=module("types").File(io.BytesIO(file_bytes(file))))

    assert answer.to_dict() == raw


def test_what_is_only_read_is_typed_too(client: Any) -> None:
    presets = module("api.reference.presets").sync(client=client)
    versions = module("api.health.version").sync(client=client)

    assert "accuracy" in {preset.name for preset in presets.presets}
    assert versions.mace


def test_a_problem_comes_out_typed(client: Any) -> None:
    row = OPERATIONS[0]
    body = question(row, {"members": [1.0, 2.0], "nonmembers": [1.0, 2.0]})

    answer = function(row).sync_detailed(client=client, body=body)

    assert answer.status_code == 422
    assert type(answer.parsed).__name__ == "Problem"
    assert answer.parsed.type_ == "urn:mace:problem:too-few-records"
    assert answer.parsed.field == "members"
    assert answer.parsed.status == 422
