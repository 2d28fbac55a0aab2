"""Ray runs a function on each batch: `macekit.partial` counts where the records are, `macekit.merged` is asked.

    python examples/engines/with_ray.py

Needs Ray with its package for data, `ray[data]`. Flink, Beam and functions of one's own in a database work likewise.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from records import write

import macekit


def counted(batch: pa.Table) -> pa.Table:
    """A row for each cell of one batch; rows of all batches may be summed, or not."""
    return macekit.partial(batch, score="loss", member="is_train")


def main() -> None:
    """The advantage of all records, of which no worker sent one."""
    import ray  # noqa: PLC0415 - `counted` alone needs no Ray

    with TemporaryDirectory() as folder:
        parts = ray.data.read_parquet(write(Path(folder))).map_batches(counted, batch_format="pyarrow", batch_size=None)
        counts = macekit.merged(parts.iter_batches(batch_format="pyarrow"))
        print(macekit.estimate(counts=counts).sentence)


if __name__ == "__main__":
    main()
