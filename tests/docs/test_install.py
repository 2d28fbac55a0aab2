"""Every line that says how to install mace installs it, from a wheel made of this tree, with extras that it has."""

import os
import re
import subprocess
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from macekit.call import __version__

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    {
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *(file for folder in ("app", "estimators", "macekit") for file in ROOT.glob(f"{folder}/**/*.py")),
        *(file for kind in ("md", "py", "yml", "yaml", "ipynb") for file in ROOT.glob(f"examples/**/*.{kind}")),
    }
)
LINE = re.compile(
    r"\bpip install +(?:(?:-q|-U|--quiet|--upgrade|--user) +)*['\"\\]*([A-Za-z][\w.-]*(?:\[[\w,-]+\])?)(?![\w./])"
)
"""What a line of installation asks for; not a file, a variable or a requirement file."""

EXTRAS = re.compile(r"\b(mace[\w-]*)\[([a-z][\w,-]*)\]")
"""Our package with extras, wherever it is named."""

OTHERS = frozenset({"anonymeter", "ibis-framework", "jax-privacy", "mlxtend", "torch", "uv"})
"""Packages of others that a line may install."""


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def run(*command: str, folder: Path = ROOT, **variables: str) -> str:
    done = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def said(pattern: re.Pattern[str]) -> dict[Path, list[re.Match[str]]]:
    texts = {file: file.read_text(encoding="utf-8") for file in TEXTS}
    return {file: found for file, text in texts.items() if (found := list(pattern.finditer(text)))}


def test_the_wheel_is_named_and_numbered_as_the_project_says(wheel: Path, metadata: Message) -> None:
    assert metadata["Name"] == "macekit"
    assert metadata["Version"] == __version__
    named = re.findall(r"wheels/(\S+\.whl)", (ROOT / "examples/github-actions/membership.yml").read_text())
    assert named == [wheel.name]


def test_every_extra_that_is_named_is_one_of_the_wheel(metadata: Message) -> None:
    known = set(metadata.get_all("Provides-Extra", []))

    named = said(EXTRAS)

    assert {match[1] for found in named.values() for match in found} == {metadata["Name"]}
    extras = {extra for found in named.values() for match in found for extra in match[2].split(",")}
    assert {"accounting", "otel"} <= extras <= known


def test_every_line_of_installation_installs_this_project(wheel: Path, metadata: Message, tmp_path: Path) -> None:
    lines = {match[1] for found in said(LINE).values() for match in found} - OTHERS

    assert {line.partition("[")[0] for line in lines} == {metadata["Name"]}
    folder = tmp_path / "installed"
    offline = ("--no-deps", "--no-index", "--find-links", str(wheel.parent), "--target", str(folder))
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *offline, *sorted(lines))
    where = {"folder": folder, "PYTHONPATH": str(folder)}
    found = run(sys.executable, "-c", "import macekit; print(macekit.__file__)", **where)
    assert found.startswith(str(folder))
    assert run(str(folder / "bin" / "mace"), "--version", **where) == f"mace {__version__}\n"
