"""What the set-up files pin and ask for: `requirements/*.txt`, `requirements/*.in`, `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
PROJECT = "macekit"

EXTRAS: dict[str, tuple[str, ...]] = {"run": ("learned", "report", "serve")}
EXTRAS |= {name: (name,) for name in ("accounting", "replicas", "neighbours", "otel")}
"""The requirement files of what runs, and the extras of ours that each of them pins; `run` has those of `all`."""


@dataclass(frozen=True)
class Pin:
    """One pinned distribution of one requirement file."""

    file: str
    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Canonical name."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str | None:
        """The pinned version; None when it is no pin."""
        exact = re.fullmatch(r"==([^*]+)", str(self.requirement.specifier))
        return exact.group(1) if exact else None

    @property
    def applies(self) -> bool:
        """Whether this interpreter installs it."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def pins(*names: str) -> list[Pin]:
    """Every pin in the requirement files of these names; all files without names."""
    files = [REQUIREMENTS / f"{name}.txt" for name in names] or sorted(REQUIREMENTS.glob("*.txt"))
    return [pin for path in files for pin in _pins_in(path)]


def _pins_in(path: Path) -> Iterator[Pin]:
    for entry in re.sub(r"\\\n", " ", path.read_text()).splitlines():
        line = entry.split(" #")[0].strip()
        if line and not line.startswith(("#", "-")):
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)", line)
            yield Pin(path.name, Requirement(line.split("--hash")[0].strip()), tuple(hashes))


def project() -> dict[str, Any]:
    """What `pyproject.toml` says of us, with the version that is written where it names."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    code = (ROOT / table["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    about: dict[str, Any] = table["project"]
    return about | {
        "version": code.partition('__version__ = "')[2].partition('"')[0],
        "build": table["build-system"]["requires"],
    }


def direct() -> dict[str, list[Requirement]]:
    """What we ask for by name, by requirement file."""
    about = project()
    extras = [each for name in EXTRAS["run"] for each in about["optional-dependencies"][name]]
    run = [*map(Requirement, about["dependencies"] + extras)]
    pinned = {each.name for each in run}  # a build imports of what runs, too
    build = [each for each in map(Requirement, about["build"]) if each.name not in pinned]
    groups = {"run": run, "build": build}
    for path in sorted(REQUIREMENTS.glob("*.in")):
        lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
        asked = [Requirement(line) for line in lines if line and not line.startswith("-")]
        groups[path.stem] = [*groups.get(path.stem, []), *asked]
    return groups
