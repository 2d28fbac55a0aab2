"""`macekit` where other code of the caller, or fewer packages than `all` installs, stand around it."""

import json
import os
import subprocess
import sys
from collections.abc import Set
from pathlib import Path

import pytest

import macekit
from macekit.call import JSON, __version__
from tests.app.running import running

BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""

SERVE = {
    "cryptography", "fastapi", "httptools", "limits", "prometheus_client", "simdjson", "starlette", "uvicorn",
    "uvloop",
}  # fmt: skip
"""What only the service needs."""

SAMPLE = "counts={'members': [20, 30, 50], 'nonmembers': [50, 40, 10], 'edges': [0.2, 0.7]}"

VECTORS = """
rows = [[float(i % 7), float(i % 5)] for i in range(60)]
sides = dict(members=rows, nonmembers=[[a + 1.0, b] for a, b in rows])
"""
SCORES = "score,member\n" + "".join(f"{i / 40},{int(i % 3 > 0)}\n" for i in range(40))


def python(code: str, folder: Path, without: Set[str] = frozenset()) -> subprocess.CompletedProcess[str]:
    blocked = BLOCKED.format(packages=sorted(without))
    return subprocess.run(
        [sys.executable, "-c", blocked + code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_macekit_answers_and_reports_beside_a_folder_called_app(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("")
    (tmp_path / "app" / "main.py").write_text("app = object()\n")

    done = python(
        f"import macekit, app.main\nresult = macekit.estimate({SAMPLE})\n"
        "print(app.main.__file__)\nprint(result.sentence)\nprint(result.to_markdown()[:20])\n",
        tmp_path,
    )

    assert done.returncode == 0, done.stderr
    own, sentence, title = done.stdout.splitlines()[:3]
    assert Path(own) == tmp_path / "app" / "main.py"
    assert "confidence" in sentence
    assert title.startswith("# Membership")


FOREIGN = ("app/__init__.py", "app/main.py", "estimators/__init__.py")


def foreign_packages(folder: Path) -> Path:
    """A folder with packages of another project that are called as two of ours are, and that tell when they are run."""
    for name in FOREIGN:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('a package of another project was run')\n")
    return folder


def around(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder that is also the first on Python's path."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command_works_whatever_app_and_estimators_stand_around_it(tmp_path: Path) -> None:
    folder = foreign_packages(tmp_path)
    (folder / "scores.csv").write_text(SCORES)
    script = str(Path(sys.executable).with_name("mace"))

    versions = [around(folder, *each, "--version") for each in ([script], [sys.executable, "-m", "macekit"])]
    report = around(folder, script, "report", "scores.csv", "-o", "report.html")

    for version in versions:
        assert (version.returncode, version.stdout) == (0, f"mace {__version__}\n"), version.stderr
    assert report.returncode == 0, report.stderr
    assert "</html>" in (folder / "report.html").read_text()


@pytest.mark.slow
def test_macekit_works_whatever_estimators_stand_around_it_and_leaves_the_path_alone(tmp_path: Path) -> None:
    code = (
        "import sys; before = list(sys.path)\n"
        f"import macekit; print(macekit.estimate({SAMPLE}).sentence)\n"
        "import estimators; print(estimators.__file__)\n"
        "print(sys.path == before)\n"
    )

    done = around(foreign_packages(tmp_path), sys.executable, "-c", code)

    assert done.returncode == 0, done.stderr
    sentence, file, same = done.stdout.splitlines()
    assert "confidence" in sentence
    assert Path(file) == Path(macekit.__file__).parents[1] / "estimators" / "__init__.py"
    assert same == "True"


@pytest.mark.slow
def test_the_service_works_whatever_app_and_estimators_stand_around_it(tmp_path, monkeypatch) -> None:
    """Begun anew, for a fork has imported ours; a report is a worker's, which a process of the same path forks."""
    monkeypatch.chdir(foreign_packages(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sides = {"members": [0.5 + i / 90 for i in range(40)], "nonmembers": [i / 90 for i in range(40)]}

    with running(tmp_path, ("-m", "macekit", "serve"), anew=True) as service:
        answer = service.ask("/v1/report", "POST", json.dumps(sides).encode(), {"Content-Type": JSON})

    assert answer.status == 200, answer.body
    assert "confidence" in answer.json()["result"]["sentence"]


def test_another_package_called_estimators_that_is_imported_already_is_named_by_its_path(tmp_path) -> None:
    for file in ("estimators/__init__.py", "estimators.py"):
        folder = tmp_path / Path(file).stem / file.replace("/", "-")
        (path := folder / file).parent.mkdir(parents=True)
        path.write_text("THEIRS = 1\n")

        done = python("import estimators, macekit", folder)

        last = done.stderr.splitlines()[-1]
        assert last.startswith("ImportError: macekit needs its own package 'estimators'"), (file, done.stderr)
        assert str(path) in last, file
        assert "rename" in last, file


@pytest.mark.slow
def test_without_any_extra_a_report_is_whole_and_an_extra_is_asked_for_by_its_name(tmp_path: Path) -> None:
    asks = {
        "report": f"lambda: macekit.estimate({SAMPLE}).plot().to_png()",
        "learned": "lambda: macekit.estimate(**sides, estimator={'kind': 'learned'})",
    }
    attempt = "try:\n    ({})()\nexcept macekit.MaceProblem as problem:\n    print(problem)\n"
    tries = "".join(attempt.format(ask) for ask in asks.values())

    done = python(
        f"import macekit\nresult = macekit.report({SAMPLE})\n"
        "result.to_html('report.html')\n"
        "print(result._repr_html_().count('[report]'), 'src=' in result._repr_html_())\n"
        "print(*result.plot()._repr_mimebundle_())\n" + VECTORS + tries,
        tmp_path,
        {"vl_convert", "sklearn"},
    )

    assert done.returncode == 0, done.stderr
    said, bundle, *problems = done.stdout.splitlines()
    assert (said, bundle) == ("0 True", "image/svg+xml text/plain")
    page = (tmp_path / "report.html").read_text()
    assert "pip install" not in page
    assert page.count("<figure id=") == page.count("<svg") == page.count("<summary>The numbers behind") > 3
    for extra, problem in zip(asks, problems, strict=True):
        assert f"pip install 'macekit[{extra}]'" in problem


@pytest.mark.slow
def test_without_any_extra_the_command_decides_and_draws_and_pixels_alone_need_one(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)

    done = python(
        f"import macekit; print(macekit.report({SAMPLE}).to_csv()[:9])\n"
        "from app.cli import main\n"
        "statuses = [main(['estimate', 'scores.csv']), main(['demo'])]\n"
        "statuses += [main(['report', 'mace-demo/scores.csv', '-o', 'again.html'])]\n"
        "statuses += [main(['report', 'mace-demo/scores.csv', '-o', 'again.png'])]\n"
        "statuses += [main(['plan', '--expected', '0.2', '--width', '0.1', '-o', 'plan.html'])]\n"
        "sys.exit(str(statuses))\n",
        tmp_path,
        SERVE | {"vl_convert", "sklearn"},
    )

    hints = [line for line in done.stderr.splitlines() if "pip install" in line]
    assert done.stderr.splitlines()[-1] == "[0, 0, 0, 2, 0]", done.stderr
    assert done.stdout.startswith('"section"')
    assert "Traceback" not in done.stderr
    assert hints == ["mace report: a PNG needs the package vl-convert-python; pip install 'macekit[report]'"]
    files = sorted(file.name for file in (tmp_path / "mace-demo").iterdir())
    assert files == ["answer.json", "report.html", "scores.csv"]
    for page in ("mace-demo/report.html", "again.html"):
        assert (tmp_path / page).read_text().count("<svg") > 3
    assert "<svg" not in (tmp_path / "plan.html").read_text()


@pytest.mark.slow
def test_the_service_asks_for_its_extra_in_one_line_and_its_settings_for_none(tmp_path: Path) -> None:
    program = "from app.cli import main; sys.exit(str([main([each]) for each in ('serve', 'config')]))"
    line, statuses = python(program, tmp_path, SERVE).stderr.splitlines()
    assert statuses == "[1, 0]"
    assert line.startswith("mace: needs ")
    assert line.endswith("pip install 'macekit[serve]'")
