"""The command from a shell: a real process, its output and its exit status."""

import os
import subprocess
import sys
from pathlib import Path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.cli", *arguments]
    bare = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # pytest may set it
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=folder, env=bare
    )


def test_the_demo_prints_a_table_a_verdict_and_a_sentence_and_contains_its_known_truth(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "demo")

    assert done.returncode == 0, done.stderr
    assert "\nThe paper's statistic U_N (its expectation) " in done.stdout
    assert "With 95% confidence the best attacker who reads this score" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("Optimal advantage"))
    lower, upper = (float(word) for word in line.split()[3:5])
    assert lower <= 0.2 <= upper


def test_an_unknown_command_is_misuse(tmp_path: Path) -> None:
    done = run(tmp_path, "frobnicate")

    assert done.returncode == 2
    assert "demo" in done.stderr
