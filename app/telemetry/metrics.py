"""Metrics in Prometheus' format: a registry for each app, so two in one process do not mix.

Labels come from short lists of ours - operations, statuses, kinds of problem - and never from a request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from app.telemetry.logs import Exchange, Writer

disable_created_metrics()  # type: ignore[no-untyped-call]  # when each series began: as many lines again, and without use

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""From a probe to the longest time limit anyone is likely to grant."""


class Metrics:
    """Everything counted for one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=self.registry)
        self._requests = Counter("mace_requests", "Requests answered.", ("operation", "status"), registry=self.registry)
        self._seconds = Histogram(
            "mace_request_seconds",
            "Seconds from the head of a request until its answer is handed to the connection.",
            ("operation",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._records = Counter("mace_records", "Records counted.", ("operation",), registry=self.registry)
        self._bytes = Counter("mace_body_bytes", "Bytes of bodies received.", registry=self.registry)
        self.registry.register(_Watched(_lost_lines))
        self._answers_lost = Counter(
            "mace_answers_dropped", "Answers that were not read in time.", registry=self.registry
        )
        self._problems = Counter(
            "mace_problems", "Answers that were problems, by kind.", ("problem",), registry=self.registry
        )

    def count_dropped_answer(self) -> None:
        """Count an answer that its client did not read."""
        self._answers_lost.inc()

    def count(self, exchange: Exchange) -> None:
        """Count one exchange."""
        self._requests.labels(exchange.operation, str(exchange.status)).inc()
        self._seconds.labels(exchange.operation).observe(exchange.seconds)
        if exchange.records:
            self._records.labels(exchange.operation).inc(exchange.records)
        if exchange.bytes_in:
            self._bytes.inc(exchange.bytes_in)
        if exchange.problem is not None:
            self._problems.labels(exchange.problem).inc()

    def watch(self, look: Callable[[], Any]) -> None:
        """Show also how the pool stands, looked up whenever the metrics are read."""
        self.registry.register(_Watched(lambda: _of_pool(look())))

    def watch_jobs(self, states: Callable[[], Mapping[Any, int]]) -> None:
        """Show also how many answers are fetched later, by their state."""
        self.registry.register(_Watched(lambda: _of_jobs(states())))

    def watch_gauges(self, look: Callable[[], Mapping[str, tuple[str, float]]]) -> None:
        """Show also these gauges, each with what it is."""
        self.registry.register(_Watched(lambda: (GaugeMetricFamily(name, *about) for name, about in look().items())))

    def text(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)


class _Watched:
    """Numbers that are looked up whenever they are asked for: nothing to keep in step."""

    def __init__(self, look: Callable[[], Iterable[Metric]]) -> None:
        self.collect = look

    def describe(self) -> Iterable[Metric]:
        return ()


def _lost_lines() -> Iterator[Metric]:
    """Lines of the log that nobody read in time."""
    yield CounterMetricFamily("mace_log_lines_dropped", "Lines of the log that were dropped.", Writer.lines_lost)


def _of_jobs(states: Mapping[Any, int]) -> Iterator[Metric]:
    """Questions whose answers are fetched later."""
    jobs = GaugeMetricFamily("mace_jobs", "Questions whose answers are fetched later.", labels=["state"])
    for state in ("working", "done", "failed"):
        jobs.add_metric([state], states.get(state, 0))
    yield jobs


def _of_pool(now: Any) -> Iterator[Metric]:
    """The pool's own numbers."""
    yield GaugeMetricFamily("mace_queue_waiting", "Requests waiting for a worker.", now.waiting)
    yield GaugeMetricFamily("mace_workers", "Worker processes alive.", now.workers)
    yield GaugeMetricFamily("mace_workers_busy", "Worker processes at work.", now.busy)
    yield GaugeMetricFamily("mace_under_way", "Requests at work or waiting for a worker.", now.under_way)
    yield GaugeMetricFamily("mace_places", "How many of them are admitted.", now.places)
    yield GaugeMetricFamily("mace_small_waiting", "Small requests waiting for their turn.", now.small_waiting)
    yield GaugeMetricFamily("mace_bodies_arriving", "Bodies that arrive.", now.arriving)
    yield GaugeMetricFamily("mace_streams_waiting", "Bodies that wait to be read by a worker.", now.streams_waiting)
    yield GaugeMetricFamily("mace_ready", "1 if a request would be admitted, else 0.", float(now.ready))
    yield GaugeMetricFamily("mace_spooled_bytes", "Bytes of bodies held at this moment.", now.spooled)
    kills = CounterMetricFamily("mace_worker_kills", "Workers ended, by reason.", labels=["reason"])
    for reason, number in now.kills.items():
        kills.add_metric([reason], number)
    yield kills
