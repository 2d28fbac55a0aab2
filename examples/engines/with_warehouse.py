"""A table of a warehouse, by Ibis: two queries of the warehouse's own, and only counts leave it.

    .venv/bin/python examples/engines/with_warehouse.py [ADDRESS TABLE]

ADDRESS is what `ibis.connect` takes: `postgres://user@host/database`, `bigquery://project/dataset`,
`snowflake://user@account/database`, `databricks://...`. Without one it is DuckDB in this process, and files.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis
from records import write

import macekit

COLUMNS = {"score": "loss", "member": "is_train"}


def ask(runs: ibis.Table) -> None:
    """The advantage, and a gate over two limits."""
    print(macekit.estimate(runs, **COLUMNS).sentence)
    print(macekit.gate(runs, **COLUMNS, max_advantage=0.25, max_tpr=0.05, at_fpr=0.01).sentence)


def main(address: str = "", table: str = "") -> None:
    """Ask about a table where it lies."""
    if address:
        ask(ibis.connect(address).table(table))
    else:
        with TemporaryDirectory() as folder:
            ask(ibis.duckdb.connect().read_parquet(f"{write(Path(folder))}/*.parquet"))


if __name__ == "__main__":
    main(*sys.argv[1:])
