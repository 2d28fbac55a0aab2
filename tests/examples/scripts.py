"""Examples as programs, run in this process."""

import io
import os
import runpy
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.app.cli.files import Done

EXAMPLES = Path(__file__).parents[2] / "examples"


def ran(name: str, *arguments: str, **changes: Any) -> Done:
    """What an example prints when it is run with these arguments; ``changes`` are made to what stands in it first.

    Warnings of other packages are as they are in a program: shown, and no errors.
    """
    path = EXAMPLES / name
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(sys, "argv", [str(path), *arguments])
        patch.syspath_prepend(str(path.parent))
        module = runpy.run_path(str(path), run_name="__main__" if not changes else "example")
        if changes:
            main = module["main"]
            assert changes.keys() <= main.__globals__.keys()
            main.__globals__.update(changes)
            main(*arguments)
    return Done(0, out.getvalue(), err.getvalue())


def require_a_table_and_a_drawing(example: ModuleType, folder: Path) -> None:
    """What an example of theory prints and draws when it is run quickly."""
    target = folder / "drawn.svg"
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.setattr(sys, "argv", ["example", "--quick", "-o", str(target)])
        example.main()

    assert "| --- |" in printed.getvalue()
    assert target.read_text("utf-8").startswith("<svg")


def table_rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, heads among them."""
    rows = (line for line in text.splitlines() if line.startswith("|") and "---" not in line)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def bare_environment() -> dict[str, str]:
    """The environment without settings, or a pipeline that the tests may themselves run in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MACE_", "GITHUB_", "CI"))}
