"""Transcripts of the command: what is typed, what is printed where, which files are written, and the exit status.

The lines that are typed are those of the transcripts that are kept: a line ``$ mace ...`` that is written into one is
answered there when they are made anew. A new operation is asked ``USUAL`` without a transcript.
"""

import json
import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np

from app.openapi.examples import JSON_EXAMPLES, file_bytes, files
from macekit.catalogue import OPERATIONS
from tests.app.cli.files import typed as type_line
from tests.goldens.steady import digest, steady

KEPT = Path(__file__).parent / "files" / "shell"

USUAL = ("--help", "", "nowhere.csv")
"""What is tried with every question."""

WORDS = (".xml", ".txt")
"""Files that are kept as they are; reports are among the service's, and of the rest there is a digest."""


def lines() -> dict[str, list[str]]:
    """What is typed, by the name of the transcript; all of one in one folder, in this order."""
    typed = {f"{row.command.replace(' ', '-')}": [f"{row.command} {each}" for each in USUAL] for row in OPERATIONS}
    typed.pop("", None)
    for path in sorted(KEPT.glob("*.txt")):
        typed[path.stem] = re.findall(r"^\$ mace ?(.*)$", path.read_text("utf-8"), re.MULTILINE)
    return typed


def goldens() -> tuple[dict[str, str], dict[str, str]]:
    """Every transcript, by the name of its file, as it is kept and in full."""
    kept, whole = {}, {}
    for name, typed in lines().items():
        with tempfile.TemporaryDirectory() as made, chdir(made):
            _put_files(Path(made))
            runs = [_run(line.strip(), Path(made).resolve()) for line in typed]
        kept[f"{name}.txt"], whole[f"{name}.txt"] = ("\n".join(each) for each in zip(*runs, strict=True))
    return kept, whole


def _run(line: str, folder: Path) -> tuple[str, str]:
    """One command and all that came of it: as it is kept, and in full."""
    before = _files(folder)
    done = type_line(line)
    printed, complaints = (_text(each, folder, line) for each in (done.out, done.err))
    written = {
        name: _text(data.decode(), folder, line) for name, data in _files(folder).items() if before.get(name) != data
    }
    of_programs = re.search(r"--(help|json)\b", line)
    shown = f"[printed: {digest(printed)}]\n" if printed and of_programs else printed
    head = f"$ mace {line}\n".replace(" \n", "\n")
    error = f"[standard error]\n{complaints}" if complaints else ""
    end = f"[exit status {done.status}]\n"
    kept = [
        f"[wrote {name}]\n{text}" if name.endswith(WORDS) else f"[wrote {name}: {digest(text)}]\n"
        for name, text in written.items()
    ]
    whole = [f"[wrote {name}]\n{text}" for name, text in written.items()]
    return "".join([head, shown, error, *kept, end]), "".join([head, printed, error, *whole, end])


def _files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _text(text: str, folder: Path, line: str) -> str:
    """The text as it is on every machine."""
    text = steady(text.replace(str(folder), "/FOLDER"))
    if line.endswith("--help"):  # where argparse wraps, and how it repeats a value's name, depends on Python
        text = re.sub(r"-(\w) (\w+), --", r"-\1, --", text)
        text = re.sub(r"\n {10,}(?=\S)", " ", text)
        text = re.sub(r"(?<=\S) {2,}", " ", text)
    return text


def _put_files(folder: Path) -> None:
    """The examples that the service shows as files, and some that are wrong."""
    for name in (each for each in files() if each.endswith(".csv")):
        (folder / name).write_bytes(file_bytes(name))
    requests: Any = {
        operation: {name: example.value for name, example in examples.items()}
        for operation, examples in JSON_EXAMPLES.items()
    }
    scores = requests["advantage"]["scores"]
    texts = {
        "request.json": json.dumps(scores),
        "counts.json": json.dumps(requests["advantage"]["counts"]),
        "queries.json": json.dumps(requests["compare"]["queries"]),
        "members.csv": "\n".join(map(str, scores["members"])) + "\n",
        "nonmembers.csv": "\n".join(map(str, scores["nonmembers"])) + "\n",
        "scores.tsv": (folder / "scores.csv").read_text().replace(",", "\t"),
        "broken.csv": "score,member\n0.5,1\n0.7\n",
        "empty.csv": "",
    }
    for name, sides in requests["compare"]["models"]["queries"].items():
        rows = [f"{score},{int(side == 'members')}" for side in sides for score in sides[side]]
        texts[f"{name}.csv"] = "\n".join(["score,member", *rows]) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text)
    np.save(folder / "theory-mip.npy", requests["theory/mip"]["draws"]["draws"])
    np.save(folder / "theory-pmp-gaussian.npy", requests["theory/pmp-gaussian"]["mean"]["points"])
