"""Commands that read, write and draw answer where there is no Unix; the service says in one line where it runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import macekit
from tests.app.cli.files import Done, typed
from tests.app.cli.tables import RELEASE, put_tables

ROOT = Path(__file__).parents[3]
LINES = [
    "gate two.csv --max-advantage 0.9 --json",
    "report two.csv -o report.html --overwrite",
    "counts two.csv -o counts.json --overwrite",
    f"synthetic {RELEASE} clean.csv --max-advantage 0.9 --json",
    "config --toml",
]

pytestmark = pytest.mark.slow


def there(program: str, *words: str, folder: Path = ROOT) -> str:
    """What a process without Unix prints, whose program is a module of ours or stands here."""
    done = subprocess.run(
        [sys.executable, *program.split(maxsplit=1), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "OMP_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables, and what the lines wrote."""
    found = tmp_path_factory.mktemp("windows")
    put_tables(found)
    return found


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[str, Done]:
    """What each line says there: all are typed in one process, which takes longer to start than to answer."""
    lines = [*LINES, "demo", "serve"]
    printed = there("-m tests.windows", *lines, folder=folder).splitlines()
    return {line: Done(*json.loads(each)) for line, each in zip(lines, printed, strict=True)}


@pytest.mark.parametrize("line", LINES)
def test_a_command_answers_as_everywhere(line: str, said: dict[str, Done], folder: Path, empty: Path) -> None:
    put_tables(empty)

    here = typed(line)

    assert "Traceback" not in said[line].err + here.err
    assert (said[line].status, said[line].out) == (here.status, here.out)
    for written in {"report.html", "counts.json"} & {*line.split()}:
        assert len((folder / written).read_text("utf-8")) == len((empty / written).read_text("utf-8"))


def test_the_first_command_draws_its_report(said: dict[str, Done], folder: Path) -> None:
    assert said["demo"].status == 0, said["demo"].err
    assert "Traceback" not in said["demo"].err
    assert (folder / "mace-demo" / "report.html").read_text("utf-8").count("<svg") >= 3


def test_the_service_says_where_it_runs(said: dict[str, Done]) -> None:
    assert (said["serve"].status, said["serve"].out) == (2, "")
    assert said["serve"].err.startswith(
        "mace cannot start: the service forks its workers, which this system cannot; run it"
    )
    assert len(said["serve"].err.splitlines()) == 1


def test_without_unix_python_gives_the_same_answer() -> None:
    sides = [[k / by for k in range(40)] for by in (9, 7)]
    program = (
        "from tests.windows import hide; hide(); import json, macekit; "
        f"print(json.dumps(macekit.gate(*{sides}, max_advantage=0.5).answer))"
    )

    assert json.loads(there("-c " + program)) == macekit.gate(*sides, max_advantage=0.5).answer
