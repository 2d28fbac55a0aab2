"""What the DAG beside this file runs: a report of a model's scores, and an error unless the limit holds.

    python examples/airflow/membership_check.py scores.parquet report.html

Put both files into the DAGs' folder; the workers need `mace` installed. It runs without Airflow, too.
"""

import sys

import macekit


def check(scores: str, report: str, maximum: float = 0.1, **columns: str) -> dict[str, object]:
    """Write the report, and return what the next task may want to know; too few records are no pass."""
    result = macekit.report(scores, max_advantage=maximum, **columns)
    result.to_html(report)
    if result.decision != "pass":
        raise RuntimeError(f"membership leakage: {result.sentence}")
    advantage = result.advantage
    return {"decision": result.decision, "lower": advantage.lower, "upper": advantage.upper, "report": report}


if __name__ == "__main__":
    print(check(*sys.argv[1:3]))
