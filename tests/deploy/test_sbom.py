"""The bill of materials: whole, valid, the same each time, and nothing is made of a set that does not fit."""

from __future__ import annotations

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
from dockerfile import copied, stages
from image import BILL, SBOM
from packaging.requirements import Requirement
from pins import EXTRAS, Pin, pins

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(sys.prefix)
IMAGE = ("run", "accounting")


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return sbom.document(IMAGE, PREFIX)


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        command, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def components(bill: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {component["purl"]: component for component in bill["components"]}


@pytest.mark.parametrize("groups", [IMAGE, (*IMAGE, "otel")])
def test_the_official_schema_of_cyclonedx_1_6_holds(groups: tuple[str, ...]) -> None:
    bill = sbom.document(groups, PREFIX, epoch=1_700_000_000)

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert sbom.schema_errors(bill) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("specVersion",), 1.6),
        (("serialNumber",), "urn:uuid:1"),
        (("components", 5, "licenses"), [{"license": {"id": "Apache 2.0"}}]),
        (("components", 5, "type"), "package"),
        (("metadata", "timestamp"), 1_700_000_000),
        (("dependencies", 0, "dependsOn"), "pkg:pypi/numpy"),
    ],
)
def test_the_schema_refuses_what_is_not_of_it(place: tuple[Any, ...], value: Any) -> None:
    bill = sbom.document(IMAGE, PREFIX, epoch=1_700_000_000)
    at: Any = bill
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value

    assert sbom.schema_errors(bill) != []


def test_it_names_every_pin_with_its_version_its_hashes_and_its_licence(bill: dict[str, Any]) -> None:
    parts = components(bill)
    pinned = {pin.name: pin for pin in pins(*IMAGE) if pin.applies}

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


def test_it_names_the_files_of_others_in_our_package(bill: dict[str, Any]) -> None:
    manifest = json.loads((ROOT / "app/pages/assets/manifest.json").read_text())

    found = {purl: part for purl, part in components(bill).items() if purl.startswith("pkg:npm/")}

    assert set(found) == {f"pkg:npm/{name}@{asset['version']}" for name, asset in manifest.items()}
    for part in found.values():
        files = {file["name"]: file["hashes"][0]["content"] for file in part["components"]}
        assert files == {file: details["sha256"] for file, details in manifest[part["name"]]["files"].items()}
    (redoc,) = (part for part in found.values() if part["name"] == "redoc")
    assert redoc["pedigree"]["notes"].startswith("redoc.standalone.js: ")


def test_it_names_packages_and_no_host_to_fetch_them_from(bill: dict[str, Any]) -> None:
    for purl, part in components(bill).items():
        places = [each["url"] for each in part["externalReferences"] if each["type"] == "distribution"]
        assert places == [purl]


def test_it_says_what_depends_on_what_down_to_the_last_part(bill: dict[str, Any]) -> None:
    purls = {part["name"]: part["purl"] for part in (bill["metadata"]["component"], *bill["components"])}
    names = {purl: name for name, purl in purls.items()}
    needs = {names[each["ref"]]: {names[purl] for purl in each["dependsOn"]} for each in bill["dependencies"]}

    assert set(needs) == set(purls)
    assert {"numpy", "scipy", "uvicorn", "scikit-learn", "dp-accounting", "redoc"} <= needs["macekit"]
    assert "starlette" not in needs["macekit"]
    assert {"starlette", "pydantic"} <= needs["fastapi"]
    assert needs["numpy"] == set()
    reached, waiting = set[str](), ["macekit"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting += needs[name] - reached
    assert reached == set(purls)


def test_two_runs_write_the_same_bytes_and_only_a_date_that_is_asked_for(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "sbom.py"
    plain = run(sys.executable, script, PYTHONHASHSEED="1", TZ="Asia/Kathmandu")
    dated = run(sys.executable, script, SOURCE_DATE_EPOCH="1700000000")
    run(sys.executable, script, "--output", tmp_path / "new" / "bill.json", PYTHONHASHSEED="2", TZ="UTC")

    assert (tmp_path / "new" / "bill.json").read_text(encoding="utf-8") == plain
    assert "timestamp" not in json.loads(plain)["metadata"]
    assert json.loads(dated)["metadata"].pop("timestamp") == "2023-11-14T22:13:20+00:00"
    assert [line for line in dated.splitlines() if '"timestamp"' not in line] == plain.splitlines()


def test_the_serial_number_is_that_of_the_content(bill: dict[str, Any]) -> None:
    same = sbom.document(IMAGE, PREFIX, epoch=1)
    other = sbom.document((*IMAGE, "otel"), PREFIX)

    assert same["serialNumber"] == bill["serialNumber"] != other["serialNumber"]


def test_what_the_dockerfile_copies_is_all_that_makes_it(tmp_path: Path) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    for source in copied(dockerfile):
        target = tmp_path / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / source, target)
    (line,) = (each.rest for each in stages(dockerfile)[0].all("RUN") if "scripts/sbom.py" in each.rest)
    output = Path(line.split("--output ")[1])

    run(sys.executable, "scripts/sbom.py", "--prefix", PREFIX, "--output", "sbom.json", folder=tmp_path)

    assert "/opt/mace" / output.relative_to("/opt/project") == Path(SBOM)
    assert (tmp_path / "sbom.json").read_text() == run(sys.executable, ROOT / "scripts" / "sbom.py")


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

    assert exact == "exactly what is installed\n"
    assert numpy == f"numpy=={distribution('numpy').version}\n"


def wrong(monkeypatch: pytest.MonkeyPatch, change: Any) -> list[str]:
    real = sbom.pins
    monkeypatch.setattr(sbom, "pins", lambda *names: change(real(*names)))
    return sbom.complaints()


def test_a_pin_that_is_not_installed_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    more = Pin("run.txt", Requirement("no-such-thing==1.0"), ())

    assert wrong(monkeypatch, lambda pinned: [*pinned, more]) == [
        "no-such-thing is pinned, but not installed"
    ]


def test_another_version_than_the_pinned_one_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Pin("run.txt", Requirement("scipy==1.0.0"), ())

    (complaint,) = wrong(monkeypatch, lambda pinned: [*pinned, other])

    assert complaint == f"scipy {distribution('scipy').version} is installed, 1.0.0 is pinned"


def test_what_is_required_and_not_pinned_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    found = wrong(monkeypatch, lambda pinned: [pin for pin in pinned if pin.name != "starlette"])

    assert found == ["fastapi requires starlette, which is not pinned"]


def test_what_is_pinned_and_not_required_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Pin("run.txt", Requirement(f"pytest=={distribution('pytest').version}"), ())

    assert wrong(monkeypatch, lambda pinned: [*pinned, tool]) == ["pytest is pinned, but nothing requires it"]


def test_without_a_licence_there_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbom, "licences_of", lambda _: [])

    found = sbom.complaints()

    assert "numpy does not state one licence" in found
    assert len(found) == len({pin.name for pin in pins(*EXTRAS) if pin.applies})
