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
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parent.parent / "app" / "pages" / "assets"
MANIFEST = ASSETS / "manifest.json"

PACKAGES = {
    "swagger-ui-dist": ("5", "Apache-2.0", "swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css "
        "favicon-32x32.png LICENSE NOTICE"),
}  # fmt: skip
"""The range of versions of each, the licence it must have, and the files that are kept."""


def main(arguments: list[str]) -> int:
    """Fetch every package, newest or as pinned; 0 when the manifest is written."""
    if arguments not in ([], ["--pinned"]):
        print("usage: scripts/assets [--pinned]", file=sys.stderr)
        return 2
    pinned = json.loads(MANIFEST.read_text(encoding="utf-8")) if arguments else {}
    manifest = {}
    for name, (newest, licence, files) in PACKAGES.items():
        version = pinned[name]["version"] if pinned else newest
        with tempfile.TemporaryDirectory() as scratch:
            manifest[name] = fetch(f"{name}@{version}", licence, files.split(), Path(scratch))
        print(f"assets: {name} {manifest[name]['version']}", file=sys.stderr)
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return 0


def fetch(package: str, licence: str, files: list[str], scratch: Path) -> dict[str, Any]:
    """Put one package's files in place; return its part of the manifest."""
    command = ["npm", "pack", "--json", "--ignore-scripts", package]
    packed = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, text=True, check=True)
    about = json.loads(packed.stdout)[0]
    with tarfile.open(scratch / about["filename"]) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # the first Pythons 3.11 have none
        archive.extractall(scratch)
    source, shelf = scratch / "package", ASSETS / about["name"]
    said = json.loads((source / "package.json").read_text(encoding="utf-8"))["license"]
    if said != licence:
        raise SystemExit(f"assets: {package} is now {said}, it was {licence}")
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    entries = {}
    for file in files:
        copy = Path(shutil.copyfile(source / file, shelf / Path(file).name))
        entries[copy.name] = {"sha256": hashlib.sha256(copy.read_bytes()).hexdigest()}
    about |= {"licence": licence, "files": entries}
    return {name: about[name] for name in ("version", "licence", "integrity", "files")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
