"""docs/cli.md keeps its word: what it shows is what the commands print."""

import re
from pathlib import Path

import pytest

from app.cli.commands import QUESTIONS, THEORY
from macekit.formats import SUFFIXES
from tests.app.cli.files import typed
from tests.cases import each_case

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ (mace [^\n]*)\n(.*?)```", PAGE, flags=re.DOTALL)


DECIDED = {"✕ FAIL": 1, "Fail": 1, "? UNDECIDED": 3}
"""How an example shows that something failed, or is open, and what its command then ends with."""


@pytest.mark.slow
@each_case("command, printed", SHOWN)
def test_what_the_page_shows_is_printed(command: str, printed: str, folder: Path) -> None:
    done = typed(command.removeprefix("mace "))

    decided = next((status for word, status in DECIDED.items() if f"{word}\n" in printed or f"\n{word}:" in printed), 0)
    assert (done.status, done.err) == (decided, "")
    assert done.out == printed


def test_the_page_has_three_examples_and_knows_every_command_and_suffix() -> None:
    assert len(SHOWN) >= 3
    assert all(f"`mace {question.command}`" in PAGE for question in (*QUESTIONS, *THEORY))
    assert all(f"`{suffix}`" in PAGE for suffix in SUFFIXES)


def test_the_demo_prints_what_the_page_shows(empty: Path) -> None:
    shown = next(block for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "true advantage" in block)

    answer, _, where = typed("demo").out.partition("\nReport: ")
    assert answer.strip().startswith(shown.strip())
    report = typed(PAGE.split("The rest is that of `mace ", 1)[1].partition("`")[0]).out
    assert answer.strip().endswith(f"the rest of their answer:\n\n{report.strip()}")
    assert where.startswith(f"{empty.resolve()}/mace-demo/report.html\n")
