"""docs/cli.md keeps its word: what it shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.cli.commands import QUESTIONS, THEORY
from macekit.formats import SUFFIXES
from tests.app.cli.fork import run_mace

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ (mace [^\n]*)\n(.*?)```", PAGE, flags=re.DOTALL)


DECIDED = {"✕ FAIL": 1, "Fail": 1, "? UNDECIDED": 3}
"""How an example shows that something failed, or is open, and what its command then ends with."""


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as wide as they are where no terminal says how wide it is."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_what_the_page_shows_is_printed(command: str, printed: str, folder: Path) -> None:
    if "texts.jsonl" in command and not command.startswith("mace text "):  # what the example before it wrote
        run_mace("text", "tokens.jsonl", "texts.jsonl", folder=folder)

    done = run_mace(*shlex.split(command)[1:], folder=folder)

    decided = next(
        (status for word, status in DECIDED.items() if f"{word}\n" in printed or f"\n{word}:" in printed), 0
    )
    assert (done.returncode, done.stderr) == (decided, "")
    assert done.stdout == printed


def test_the_page_has_three_examples_and_knows_every_command_and_suffix() -> None:
    assert len(SHOWN) >= 3
    assert all(f"`mace {question.command}`" in PAGE for question in (*QUESTIONS, *THEORY))
    assert all(f"`{suffix}`" in PAGE for suffix in SUFFIXES)


def test_the_demo_prints_what_the_page_shows(tmp_path: Path) -> None:
    shown = next(
        block for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "Optimal advantage" in block
    )

    printed = run_mace("demo", folder=tmp_path).stdout

    answer, _, where = printed.partition("\nReport: ")
    assert answer.strip() == shown.strip()
    assert where.startswith(f"{tmp_path.resolve()}/mace-demo/report.html\n")
