"""A report as a section of a Hugging Face model card, with the metadata that lists its numbers as results."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.report.markdown import block, fenced, head, section
from app.report.model import Number, Report, Section

TITLE = "Membership leakage"
SHOWN = ("people", "promise", "metrics", "ranking", "limits", "not-established", "provenance")
"""Sections of a report that a card repeats; the whole report is linked from it."""

METADATA = (
    "For the YAML block at the top of the card, with the names of your model and data for MODEL and DATA:"
)


def card(report: Report) -> str:
    """The section: a short verdict, the numbers, how they were measured, their limits, and the metadata."""
    parts = [f"## {TITLE}", *head(report.headline), *block(report.facts)]
    for name in SHOWN:
        found = report.section(name)
        if found is not None:
            parts += section(Section(found.name, found.title, found.blocks), 3)
    results = list(_results(report))
    if results:
        parts += ["### Metadata", METADATA, fenced("\n".join(_index(results)), "yaml")]
    return "\n\n".join(parts) + "\n"


def _results(report: Report) -> Iterator[tuple[str, str, str]]:
    """Type, name and value of every number read at a glance."""
    for fact in report.facts.items:
        if isinstance(fact.value, Number) and fact.value.value is not None:
            kind = fact.value.path.removeprefix("result.").replace(".", "_")
            yield f"mace_{kind}", fact.label, repr(fact.value.value)


def _index(results: list[tuple[str, str, str]]) -> Iterator[str]:
    """``model-index`` as the hub reads it; text in JSON's quotes, which are YAML's, too."""
    yield from (
        "model-index:",
        "- name: MODEL",
        "  results:",
        "  - task:",
        "      type: membership-inference",
        "      name: Membership inference",
        "    dataset:",
        "      type: DATA",
        "      name: DATA",
        "    metrics:",
    )
    for kind, name, value in results:
        yield f"    - type: {json.dumps(kind)}"
        yield f"      name: {json.dumps(name)}"
        yield f"      value: {value}"
