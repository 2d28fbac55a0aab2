"""What can be known of the container without an engine: `scripts/check container`.

Linters and schemas of others come first (`scripts/checks.py`); here is what they cannot know: what our files must say
of each other, and the names of settings in all of them and in docs/operations.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from dashboards import dashboard_faults, exported, scrape_faults, unseen
from manifests import compose_faults, copied, dockerfile_faults, kubernetes_faults
from pins import project

from app.settings import FILE, NOT_SETTINGS, PREFIX, Settings

ROOT = Path(__file__).resolve().parent.parent
DASHBOARD = "deploy/grafana/dashboards/mace.json"
DATASOURCE = "deploy/grafana/provisioning/datasources/prometheus.yaml"
MANIFEST, PROMETHEUS = "examples/kubernetes/mace.yaml", "deploy/prometheus.yml"
OPERATIONS = "docs/operations.md"
NAMES_SETTINGS = ("Dockerfile", "compose.yaml", "deploy/healthcheck.py", MANIFEST, OPERATIONS, DASHBOARD)

KNOWN = {PREFIX + name.upper() for name in Settings.model_fields} | NOT_SETTINGS


def complaints() -> list[str]:
    """Everything that is wrong, each with the file it is in."""
    return [f"{file}: {fault}" for file, check in CHECKS for fault in check()]


def text(name: str) -> str:
    """A file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def image() -> Iterator[str]:
    """The Dockerfile, and whether what it copies is there and let through."""
    yield from dockerfile_faults(text("Dockerfile"), project()["version"])
    admitted = [line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")]
    sources = sorted(copied(text("Dockerfile")))
    yield from (f"copies {name}, which is not there" for name in sources if not (ROOT / name).exists())
    out = [name for name in sources if not any(fnmatch(name, pattern) for pattern in admitted)]
    yield from (f"copies {name}, which .dockerignore keeps out" for name in out)
    unused = [name for name in admitted if name not in sources]
    yield from (f".dockerignore admits {name}, which is not copied" for name in unused)


def compose() -> Iterator[str]:
    """compose.yaml, and the files that it mounts."""
    found = yaml.safe_load(text("compose.yaml"))
    yield from compose_faults(found)
    for name, service in found["services"].items():
        volumes = [volume.partition(":") for volume in service.get("volumes", ()) if volume.startswith(".")]
        for source, _, mode in volumes:
            if not (ROOT / source).exists():
                yield f"{name}: mounts {source}, which is not there"
            if not mode.endswith(":ro"):
                yield f"{name}: may write to {source}"


def dashboard() -> Iterator[str]:
    """The dashboard, against the provisioned source and what the service exports."""
    source = yaml.safe_load(text(DATASOURCE))["datasources"][0]
    shown, series = json.loads(text(DASHBOARD)), exported()
    yield from dashboard_faults(shown, series, source["uid"])
    yield from (f"no panel shows {name}" for name in unseen(shown, series))


def settings_named() -> Iterator[str]:
    """Every MACE_ variable named anywhere here is a setting."""
    for file in NAMES_SETTINGS:
        for name in sorted(set(re.findall(r"\bMACE_[A-Z_]*[A-Z]\b", text(file))) - KNOWN):
            yield f"{file} names {name}, which is no setting"


def settings_described() -> Iterator[str]:
    """The table of settings in the docs is the one that the code makes."""
    written = set(text(OPERATIONS).splitlines())
    yield from (f"lacks the line {line}" for line in settings_table() if line not in written)


def settings_table() -> list[str]:
    """The table of settings as docs/operations.md shows it."""
    fields = Settings.model_fields.items()
    return [
        "| variable | default | what it is |",
        "| --- | --- | --- |",
        *(f"| `{PREFIX}{name.upper()}` | {_shown(it.default)} | {it.description} |" for name, it in fields),
        f"| `{FILE}` | none | a TOML file of settings, by their names without `{PREFIX}`, in small letters |",
    ]


def _shown(value: Any) -> str:
    """A default as a reader wants it: sizes in MiB beside their bytes."""
    if value is None or value == () or value == "":
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int) and value >= 2**20:
        return f"`{value}` ({value // 2**20} MiB)"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


CHECKS: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
    ("Dockerfile", image),
    ("compose.yaml", compose),
    (MANIFEST, lambda: kubernetes_faults(list(yaml.safe_load_all(text(MANIFEST))))),
    (PROMETHEUS, lambda: scrape_faults(yaml.safe_load(text(PROMETHEUS)), "mace:8000")),
    (DASHBOARD, dashboard),
    ("settings", settings_named),
    (OPERATIONS, settings_described),
)


if __name__ == "__main__":
    print("\n".join(settings_table()))
