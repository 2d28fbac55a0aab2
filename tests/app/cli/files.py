"""Files to ask about: the service's own examples, and a shell to ask in."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from app.cli.status import FAIL, PASS, UNDECIDED
from app.openapi.examples import JSON_EXAMPLES
from app.openapi.files import FILES, file_bytes
from estimators.queries.shadows import random_halves

COMMAND = [sys.executable, "-m", "app.cli"]


def put_examples(folder: Path) -> None:
    """Every example: as tables, as a request, as two models."""
    for name in FILES:
        (folder / name).write_bytes(file_bytes(name))
    (folder / "request.json").write_text(json.dumps(JSON_EXAMPLES["advantage"]["scores"].value))
    (folder / "tokens.jsonl").write_bytes(tokens())
    (folder / "signals.npz").write_bytes(signals())
    (folder / "runs.csv").write_text(runs())
    models = JSON_EXAMPLES["compare"]["models"].value
    assert isinstance(models, dict)
    for name, sides in models["queries"].items():
        (folder / f"{name}.csv").write_text(table(sides["members"], sides["nonmembers"]))


def runs() -> str:
    """Scores by four models of one training, ten members and ten nonmembers each."""
    rows = [
        f"{(7 * place + 3 * run) % 20 + (run + 4) * member},{member},{run}"
        for run in range(4)
        for place in range(10)
        for member in (1, 0)
    ]
    return "\n".join(["score,member,run", *rows])


def tokens() -> bytes:
    """What two language models said of texts of 30 documents, two pieces each."""
    lines = []
    for piece in range(60):
        document, member = piece // 2, piece // 2 % 2 == 0
        losses = [((7 * piece + 3 * place) % 19 + (1 if member else 4)) / 8 for place in range(6 + piece % 5)]
        record = {
            "id": f"t{piece}",
            "document": f"d{document}",
            "member": member,
            "logprobs": [None, *(-loss for loss in losses)],
            "reference_logprobs": [None, *(-(loss + 0.5 * member) for loss in losses)],
            "text": f"piece {piece} of the text {'and so on ' * (piece % 5)}",
        }
        lines.append(json.dumps(record) + "\n")
    return "".join(lines).encode()


def signals() -> bytes:
    """Signals of a model and of 16 shadows, of 120 records of either side: what is hard is hard for each of them."""
    sink = io.BytesIO()
    rng = np.random.default_rng(5)
    hard, member = np.round(rng.uniform(-6, 6, 240), 3), np.arange(240) < 120
    membership = random_halves(16, 240, seed=5)
    noise = np.round(rng.uniform(-1, 1, (17, 240)), 3)
    np.savez(
        sink,
        target=hard + member + noise[16],
        signals=hard + membership + noise[:16],
        membership=membership,
        member=member,
        group=np.where(np.arange(240) % 3 > 0, "young", "old"),
    )
    return sink.getvalue()


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
    """The JSON answer of the command, run in this process, whatever was decided."""
    status = main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert status in (PASS, FAIL, UNDECIDED), err
    found: dict[str, object] = json.loads(out)
    return found
