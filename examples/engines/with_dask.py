"""A Dask frame is counted by its own scheduler, threads here and a cluster elsewhere; only counts come back.

.venv/bin/python examples/engines/with_dask.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import dask.dataframe as dd
from records import write

import macekit

COLUMNS = {"score": "loss", "member": "is_train"}


def main() -> None:
    """The advantage of all, and of each region by itself, with intervals that hold together."""
    with TemporaryDirectory() as folder:
        runs = dd.read_parquet(write(Path(folder)))
        print(macekit.estimate(runs, **COLUMNS).sentence)
        regions = macekit.counts_by(runs, "region", **COLUMNS)
        ranking = macekit.compare(regions).ranking
        for place in ranking:
            print(f"{place.name}: {place.advantage.lower:.3f} to {place.advantage.upper:.3f}")


if __name__ == "__main__":
    main()
