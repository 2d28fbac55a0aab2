"""A gate's answer as OpenMetrics text, which GitLab shows beside the numbers of the target branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.verdicts import WORDS

GAUGES = {
    "maximum": "largest acceptable value",
    "estimate": "point estimate",
    "lower": "lower end of the interval",
    "upper": "upper end of the interval",
    "records_needed": "records of both sides that would settle an open limit",
}


def openmetrics(answer: Mapping[str, Any]) -> bytes:
    """One gauge a number, labelled by its limit; what there is no number of has no line."""
    lines = [*_head("decision", "1 at the decision over all limits")]
    lines += [f'mace_gate_decision{{decision="{each}"}} {int(each == answer["decision"])}' for each in WORDS]
    for name, about in GAUGES.items():
        lines += _head(name, about)
        lines += [
            f'mace_gate_{name}{{limit="{limit["name"]}"}} {limit[name]!r}'
            for limit in answer["limits"]
            if limit[name] is not None
        ]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _head(name: str, about: str) -> tuple[str, str]:
    return f"# TYPE mace_gate_{name} gauge", f"# HELP mace_gate_{name} {about}"
