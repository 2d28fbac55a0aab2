"""What Prometheus and Grafana are told about the service, held against what the service exports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import promql_parser

from app.main import create_app
from app.settings import Settings
from app.telemetry.logs import Exchange

FROM_SCRAPES = {"job", "instance"}
"""Labels that Prometheus itself adds."""

OF_HISTOGRAM = re.compile(r"_(bucket|sum|count)$")
INTERVAL = "$__rate_interval"
"""What Grafana writes a duration for."""


def exported() -> dict[str, frozenset[str]]:
    """Every series that the service exports, with the names of its labels; nothing of it is started."""
    metrics = create_app(Settings()).state.service.metrics
    metrics.count(Exchange("", "POST", "/", "advantage", 503, 1, 1, "busy"))
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return {sample.name: frozenset(sample.labels) for sample in samples}


def targets(dashboard: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every query of a dashboard, with the title of its panel."""
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]


def parts(query: str) -> tuple[set[str], set[str]]:
    """The series and the labels that a query names; a ValueError where it is no PromQL."""
    series, labels = set[str](), set[str]()
    waiting = [promql_parser.parse(query.replace(INTERVAL, "1m"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, promql_parser.VectorSelector):
            series.add(str(node.name))
            labels |= {matcher.name for matcher in node.matchers.matchers}
        modifier = getattr(node, "modifier", None)
        for words in (modifier, getattr(modifier, "matching", None)):
            labels |= set(getattr(words, "labels", ()))
        waiting += getattr(node, "args", ())
        children = (getattr(node, name, None) for name in ("lhs", "rhs", "expr", "vector_selector", "param"))
        waiting += [each for each in children if each is not None]
    return series, labels


def dashboard_faults(
    dashboard: Mapping[str, Any], series: Mapping[str, frozenset[str]], datasource: str
) -> Iterator[str]:
    """What is wrong with a dashboard: a query of what is not there, a panel that draws from elsewhere or nowhere."""
    for title, query in targets(dashboard):
        try:
            names, labels = parts(query)
        except ValueError as error:
            yield f"{title}: {error}"
            continue
        yield from (f"{title}: the service does not export {name}" for name in sorted(names - set(series)))
        known = FROM_SCRAPES.union(*(series.get(name, frozenset()) for name in names))
        unknown = sorted(labels - known)
        yield from (f"{title}: {', '.join(sorted(names))} has no label {label}" for label in unknown)
    for panel in dashboard["panels"]:
        sources = {part["datasource"]["uid"] for part in (panel, *panel["targets"])}
        if sources != {datasource}:
            yield f"{panel['title']}: draws from {', '.join(sorted(sources))}, provisioned is {datasource}"
        if not panel.get("description"):
            yield f"{panel['title']}: does not say what it shows"
        if panel["gridPos"]["x"] + panel["gridPos"]["w"] > 24:
            yield f"{panel['title']}: stands beyond the edge"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) != len(ids):
        yield "two panels have the same id"


def unseen(dashboard: Mapping[str, Any], series: Mapping[str, frozenset[str]]) -> list[str]:
    """What the service counts of itself, and no panel shows; a histogram is seen when a series of it is."""
    shown = {OF_HISTOGRAM.sub("", name) for _, query in targets(dashboard) for name in parts(query)[0]}
    return sorted({OF_HISTOGRAM.sub("", name) for name in series if name.startswith("mace_")} - shown)


def scrape_faults(prometheus: Mapping[str, Any], address: str) -> Iterator[str]:
    """What is wrong with prometheus.yml, whose only target is the service."""
    statics = [(job, static) for job in prometheus["scrape_configs"] for static in job["static_configs"]]
    found = [(job.get("metrics_path", "/metrics"), each) for job, static in statics for each in static["targets"]]
    if found != [("/metrics", address)]:
        yield f"scrapes {found}, not /metrics of {address} alone"
    if unwanted := {"remote_write", "remote_read", "alerting"} & set(prometheus):
        yield f"sends elsewhere: {', '.join(sorted(unwanted))}"
