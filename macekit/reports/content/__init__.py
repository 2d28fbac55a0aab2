"""What a report says, from the answer's JSON alone: the ``page`` of an operation's room, shared pieces here.

The page of an operation has ``content``, and ``figures`` where there is something to see; a wing's operations may share
one, its ``pages``.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from macekit.call import HTML
from macekit.catalogue import BY_NAME
from macekit.reports.content.provenance import with_columns
from macekit.reports.model import AnswerPath, Content, Context, Draw, Figure, Figures, Report


def content(operation: str, answer: Mapping[str, Any], context: Context | None = None) -> Report:
    """The report of one answer of ``operation``, its JSON decoded."""
    make, _ = _page(operation)
    path, around = AnswerPath(answer), context or Context()
    report = with_columns(make(path, Figures(figures(operation, answer)), around), path)
    return replace(report, headline=replace(report.headline, signature=around.signature))


def figures(operation: str, answer: Mapping[str, object]) -> tuple[Figure, ...]:
    """The pictures of an answer, in the order they are read; none where there is nothing to see."""
    if not has_figures(operation):
        return ()
    _, draw = _page(operation)
    return tuple(figure for figure in draw(AnswerPath(answer)) if figure is not None) if draw else ()


def has_figures(operation: str) -> bool:
    """Whether answers of ``operation`` are drawn at all."""
    return HTML in BY_NAME[operation].forms and _page(operation)[1] is not None


@cache
def _page(operation: str) -> tuple[Content, Draw | None]:
    """What makes the report of an operation, and its pictures."""
    row = BY_NAME[operation]
    of_wing = f"macekit.questions.{row.wing}.pages"
    shared = import_module(of_wing).PAGES if row.wing and find_spec(of_wing) else {}
    page = shared.get(row.key) or import_module(f"macekit.questions.{row.room}.page")
    return cast("Content", page.content), getattr(page, "figures", None)
