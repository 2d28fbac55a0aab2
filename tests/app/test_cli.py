"""The command from a shell: a real process, its output and its exit status."""

import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if name != "COLUMNS"
    }  # pytest may set it
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> list[subprocess.CompletedProcess[str]]:
    """Two runs in one folder, each a process of its own."""
    with chdir(tmp_path_factory.mktemp("demo")):
        return [run("demo") for _ in range(2)]


def test_the_demo_prints_a_table_a_verdict_and_a_sentence(
    demos: list[subprocess.CompletedProcess[str]],
) -> None:
    done = demos[0]

    assert done.returncode == 0, done.stderr
    assert "\nOptimal advantage " in done.stdout
    assert "\nThe paper's statistic U_N (its expectation) " in done.stdout
    assert "With 95% confidence the best attacker who reads this score" in done.stdout


def test_the_demos_interval_contains_its_known_truth(demos: list[subprocess.CompletedProcess[str]]) -> None:
    line = next(line for line in demos[0].stdout.splitlines() if line.startswith("Optimal advantage"))

    lower, upper = (float(word) for word in line.split()[3:5])
    assert lower <= 0.2 <= upper


def test_two_runs_print_the_same(demos: list[subprocess.CompletedProcess[str]]) -> None:
    assert demos[0].stdout == demos[1].stdout


def test_an_unknown_command_is_misuse() -> None:
    done = run("frobnicate")

    assert done.returncode == 2
    assert "demo" in done.stderr
