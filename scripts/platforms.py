"""Whether the base, and all extras, install from wheels alone on every Python and platform: a step of `scripts/check`.

uv resolves for a platform it does not run on; it asks the package index it is set up for, and installs nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pins import ROOT, project

PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))
"""The Pythons that the metadata name."""

PLATFORMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux arm64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "macOS x86-64": "x86_64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}


def complaint(python: str, platform: str, *options: str) -> str | None:
    """What uv says of a Python and a platform on which no set of wheels fits; None if one does."""
    uv = str(Path(sys.executable).parent / "uv")
    command = [
        uv,
        "pip",
        "compile",
        "pyproject.toml",
        "--no-config",
        "--quiet",
        "--only-binary=:all:",
        *options,
    ]
    where = [f"--python-version={python}", f"--python-platform={PLATFORMS[platform]}"]
    done = subprocess.run([*command, *where], cwd=ROOT, capture_output=True, text=True, check=False)
    return f"Python {python}, {platform}, {options}: {done.stderr.strip()}" if done.returncode else None


def complaints() -> list[str]:
    """What `scripts/check` prints: where the base, or `all`, does not install from wheels alone."""
    places = [(python, platform) for python in PYTHONS for platform in PLATFORMS]
    with ThreadPoolExecutor(4) as pool:  # uv mostly waits for the index
        base = pool.map(lambda place: complaint(*place), places)
        full = pool.map(lambda place: complaint(*place, "--extra=all"), places)
        return [line for line in (*base, *full) if line]
