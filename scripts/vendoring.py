"""Fetch what the documentation pages are made of: `scripts/assets [--pinned]`.

`npm pack` downloads each package and checks it against the registry's digest. Of its files only those that the
pages use, and their licences, are kept in `app/pages/assets/PACKAGE/`; `manifest.json` says what each is.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "app" / "pages" / "assets"
MANIFEST = ASSETS / "manifest.json"

# A transparent image of one pixel.
NOTHING = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


@dataclass(frozen=True)
class Change:
    """A text that occurs exactly once in a file, what we put in its place, and why."""

    old: str
    new: str
    why: str


@dataclass(frozen=True)
class Package:
    """What we take from one package of the npm registry."""

    name: str
    range: str
    licence: str
    files: tuple[str, ...]
    changes: dict[str, Change]


PACKAGES = (
    Package(
        "swagger-ui-dist",
        "5",
        "Apache-2.0",
        (
            "swagger-ui-bundle.js",
            "swagger-ui-bundle.js.LICENSE.txt",
            "swagger-ui.css",
            "favicon-32x32.png",
            "LICENSE",
            "NOTICE",
        ),
        {},
    ),
    Package(
        "redoc",
        "2",  # 3 sends usage data unless told not to, takes its icons from a CDN, and is twice the size
        "MIT",
        ("bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt", "LICENSE"),
        {
            "redoc.standalone.js": Change(
                "https://cdn.redoc.ly/redoc/logo-mini.svg",
                NOTHING,
                "the logo beside the attribution came from a CDN, and no option turns it off",
            )
        },
    ),
)


def main(arguments: list[str]) -> int:
    """Fetch every package, newest or as pinned; 0 when the manifest is written."""
    if arguments not in ([], ["--pinned"]):
        say("usage: scripts/assets [--pinned]")
        return 2
    if shutil.which("npm") is None:
        say("npm is not on the PATH")
        return 1

    pinned = json.loads(MANIFEST.read_text(encoding="utf-8")) if arguments else {}
    manifest = {}
    for package in PACKAGES:
        version = pinned[package.name]["version"] if pinned else package.range
        manifest[package.name] = fetch(package, version)
        say(f"{package.name} {manifest[package.name]['version']}")
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return 0


def fetch(package: Package, version: str) -> dict[str, object]:
    """Put one package's files in place; return its part of the manifest."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["npm", "pack", "--json", "--ignore-scripts", f"{package.name}@{version}"]
        packed = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, text=True, check=True)
        about = json.loads(packed.stdout)[0]
        with tarfile.open(Path(scratch) / about["filename"]) as archive:
            archive.extractall(scratch, filter="data")
        source = Path(scratch) / "package"
        licence = json.loads((source / "package.json").read_text(encoding="utf-8"))["license"]
        if licence != package.licence:
            raise SystemExit(f"assets: {package.name} is now {licence}, it was {package.licence}")

        shelf = ASSETS / package.name
        shutil.rmtree(shelf, ignore_errors=True)
        shelf.mkdir(parents=True)
        files = {
            Path(file).name: place(source / file, shelf, package.changes.get(Path(file).name))
            for file in package.files
        }
    return {"version": about["version"], "licence": licence, "integrity": about["integrity"], "files": files}


def place(file: Path, shelf: Path, change: Change | None) -> dict[str, str]:
    """Copy one file, changed if need be; return what the manifest says about it."""
    data = file.read_bytes()
    entry = {}
    if change is not None:
        if data.count(change.old.encode()) != 1:
            raise SystemExit(f"assets: {file.name} no longer holds {change.old} once: look at it anew")
        entry = {"upstream_sha256": hashlib.sha256(data).hexdigest(), "changed": change.why}
        data = data.replace(change.old.encode(), change.new.encode())
    (shelf / file.name).write_bytes(data)
    return {"sha256": hashlib.sha256(data).hexdigest(), **entry}


def say(message: str) -> None:
    """Print one line of progress."""
    print(f"assets: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
