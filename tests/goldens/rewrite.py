"""The goldens, made anew: what the service answers and what the shell prints, so that a change of either is seen.

    .venv/bin/python -m tests.goldens.rewrite                 # where they are kept
    .venv/bin/python -m tests.goldens.rewrite FOLDER  # in folders of another: their whole/ have every text in full

The tests run the same program with another folder, and compare. Words are kept as they are, of all else a digest: to
see what a digest stands for, make the texts in full before and after a change, and compare the two folders.
"""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "files"
PARTS = ("service", "shell")
COMMAND = ".venv/bin/python -m tests.goldens.rewrite"
STEADY = {"MACE_WORKERS": "1", "COLUMNS": "100", "PYTHONWARNINGS": "error"}
"""What the environment says while goldens are made; of settings and pipelines it says nothing else."""


def make(folder: Path) -> None:
    """Write the goldens of each part into a folder of this one, in a process of its own."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("MACE_", "GITHUB_"))}
    subprocess.run(
        [sys.executable, "-m", "tests.goldens.rewrite", str(folder)],
        cwd=ROOT,
        env=bare | STEADY,
        stdin=subprocess.DEVNULL,
        check=True,
    )


def main(arguments: list[str]) -> None:
    """Make all parts in a given folder, or where they are kept."""
    for part in PARTS if arguments else ():
        kept, whole = importlib.import_module(f"tests.goldens.{part}").goldens()
        for name, text in {**kept, **{f"whole/{name}": text for name, text in whole.items()}}.items():
            path = Path(*arguments, part, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    if not arguments:
        new = FILES / "new"
        make(new)
        for part in PARTS:
            shutil.rmtree(new / part / "whole")
            shutil.rmtree(FILES / part, ignore_errors=True)
            (new / part).rename(FILES / part)
        new.rmdir()


if __name__ == "__main__":
    main(sys.argv[1:])
