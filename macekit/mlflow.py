"""An answer in an MLflow run: its numbers as metrics, its verdict and origin as tags, its report as an artefact.

Tags and not parameters: a run that is logged to twice, say at two checkpoints, may say something else the second time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from macekit.numbers import rows
from macekit.result import Result

if TYPE_CHECKING:
    from mlflow import MlflowClient

MOST_METRICS = 1000
"""Metrics that MLflow takes at once, and more than anybody reads."""

MOST_LETTERS = 120
BARRED = re.compile(r"[^A-Za-z0-9_ .-]")
ENDS = ("estimate", "lower", "upper")


def log(result: Result, prefix: str = "membership", run_id: str | None = None) -> str:
    """Log an answer to a run, the active one if none is named; its id.

    Metrics are named ``membership/advantage/upper``; artefacts lie in a folder called as the prefix.
    """
    import mlflow
    from mlflow import MlflowClient
    from mlflow.entities import Metric, RunTag

    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client, now = MlflowClient(), int(time.time() * 1000)
    found = dict(islice(_metrics(result), MOST_METRICS))
    client.log_batch(
        run,
        metrics=[Metric(f"{prefix}/{name}", value, now, 0) for name, value in found.items()],
        tags=[RunTag(f"{prefix}.{name}", value) for name, value in _tags(result)],
    )
    client.log_text(run, result.to_json(), f"{prefix}/answer.json")
    client.log_text(run, result.to_html(), f"{prefix}/report.html")
    _log_charts(client, run, result, prefix)
    return run


def _metrics(result: Result) -> Iterator[tuple[str, float]]:
    """Every number there is, by a name that MLflow allows."""
    seen: set[str] = set()
    for row in rows(result.answer):
        name = _allowed(row.name, seen)
        for end in ENDS:
            if (value := getattr(row, end)) is not None:
                yield f"{name}/{end}", float(value)
    if result.verdict is not None:
        yield "threshold", float(result.verdict["threshold"])
    for limit in result.answer.get("limits", ()):
        yield f"limits.{_allowed(limit['name'], set())}/maximum", float(limit["maximum"])


def _allowed(name: str, seen: set[str]) -> str:
    """The name without what MLflow refuses in one, told from those before it."""
    own = BARRED.sub("_", name)[:MOST_LETTERS].strip(". ").replace("..", "__") or "_"
    while own in seen:
        own += "_"
    seen.add(own)
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
    found = result.answer.get("provenance")
    return found if isinstance(found, dict) else {}


def _log_charts(client: MlflowClient, run: str, result: Result, prefix: str) -> None:
    charts = result.charts()
    with TemporaryDirectory() as folder:
        for chart in charts:
            client.log_artifact(run, str(chart.save(Path(folder) / f"{chart.name}.png")), f"{prefix}/charts")
