"""Answers in every form they have, over a real socket: what they are, and what their headers say of them.

The bytes of each form of each operation are goldens (tests/goldens): here are some of each, over the wire. Pictures
in pixels are drawn here alone, from what the goldens have as SVG.
"""

import json
import xml.etree.ElementTree as ET
from itertools import cycle

import pytest

from app.openapi.examples import FILES, JSON_EXAMPLES, file_bytes
from macekit.call import ARROW, BRIEF, CSV, HTML, JSON, MARKDOWN, PNG, SVG, Call
from macekit.catalogue import BY_NAME, FORMS, quick
from macekit.declaration import declaration_of
from macekit.questions.gate import GateQuestion
from macekit.reports.content import has_figures
from macekit.reports.html import CSP
from macekit.reports.rendering import FORMS as REPORTS
from tests.app.http.asked import example, post, slug
from tests.app.running import Answer, Running
from tests.cases import each_case

BEGINS = {
    HTML: b"<!doctype html>",
    MARKDOWN: b"# ",
    SVG: b"<svg",
    PNG: b"\x89PNG\r\n\x1a\n",
    JSON: b"{",
    BRIEF: b"{",
    ARROW: b"\xff\xff\xff\xff",
}
USUAL = GateQuestion.model_construct().model_dump(exclude_none=True)
SUFFIXES = {HTML: "html", MARKDOWN: "md", CSV: "csv", SVG: "svg", PNG: "png"}
DRAWN = [(name, PNG) for name in [name for name in FORMS if PNG in FORMS[name]][::8]]
EVERY = [(name, form) for name in ("report", "individual-risk", "theory/dp") for form in FORMS[name]]


def asked(service: Running, name: str, accept: str) -> Answer:
    if name == "columns":
        return post(service, "/v1/columns", file_bytes("scores.csv"), CSV, {"Accept": accept})
    return post(service, f"/v1/{name}", example(name), JSON, {"Accept": accept})


@pytest.mark.slow
@each_case("name, form", {*DRAWN, *EVERY})
def test_an_answer_comes_in_every_form_it_has(name: str, form: str, service: Running) -> None:
    answer = asked(service, name, form)

    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, form)
    if form in BEGINS:
        assert answer.body.lower().startswith(BEGINS[form].lower())
    else:
        assert b"," in answer.body.splitlines()[0]
    if form == SVG:
        assert ET.fromstring(answer.body).tag.endswith("svg")
    assert answer.headers["x-content-type-options"] == "nosniff"
    if form in (JSON, BRIEF, *BY_NAME[name].rows):
        assert "content-disposition" not in answer.headers
    else:
        how = "inline" if form == HTML else "attachment"
        assert answer.headers["content-disposition"] == f'{how}; filename="mace-report.{SUFFIXES[form]}"'


@pytest.mark.slow
@each_case("name", [name for name in FORMS if HTML in FORMS[name]][::8])
def test_what_a_report_may_do_in_a_browser_is_nothing_but_be_seen(name: str, service: Running) -> None:
    answer = asked(service, name, HTML)

    policy = answer.headers["content-security-policy"]
    assert policy == f"{CSP}; frame-ancestors 'self'"
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert b"<script" not in answer.body.lower()


@each_case("name, form", [(n, f) for n in FORMS for f in (*REPORTS, "image/gif") if f not in FORMS[n]])
def test_a_form_that_an_answer_has_not_is_refused(name: str, form: str, service: Running) -> None:
    answer = asked(service, name, form)

    assert (answer.status, slug(answer)) == (406, "not-acceptable")
    assert "content-disposition" not in answer.headers


@each_case("form", REPORTS)
def test_a_problem_is_a_problem_whatever_form_was_asked_for(form: str, service: Running) -> None:
    answer = post(service, "/v1/report", b'{"members": [1]}', JSON, {"Accept": form})

    assert (answer.status, answer.json()["field"]) == (422, "nonmembers")
    assert "content-disposition" not in answer.headers
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_a_browser_gets_a_page_and_everybody_else_json(service: Running) -> None:
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

    assert asked(service, "report", browser).headers["content-type"] == f"{HTML}; charset=utf-8"
    for accept in ("*/*", "application/json, text/html;q=0.9"):
        assert asked(service, "report", accept).headers["content-type"] == JSON
    assert asked(service, "report", "image/*").headers["content-type"] == SVG


@pytest.mark.slow
@each_case("file, form", zip(FILES, cycle(REPORTS), strict=False))
def test_tables_get_reports_too(file: str, form: str, service: Running) -> None:
    columns = "" if file == "scores.npy" else "?score=score&group=group"

    answer = post(service, f"/v1/report{columns}", file_bytes(file), FILES[file], {"Accept": form})

    assert answer.status == 200
    assert answer.headers["content-type"].startswith(form)


def test_pictures_are_offered_where_there_are_any() -> None:
    for name, forms in FORMS.items():
        assert (PNG in forms) == (SVG in forms) == has_figures(name), name
    assert all(set(forms) <= {JSON, BRIEF, ARROW, *REPORTS} for forms in FORMS.values())


def test_a_brief_answer_is_part_of_the_answer_and_asked_for_by_either_name(service: Running) -> None:
    whole = asked(service, "gate", JSON).json()
    by_name = post(service, "/v1/gate?detail=brief", example("gate"))
    by_type = asked(service, "gate", BRIEF)

    assert by_name.body == by_type.body
    assert (by_name.headers["content-type"], by_type.headers["content-type"]) == (BRIEF, BRIEF)
    answer = by_name.json()
    for name in ("sentence", "decision", "undecided_because", "records_needed", "covers"):
        assert answer[name] == whole[name]
    names = answer["limits"][0].keys()
    assert answer["limits"] == [{name: limit[name] for name in names} for limit in whole["limits"]]
    assert answer["input_sha256"] == [whole["provenance"]["input_sha256"]]
    assert post(service, "/v1/gate?detail=full", example("gate")).json() == whole


@each_case(
    "query, accept, status, field",
    ("detail=short", JSON, 422, "detail"),
    ("detail=brief&detail=brief", JSON, 422, "detail"),
    ("detail=brief", HTML, 422, "detail"),
    ("", f"{BRIEF};q=0, text/x-none", 406, "Accept"),
)
def test_what_is_no_detail_is_refused(query: str, accept: str, status: int, field: str, service: Running) -> None:
    answer = post(service, f"/v1/gate?{query}", example("gate"), JSON, {"Accept": accept})

    assert (answer.status, answer.json()["field"]) == (status, field)


def test_no_picture_is_drawn_in_the_server_itself() -> None:
    body = json.dumps(JSON_EXAMPLES["advantage"]["scores"].value).encode()

    assert quick(Call("advantage"), body)
    assert quick(Call("individual-risk", accept=CSV), body)
    assert not any(quick(Call("advantage", accept=form), body) for form in REPORTS)


def test_a_table_comes_with_its_declaration_in_a_form(service: Running) -> None:
    """JSON took a declaration and no table, and a form the table and no declaration."""
    declared = declaration_of(USUAL | {"score": "loss", "max_advantage": 0.5}, None, None)
    rows = "".join(f"{place / 40},{place},{place % 2}\r\n" for place in range(40))
    file = f'name="scores"; filename="t.csv"\r\nContent-Type: text/csv\r\n\r\nloss,other,member\r\n{rows}'
    declaration = f'name="declaration"\r\n\r\n{json.dumps(declared)}'

    def asked(*more: str) -> Answer:
        parts = [f"--b\r\nContent-Disposition: form-data; {each}\r\n" for each in (file, declaration, *more)]
        return post(service, "/v1/gate", "".join([*parts, "--b--\r\n"]).encode(), "multipart/form-data; boundary=b")

    found = asked('name="score"\r\n\r\nloss')
    assert found.status == 200, found.body
    assert found.json()["provenance"]["declaration"]["sha256"] == declared["sha256"]
    for more in ((), ('name="score"\r\n\r\nother',)):
        assert "score is not as it was declared (loss)" in asked(*more).json()["detail"]


def test_files_of_a_form_are_posted_and_answered_and_an_unknown_part_is_refused(service: Running) -> None:
    def form(*names: str) -> bytes:
        parts = [
            f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.csv"\r\nContent-Type: text/csv'
            f"\r\n\r\n{rows}\r\n".encode()
            for name, rows in zip(names, ("score\n" + "0.9\n" * 12, "score\n" + "0.1\n" * 12), strict=True)
        ]
        return b"".join([*parts, b"--b--\r\n"])

    kind = "multipart/form-data; boundary=b"
    answer = post(service, "/v1/gate?max_advantage=0.1", form("members", "nonmembers"), kind)
    unknown = post(service, "/v1/gate?max_advantage=0.1", form("members", "outsiders"), kind)

    assert (answer.status, answer.json()["decision"]) == (200, "fail")
    assert (unknown.status, slug(unknown)) == (422, "unknown-field")
    assert post(service, "/v1/theory/dp", form("members", "nonmembers"), kind).status == 415
