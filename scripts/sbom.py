"""The bill of materials of what runs, as CycloneDX 1.6 in JSON: `scripts/sbom`.

Versions and hashes are those of the pins, licences and what requires what those of the installed distributions'
own metadata. Each must answer for the other: a distribution that is pinned and not installed, or required and not
pinned, or under no licence that is known, is no bill but a complaint. The same input gives the same bytes.

The Dockerfile runs this beside the environment that it has made. So: the standard library and `packaging`.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
import sysconfig
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

from licences import READ_BY_HAND, licences_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pins import EXTRAS, PROJECT, ROOT, Pin, pins, project, requirements

IMAGE = ("run", "accounting")
"""The requirement files of what the image has unless it is built with OTEL=1."""

ASSETS = ROOT / "app" / "pages" / "assets" / "manifest.json"
SCHEMA = ROOT / "deploy" / "schema" / "cyclonedx"

Json = dict[str, Any]


class Incomplete(Exception):
    """What is pinned, required and installed is not one set, so there is no bill of it."""


@dataclass(frozen=True)
class Part:
    """One distribution that runs: how it is pinned, and what is installed."""

    pin: Pin
    distribution: Distribution

    @property
    def purl(self) -> str:
        """Its package URL, by which the document names it."""
        return f"pkg:pypi/{self.pin.name}@{quote(str(self.pin.version))}"


def distributions_in(prefix: Path) -> dict[str, Distribution]:
    """Every distribution of an environment, by its canonical name."""
    places = {"base": str(prefix), "platbase": str(prefix)}
    folders = {sysconfig.get_path(kind, "venv", places) for kind in ("purelib", "platlib")}
    return {canonicalize_name(each.name): each for each in distributions(path=sorted(folders))}


def parts_of(groups: Iterable[str], here: dict[str, Distribution]) -> dict[str, Part]:
    """What these requirement files pin for this interpreter, as it is installed."""
    parts: dict[str, Part] = {}
    complaints = []
    for pin in pins(*groups):
        if not pin.applies:
            continue
        distribution = here.get(pin.name)
        if distribution is None:
            complaints.append(f"{pin.name} is pinned, but not installed")
        elif distribution.version != pin.version:
            complaints.append(f"{pin.name} {distribution.version} is installed, {pin.version} is pinned")
        elif len(licences_of(distribution)) != 1:
            complaints.append(f"{pin.name} does not state one licence")
        else:
            parts[pin.name] = Part(pin, distribution)
    if complaints:
        raise Incomplete("\n".join(sorted(set(complaints))))
    return dict(sorted(parts.items()))


def needs_of(roots: Iterable[Requirement], parts: dict[str, Part]) -> dict[str, set[str]]:
    """What each part requires directly, and what the project itself does, by the extras that are asked for."""
    needs: dict[str, set[str]] = {PROJECT: set()}
    complaints: set[str] = set()
    visited: set[tuple[str, str]] = set()
    waiting = [(PROJECT, "", each) for each in roots]
    while waiting:
        by, extra, requirement = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        needs.setdefault(by, set()).add(name)
        if name not in parts:
            complaints.add(f"{by} requires {name}, which is not pinned")
            continue
        needs.setdefault(name, set())
        direct = [Requirement(text) for text in parts[name].distribution.requires or ()]
        for more in {"", *requirement.extras}:
            if (name, more) not in visited:
                visited.add((name, more))
                waiting += [(name, more, each) for each in direct]
    complaints |= {f"{name} is pinned, but nothing requires it" for name in parts if name not in needs}
    if complaints:
        raise Incomplete("\n".join(sorted(complaints)))
    return needs


def npm_packages() -> dict[str, Json]:
    """The npm packages of which files are in our own: their manifest."""
    manifest: dict[str, Json] = json.loads(ASSETS.read_text(encoding="utf-8"))
    return manifest


def document(groups: tuple[str, ...], prefix: Path, epoch: int | None = None) -> Json:
    """The bill of what these requirement files put into an environment; dated only if there is a date."""
    about = project()
    parts = parts_of(groups, distributions_in(prefix))
    needs = needs_of(requirements(*groups), parts)
    ours = f"pkg:pypi/{PROJECT}@{quote(about['version'])}"
    purls = {PROJECT: ours} | {name: part.purl for name, part in parts.items()}
    assets = {_asset_purl(name, asset): _asset(name, asset) for name, asset in sorted(npm_packages().items())}
    depends = {purls[name]: {purls[other] for other in others} for name, others in needs.items()}
    depends |= {purl: set() for purl in assets}
    depends[ours] |= assets.keys()
    components = [*(_component(part) for part in parts.values()), *assets.values()]
    bill: Json = {
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [{"type": "application", "name": "mace scripts/sbom"}]},
            "component": {
                "type": "application",
                "bom-ref": ours,
                "name": PROJECT,
                "version": about["version"],
                "description": about["description"],
                "licenses": _licences(about["license"], "declared"),
                "purl": ours,
            },
            # The interpreter and the platform decide which of the pins apply.
            "properties": [
                {"name": "mace:platform", "value": sys.platform},
                {"name": "mace:python", "value": ".".join(map(str, sys.version_info[:2]))},
            ],
        },
        "components": sorted(components, key=lambda component: str(component["purl"])),
        "dependencies": [
            {"ref": purl, "dependsOn": sorted(others)} for purl, others in sorted(depends.items())
        ],
        # Who requires whom is all here; what others have compiled or bundled into their own is not ours to know.
        "compositions": [
            {"aggregate": "complete", "dependencies": sorted(depends)},
            {"aggregate": "unknown", "assemblies": sorted(depends.keys() - {ours})},
        ],
    }
    if epoch is not None:
        bill["metadata"] = {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat()} | bill["metadata"]
    content = json.dumps([bill["components"], bill["dependencies"], bill["metadata"]["component"]])
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, content).urn,
        "version": 1,
    }
    return head | bill


def _component(part: Part) -> Json:
    """One distribution. Its hashes are those of all its files on the index, of which one was installed."""
    (licence,) = licences_of(part.distribution)
    boms = [
        {"type": "bom", "url": str(file), "comment": "among the installed files, by who built them"}
        for file in sorted(part.distribution.files or (), key=str)
        if re.search(r"\.dist-info/sboms/[^/]+\.json$", str(file))
    ]
    index = {
        "type": "distribution",
        "url": part.purl,
        "comment": "one of the files with these hashes, from whichever index",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(part.pin.hashes)],
    }
    return {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.pin.name,
        "version": part.pin.version,
        "scope": "required",
        "licenses": _licences(licence, "concluded" if part.pin.name in READ_BY_HAND else "declared"),
        "purl": part.purl,
        "externalReferences": [index, *boms],
    }


def _asset_purl(name: str, asset: Json) -> str:
    return f"pkg:npm/{quote(name)}@{asset['version']}"


def _asset(name: str, asset: Json) -> Json:
    """One npm package: the digest of what npm gave, and the files of it that are in our package."""
    algorithm, _, digest = asset["integrity"].partition("-")
    purl = _asset_purl(name, asset)
    changes = [
        f"{file}: {details['changed']}"
        for file, details in sorted(asset["files"].items())
        if "changed" in details
    ]
    component = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": asset["version"],
        "scope": "required",
        "licenses": _licences(asset["licence"], "declared"),
        "purl": purl,
        "externalReferences": [
            {
                "type": "distribution",
                "url": purl,
                "hashes": [
                    {
                        "alg": algorithm.upper().replace("SHA", "SHA-"),
                        "content": base64.b64decode(digest).hex(),
                    }
                ],
            }
        ],
        "components": [
            {"type": "file", "name": file, "hashes": [{"alg": "SHA-256", "content": details["sha256"]}]}
            for file, details in sorted(asset["files"].items())
        ],
    }
    return component | ({"pedigree": {"notes": "; ".join(changes)}} if changes else {})


def _licences(expression: str, acknowledgement: str) -> list[Json]:
    """A licence by its SPDX identifier, or an expression of several."""
    if re.fullmatch(r"[\w.+-]+", expression):
        return [{"license": {"id": expression, "acknowledgement": acknowledgement}}]
    return [{"expression": expression, "acknowledgement": acknowledgement}]


def schema_errors(bill: Json) -> list[str]:
    """What the official schema finds wrong with a document."""
    from jsonschema import Draft7Validator  # type: ignore[import-untyped] # noqa: PLC0415 - not in the image's build
    from referencing import Registry, Resource  # noqa: PLC0415

    schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMA.glob("*.json")}
    registry: Registry[Any] = Registry().with_resources(
        (f"http://cyclonedx.org/schema/{name}", Resource.from_contents(schema))
        for name, schema in schemas.items()
    )
    validator = Draft7Validator(schemas["bom-1.6.SNAPSHOT.schema.json"], registry=registry)
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(bill)]


def complaints() -> list[str]:
    """What `scripts/check` prints: of the bill of everything that may run, OpenTelemetry included."""
    try:
        return schema_errors(document(tuple(EXTRAS), Path(sys.prefix)))
    except Incomplete as error:
        return str(error).splitlines()


def main(arguments: list[str]) -> int:
    """Write the document; 1 if there is none."""
    parser = argparse.ArgumentParser(prog="scripts/sbom")
    parser.add_argument("--otel", action="store_true", help="of an image that is built with OTEL=1")
    parser.add_argument("--prefix", type=Path, default=Path(sys.prefix), help="the environment that runs")
    parser.add_argument("--output", type=Path, help="a file, instead of standard output")
    options = parser.parse_args(arguments)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        bill = document(
            (*IMAGE, "otel") if options.otel else IMAGE, options.prefix, int(epoch) if epoch else None
        )
    except Incomplete as error:
        print(error, file=sys.stderr)
        return 1
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
