"""A Spark frame is counted where it lies: two queries, and nothing on the workers. Risks are joined there, too.

    .venv/bin/python examples/engines/with_spark.py

On a cluster only the first lines differ: `SparkSession.builder.remote("sc://...")`, and the address of your table.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession
from records import write

import macekit

COLUMNS = {"score": "loss", "member": "is_train"}


def main() -> None:
    """The advantage of all, a report by region, and a row of risk for each record."""
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    with TemporaryDirectory() as folder:
        runs = spark.read.parquet(write(Path(folder)))
        print(macekit.estimate(runs, **COLUMNS).sentence)
        for group in macekit.report(runs, **COLUMNS, group="region", max_advantage=0.1).groups:
            print(f"{group.label}: mean risk {group.risk:.3f}, at most {group.upper:.3f}")

        counts = macekit.counts(runs, **COLUMNS)
        risks = spark.createDataFrame(macekit.risk_table(counts, threshold=0.1).to_pandas())
        joined = runs.join(risks, (runs.loss >= risks.low) & (runs.loss < risks.high), "left")
        flagged, records = joined.selectExpr("count_if(flagged)", "count(*)").collect()[0]
        print(f"{flagged} of {records} records are flagged")
    spark.stop()


if __name__ == "__main__":
    main()
