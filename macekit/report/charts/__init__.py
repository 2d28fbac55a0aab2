"""Which pictures each answer has: one module for each, from the answer's JSON to a Vega-Lite specification.

A picture brings along what it says in words and the numbers behind it, and holds nothing but data of the answer:
no address, no script, nothing that would be fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from macekit.report.charts import lines
from macekit.report.charts.distribution import distribution
from macekit.report.charts.forest import differences, groups, metrics, ranking
from macekit.report.charts.gate import agreement, epsilon, gate
from macekit.report.charts.interval import interval
from macekit.report.charts.risk import risk
from macekit.report.charts.roc import low_fpr, roc
from macekit.report.model import Figure, Place

Found = tuple[Figure | None, ...]


def figures(operation: str, answer: Mapping[str, object]) -> tuple[Figure, ...]:
    """The pictures of an answer, in the order they are read; none where there is nothing to see."""
    draw = DRAWN.get(operation)
    return () if draw is None else tuple(figure for figure in draw(Place(answer)) if figure is not None)


def _advantage(answer: Place) -> Found:
    return interval(answer), *_curves(answer, None), _bound(answer)


def _report(answer: Place) -> Found:
    result, drawn, risks = answer["result"], answer["distribution"], answer["risk"]
    edges = drawn.value.get("edges") if drawn else None
    return (
        interval(result),
        distribution(drawn) if drawn else None,
        *_curves(result, answer["band"]),
        risk(risks, edges) if risks else None,
        groups(answer["groups"], result.value["baseline"]) if len(answer["groups"]) else None,
        _bound(result),
    )


def _risk(answer: Place) -> Found:
    found = answer["groups"]
    return risk(answer), groups(found, answer.value["baseline"]) if len(found) else None


def _audit(answer: Place) -> Found:
    return epsilon(answer), interval(answer)


def _curves(result: Place, band: Place | None) -> Found:
    curve = result["roc"]
    return (roc(curve, band), low_fpr(curve, band)) if curve else ()


def _bound(result: Place) -> Figure | None:
    """A claim that was checked; an empirical epsilon alone stands among the numbers."""
    return epsilon(result) if result["claim"] and result["epsilon"] else None


DRAWN: dict[str, Callable[[Place], Found]] = {
    "advantage": _advantage,
    "report": _report,
    "individual-risk": _risk,
    "compare": lambda answer: (ranking(answer), differences(answer)),
    "metrics": lambda answer: (metrics(answer["metrics"]),),
    "gate": lambda answer: (gate(answer["limits"]),),
    "audit": _audit,
    "theory/dp": lines.promise,
    "theory/together": lambda answer: (agreement(answer["rows"]),),
    "theory/mip": lines.noise,
    "theory/mis": lines.discrete,
    "theory/mis-overfitting": lines.overfitting,
    "theory/pmp-gaussian": lines.gaussian,
}
"""How the answer of each operation is drawn."""
