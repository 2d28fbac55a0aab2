"""Files to ask about: the service's own examples; and the command, in this process or as one of its own."""

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main
from app.cli.parsing import FAIL, PASS, UNDECIDED
from app.openapi.examples import FILES, JSON_EXAMPLES, file_bytes
from estimators.audits.queries.shadows import random_halves
from macekit.call import CSV

COMMAND = [sys.executable, "-m", "app.cli"]
SIDES = {"members": [n / 60 for n in range(60)], "nonmembers": [n / 60 - 0.2 for n in range(60)]}


@cache
def examples() -> dict[str, bytes]:
    """Every example: as tables, as a request, as two models."""
    models: Any = JSON_EXAMPLES["compare"]["models"].value
    texts = {name: table(sides["members"], sides["nonmembers"]) for name, sides in models["queries"].items()}
    return {
        **{name: file_bytes(name) for name in FILES},
        "request.json": json.dumps(JSON_EXAMPLES["advantage"]["scores"].value).encode(),
        "tokens.jsonl": tokens(),
        "signals.npz": signals(),
        "runs.csv": runs().encode(),
        **{f"{name}.csv": text.encode() for name, text in texts.items()},
    }


def put_examples(folder: Path) -> None:
    for name, data in examples().items():
        (folder / name).write_bytes(data)


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


# --- the command ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """What came of a line: the exit status, and what stands on both streams."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """The answer of a line with ``--json``, whatever was decided."""
        assert self.status in (PASS, FAIL, UNDECIDED), self.err
        return json.loads(self.out)


def typed(line: str, *words: str, stdin: bytes | None = None) -> Done:
    """Type a line in this process; further words are taken as they are, and ``stdin`` comes through a pipe."""
    with _standard_input(stdin), _streams() as (out, err):
        try:
            status = main([*shlex.split(line), *words])
        except SystemExit as end:  # how argparse ends
            status = int(str(end.code or 0))
    return Done(status, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def typed_with(settings: Mapping[str, str], line: str) -> Done:
    """Type a line where the environment has these settings and no others."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("MACE_")]:
            patch.delenv(name)
        for name, value in settings.items():
            patch.setenv(f"MACE_{name.upper()}", value)
        return typed(line)


def refused(line: str, *words: str, stdin: bytes | None = None) -> str:
    """What is said of a line that is misuse, and nothing is printed."""
    done = typed(line, *words, stdin=stdin)
    assert (done.status, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    return done.err


def answer(line: str, *words: str, stdin: bytes | None = None) -> Any:
    """The answer to a line as JSON, whatever was decided."""
    return typed(line, *words, "--json", stdin=stdin).answer


def service(operation: str, file: Path | str = "scores.csv", **query: str) -> Any:
    """What the service answers to the same table."""
    from tests.macekit.asking import ask  # brings scikit-learn, which few files need

    return ask(operation, Path(file).read_bytes(), CSV, **query)


@contextmanager
def _streams() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        yield out, err


@contextmanager
def _standard_input(data: bytes | None) -> Iterator[None]:
    """A pipe with these bytes in place of standard input, which is empty while tests run."""
    if data is None:
        yield
        return
    reader, writer = os.pipe()
    fcntl(writer, F_SETPIPE_SZ, 2**20)
    assert os.write(writer, data) == len(data)
    os.close(writer)
    kept = os.dup(0)
    os.dup2(reader, 0)
    os.close(reader)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


HUMBLE = (
    ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all") if os.geteuid() == 0 else ()
)
"""What makes a program heed permissions even for root, whom they do not stop."""


def process(line: str, *words: str, stdin: bytes | None = b"") -> Done:
    """The same as a process of its own."""
    ran = subprocess.run(
        [*COMMAND, *shlex.split(line), *words],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        env=dict(os.environ),  # without the width that readline, which pytest loads, tells children only
    )
    return Done(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
