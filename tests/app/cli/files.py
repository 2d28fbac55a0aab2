"""Files to ask about: the service's own examples, and a shell to ask in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.openapi.examples import JSON_EXAMPLES
from app.openapi.files import FILES, file_bytes

COMMAND = [sys.executable, "-m", "app.cli"]


def put_examples(folder: Path) -> None:
    """Every example: as tables, as a request, as two models."""
    for name in FILES:
        (folder / name).write_bytes(file_bytes(name))
    (folder / "request.json").write_text(json.dumps(JSON_EXAMPLES["advantage"]["scores"].value))
    models = JSON_EXAMPLES["compare"]["models"].value
    assert isinstance(models, dict)
    for name, sides in models["queries"].items():
        (folder / f"{name}.csv").write_text(table(sides["members"], sides["nonmembers"]))


def table(members: list[float], nonmembers: list[float]) -> str:
    rows = [*(f"{score},1" for score in members), *(f"{score},0" for score in nonmembers)]
    return "\n".join(["score,member", *rows]) + "\n"


def side(scores: list[float]) -> str:
    return "\n".join(map(str, scores)) + "\n"


HUMBLE = (
    ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")
    if os.geteuid() == 0
    else ()
)
"""What makes a program heed permissions even for root, whom they do not stop."""


def mace(
    *arguments: str,
    folder: Path,
    stdin: bytes | None = b"",
    timeout: float = 120,
    through: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    done = subprocess.run(
        [*through, *COMMAND, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
        env=dict(os.environ),  # without the width that readline, which pytest loads, tells children only
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """The JSON answer of the command, run in this process."""
    status = main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    found: dict[str, object] = json.loads(out)
    return found
