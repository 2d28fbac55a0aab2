"""A release with and without copies, a hold-out of another year, and what models say of their rows."""

import csv
import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.app.cli.files import runs, signals, tokens
from tests.macekit.operations.test_synthetic import CLEAN, COPIED, HOLDOUT, SHIFTED, TRAIN

Table = dict[str, list[Any]]

RELEASE = "--train train.csv --holdout holdout.csv --synthetic"
SIDES = "--train train.csv --holdout holdout.csv"
SAID = "--train said_train.csv --holdout said_holdout.csv"
UNLEARNT = "--unseen unseen.csv --id id --forgotten"
CALM = "--train said_other.csv --holdout said_holdout.csv"


def written(table: Table, delimiter: str = ",") -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return sink.getvalue().encode()


def said(seed: int, sure: float, count: int = 300) -> Table:
    """Probabilities of three classes, those of the own class the higher the surer."""
    rng = np.random.default_rng(seed)
    own = rng.beta(sure, 1.0, count).round(4)
    truth = rng.integers(0, 3, count)
    others = ((1.0 - own) / 2.0).round(4)
    columns = [np.where(truth == each, 1.0 - 2.0 * others, others).round(4) for each in range(3)]
    names = np.array(["cat", "dog", "owl"])
    return {f"p_{name}": column.tolist() for name, column in zip(names, columns, strict=True)} | {
        "label": names[truth].tolist(),
        "age": rng.integers(20, 60, count).tolist(),
        "site": rng.choice(["north", "south"], count).tolist(),
    }


SAID_OF_OTHERS = said(1, 2.0)


def two_queries() -> Table:
    """Scores of two queries that leak, of a thousand records."""
    rng = np.random.default_rng(0)
    member = np.repeat([1, 0], 500)
    score, loss = rng.normal(member * 1.0), rng.normal(member * 0.6)
    return {"score": score.tolist(), "loss": loss.tolist(), "member": member.tolist()}


def forgotten(seed: int, mean: float) -> Table:
    """Scores of records that were forgotten, or never seen, and who they are."""
    scores = np.random.default_rng(seed).normal(mean, 1.0, 600).round(4)
    return {"id": [f"{seed}-{row}" for row in range(600)], "score": scores.tolist()}


@cache
def tables() -> dict[str, bytes]:
    scores = two_queries()
    files = {
        "train": TRAIN, "holdout": HOLDOUT, "copied": COPIED, "clean": CLEAN, "older": SHIFTED,
        "said_train": said(0, 12.0), "said_holdout": SAID_OF_OTHERS, "said_other": said(2, 2.0),
        "forgotten": forgotten(10, 0.0), "remembered": forgotten(11, 1.0), "unseen": forgotten(12, 0.0),
        "retained": forgotten(13, 2.0), "two": scores,
        "four": {**scores, "run": np.tile(np.arange(4), 250).tolist()},
    }  # fmt: skip
    made = {f"{name}.csv": written(table) for name, table in files.items()}
    return made | {"signals.npz": signals(), "tokens.jsonl": tokens(), "runs.csv": runs().encode()}


def put_tables(folder: Path) -> None:
    for name, data in tables().items():
        (folder / name).write_bytes(data)
