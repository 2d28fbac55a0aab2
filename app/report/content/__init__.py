"""What a report says, from the answer's JSON alone: one module for each operation, shared pieces beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.report.charts import figures
from app.report.content import theory
from app.report.content.advantage import content as advantage
from app.report.content.album import Album
from app.report.content.audit import content as audit
from app.report.content.compare import content as compare
from app.report.content.gate import content as gate
from app.report.content.metrics import content as metrics
from app.report.content.plan import content as plan
from app.report.content.report import content as report
from app.report.content.risk import content as risk
from app.report.model import Context, Report
from app.report.place import Place

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
