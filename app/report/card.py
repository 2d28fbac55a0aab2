"""A report as a section of a Hugging Face model card, with the metadata that lists its numbers as results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from app.report.markdown import block, fenced, head, section
from app.report.model import Number, Phrase, Report, Section, Table, Words

TITLE = "Membership leakage"
SHOWN = (
    "people",
    "promise",
    "metrics",
    "ranking",
    "limits",
    "guarantees",
    "not-established",
    "provenance",
)
"""Sections of a report that a card repeats; the whole report is linked from it."""

METADATA = (
    "For the YAML block at the top of the card, with the names of your model and data for MODEL and DATA:"
)


SETTING = ("prior", "confidence", "resolution", "threshold", "delta")
"""What a number holds for: without these it cannot be held against another."""


@dataclass(frozen=True, slots=True)
class Result:
    """One entry of the metadata; ``value`` as YAML writes it."""

    kind: str
    name: str
    value: str


def card(report: Report) -> str:
    """The section: a short verdict, the numbers, how they were measured, their limits, and the metadata."""
    parts = [f"## {TITLE}", *head(report.headline), *block(report.facts)]
    for name in SHOWN:
        found = report.section(name)
        if found is not None:
            parts += section(Section(found.name, found.title, found.blocks), 3)
    results = list(_results(report))
    if results:
        parts += ["### Metadata", METADATA, fenced("\n".join(_index(results, _asked(report))), "yaml")]
    return "\n\n".join(parts) + "\n"


def _results(report: Report) -> Iterator[Result]:
    """The decision, and every number read at a glance that is measured: how many records there were is not."""
    decision = report.headline.decision
    if decision is not None:
        yield Result("mace_decision", "Decision", json.dumps(decision))
    for fact in report.facts.items:
        held = fact.value
        if isinstance(held, Number) and held.value is not None and held.kind != "count":
            kind = held.path.removeprefix("result.").replace(".", "_")
            yield Result(f"mace_{kind}", fact.label, repr(held.value))


def _asked(report: Report) -> dict[str, float]:
    """What the results hold for, from what the tiles say beside their numbers and the options as understood."""
    cells = [cell for fact in report.facts.items for cell in _numbers(fact.note)]
    origin = report.section("provenance")
    for part in () if origin is None else origin.blocks:
        if isinstance(part, Table):
            cells += [cell for row in part.rows for cell in _numbers(row)]
    found: dict[str, float] = {}
    for cell in cells:
        name = cell.path.rpartition(".")[2]
        if name in SETTING and cell.value is not None:
            found.setdefault(name, cell.value)
    return {name: found[name] for name in SETTING if name in found}


def _numbers(words: Words) -> Iterator[Number]:
    for cell in words:
        if isinstance(cell, Number):
            yield cell
        elif isinstance(cell, Phrase):
            yield from _numbers(cell.words)


def _index(results: list[Result], asked: dict[str, float]) -> Iterator[str]:
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
    for result in results:
        yield f"    - type: {json.dumps(result.kind)}"
        yield f"      name: {json.dumps(result.name)}"
        yield f"      value: {result.value}"
        if asked:
            yield "      args:"
        for name, value in asked.items():
            yield f"        {name}: {value!r}"
