"""What the docs say of numbers, of columns and of where things are is what the code does."""

import json
import re
from pathlib import Path

import pytest

from app.cli import server
from app.cli.demo import example_table
from app.http import connection
from app.telemetry import logs
from app.workers import admission, uploads
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


@pytest.mark.parametrize(
    "sentence",
    [
        f"At most {admission.MOST_ARRIVING} bodies arrive at once",
        f"the last eighth of it only those of up to {uploads.SMALL // 2**20} MiB",
        f"less than {admission.STREAM_PACE // 1024} KiB a second is ended",
        f"Up to {admission.MOST_STREAMS} more wait, each for as long as",
        f"Between two of them the event loop turns {admission.LEAST_TURNS} times",
        f"up to {admission.MOST_TURNS} times while there are connections to take",
        f"or waits for them or its turn, {admission.MOST_SMALL} at once; the next is `busy`",
        f"Of these refusals {admission.REFUSALS} leave in a second, more up to a second later",
        "Small bodies (`MACE_INLINE_LIMIT`) have eight places in the queue that others cannot take",
        f"{logs.MOST_LINES:,} lines may wait for it",
        f"has not turned for {server.STUCK_SECONDS:g} seconds",
        f"less than {connection.PACE // 1024} KiB of it in a `MACE_STALL_LIMIT`",
        f"`MACE_BODY_LIMIT` more and for {connection.DISCARD_SECONDS:g} seconds at most",
        f"as far as it may, to {server.MOST_DESCRIPTORS:,}",
    ],
)
def test_operations_md_states_the_numbers_of_the_service(sentence: str) -> None:
    assert sentence in page("operations.md")


def test_what_operations_md_spells_out_is_that_number() -> None:
    assert admission.SMALL_PLACES == connection.MOST_CREDIT // connection.PACE == 8
    assert admission.MOST_IN_TURN == 3
    assert admission.LONGEST_REFUSAL == 1


def test_an_answer_repeats_the_columns_that_were_named_and_a_report_of_it_too() -> None:
    assert "repeats the columns that `--score`, `--member`, `--group`, `--unit` and `--cluster`" in page("report.md")
    table = example_table().replace(b"score,member,group", b"margin,seen,age", 1)
    first, *rows = table.splitlines()
    table = b"\n".join([first + b",who", *(row + b",p%d" % (at // 2) for at, row in enumerate(rows)), b""])
    named = (("score", "margin"), ("member", "seen"), ("group", "age"), ("cluster", "who"))

    reply = perform(Call("report", CSV, query=named), Body.of(table))
    answer = json.loads(bytes(reply.body))

    assert answer["provenance"]["options"] | dict(named) == answer["provenance"]["options"]
    again = render("report", answer, MARKDOWN).decode()
    assert all(f"--{role} {column}" in again for role, column in named)


def test_every_place_that_the_recipes_of_architecture_md_name_is_there() -> None:
    recipes = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## Where to put what")[2]
    places = set(re.findall(r"`((?:[a-z0-9_-]+/)+[a-z0-9_.-]*)`", recipes))
    places = {place for place in places if "distance" not in place}  # the example's own
    roots = [ROOT, ROOT / "app", ROOT / "macekit", ROOT / "estimators"]

    missing = {
        place
        for place in places
        if not any(
            (root / place).exists() or (root / f"{place}.py").exists() or (root / place).with_suffix(".py").exists()
            for root in roots
        )
    }

    assert len(places) > 15
    assert missing == set()
