"""Transcripts of the command: what is typed, what is printed where, which files are written, and the exit status."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from tests.contract.document import unfolded
from tests.goldens.steady import steady

ROOT = Path(__file__).parents[2]

ONE_SAMPLE = (
    "--help",
    "",
    "nowhere.csv",
    "scores.csv --score nobody",
    "scores.csv --prio 0.1",
    "scores.csv --prior 2",
    "scores.csv --prior 0.1 --prior 0.2",
)
"""What is tried with every question about one sample of scores."""

ONE_TABLE = ("--help", "", "nowhere.csv", "scores.csv --column nobody")
"""What is tried with every question of theory that takes a table."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "": ("", "--help", "--version", "estimat", "--prior 0.1"),
    "demo": ("--help", "", "surplus"),
    "estimate": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --threshold 0.1",
        "scores.csv --json",
        "scores.csv --score loss --member member --prior 0.1 --metric f_beta --beta 2",
        "scores.csv --estimator kde --claimed-epsilon 1 --claimed-delta 1e-5",
        "scores.csv --confidence 0.99 --query discrete --operating-points 0.1,0.5",
        "scores.tsv --quiet",
        "--members members.csv --nonmembers nonmembers.csv",
        "--members members.csv",
        "scores.csv --members members.csv --nonmembers nonmembers.csv",
        "request.json",
        "counts.json",
        "broken.csv",
        "empty.csv",
        "scores.csv -o answer.json",
        "scores.csv -o answer.json --overwrite",
        "scores.csv -o card.md --card",
        "scores.csv -o answer.csv",
        "scores.csv -o answer.doc",
        "scores.csv -o scores.csv",
        "scores.csv -o chart.svg --chart nothing",
        "scores.csv --estimator forest",
        "scores.csv --learners logistic",
    ),
    "report": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --group group --max-advantage 0.1 -o report.html",
        "scores.csv --group group --max-advantage 0.1 -o report.md",
        "scores.csv -o report.json",
        "report.json -o again.md",
        "scores.csv -o roc.svg --chart roc",
        "scores.csv --group nobody",
    ),
    "risk": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --group group --top 3",
        "scores.csv --top 2 --json",
        "scores.csv -o risks.csv",
        "scores.csv -o risk.html",
    ),
    "compare": (
        "--help",
        "",
        "before.csv after.csv",
        "before.csv after.csv --no-paired",
        "before.csv after.csv --no-paired --against before",
        "before.csv after.csv --no-paired --against nobody",
        "scores.csv --score score,loss",
        "scores.csv --score score,loss -o compared.md",
        "before.csv before.csv --no-paired",
        "before.csv nowhere.csv",
        "queries.json",
    ),
    "metrics": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --metrics accuracy,precision --prior 0.1",
        "scores.csv --metrics f1",
        "scores.csv -o metrics.md",
    ),
    "attack": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --threshold 0.5",
        "scores.csv --rule top --side below --prior 0.1",
        "scores.csv --quantile 0.9 --of nonmembers --metrics precision,recall",
        "scores.csv --threshold 0.5 --no-chosen-before -o attack.md",
        "scores.csv --threshold 0.5 --of all",
    ),
    "audit": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --claimed-epsilon 0.5",
        "scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",
        "scores.csv --claimed-epsilon -1",
        "scores.csv --claimed-epsilon 0.5 -o audit.md",
    ),
    "plan": (
        "--help",
        "",
        "--expected 0.05 --max-advantage 0.1",
        "--expected 0.2 --width 0.1",
        "--expected 0.2 --width 0.1 --prior 0.1",
        "--expected 0.1 --max-advantage 0.1",
        "--expected 0.1",
        "--expected 0.05 --max-advantage 0.1 -o plan.md",
        "scores.csv --expected 0.05",
    ),
    "counts": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --json",
        "scores.csv --cells equal_mass --bins 4 -o shard.json",
        "scores.csv -o shard.csv",
    ),
    "text": ("--help", "", "nowhere.jsonl scores.jsonl", "scores.csv texts.jsonl", "scores.csv texts.doc"),
    "shadows": ("--help", "", "nowhere.npz", "scores.csv", "scores.csv --scale odds"),
    "gate": (
        *ONE_SAMPLE,
        "scores.csv",
        "scores.csv --max-advantage 0.9 --junit gate.xml --metrics gate.txt --summary gate.md",
        "scores.csv --max-advantage 0.1 --junit gate.xml --metrics gate.txt --summary gate.md",
        "scores.csv --max-advantage 0.6 --junit gate.xml --metrics gate.txt --summary gate.md",
        "scores.csv --max-epsilon 1 --delta 0.01",
        "scores.csv --metric f_beta --beta 2 --max 0.7",
        "scores.csv --max-group-risk 0.5 --group group --max-advantage 0.9",
        "scores.csv --max-advantage 0.9 --json",
        "scores.csv --max-advantage 0.9 -o gated.html",
        "scores.csv --max-advantage nan",
        "scores.csv --max-advantage 7",
        "scores.csv --metric accuracy",
        "scores.csv --max 0.7",
        "scores.csv --max-advantage 0.5 --delta 0.1",
        "scores.csv --max-group-risk 0.5",
        "scores.csv --max-advantage 0.5 --junit scores.csv",
        "scores.csv --max-advantag 0.5",
        "scores.csv --max-advantage 0.1 --max-advantage 0.5",
    ),
    "theory": ("", "--help", "dpp"),
    "theory dp": (
        "--help",
        "",
        "--epsilon 1 --delta 1e-5 --prior 0.1",
        "--mu 1 --delta 1e-5",
        "--noise-multiplier 1.1 --steps 1000 --sampling-rate 0.01 --delta 1e-5",
        "--rdp 2:0.1,4:0.3,16:1.2 --delta 1e-5",
        "--advantage 0.1 --false-positive-rates 0.01",
        "--epsilon 1 --mu 1",
        "--epsilon 1 --json",
        "--epsilon 1 -o dp.md",
        "--rdp 2",
    ),
    "theory convert": (
        "--help",
        "",
        "--advantage 0.2 --delta 1e-5",
        "--eta 0.1",
        "--epsilon 1 --false-positive-rates 0.001",
        "--mu 1 --delta 1e-5 --prior 0.2",
        "--advantage 0.2 --eta 0.1",
        "--advantage 0.5 --prior 0.1",
        "--eta 0.1 -o convert.md",
    ),
    "theory together": (
        *ONE_SAMPLE,
        "scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",
        "scores.csv --claimed-epsilon 0.1 --direction high",
        "scores.csv --claimed-epsilon 0.1 -o together.md",
    ),
    "theory mip": (
        *ONE_TABLE,
        "theory-mip.csv --eta 0.1 --records 8",
        "theory-mip.npy --eta 0.1 --records 8 --noise laplace",
        "theory-mip.csv --eta 0.7",
    ),
    "theory mip-finite": (
        *ONE_TABLE,
        "theory-mip-finite.csv --n 4",
        "theory-mip-finite.csv --n 6 --k 3",
        "theory-mip-finite.csv --n 4 -o finite.md",
    ),
    "theory mis": (
        *ONE_TABLE,
        "theory-mis.csv --sizes 1000,10000",
        "theory-mis.csv --column values --delta 0.1 --universe 5",
        "theory-mis.csv --sizes 0",
    ),
    "theory mis-overfitting": (
        "--help",
        "",
        "nowhere.csv",
        "theory-mis-overfitting.csv",
        "theory-mis-overfitting.csv --alpha 0.1",
        "theory-mis-overfitting.csv --losses-of independent_trainings --thresholds 0.05,0.1",
        "--members members.csv --nonmembers nonmembers.csv",
    ),
    "theory mis-divergence": (
        *ONE_TABLE,
        "theory-mis-divergence.csv --nonmember-share 0.8",
        "theory-mis-divergence.csv --nonmember-share 1",
    ),
    "theory mis-mean": (
        "--help",
        "",
        "--dimension 10 --sizes 1000,100,10000 --nonmember-share 0.5",
        "--delta 0.01",
        "--dimension 0",
    ),
    "theory pmp-exponential": (
        *ONE_TABLE,
        "theory-pmp-exponential.csv --epsilon 1 --sensitivity 1",
        "theory-pmp-exponential.csv --practical-epsilon 0.5 --sensitivity 1",
        "theory-pmp-exponential.csv --sensitivity 1",
    ),
    "theory pmp-finite": (
        *ONE_TABLE,
        "theory-pmp-finite.csv --delta 0.01",
        "theory-pmp-finite.npy --delta 2",
        "theory-pmp-finite.csv -o finite-practical.md",
    ),
    "theory pmp-gaussian": (
        *ONE_TABLE,
        "theory-pmp-gaussian.csv --clip 1 --sigma 0.1 --delta 1e-5",
        "theory-pmp-gaussian.npy --clip 1 --epsilon 5 --delta 0.01 --query sum",
        "theory-pmp-gaussian.csv --clip 1 --delta 0.01",
    ),
    "serve": ("--help", "--workers 2"),
    "config": ("--help", "", "--toml", "--json"),
}
"""What is typed after each command; all of it in one folder, in this order."""


def goldens() -> dict[str, str]:
    """Every transcript, by the name of its file."""
    module, _, name = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"][
        "mace"
    ].partition(":")
    main = getattr(importlib.import_module(module), name)
    kept = {}
    for command, lines in COMMANDS.items():
        with tempfile.TemporaryDirectory() as made, chdir(made):
            _put_files(Path(made))
            runs = [_run(main, f"{command} {line}".strip(), Path(made).resolve()) for line in lines]
        kept[f"{command.replace(' ', '-') or 'mace'}.txt"] = "\n".join(runs)
    return kept


def _run(main: Callable[[list[str]], int], line: str, folder: Path) -> str:
    """One command and all that came of it."""
    before = _files(folder)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(shlex.split(line))
        except SystemExit as end:
            status = int(str(end.code or 0))
    printed, complaints = (_text(stream.buffer.getvalue(), folder, line) for stream in (out, err))
    written = [
        f"[wrote {name}]\n{_text(data, folder, line)}" if name.endswith((".md", ".xml", ".txt")) else
        f"[wrote {name}: sha256 {hashlib.sha256(_text(data, folder, line).encode()).hexdigest()}]\n"
        for name, data in _files(folder).items()
        if before.get(name) != data
    ]  # fmt: skip
    return "".join(
        [
            f"$ mace {line}\n".replace(" \n", "\n"),
            printed,
            f"[standard error]\n{complaints}" if complaints else "",
            *written,
            f"[exit status {status}]\n",
        ]
    )


def _files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _text(data: bytes, folder: Path, line: str) -> str:
    """Bytes as a text that is the same on every machine."""
    text = steady(data.decode().replace(str(folder), "/FOLDER"))
    if line.endswith("--help"):  # where argparse wraps, and how it repeats a value's name, depends on Python
        text = re.sub(r"-(\w) (\w+), --", r"-\1, --", text)
        text = re.sub(r"\n {10,}(?=\S)", " ", text)
        text = re.sub(r"(?<=\S) {2,}", " ", text)
    return text


def _put_files(folder: Path) -> None:
    """The examples of the OpenAPI document as files, and some that are wrong."""
    examples = {
        path: item["post"]["requestBody"]["content"]
        for path, item in unfolded()["paths"].items()
        if "post" in item
    }
    for contents in examples.values():
        for name, shown in contents.get("text/csv", {}).get("examples", {}).items():
            (folder / name).write_text(shown["value"])
    requests = {
        path: contents["application/json"]["examples"]
        for path, contents in examples.items()
        if "application/json" in contents
    }
    scores = requests["/v1/advantage"]["scores"]["value"]
    files = {
        "request.json": json.dumps(scores),
        "counts.json": json.dumps(requests["/v1/advantage"]["counts"]["value"]),
        "queries.json": json.dumps(requests["/v1/compare"]["queries"]["value"]),
        "members.csv": "\n".join(map(str, scores["members"])) + "\n",
        "nonmembers.csv": "\n".join(map(str, scores["nonmembers"])) + "\n",
        "scores.tsv": (folder / "scores.csv").read_text().replace(",", "\t"),
        "broken.csv": "score,member\n0.5,1\n0.7\n",
        "empty.csv": "",
    }
    for name, sides in requests["/v1/compare"]["models"]["value"]["queries"].items():
        rows = [f"{score},{int(side == 'members')}" for side in sides for score in sides[side]]
        files[f"{name}.csv"] = "\n".join(["score,member", *rows]) + "\n"
    for name, text in files.items():
        (folder / name).write_text(text)
    np.save(folder / "theory-mip.npy", requests["/v1/theory/mip"]["draws"]["value"]["draws"])
    np.save(
        folder / "theory-pmp-gaussian.npy", requests["/v1/theory/pmp-gaussian"]["mean"]["value"]["points"]
    )
