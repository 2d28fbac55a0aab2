"""`mace completion`: what the Tab key offers, asked of a real bash; and that every option is in every script."""

import subprocess
from pathlib import Path

import pytest

from app.cli.completion import SHELLS
from tests.app.cli.files import typed

OFFER = """
source mace.bash
complete -p mace
while IFS= read -r line; do
    read -ra COMP_WORDS <<< "$line"
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _mace
    echo "${COMPREPLY[@]}"
done
"""


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: typed(f"completion {shell}").out for shell in SHELLS}


def test_bash_completes_commands_options_names_and_files(empty: Path, scripts: dict[str, str]) -> None:
    (empty / "mace.bash").write_text(scripts["bash"])
    lines = ["mace ga", "mace gate --max-adv", "mace gate --metric jac", "mace theory mip-", "mace "]

    done = subprocess.run(
        ["bash", "-c", OFFER], input="\n".join([*lines, ""]), capture_output=True, text=True, check=True
    )

    described, *offered, commands = done.stdout.splitlines()
    assert described == "complete -o default -F _mace mace", "files, where nothing is offered"
    assert offered == ["gate", "--max-advantage", "jaccard", "mip-finite"]
    assert {"demo", "gate", "theory", "serve", "completion"} <= set(commands.split())


def test_each_script_knows_every_command_and_option(scripts: dict[str, str]) -> None:
    for shell, text in scripts.items():
        for word in ("compare-releases", "max-advantage", "holdout", "noise-multiplier", "keys"):
            assert word in text, (shell, word)


def test_what_is_no_shell_is_misuse() -> None:
    done = typed("completion csh")

    assert (done.status, done.out) == (2, "")
