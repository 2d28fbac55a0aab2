"""The table of platforms: what has no wheel is named, where it has none."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import platforms
import pytest
from packaging.requirements import Requirement
from pins import project

LINUX, WINDOWS = platforms.PLATFORMS[0], platforms.PLATFORMS[-1]


def put_wheel(folder: Path, name: str, tags: str, *needs: str) -> None:
    """A wheel with nothing in it but its metadata."""
    info = f"{name}-1.0.dist-info"
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        "Version: 1.0",
        *(f"Requires-Dist: {n}" for n in needs),
    ]
    with ZipFile(folder / f"{name}-1.0-{tags}.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tags}\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path) -> tuple[str, ...]:
    """What makes pip look in a folder and nowhere else: `compiled` is for Linux, and `over` needs it."""
    put_wheel(tmp_path, "plain", "py3-none-any")
    put_wheel(tmp_path, "compiled", "cp312-cp312-manylinux_2_17_x86_64")
    put_wheel(tmp_path, "over", "py3-none-any", "compiled")
    return "--no-index", "--find-links", str(tmp_path)


def test_what_has_no_wheel_there_is_named_also_if_another_brings_it_along(index: tuple[str, ...]) -> None:
    def missing(python: str, platform: platforms.Platform, *needs: str) -> list[str]:
        return platforms.without_wheel(python, platform, needs, index)

    assert missing("3.12", LINUX, "plain", "over") == []
    assert missing("3.12", WINDOWS, "plain", "over") == ["compiled"]
    assert missing("3.13", LINUX, "over>=1", "absent>=2", "plain") == ["absent", "compiled"]


def test_a_pip_that_cannot_ask_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(platforms.Failed, match="no such option"):
        platforms.without_wheel("3.12", LINUX, ["plain"], ["--no-such-option"])


def test_the_table_names_what_is_missing_and_where() -> None:
    cells = {(python, each.name): [] for python in platforms.PYTHONS for each in platforms.PLATFORMS}
    lines = platforms.written({**cells, ("3.14", WINDOWS.name): ["compiled", "over"]})

    assert len(lines) == 2 + len(platforms.PYTHONS)
    assert lines[-1] == "| 3.14 | wheels | wheels | wheels | wheels | compiled, over |"
    assert "compiled" not in "".join(lines[:-1])


def test_requirements_are_those_of_the_target() -> None:
    base = {Requirement(text).name for text in project()["dependencies"]}

    def names(python: str, platform: platforms.Platform, *extras: str) -> set[str]:
        return {Requirement(text).name for text in platforms.required(python, platform, extras)}

    assert names("3.14", WINDOWS) == base
    assert "pysimdjson" not in base
    assert "uvloop" in names("3.13", LINUX, "all") - names("3.13", WINDOWS, "all")
    assert "pysimdjson" in names("3.13", LINUX, "all") - names("3.14", LINUX, "all")
    assert {"vl-convert-python", "scikit-learn"} <= names("3.14", LINUX, "all")


def test_every_python_that_the_metadata_name_has_a_row() -> None:
    oldest = project()["requires-python"].removeprefix(">=")

    assert platforms.PYTHONS[0] == oldest
    assert set(platforms.PYTHONS) == {"3.11", "3.12", "3.13", "3.14"}
