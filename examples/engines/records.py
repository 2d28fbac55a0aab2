"""What the examples of this folder ask about: eight Parquet files of scores, of two regions."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet


def write(folder: Path, rows: int = 100_000) -> str:
    """Write them, and return their folder as engines want it."""
    for number in range(8):
        rng = np.random.default_rng(number)
        member = rng.random(rows // 8) < 0.5
        region = np.where(rng.random(rows // 8) < 0.3, "north", "south")
        scores = rng.normal(member * np.where(region == "north", 0.6, 0.1))
        columns = {"loss": -scores, "is_train": member, "region": region}
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet")
    return str(folder)
