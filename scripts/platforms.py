"""Whether the base installs from wheels alone, on every Python and platform: `scripts/platforms [EXTRA...]`.

Prints a table: `wheels`, or what has no wheel there. With names of extras, the base and these. It asks the package
index that pip is set up for, by `pip install --dry-run`, and installs nothing. Markers of our own requirements are
judged for the target; those of what our requirements bring along are judged by pip, for the machine it runs on.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from packaging.requirements import Requirement
from pins import PROJECT, project

PYTHONS = tuple(
    match[1]
    for name in project()["classifiers"]
    if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", name))
)
"""The Pythons that the metadata name."""

MANYLINUX = ("2_17", "2_24", "2_26", "2_27", "2_28")


@dataclass(frozen=True)
class Platform:
    """A platform: what it is called, the tags of the wheels that it takes, and what markers see there."""

    name: str
    tags: tuple[str, ...]
    system: str
    machine: str

    def markers(self, python: str) -> dict[str, str]:
        """The environment in which the marker of a requirement is judged."""
        of_system = {
            "linux": ("posix", "Linux"),
            "darwin": ("posix", "Darwin"),
            "win32": ("nt", "Windows"),
        }
        os_name, system = of_system[self.system]
        return {
            "os_name": os_name,
            "platform_machine": self.machine,
            "platform_system": system,
            "python_full_version": f"{python}.0",
            "python_version": python,
            "sys_platform": self.system,
        }


def _linux(machine: str) -> tuple[str, ...]:
    return tuple(f"manylinux_{glibc}_{machine}" for glibc in MANYLINUX)


PLATFORMS = (
    Platform("Linux x86-64", _linux("x86_64"), "linux", "x86_64"),
    Platform("Linux arm64", _linux("aarch64"), "linux", "aarch64"),
    Platform("macOS arm64", ("macosx_14_0_arm64",), "darwin", "arm64"),
    Platform("macOS x86-64", ("macosx_14_0_x86_64",), "darwin", "x86_64"),
    Platform("Windows x86-64", ("win_amd64",), "win32", "AMD64"),
)


class Failed(Exception):
    """pip could not say: no index, no such option."""


def required(python: str, platform: Platform, extras: Sequence[str]) -> list[str]:
    """What the base and these extras ask for there."""
    about = project()
    environment = platform.markers(python)
    waiting = [Requirement(text) for text in (*about["dependencies"], f"{PROJECT}[{','.join(extras)}]")]
    needs = []
    while waiting:
        need = waiting.pop(0)
        if need.name == PROJECT:  # extras of our own
            texts = [text for extra in need.extras for text in about["optional-dependencies"][extra]]
            waiting += map(Requirement, texts)
        elif need.marker is None or need.marker.evaluate(environment):
            needs.append(f"{need.name}{need.specifier}")
    return sorted(needs)


def without_wheel(
    python: str, platform: Platform, needs: Sequence[str], options: Sequence[str] = ()
) -> list[str]:
    """The names among these requirements, and what they bring along, that have no wheel there."""
    missing = _first_missing(python, platform, needs, options)
    if missing is None:
        return []
    if len(needs) == 1:
        return [missing]
    return sorted({name for need in needs for name in without_wheel(python, platform, [need], options)})


def _first_missing(
    python: str, platform: Platform, needs: Sequence[str], options: Sequence[str]
) -> str | None:
    """What pip names as having no wheel; None if all of it resolves."""
    with tempfile.TemporaryDirectory() as folder:
        where = ("--target", folder, "--python-version", python, "--implementation", "cp")
        tags = [option for tag in platform.tags for option in ("--platform", tag)]
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--only-binary=:all:"]
        command += [*where, *tags, *options, *needs]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    match = re.search(r"No matching distribution found for ([A-Za-z0-9][\w.-]*)", done.stderr)
    if match is None:
        raise Failed(done.stderr.strip() or f"pip ended with {done.returncode}")
    return match[1]


def table(extras: Sequence[str] = ()) -> dict[tuple[str, str], list[str]]:
    """What has no wheel, for each Python and platform."""
    places = [(python, platform) for python in PYTHONS for platform in PLATFORMS]
    with ThreadPoolExecutor(4) as pool:  # pip mostly waits for the index
        missing = pool.map(
            lambda place: without_wheel(place[0], place[1], required(place[0], place[1], extras)), places
        )
        return {
            (python, platform.name): names for (python, platform), names in zip(places, missing, strict=True)
        }


def written(cells: dict[tuple[str, str], list[str]]) -> list[str]:
    """The table in Markdown."""
    names = [platform.name for platform in PLATFORMS]
    rows = [[python, *(", ".join(cells[python, name]) or "wheels" for name in names)] for python in PYTHONS]
    head = ["Python", *names]
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]


def complaints() -> list[str]:
    """What `scripts/check` prints: where the base does not install from wheels alone."""
    try:
        cells = table()
    except Failed as error:
        return str(error).splitlines()
    return [
        f"Python {python}, {platform}: no wheel of {', '.join(names)}"
        for (python, platform), names in cells.items()
        if names
    ]


def main(extras: list[str]) -> int:
    """Print the table; 1 if something has no wheel somewhere."""
    if unknown := sorted(set(extras) - set(project()["optional-dependencies"])):
        print(f"platforms: no extra {', '.join(unknown)}", file=sys.stderr)
        return 2
    try:
        cells = table(extras)
    except Failed as error:
        print(f"platforms: {error}", file=sys.stderr)
        return 2
    print(*written(cells), sep="\n")
    return 1 if any(cells.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
