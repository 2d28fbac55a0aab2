"""From an answer to a report in one of its forms, as bytes."""

from collections.abc import Mapping
from typing import Any, cast

from macekit.call import BRIEF, CSV, HTML, MARKDOWN, PNG, SVG
from macekit.problems import Problem, fault
from macekit.reports.model import Context, Figure

FORMS = (HTML, MARKDOWN, CSV, SVG, PNG)  # media types a report is written in

CARD = "text/markdown; profile=model-card"
"""Markdown for a model card: asked for in the shell and from Python."""


def render(
    operation: str, answer: Mapping[str, object], form: str, context: Context | None = None, chart: str | None = None
) -> bytes:
    """The answer of ``operation``, its JSON decoded, as a report in one of ``FORMS``, as ``CARD`` or as ``BRIEF``.

    ``chart`` names the one figure that SVG and PNG show; all of them, one below the other, if none.
    """
    if form == BRIEF:
        from msgspec import json

        from macekit.reports.brief import brief

        return json.encode(brief(answer))
    if form in (SVG, PNG):
        return _image(operation, answer, form, chart)
    return _text(operation, cast("Mapping[str, Any]", answer), form, context).encode()


def _text(operation: str, answer: Mapping[str, Any], form: str, context: Context | None) -> str:
    """Each writer is imported when it is asked for: a service that answers in JSON needs none."""
    from macekit.reports.content import content

    report = content(operation, answer, context)
    if form == HTML:
        from macekit.reports.html import html

        return html(report)
    if form == MARKDOWN:
        from macekit.reports.markdown import markdown

        return markdown(report)
    if form == CARD:
        from macekit.reports.markdown import card

        return card(report)
    from macekit.reports.csv import csv

    return csv(report)


def _image(operation: str, answer: Mapping[str, object], form: str, chart: str | None) -> bytes:
    from macekit.reports.content import figures
    from macekit.reports.drawing import png, svg

    available = figures(operation, answer)
    if not available:
        raise Problem("not-acceptable", f"{operation}: this answer has no chart", field="Accept")
    selection = available if chart is None else _pick(available, chart)
    return svg(selection) if form == SVG else png(selection)


def _pick(figures: tuple[Figure, ...], chart: str) -> tuple[Figure, ...]:
    selection = tuple(figure for figure in figures if figure.name == chart)
    if not selection:
        names = ", ".join(figure.name for figure in figures)
        raise fault("unknown-name", "chart", f"this answer has {names}")
    return selection
