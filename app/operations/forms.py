"""In which forms each operation answers: JSON, a report of that JSON, rows."""

from __future__ import annotations

from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, PNG, SVG, Call
from macekit.schemas.theory import QUESTIONS

IN_WORDS = (JSON, HTML, MARKDOWN, CSV)
WITH_PICTURES = (*IN_WORDS, SVG, PNG)

UNDRAWN = frozenset({"theory/mip-finite", "theory/pmp-exponential"})
"""Operations of theory whose answers are numbers over no range."""

FORMS: dict[str, tuple[str, ...]] = {
    "advantage": WITH_PICTURES,
    "individual-risk": (JSON, CSV, ARROW, HTML, MARKDOWN, SVG, PNG),
    "metrics": WITH_PICTURES,
    "compare": WITH_PICTURES,
    "audit": WITH_PICTURES,
    "report": WITH_PICTURES,
    "gate": WITH_PICTURES,
    "plan": IN_WORDS,
    "columns": (JSON,),
    "counts": (JSON,),
    **{name: IN_WORDS if name in UNDRAWN else WITH_PICTURES for name in QUESTIONS},
}
"""Media types of each operation's answer, the usual one first."""

ROWS = {"individual-risk": (CSV, ARROW)}
"""Forms that hold the records themselves."""


def rendered(call: Call) -> bool:
    """Whether the answer is asked for as a report."""
    return call.accept != JSON and call.accept not in ROWS.get(call.operation, ())
