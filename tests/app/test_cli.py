"""The command from a shell: a real process, its output and its exit status."""

import os
import subprocess
import sys
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


def test_the_demo_prints_a_table_a_verdict_and_a_sentence() -> None:
    done = run("demo")

    assert done.returncode == 0, done.stderr
    assert "\nOptimal advantage " in done.stdout
    assert "\nThe paper's statistic U_N (its expectation) " in done.stdout
    assert "With 95% confidence the best attacker who reads this score" in done.stdout


def test_the_demos_interval_contains_its_known_truth() -> None:
    line = next(line for line in run("demo").stdout.splitlines() if line.startswith("Optimal advantage"))

    lower, upper = (float(word) for word in line.split()[3:5])
    assert lower <= 0.2 <= upper


def test_two_runs_print_the_same() -> None:
    assert run("demo").stdout == run("demo").stdout


def test_an_unknown_command_is_misuse() -> None:
    done = run("frobnicate")

    assert done.returncode == 2
    assert "demo" in done.stderr
