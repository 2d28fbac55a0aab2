"""Commands that read, write and draw answer where there is no Unix; the service says in one line where it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.cli.tables import RELEASE
from tests.cases import each_case

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.slow


def there(*words: str) -> subprocess.CompletedProcess[str]:
    """What the command says without Unix."""
    return subprocess.run(
        [sys.executable, "-m", "tests.windows", *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "OMP_NUM_THREADS": "1"},
    )


def here(*words: str) -> subprocess.CompletedProcess[str]:
    """The same with it."""
    return subprocess.run(
        [sys.executable, "-m", "macekit", *words], capture_output=True, text=True, check=False
    )


LINES = [
    "gate two.csv --max-advantage 0.9 --json",
    "report two.csv -o report.html --overwrite",
    "counts two.csv -o counts.json --overwrite",
    f"synthetic {RELEASE} clean.csv --max-advantage 0.9 --json",
    "config --toml",
]


@pytest.mark.usefixtures("tables")
@each_case("line", LINES)
def test_a_command_answers_as_everywhere(line: str) -> None:
    answers, files = [], []
    for run in (there, here):
        done = run(*line.split())
        assert "Traceback" not in done.stderr
        answers.append((done.returncode, done.stdout))
        files.append(
            [path.read_bytes() for name in ("report.html", "counts.json") if (path := Path(name)).exists()]
        )
    assert answers[0] == answers[1]
    assert len(files[0]) == len(files[1])


@pytest.mark.usefixtures("tables")
def test_the_first_command_draws_its_report() -> None:
    done = there("demo")

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert Path("mace-demo", "report.html").read_text("utf-8").count("<svg") >= 3


def test_the_service_says_where_it_runs() -> None:
    done = there("serve")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "mace cannot start: the service forks its workers, which this system cannot; run it"
    )
    assert len(done.stderr.splitlines()) == 1


def test_without_unix_python_gives_the_same_answer() -> None:
    program = (
        "{hidden}import json, macekit; sides = [[k / by for k in range(40)] for by in (9, 7)]; "
        "print(json.dumps(macekit.gate(*sides, max_advantage=0.5).answer))"
    )
    answers = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", program.format(hidden=hidden)],
                capture_output=True,
                text=True,
                check=True,
                cwd=ROOT,
            ).stdout
        )
        for hidden in ("from tests.windows import hide; hide(); ", "")
    ]
    assert answers[0] == answers[1]
