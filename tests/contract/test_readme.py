"""The README keeps its word: the output it shows is the output, and its code runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from estimators import Scores

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_demo_prints_what_the_readme_shows() -> None:
    shown = next(block for block in blocks("text") if "optimal advantage" in block)

    printed = subprocess.run(
        [sys.executable, "-m", "app.cli", "demo"], capture_output=True, text=True, timeout=60, check=True
    ).stdout

    assert printed.strip() == shown.strip()


def test_the_readmes_code_runs_as_it_stands() -> None:
    rng = np.random.default_rng(0)
    members, nonmembers = rng.normal(0.5, size=400), rng.normal(size=400)
    names: dict[str, object] = {
        "members": members,
        "nonmembers": nonmembers,
        "shard_1": Scores.of(members[:200], nonmembers[:200]),
        "shard_2": Scores.of(members[200:], nonmembers[200:]),
    }

    for block in blocks("python"):
        exec(block, names)

    assert names["answer"].verdict is not None  # type: ignore[attr-defined]
    assert names["merged"].n_records == 800  # type: ignore[attr-defined]


def test_every_file_the_readme_names_is_there() -> None:
    root = Path(__file__).parents[2]

    named = set(re.findall(r"\]\(([^)#:]+)\)", README)) | set(
        re.findall(r"`((?:docs|scripts)/[\w./-]+)`", README)
    )

    assert {name for name in named if not (root / name).exists()} == set()
    assert len(named) > 5
