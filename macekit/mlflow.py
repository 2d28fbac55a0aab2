"""An answer in an MLflow run: its numbers as metrics, its verdict and origin as tags, its report as an artefact.

Tags and not parameters: a run that is logged to twice, say at two checkpoints, may say something else the second time.
"""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from macekit.client.display import rows
from macekit.client.result import Result
from macekit.text import names_the_nearest

__all__ = ["log"]

MOST_METRICS = 1000  # metrics that MLflow takes at once, and more than anybody reads

MOST_LETTERS = 120
BARRED = re.compile(r"[^A-Za-z0-9_ .-]")
ENDS = ("estimate", "lower", "upper")


@names_the_nearest
def log(result: Result, prefix: str = "membership", run_id: str | None = None) -> str:
    """Log an answer to a run of MLflow: the active one if none is named, else one of its own.

    Metrics are named ``membership/advantage/upper``; the report, the JSON and the charts lie in a folder called as the
    prefix. Without the extra `report` there are no charts. All of it is made before any of it is logged.

    Args:
        result: The answer to log, of any question that has a report.
        prefix: What names of metrics and tags start with.
        run_id: The run to log to. None: the active one, or a new one.

    Returns:
        the id of the run.

    Example:
        >>> import macekit.mlflow
        >>> import mlflow
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> result = macekit.estimate(counts=counts)
        >>> with mlflow.start_run():
        ...     run = macekit.mlflow.log(result)
        >>> round(mlflow.get_run(run).data.metrics["membership/advantage/lower"], 3)
        0.211
    """
    import mlflow
    from mlflow.entities import Metric, RunTag

    with TemporaryDirectory() as folder, ExitStack() as ended:
        _write(result, Path(folder))
        metrics, tags = metrics_of(result), dict(_tags(result))
        run = run_id or (mlflow.active_run() or ended.enter_context(mlflow.start_run())).info.run_id
        client, now = mlflow.MlflowClient(), int(time.time() * 1000)
        client.log_batch(
            run,
            metrics=[Metric(f"{prefix}/{name}", value, now, 0) for name, value in metrics.items()],
            tags=[RunTag(f"{prefix}.{name}", value) for name, value in tags.items()],
        )
        client.log_artifacts(run, folder, prefix)
    return str(run)


def metrics_of(result: Result) -> dict[str, float]:
    """The numbers of an answer by names that MLflow allows, without the prefix; the decisive ones first.

    Example:
        >>> import macekit.mlflow
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> round(macekit.mlflow.metrics_of(macekit.estimate(counts=counts))["advantage/lower"], 3)
        0.232
    """
    return dict(islice(_metrics(result), MOST_METRICS))


def _write(result: Result, folder: Path) -> None:
    result.to_json(folder / "answer.json")
    result.to_html(folder / "report.html")
    (folder / "charts").mkdir()
    for chart in result.charts():
        chart.save(folder / "charts" / f"{chart.name}.svg")


def _metrics(result: Result) -> Iterator[tuple[str, float]]:
    """Every number there is, by a name that MLflow allows; the decisive ones come first, so that they are "
    "not cut off."""
    if result.verdict is not None:
        yield "threshold", float(result.verdict["threshold"])
    for limit in result.answer.get("limits") or ():
        yield f"limits.{_metric_name(limit['name'], set())}/maximum", float(limit["maximum"])
    names: set[str] = set()
    for row in rows(result.answer):
        name = _metric_name(row.name, names)
        for end in ENDS:
            if (value := getattr(row, end)) is not None:
                yield f"{name}/{end}", float(value)


def _metric_name(name: str, names: set[str]) -> str:
    """The name without what MLflow refuses in one, told from those before it."""
    own = BARRED.sub("_", name)[:MOST_LETTERS].strip(". ").replace("..", "__") or "_"
    while own in names:
        own += "_"
    names.add(own)
    return own


def _tags(result: Result) -> Iterator[tuple[str, str]]:
    yield "operation", result.operation
    yield "sentence", result.sentence
    if result.decision is not None:
        yield "verdict", result.decision
    for name in ("method", "version", "input_sha256"):
        if (value := _provenance(result).get(name)) is not None:
            yield name, str(value)


def _provenance(result: Result) -> dict[str, Any]:
    """How the numbers came about; of several samples there are several, and no single one is told."""
    provenance = result.answer.get("provenance")
    return provenance if isinstance(provenance, dict) else {}
