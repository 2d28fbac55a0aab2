"""The page at ``/`` in a real browser: from scores to a report, however they come."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import FilePayload, expect

from app.openapi.examples import MEMBERS, NONMEMBERS
from tests.app.running import until
from tests.browser.conftest import BELOW, Visit
from tests.browser.home import (
    CSV,
    FAIL,
    array,
    compute,
    files,
    give,
    more,
    named,
    opened,
    payload,
    refuse,
    said,
    sentence,
    table,
)
from tests.browser.test_page_commands import run_python


@BELOW
def test_the_example_leads_to_a_verdict_in_a_small_page_and_in_a_tab_of_its_own(visit: Visit) -> None:
    page = visit.open("/")
    scripts = page.evaluate(
        "Promise.all([...document.scripts].map(async s => (await (await fetch(s.src)).arrayBuffer()).byteLength))"
    )
    assert sum(scripts) < 48_000

    page.get_by_role("button", name="Try an example").click()
    expect(page.get_by_label("Member", exact=True)).to_have_value("member")
    compute(page)

    expect(sentence(page)).to_have_text(FAIL)
    expect(page.locator("#report")).to_be_focused()

    with page.context.expect_page() as made:
        page.get_by_role("link", name="Open in a new tab").click()

    expect(made.value.locator(".sentence")).to_be_visible()
    assert made.value.evaluate("window.opener") is None


def test_a_file_leads_to_a_report_whatever_its_format(visit: Visit, subtests: pytest.Subtests) -> None:
    for form, file in files().items():
        with subtests.test(form):
            page = opened(visit, file)
            page.get_by_label("Limit").fill("0.1")

            compute(page)

            expect(sentence(page)).to_have_text(FAIL)


def test_an_array_is_read_with_membership_in_the_last_column_or_asks_how_many_are_members(visit: Visit) -> None:
    both = [*((score, 1.0) for score in MEMBERS), *((score, 0.0) for score in NONMEMBERS)]
    page = opened(visit, payload("scores.npy", array(np.array(both))))

    expect(page.get_by_label("Member", exact=True)).to_have_value("1")
    expect(page.get_by_role("checkbox", name="0")).to_be_checked()
    page.get_by_label("Limit").fill("0.1")
    compute(page)
    expect(sentence(page)).to_have_text(FAIL)

    page = opened(visit, payload("scores.npy", array(np.array(MEMBERS + NONMEMBERS))))

    expect(page.get_by_text("How many of the 48 values, counted from the first, are members")).to_be_visible()
    refuse(page)
    expect(page.get_by_label("Member records")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Member records").fill("24")
    page.get_by_label("Limit").fill("0.1")
    compute(page)
    expect(sentence(page)).to_have_text(FAIL)


def test_the_same_scores_are_asked_who_is_exposed_whether_a_promise_was_kept_and_which_may_go_out(
    visit: Visit, tmp_path: Path
) -> None:
    page = opened(visit)
    page.get_by_role("radio", name="Scores, for names").check()

    expect(page.locator("#file-chosen")).to_contain_text("scores.csv")
    expect(page.get_by_label("Member", exact=True)).to_have_value("member")
    page.get_by_label("False names").fill("0.4")
    with page.expect_request("**/v1/exposed?*") as asked:
        compute(page)
    assert asked.value.url.partition("?")[2] == "score=score&member=member&max_false_share=0.4"
    expect(sentence(page)).to_contain_text("exposed")
    (tmp_path / "scores.csv").write_bytes(CSV)
    run_python(page, tmp_path)

    page.get_by_role("radio", name="Canaries’ scores").check()
    page.get_by_label("Promised epsilon").fill("0.01")
    page.get_by_label("Members were drawn").select_option("As a random half of one list")
    refuse(page)
    expect(said(page.get_by_label("The promise compares"))).to_contain_text("adjacency")
    page.get_by_label("The promise compares").select_option("One record in another’s place")
    with page.expect_request("**/v1/theory/one-run?*") as asked:
        compute(page)
    assert asked.value.url.partition("?")[2] == ("score=score&member=member&draw=split&epsilon=0.01&adjacency=replace")
    expect(sentence(page)).to_contain_text("epsilon")
    run_python(page, tmp_path)

    page.get_by_role("combobox", name="Run").select_option("group")
    report = compute(page)
    expect(report.get_by_role("rowheader", name="adult")).to_be_visible()
    expect(report.get_by_role("heading", name="After each run")).to_be_visible()
    run_python(page, tmp_path)

    page.get_by_role("radio", name="Candidates’ scores").check()
    boxes = page.get_by_role("group", name="Score").get_by_role("checkbox", checked=True)
    assert boxes.evaluate_all("boxes => boxes.map(box => box.value)") == ["score", "loss"]
    page.get_by_label("Use of each candidate").fill("0.8")
    refuse(page)
    expect(said(page.get_by_label("Use of each candidate"))).to_contain_text("a number for each")
    page.get_by_label("Use of each candidate").fill("0.8, 0.7")
    refuse(page)
    expect(said(page.get_by_label("Limit"))).to_contain_text("max_advantage")
    page.get_by_label("Limit").fill("0.9")
    page.get_by_label("The columns’ order").select_option("Says nothing")
    page.get_by_text("More options").click()
    page.get_by_label("Severe exposure").select_option("Accepted")
    with page.expect_request("**/v1/frontier?*") as asked:
        compute(page)
    assert asked.value.url.partition("?")[2] == (
        "score=score%2Closs&member=member&max_advantage=0.9&accept_exposure=true&utility=0.8%2C0.7&in_order=false"
    )
    expect(sentence(page)).to_contain_text("'score' may go out")
    run_python(page, tmp_path)

    page.get_by_role("radio", name="A released table").check()
    expect(page.locator("#file-chosen")).to_be_hidden()
    page.get_by_role("radio", name="Scores", exact=False).first.check()
    expect(page.get_by_label("Limit")).to_be_visible()
    compute(page)


def test_candidates_have_an_example_and_a_number_of_a_record_is_none(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("radio", name="Candidates’ scores").check()
    page.get_by_role("button", name="Try an example").click()
    expect(page.get_by_label("Member", exact=True)).to_have_value("member")
    compute(page)
    expect(sentence(page)).to_contain_text("candidates")

    page = opened(visit, numbered("id", "epsilon 4", "epsilon 16"))
    page.get_by_role("radio", name="Candidates’ scores").check()
    expect(page.get_by_role("checkbox", name="id")).not_to_be_checked()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(page.get_by_text("No score is ticked for you")).to_be_hidden()


def numbered(*names: str) -> FilePayload:
    """Records with a number each, and two columns more."""
    values = MEMBERS + NONMEMBERS
    rows = [(1000 + at, value, at % 5, int(at < len(MEMBERS))) for at, value in enumerate(values)]
    return payload("scores.csv", table((*names, "member"), *rows))


def test_a_column_that_numbers_the_records_is_not_ticked_and_why_none_is_ticked_is_said(visit: Visit) -> None:
    page = opened(visit, numbered("id", "loss", "age"))

    expect(page.get_by_role("checkbox", name="id")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="loss")).to_be_checked()
    expect(page.get_by_text("No score is ticked for you")).to_be_hidden()

    page = opened(visit, numbered("row", "gap", "age"))

    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    expect(page.get_by_text("No score is ticked for you: 2 columns could be the scores")).to_be_visible()
    page.get_by_role("checkbox", name="gap").check()
    compute(page)
    expect(sentence(page)).to_be_visible()


def test_a_refusal_names_the_field_of_the_page_and_not_an_option_of_the_service(visit: Visit) -> None:
    page = opened(visit, payload("scores.csv", table(("loss", "in"), *[(k / 7, k % 2) for k in range(40)])))
    page.get_by_role("checkbox", name="loss").check()
    refuse(page)

    expect(page.get_by_text("say with “member” below which of the 2 columns")).to_be_visible()


DROP = """([text, ...names]) => {
  const data = new DataTransfer();
  for (const name of names) data.items.add(new File([text], name));
  return data;
}"""


def test_a_dropped_file_is_as_good_as_a_chosen_one(visit: Visit, subtests: pytest.Subtests) -> None:
    for names, words in {
        ("mine.csv",): re.compile("^mine.csv · CSV · [0-9]+ bytes · 4 columns · Remove$"),
        ("mine.csv", "b.csv", "c.csv"): re.compile("^mine.csv .* one file at a time: 2 more left out · Remove$"),
    }.items():
        with subtests.test(names=names):
            page = visit.open("/")
            dropped = page.evaluate_handle(DROP, [CSV.decode(), *names])

            page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})

            expect(page.get_by_role("checkbox", name="score")).to_be_checked()
            expect(page.locator("#file-chosen")).to_have_text(words)


def test_a_pasted_table_has_its_columns_picked(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_text("Paste scores instead").click()

    page.get_by_label("Members", exact=True).fill(CSV.decode().replace(",", "\t"))
    page.get_by_role("button", name="Use these scores").click()

    expect(page.get_by_role("checkbox", name="loss")).not_to_be_checked()
    page.get_by_role("checkbox", name="loss").check()
    page.get_by_role("checkbox", name="score").uncheck()
    with page.expect_request("**/v1/report?*") as asked:
        compute(page)
    assert "score=loss&member=member&group=group" in asked.value.url


def test_the_options_are_the_question_and_who_is_a_member_is_no_score(visit: Visit) -> None:
    page = opened(visit)
    page.get_by_label("Prior").fill("0.2")
    page.get_by_label("Limit").fill("0.3")
    more(page)
    page.get_by_label("Further metric").select_option("F1")
    page.get_by_label("Confidence").fill("0.9")
    page.get_by_label("Estimator").select_option("Kernel densities, bandwidth by Silverman")
    page.get_by_role("combobox", name="Group").select_option("group")
    page.get_by_label("Most within any group").fill("0.9")

    with page.expect_request("**/v1/report?*") as asked:
        compute(page)

    assert asked.value.url.partition("?")[2] == (
        "score=score&member=member&group=group&max_advantage=0.3&prior=0.2&confidence=0.9&max_group_advantage=0.9"
        "&metric=f1"
        "&estimator.kind=kde&estimator.bandwidth=silverman"
    )
    assert asked.value.headers["accept"] == "text/html"

    page.get_by_label("Member", exact=True).select_option("score")

    expect(page.get_by_role("checkbox", name="score")).to_be_disabled()
    expect(page.get_by_role("checkbox", name="score")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="member")).to_be_enabled()


def test_a_score_whose_name_cannot_be_asked_for_cannot_be_ticked(visit: Visit) -> None:
    """A comma separates names; as that of a group, which is one name, it is sent as it is."""
    rows = [(value, value, member, member) for value, member in zip(MEMBERS, [0, 1] * 12, strict=True)]
    page = opened(visit, payload("scores.csv", table(("a", "b", '"a,b"', "member"), *rows)))

    expect(page.get_by_role("checkbox", name="a,b Rename it: no comma")).to_be_disabled()
    page.get_by_role("checkbox", name="a", exact=True).check()
    page.get_by_role("combobox", name="Group").select_option("a,b")
    with page.expect_request("**/v1/report?*") as asked:
        page.get_by_role("button", name="Make the report").click()

    assert asked.value.url.partition("?")[2] == "score=a&member=member&group=a%2Cb"


def test_a_column_that_says_whose_a_row_is_makes_a_report_that_allows_for_it(visit: Visit) -> None:
    """Two names that a comma separates are two columns, so a name that holds one is not offered."""
    values = [(value, at // 2, int(at < len(MEMBERS))) for at, value in enumerate(MEMBERS + NONMEMBERS)]
    rows = [(value, person, person, member) for value, person, member in values]
    page = opened(visit, payload("scores.csv", table(("score", "person", '"a,b"', "member"), *rows)))

    cluster = page.get_by_role("combobox", name="Cluster")
    assert cluster.locator("option").all_inner_texts() == ["None", "score", "person", "member"]
    cluster.select_option("person")
    expect(page.get_by_role("checkbox", name="person")).to_be_disabled()
    page.get_by_role("checkbox", name="score").check()
    expect(page.locator("#python")).to_contain_text('cluster="person"')
    with page.expect_request("**/v1/report?*") as asked:
        report = compute(page)

    assert asked.value.url.partition("?")[2] == "score=score&member=member&cluster=person"
    expect(report.get_by_text("Worth independent records")).to_be_visible()


def test_a_report_that_no_longer_answers_the_form_says_so(visit: Visit) -> None:
    page = opened(visit)
    compute(page)
    stale = page.locator("#report").get_by_role("status")
    expect(stale).to_be_empty()

    page.get_by_label("Prior").fill("0.2")
    expect(stale).to_have_text("Options have changed since this report.")
    page.get_by_label("Prior").fill("0.50")
    expect(stale).to_be_empty()
    give(page, payload("empty.csv", b""))

    expect(page.locator("#file-problem")).to_be_visible()
    expect(stale).to_have_text("This report is about the earlier scores.")
    give(page, payload("other.csv", CSV))
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    compute(page)
    expect(stale).to_be_empty()


def test_a_report_is_shown_whole_without_scripts_printed_and_taken_along_in_every_form(
    visit: Visit, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    page = opened(visit)
    report = compute(page)
    frame = page.locator("iframe")
    taller = (
        "frame => Math.abs(frame.getBoundingClientRect().height"
        " - frame.contentDocument.documentElement.getBoundingClientRect().height)"
    )
    until(lambda: frame.evaluate(taller) < 2)
    before = page.evaluate("scrollY")

    report.get_by_role("navigation", name="Contents").get_by_role("link").last.click()

    until(lambda: page.evaluate("scrollY") > before + 500)
    expect(report.locator(":target")).to_be_in_viewport()
    expect(sentence(page)).to_be_attached()
    assert frame.get_attribute("sandbox") == "allow-same-origin allow-modals"
    assert frame.evaluate("frame => frame.contentDocument.scripts.length") == 0

    frame.evaluate("frame => frame.contentWindow.addEventListener('beforeprint', () => { window.printed = true })")
    page.get_by_role("button", name="Print").click()
    page.wait_for_function("window.printed === true")

    forms = {"HTML": b"<!doctype html>", "Markdown": b"# ", "CSV": b"", "PNG": b"\x89PNG", "JSON": b'{"sentence"'}
    for form, begins in forms.items():
        with subtests.test(form):
            with page.expect_download() as begun:
                page.get_by_role("button", name=form, exact=True).click()

            suffix = {"Markdown": "md"}.get(form, form.lower())
            begun.value.save_as(kept := tmp_path / suffix)
            assert begun.value.suggested_filename == f"scores-report.{suffix}"
            assert kept.read_bytes().startswith(begins)
            assert kept.stat().st_size > 500
            expect(page.get_by_role("button", name=form, exact=True)).to_be_enabled()


def test_another_file_takes_the_place_of_the_first(visit: Visit) -> None:
    page = opened(visit)

    give(page, payload("other.csv", named("margin")))

    expect(page.get_by_role("checkbox", name="margin")).to_be_checked()
    expect(page.get_by_role("checkbox", name="loss")).to_have_count(0)
    expect(page.locator("#shell")).to_contain_text("@other.csv")
