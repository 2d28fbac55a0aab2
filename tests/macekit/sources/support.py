"""One table of both sides, and the same in several files."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = {"score": "loss", "member": "is_train"}


def table(size: int = 3000) -> pa.Table:
    """Records of both sides, shuffled, with a region each."""
    rng = np.random.default_rng(3)
    inside = rng.random(size) < 0.4
    loss, region = rng.normal(np.where(inside, 0.5, 0.0), 1.0), rng.choice(["eu", "us", "zürich"], size)
    return pa.table({"loss": loss, "is_train": inside, "region": region})


def folder(path: Path, records: pa.Table) -> Path:
    """The records in three files of two folders, beside what writers of folders leave behind."""
    for part, (start, size) in {"run=1/a": (0, 900), "run=1/b": (900, 400), "run=2/a": (1300, None)}.items():
        file = path / f"{part}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(records.slice(start, size), file)
    (path / "_SUCCESS").touch()
    (path / "run=1" / ".a.parquet.crc").write_bytes(b"\1\2")
    return path
