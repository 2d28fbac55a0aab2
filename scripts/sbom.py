"""The bill of materials of what runs, as CycloneDX 1.6 in JSON: `scripts/sbom`.

CycloneDX's own program lists what is installed and what requires what. To that come, from what it cannot know, the
hashes of the pins, licences as SPDX names them, and the npm packages of which files are in ours. What is pinned and
not installed, installed otherwise than pinned, required by nobody, or under no one licence is no bill but a complaint.
The same input gives the same bytes; SOURCE_DATE_EPOCH dates it. The Dockerfile runs this beside the environment that
it has made, with requirements/sbom.txt.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
import sysconfig
import uuid
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from licences import READ_BY_HAND, licences_of
from packaging.utils import canonicalize_name
from pins import EXTRAS, PROJECT, ROOT, Pin, pins, project

IMAGE = ("run", "accounting", "replicas")
"""The requirement files of what the image has unless it is built with OTEL=1."""

ASSETS = ROOT / "app" / "pages" / "assets" / "manifest.json"

Json = dict[str, Any]


class Incomplete(Exception):
    """What is pinned, required and installed is not one set, so there is no bill of it."""


def document(groups: tuple[str, ...], prefix: Path) -> Json:
    """The bill of what these requirement files put into an environment."""
    bill, root = inventory(prefix / "bin" / "python"), f"pkg:pypi/{PROJECT}@{project()['version']}"
    there, parts = distributions_in(prefix), {pin.name: pin for pin in pins(*groups) if pin.applies}
    if complaints := [line for pin in parts.values() if (line := complaint(pin, there.get(pin.name)))]:
        raise Incomplete("\n".join(sorted(complaints)))
    bill["metadata"]["component"] |= {"purl": root, "version": project()["version"]}
    found: dict[str, Json] = {canonicalize_name(part["name"]): part for part in bill["components"]}
    every = (bill["metadata"]["component"], *bill["components"])
    refs = {each["bom-ref"]: each.get("purl", "") for each in every}
    bill["metadata"]["component"]["bom-ref"] = root

    kept = {root, *(found[name]["purl"] for name in parts)}
    needs = {refs[each["ref"]]: each.get("dependsOn", ()) for each in bill["dependencies"]}
    needs = {purl: {refs[other] for other in others} & kept for purl, others in needs.items() if purl in kept}
    if idle := sorted(kept - reached(root, needs)):
        raise Incomplete("\n".join(f"{purl} is pinned, but nothing requires it" for purl in idle))

    assets = [asset(name, about) for name, about in sorted(npm_packages().items())]
    needs |= {each["purl"]: set() for each in assets}
    needs[root] |= {each["purl"] for each in assets}
    bill["metadata"]["properties"] += [  # what decides which of the pins apply
        {"name": "mace:platform", "value": sys.platform},
        {"name": "mace:python", "value": ".".join(map(str, sys.version_info[:2]))},
    ]
    described = [component(found[name], pin, there[name]) for name, pin in parts.items()]
    bill["components"] = sorted([*described, *assets], key=lambda part: str(part["purl"]))
    bill["dependencies"] = [{"ref": purl, "dependsOn": sorted(needs[purl])} for purl in sorted(needs)]
    return bill | {"serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill)).urn}


def inventory(python: Path) -> Json:
    """What CycloneDX's own program finds in the environment of an interpreter."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--no-validate"]
    command += ["--sv=1.6", "--of=JSON", f"--pyproject={ROOT / 'pyproject.toml'}", str(python)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Incomplete(done.stderr.strip())
    bill: Json = json.loads(done.stdout)
    return bill


def distributions_in(prefix: Path) -> dict[str, Distribution]:
    """Every distribution of an environment, by its canonical name."""
    places = {"base": str(prefix), "platbase": str(prefix)}
    folders = {sysconfig.get_path(kind, "venv", places) for kind in ("purelib", "platlib")}
    return {canonicalize_name(each.name): each for each in distributions(path=sorted(folders))}


def complaint(pin: Pin, distribution: Distribution | None) -> str | None:
    """Why a pinned distribution cannot stand in the bill."""
    if distribution is None:
        return f"{pin.name} is pinned, but not installed"
    if distribution.version != pin.version:
        return f"{pin.name} {distribution.version} is installed, {pin.version} is pinned"
    return None if len(licences_of(distribution)) == 1 else f"{pin.name} does not state one licence"


def reached(root: str, needs: dict[str, set[str]]) -> set[str]:
    """What is required, by whomever, beginning with the project."""
    found, waiting = {root}, [root]
    while waiting:
        fresh = needs.get(waiting.pop(), set()) - found
        found |= fresh
        waiting += fresh
    return found


def component(part: Json, pin: Pin, distribution: Distribution) -> Json:
    """One distribution; its hashes are those of all its files on the index, of which one was installed."""
    files = {
        "type": "distribution",
        "url": part["purl"],
        "comment": "one of the files with these hashes, from whichever index",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(pin.hashes)],
    }
    how = "concluded" if pin.name in READ_BY_HAND else "declared"
    return part | {
        "bom-ref": part["purl"],
        "name": pin.name,
        "scope": "required",
        "licenses": [licence(licences_of(distribution)[0], how)],
        "externalReferences": [files, *part.get("externalReferences", ())],
    }


def licence(expression: str, acknowledgement: str = "declared") -> Json:
    """A licence by its SPDX identifier, or an expression of several."""
    if " " in expression:
        return {"expression": expression, "acknowledgement": acknowledgement}
    return {"license": {"id": expression, "acknowledgement": acknowledgement}}


def npm_packages() -> dict[str, Json]:
    """The npm packages of which files are in our own: their manifest."""
    manifest: dict[str, Json] = json.loads(ASSETS.read_text(encoding="utf-8"))
    return manifest


def asset(name: str, about: Json) -> Json:
    """One npm package: the digest of what npm gave, and the files of it that are in our package."""
    purl, files = f"pkg:npm/{name}@{about['version']}", sorted(about["files"].items())
    algorithm, _, digest = about["integrity"].partition("-")
    hashes = [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": about["version"],
        "scope": "required",
        "licenses": [licence(about["licence"])],
        "purl": purl,
        "externalReferences": [{"type": "distribution", "url": purl, "hashes": hashes}],
        "components": [
            {"type": "file", "name": file, "hashes": [{"alg": "SHA-256", "content": details["sha256"]}]}
            for file, details in files
        ],
    }


def schema_errors(bill: Json) -> list[str]:
    """What the official schema finds wrong with a document."""
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - a second of imports
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill))
    return [] if error is None else [str(error)]


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
    parser.add_argument("--output", type=Path, default=Path("/dev/stdout"), help="a file")
    options = parser.parse_args(arguments)
    try:
        bill = document((*IMAGE, "otel") if options.otel else IMAGE, options.prefix)
    except Incomplete as error:
        print(error, file=sys.stderr)
        return 1
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
