"""docs/cli.md keeps its word: what it shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.cli.catalogue import QUESTIONS, THEORY
from macekit.formats import SUFFIXES
from tests.app.cli.files import mace

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ (mace [^\n]*)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_what_the_page_shows_is_printed(command: str, printed: str, folder: Path) -> None:
    done = mace(*shlex.split(command)[1:], folder=folder)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_the_page_has_three_examples_and_knows_every_command_and_suffix() -> None:
    assert len(SHOWN) >= 3
    assert all(f"`mace {question.name}`" in PAGE for question in (*QUESTIONS, *THEORY))
    assert all(f"`{suffix}`" in PAGE for suffix in SUFFIXES)
