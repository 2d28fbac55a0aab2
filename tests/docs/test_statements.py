"""What the docs say of numbers, of columns and of where things are is what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from app.cli.demo import example_table
from app.workers.intake import PACE
from macekit.call import CSV, MARKDOWN, Body, Call
from macekit.operations import perform
from macekit.reports.model import TOP_RECORDS
from macekit.reports.rendering import render

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


def test_service_md_says_how_many_records_a_report_lists() -> None:
    (said,) = re.findall(r"individual-risk` lists the (\d+) records", page("service.md"))

    assert int(said) == TOP_RECORDS


def test_errors_md_says_when_an_upload_has_stalled() -> None:
    (said,) = re.findall(r"`upload-stalled` \| 408 \| Less than (\d+) KiB", page("errors.md"))

    assert int(said) * 1024 == PACE


def test_an_answer_repeats_the_columns_that_were_named_and_a_report_of_it_too() -> None:
    assert "An answer repeats the columns that `--score`, `--member`, `--group` and `--unit`" in page(
        "report.md"
    )
    table = example_table().replace(b"score,member,group", b"margin,seen,age", 1)
    named = (("score", "margin"), ("member", "seen"), ("group", "age"))

    reply = perform(Call("report", CSV, query=named), Body.of(table))
    answer = json.loads(bytes(reply.body))

    assert answer["provenance"]["options"] | dict(named) == answer["provenance"]["options"]
    again = render("report", answer, MARKDOWN).decode()
    assert all(f"--{role} {column}" in again for role, column in named)


def test_every_place_that_the_recipes_of_architecture_md_name_is_there() -> None:
    recipes = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## Where to put what")[2]
    places = set(re.findall(r"`((?:[a-z0-9_-]+/)+[a-z0-9_.-]*)`", recipes))
    places -= {"macekit/operations/balance.py", "macekit/reports/content/balance.py"}  # the example's own
    roots = [ROOT, ROOT / "app", ROOT / "macekit", ROOT / "estimators"]

    missing = {
        place
        for place in places
        if not any(
            (root / place).exists()
            or (root / f"{place}.py").exists()
            or (root / place).with_suffix(".py").exists()
            for root in roots
        )
    }

    assert len(places) > 15
    assert missing == set()
