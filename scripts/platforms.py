"""Whether the base, and all extras, install from wheels alone on every Python and platform: a step of `scripts/check`.

uv resolves for a platform it does not run on; it asks the package index it is set up for, and installs nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from pins import ROOT, project

PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))
"""The Pythons that the metadata name."""

PLATFORMS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin", "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc")  # fmt: skip


def complaint(place: tuple[str, str, str]) -> str | None:
    """What uv says of a Python and a platform on which no set of wheels fits; None if one does."""
    python, platform, extra = place
    where = [f"--python-version={python}", f"--python-platform={platform}", *([extra] if extra else [])]
    command = [str(Path(sys.executable).parent / "uv"), "pip", "compile", "pyproject.toml"]
    command += ["--no-config", "--quiet", "--only-binary=:all:", *where]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{' '.join(where)}: {done.stderr.strip()}" if done.returncode else None


def complaints() -> list[str]:
    """What `scripts/check` prints: where the base, or `all`, does not install from wheels alone."""
    with ThreadPoolExecutor(4) as pool:  # uv mostly waits for the index
        found = pool.map(complaint, product(PYTHONS, PLATFORMS, ("", "--extra=all")))
        return [line for line in found if line]
