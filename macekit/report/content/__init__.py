"""What a report says, from the answer's JSON alone: one module for each operation, shared pieces beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from macekit.report.charts import figures
from macekit.report.content import theory
from macekit.report.content.advantage import content as advantage
from macekit.report.content.audit import content as audit
from macekit.report.content.compare import content as compare
from macekit.report.content.gate import content as gate
from macekit.report.content.metrics import content as metrics
from macekit.report.content.plan import content as plan
from macekit.report.content.report import content as report
from macekit.report.content.risk import content as risk
from macekit.report.model import Album, Context, Place, Report

CONTENTS: dict[str, Callable[[Place, Album, Context], Report]] = {
    "advantage": advantage,
    "individual-risk": risk,
    "metrics": metrics,
    "compare": compare,
    "audit": audit,
    "report": report,
    "gate": gate,
    "plan": plan,
    **theory.CONTENTS,
}
"""The operations whose answers are looked at, and what is said of each."""


def content(operation: str, answer: Mapping[str, Any], context: Context | None = None) -> Report:
    """The report of one answer of ``operation``, its JSON decoded."""
    return CONTENTS[operation](Place(answer), Album(figures(operation, answer)), context or Context())
