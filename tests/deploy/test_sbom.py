"""The bill of materials: whole, valid, the same each time, and nothing is made of a set that does not fit."""

import copy
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import sbom
from image import BILL, LOOK
from manifests import copied
from packaging.requirements import Requirement
from pins import EXTRAS, Pin, pins

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(sys.prefix)


@pytest.fixture(scope="module")
def inventory() -> dict[str, Any]:
    """What CycloneDX's program finds here, which takes it seconds."""
    return sbom.inventory(PREFIX / "bin" / "python")


@pytest.fixture(autouse=True)
def inventory_once(inventory: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbom, "inventory", lambda _: copy.deepcopy(inventory))


@pytest.fixture
def bill() -> dict[str, Any]:
    return sbom.document(sbom.IMAGE, PREFIX)


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def components(bill: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {component["purl"]: component for component in bill["components"]}


def form(value: Any) -> str:
    """Which fields it has, and of what types, whatever stands in them."""
    if isinstance(value, dict):
        return str({name: form(each) for name, each in sorted(value.items())})
    return str(sorted({form(each) for each in value})) if isinstance(value, list) else type(value).__name__


@pytest.mark.slow
def test_the_official_schema_of_cyclonedx_1_6_holds_and_refuses_what_is_not_of_it(bill: dict[str, Any]) -> None:
    """Of one component of each form: `scripts/check sbom` asks about all of them, and each address takes long."""
    with_telemetry = sbom.document((*sbom.IMAGE, "otel"), PREFIX)
    forms = {form(each): each for each in with_telemetry["components"]}
    broken = copy.deepcopy(bill | {"components": bill["components"][5:6], "dependencies": []})
    broken["components"][0]["licenses"] = [{"license": {"id": "Apache 2.0"}}]

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert sbom.schema_errors(with_telemetry | {"components": list(forms.values())}) == []
    assert sbom.schema_errors(broken) != []
    assert with_telemetry["serialNumber"] != bill["serialNumber"]


@pytest.mark.slow
def test_it_names_every_pin_with_its_version_its_hashes_and_its_licence(bill: dict[str, Any]) -> None:
    parts = components(bill)
    pinned = {pin.name: pin for pin in pins(*sbom.IMAGE) if pin.applies}

    assert {purl for purl in parts if purl.startswith("pkg:pypi/")} == {
        f"pkg:pypi/{pin.name}@{pin.version}" for pin in pinned.values()
    }
    for name, pin in pinned.items():
        component = parts[f"pkg:pypi/{name}@{pin.version}"]
        (hashes,) = (each["hashes"] for each in component["externalReferences"] if "hashes" in each)
        assert {each["content"] for each in hashes} == set(pin.hashes)
        assert (component["name"], component["version"]) == (name, distribution(name).version)
    licences = {component["name"]: component["licenses"] for component in parts.values()}
    assert licences["scipy"] == [{"license": {"id": "BSD-3-Clause", "acknowledgement": "declared"}}]
    assert licences["pysimdjson"] == [{"license": {"id": "MIT", "acknowledgement": "concluded"}}]
    assert licences["numpy"][0]["expression"].startswith("BSD-3-Clause AND ")


@pytest.mark.slow
def test_it_names_the_files_of_others_in_our_package(bill: dict[str, Any]) -> None:
    manifest = json.loads((ROOT / "app/pages/assets/manifest.json").read_text())

    found = {purl: part for purl, part in components(bill).items() if purl.startswith("pkg:npm/")}

    assert set(found) == {f"pkg:npm/{name}@{asset['version']}" for name, asset in manifest.items()}
    for part in found.values():
        files = {file["name"]: file["hashes"][0]["content"] for file in part["components"]}
        assert files == {file: details["sha256"] for file, details in manifest[part["name"]]["files"].items()}


@pytest.mark.slow
def test_it_says_what_depends_on_what_down_to_the_last_part(bill: dict[str, Any]) -> None:
    purls = {part["name"]: part["purl"] for part in (bill["metadata"]["component"], *bill["components"])}
    names = {purl: name for name, purl in purls.items()}
    needs = {names[each["ref"]]: {names[purl] for purl in each["dependsOn"]} for each in bill["dependencies"]}

    assert set(needs) == set(purls)
    assert {"numpy", "scipy", "uvicorn", "scikit-learn", "dp-accounting", "swagger-ui-dist"} <= needs["macekit"]
    assert "starlette" not in needs["macekit"]
    assert {"starlette", "pydantic"} <= needs["fastapi"]
    assert needs["numpy"] == set()


@pytest.mark.slow
def test_what_the_dockerfile_copies_is_all_that_makes_it_and_it_is_the_same_bytes(tmp_path: Path) -> None:
    for source in copied((ROOT / "Dockerfile").read_text()):
        target = tmp_path / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / source, target)
    options = ("--prefix", PREFIX, "--output", "new/bill.json")

    run(sys.executable, "scripts/sbom.py", *options, folder=tmp_path, PYTHONHASHSEED="1", TZ="Asia/Kathmandu")
    dated = json.loads(run(sys.executable, ROOT / "scripts" / "sbom.py", SOURCE_DATE_EPOCH="1700000000"))

    plain = json.loads((tmp_path / "new" / "bill.json").read_text(encoding="utf-8"))
    assert dated["metadata"].pop("timestamp") == "2023-11-14T22:13:20+00:00"
    assert dated.pop("serialNumber") != plain.pop("serialNumber")
    assert dated == plain


@pytest.mark.slow
def test_in_the_image_it_is_held_against_what_is_installed(bill: dict[str, Any], tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for part in (bill["metadata"]["component"], *bill["components"]):
        if part["purl"].startswith("pkg:pypi/"):
            metadata = Path(str(distribution(part["name"])._path))  # type: ignore[attr-defined]
            (site / metadata.name).symlink_to(metadata)
    (tmp_path / "bill.json").write_text(json.dumps(bill))
    command = (sys.executable, "-S", "-c", BILL, tmp_path / "bill.json")

    exact = run(*command, PYTHONPATH=str(site))
    (site / Path(str(distribution("numpy")._path)).name).unlink()  # type: ignore[attr-defined]
    numpy = run(*command, PYTHONPATH=str(site))

    assert exact == ""
    assert numpy == f"only installed, or only in the bill: numpy {distribution('numpy').version}\n"
    assert BILL in LOOK


def wrong(monkeypatch: pytest.MonkeyPatch, change: Any) -> list[str]:
    real = sbom.pins
    monkeypatch.setattr(sbom, "pins", lambda *names: change(real(*names)))
    return sbom.complaints()


def pin(text: str) -> Pin:
    return Pin("run.txt", Requirement(text), ())


@pytest.mark.slow
def test_a_set_that_does_not_fit_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    scipy, tool = distribution("scipy").version, f"hatchling=={distribution('hatchling').version}"
    cases = {
        "no-such-thing==1.0": "no-such-thing is pinned, but not installed",
        "scipy==1.0.0": f"scipy {scipy} is installed, 1.0.0 is pinned",
        tool: f"pkg:pypi/{tool.replace('==', '@')} is pinned, but nothing requires it",
    }
    for more, complaint in cases.items():
        with monkeypatch.context() as patch:
            assert wrong(patch, lambda pinned, more=more: [*pinned, pin(more)]) == [complaint], more


@pytest.mark.slow
def test_without_a_licence_there_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbom, "licences_of", lambda _: [])

    found = sbom.complaints()

    assert "numpy does not state one licence" in found
    assert len(found) == len({pin.name for pin in pins(*EXTRAS) if pin.applies})
