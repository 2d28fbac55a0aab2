"""The release workflow: what it runs exists and does what its step says, as far as no service of others is needed."""

import os
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import wheels
import yaml
from pins import PROJECT, project

from macekit.call import __version__

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def workflow() -> dict[Any, Any]:
    parsed: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return parsed


def steps() -> list[dict[str, Any]]:
    return [step for job in workflow()["jobs"].values() for step in job["steps"]]


def command(name: str) -> str:
    (text,) = (step["run"] for step in steps() if step.get("name") == name)
    return str(text)


def test_it_runs_for_tags_alone_and_may_write_nothing() -> None:
    assert workflow()[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as true
    assert workflow()["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow()["jobs"].values())


def test_every_action_has_a_version_and_every_script_exists() -> None:
    actions = [step["uses"] for step in steps() if "uses" in step]
    commands = [step["run"] for step in steps() if "run" in step]
    scripts = {name for text in commands for name in re.findall(r"(?<![\w/.])scripts/[\w-]+", text)}

    assert [each for each in actions if not re.fullmatch(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})", each)] == []
    assert scripts == {"scripts/build-wheel", "scripts/sbom"}
    assert [name for name in scripts if not os.access(ROOT / name, os.X_OK)] == []


@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), (f"v{__version__}1", 1), ("v", 1)])
def test_a_tag_that_is_not_the_version_stops_it(tag: str, status: int) -> None:
    done = subprocess.run(
        ["sh", "-c", command("The tag is the version")],
        cwd=ROOT,
        env=os.environ | {"GITHUB_REF_NAME": tag},
        check=False,
    )

    assert done.returncode == status


def test_the_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    made = command("Source distribution").replace("-d dist", f"-d {tmp_path}")
    subprocess.run(["sh", "-c", made], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extraction_filter = getattr(tarfile, "data_filter", None)  # the first Pythons 3.11 have none
        sources.extractall(tmp_path / "sources")
    (tmp_path / "built").mkdir()

    of_sources = wheels.build(tmp_path / "sources" / f"{PROJECT}-{__version__}", tmp_path / "built")

    assert archive.name == f"{PROJECT}-{__version__}.tar.gz"
    assert wheels.differences(of_sources, wheel) == []
    names = {Path(name).name for name in (path.name for path in (tmp_path / "sources").glob("*/*"))}
    assert {"CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "SECURITY.md"} <= names


def test_the_citation_is_of_this_project_and_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

    assert citation["version"] == __version__
    assert citation["license"] == project()["license"]
    assert citation["keywords"] == project()["keywords"]
    assert citation["abstract"] == project()["description"]
    assert {"cff-version", "message", "title", "authors", "type"} <= citation.keys()
