"""Every example runs as its first lines say, and shows what it says."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout


def test_without_leakage_the_published_interval_never_covers_and_the_certified_one_does() -> None:
    rows = [line.split() for line in run("no_leakage.py").splitlines()[3:]]

    assert len(rows) == 3
    for row in rows:
        assert row[1] == "0%"
        assert (
            int(row[4].rstrip("%")) >= 92
        )  # P(Bin(100, 0.95) < 92) = 6% at the nominal level; it is above that


def test_merged_shards_equal_one_pass() -> None:
    printed = run("shards.py")

    assert "equal to one pass: True" in printed
    assert "With 95% confidence" in printed
