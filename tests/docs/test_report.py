"""docs/report.md keeps its word: headings, charts and columns are those of a report."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from app.cli.demo import example_table
from macekit.call import CSV, MARKDOWN, Body, Call
from macekit.catalogue import FORMS
from macekit.operations import perform
from macekit.reports.content import figures
from macekit.reports.rendering import render

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
PARTS, WRITTEN = PAGE.split("## Forms")


@cache
def answer() -> dict[str, Any]:
    query = (("group", "group"), ("max_advantage", "0.1"))
    found: dict[str, Any] = json.loads(bytes(perform(Call("report", CSV, query=query), Body.of(example_table())).body))
    return found


def test_the_headings_are_those_of_a_report() -> None:
    named = [row.split("|")[1].strip() for row in PARTS.splitlines() if row.startswith("| ")]

    headings = re.findall(r"^## (.*)$", render("report", answer(), MARKDOWN).decode(), re.MULTILINE)

    assert named[3:] == headings


def test_the_charts_are_those_of_a_report() -> None:
    named = re.findall(r"`([a-z-]+)`", "".join(row.rsplit("|", 2)[1] for row in PARTS.splitlines() if "|" in row))

    assert sorted(named) == sorted(figure.name for figure in figures("report", answer()))


def test_the_media_types_and_columns_are_those_of_the_service() -> None:
    named = set(re.findall(r"`((?:text|image|application)/[a-z.+]+)`", WRITTEN))

    assert named == set(FORMS["report"])
    head = render("report", answer(), CSV).decode().splitlines()[0]
    assert head.replace(",", ", ").replace(chr(34), "") in WRITTEN
