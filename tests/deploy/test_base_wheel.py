"""The wheel in a new environment that has what the base asks for and nothing else, in a new folder."""

import os
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from pins import PROJECT, project


def base_distributions() -> dict[str, Distribution]:
    """What the base asks for, and what that brings along, as it is installed here."""
    waiting, distributions = [Requirement(text) for text in project()["dependencies"]], {}
    while waiting:
        need = waiting.pop()
        if need.name not in distributions and (need.marker is None or need.marker.evaluate({"extra": ""})):
            distributions[need.name] = distribution(need.name)
            waiting += map(Requirement, distributions[need.name].requires or ())
    return distributions


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of that environment: linked from here, for no index can be asked."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    site = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
    for each in base_distributions().values():
        for top in {Path(file).parts[0] for file in each.files or () if ".." not in Path(file).parts}:
            if top != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(Path(str(each.locate_file(top))))
    with ZipFile(wheel) as files:
        files.extractall(site)
    return folder / "venv" / "bin" / "python"


def mace(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [python, "-m", "macekit", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_base_has_what_it_asks_for_and_no_extra(python: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util as u; import estimators, macekit; print(macekit.__file__);"
        "print([n for n in ('vl_convert', 'simdjson', 'sklearn', 'fastapi', 'uvicorn', 'app') if u.find_spec(n)])"
    )

    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env={})

    file, extras = done.stdout.splitlines()
    assert "site-packages" in file
    assert file.startswith(str(python.parents[1]))
    assert extras == "[]"
    assert sys.prefix not in file


def test_the_demo_answers_and_its_report_has_its_pictures(python: Path, tmp_path: Path) -> None:
    done = mace(python, tmp_path, "demo")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Advantage: 0.")
    assert done.stderr == ""
    page = (tmp_path / "mace-demo" / "report.html").read_text()
    assert page.count("<svg") > 3
    assert "</html>" in page


def test_somebody_elses_package_of_the_same_name_is_left_where_it_is(python: Path, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('the other app')")

    assert mace(python, tmp_path, "demo").returncode == 0
    code = "import macekit; import app"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "the other app"


def test_a_report_and_a_saved_question_are_answered(python: Path, tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(
        '{"members": ['
        + ", ".join(str(i / 40 + 0.31) for i in range(40))
        + '], "nonmembers": ['
        + ", ".join(str(i / 40) for i in range(40))
        + "]}"
    )

    page = mace(python, tmp_path, "report", "scores.json", "-o", "report.html")
    drawing = mace(python, tmp_path, "report", "scores.json", "-o", "report.png")
    decision = mace(python, tmp_path, "gate", "scores.json", "--max-advantage", "0.999")

    assert page.returncode == 0, page.stderr
    assert "</html>" in (tmp_path / "report.html").read_text()
    assert drawing.returncode == 2  # it is a picture, and nothing else
    assert drawing.stderr.splitlines()[-1].endswith(f"pip install '{PROJECT}[report]'")
    assert decision.returncode == 0, decision.stderr
