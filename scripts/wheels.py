"""The wheel of this project, the same bytes wherever and whenever it is built: `scripts/build-wheel [FOLDER]`.

hatchling takes every date in it from SOURCE_DATE_EPOCH; here that is the commit's, unless it is set. What is left is
the compressor: another zlib under Python may pack the same files into other bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pins import ROOT

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "app", "estimators", "macekit", "scripts/keywords.py")
"""What a wheel is built from, and what the Dockerfile copies for it."""


class Failed(Exception):
    """No wheel came of it."""


def commit_time(root: Path = ROOT) -> int | None:
    """When the commit was made that is checked out, in seconds; None where there is no repository."""
    if not shutil.which("git"):
        return None
    command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, capture_output=True, check=False).stdout or 0) or None


def build(source: Path, folder: Path, umask: int = -1, **variables: str) -> Path:
    """The wheel of a source tree, in a folder of its own; variables are the build's environment beside ours."""
    time = os.environ.get("SOURCE_DATE_EPOCH") or commit_time()
    environment = os.environ | ({"SOURCE_DATE_EPOCH": str(time)} if time else {}) | variables
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    settings: dict[str, Any] = {"cwd": source, "env": environment, "umask": umask}
    done = subprocess.run(command, **settings, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise Failed(f"{done.stdout}\n{done.stderr}".strip() or "hatchling built no wheel")
    return wheels[0]


def copy_sources(folder: Path, mode: int, time: int, reverse: bool) -> Path:
    """A copy of what a wheel is built from, as another machine has it: other modes, other times, another order."""
    files = [file for source in SOURCES for file in sorted((ROOT / source).rglob("*")) or [ROOT / source]]
    for file in sorted(files, reverse=reverse):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copy.chmod(mode)
            os.utime(copy, (time, time))
    return folder


def differences(one: Path, other: Path) -> list[str]:
    """What two wheels differ in: nothing if they are the same bytes."""
    if (one.name, one.read_bytes()) == (other.name, other.read_bytes()):
        return []
    with ZipFile(one) as first, ZipFile(other) as second:
        a, b = ({each.filename: each for each in archive.infolist()} for archive in (first, second))
    lines = [f"{name}: in one of the two only" for name in sorted(a.keys() ^ b.keys())]
    for name in sorted(a.keys() & b.keys()):
        if a[name].CRC != b[name].CRC:
            lines.append(f"{name}: two contents")
        if (a[name].date_time, a[name].external_attr) != (b[name].date_time, b[name].external_attr):
            lines.append(f"{name}: two dates or modes")
    return lines or ["two names, or two orders of the same files"]


def complaints() -> list[str]:
    """What `scripts/check` prints: where builds of this tree differ, here and as on two machines, years apart."""
    early = {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
    late = {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        one = copy_sources(scratch / "one", 0o644, 1_400_000_000, reverse=False)
        other = copy_sources(scratch / "other" / "further down", 0o600, 1_800_000_000, reverse=True)
        try:
            first = build(one, scratch / "a", umask=0o022, **early)
            second = build(other, scratch / "b", umask=0o077, **late)
            return differences(first, second) or differences(build(ROOT, scratch / "c"), first)
        except Failed as error:
            return str(error).splitlines()


def main(arguments: list[str]) -> int:
    """Build it, print its sum; 1 if that failed."""
    folder = Path(arguments[0]) if arguments else ROOT / "dist"
    with tempfile.TemporaryDirectory() as scratch:
        try:
            wheel = build(ROOT, Path(scratch))
        except Failed as error:
            print(error, file=sys.stderr)
            return 1
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wheel, folder / wheel.name)
        print(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {folder / wheel.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
