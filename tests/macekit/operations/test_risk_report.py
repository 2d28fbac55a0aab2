"""A report of individual risk lists the records most surely exposed, not all there are."""

from __future__ import annotations

import json
import re

from macekit.call import HTML, MARKDOWN, Body, Call
from macekit.operations import perform
from macekit.reports.model import TOP_RECORDS
from tests.app.http.asked import as_json, world


def page(**options: object) -> str:
    reply = perform(Call("individual-risk", accept=HTML), Body.of(as_json(*world(500), **options)))
    assert reply.status == 200
    return re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\dZ", "", bytes(reply.body).decode())


def test_so_many_records_are_listed_as_the_same_question_would_answer_by_itself() -> None:
    assert page() == page(top=TOP_RECORDS)
    assert page() != page(top=3)


def test_flags_are_counted_over_all_records() -> None:
    alone = json.loads(bytes(perform(Call("individual-risk"), Body.of(as_json(*world(500)))).body))

    assert str(alone["flags"]["records"]) in page()
    assert alone["flags"]["records"] > TOP_RECORDS


def test_a_report_lists_as_many_records_as_were_asked_for() -> None:
    def listed(top: int) -> int:
        reply = perform(Call("individual-risk", accept=MARKDOWN), Body.of(as_json(*world(500), top=top)))
        table = bytes(reply.body).decode().partition("| Record |")[2].partition("\n\n")[0]
        return len(re.findall(r"^\| \d+ \|", table, re.MULTILINE))

    assert [listed(top) for top in (5, TOP_RECORDS, 2 * TOP_RECORDS)] == [5, TOP_RECORDS, 2 * TOP_RECORDS]
