"""Tables, predictions and log-probabilities lead to a verdict at ``/``; what is wrong in one is said at its place."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.app.http.asked import as_parquet
from tests.browser.conftest import BELOW, Visit
from tests.browser.home import compute, more, payload, reach, refuse, said, sentence
from tests.browser.tables import (
    KINDS,
    MODEL,
    RELEASE,
    TEXT,
    UNLEARNING,
    USAGE,
    at_once,
    chosen,
    files,
    given,
    have,
    people,
    place,
    slot,
)
from tests.browser.test_page_commands import run_python, run_shell

PATHS = {RELEASE: "synthetic", MODEL: "model", TEXT: "text", USAGE: "usage", UNLEARNING: "unlearning"}
LIMITS = {USAGE: "Most used"}
KEY = "correct-horse-battery-staple"
FAILS = re.compile("^Fail")


def wide(page: Page) -> int:
    """By how much something is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_each_way_in_fits_every_screen_leads_to_a_verdict_and_sends_a_form_of_files(
    visit: Visit, subtests: pytest.Subtests
) -> None:
    """And axe finds nothing."""
    for kind, path in PATHS.items():
        page = given(visit, kind)
        more(page)
        for width, scheme in ((360, "dark"), (768, "light"), (1280, "light")):
            with subtests.test(kind=kind, width=width):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                assert wide(page) <= 0
                if width != 768:
                    assert Axe().run(page).violations_count == 0
        with subtests.test(kind):
            page.get_by_label(LIMITS.get(kind, "Limit")).fill("0.1")

            with page.expect_request(f"**/v1/{path}") as asked:
                compute(page)

            expect(sentence(page)).to_have_text(FAILS)
            expect(page.locator("#report")).to_be_focused()
            assert asked.value.headers["content-type"].startswith("multipart/form-data; boundary=")
            assert asked.value.headers["prefer"].startswith("respond-async")
            with page.expect_download() as begun:
                page.get_by_role("button", name="JSON", exact=True).click()
            assert begun.value.suggested_filename == f"{path}-report.json"
            page.set_viewport_size({"width": 360, "height": 900})
            assert wide(page) <= 0
            page.set_viewport_size({"width": 1280, "height": 900})


def test_each_way_in_has_an_example(visit: Visit, subtests: pytest.Subtests) -> None:
    for kind, titles in KINDS.items():
        with subtests.test(kind):
            page = have(visit, kind)

            page.get_by_role("button", name="Try an example").click()
            for title in titles:
                expect(chosen(page, title)).to_contain_text(re.compile("columns?"))
            compute(page)

            expect(sentence(page)).to_contain_text(re.compile("^(Fail|Pass|Undecided)"))


def test_what_came_is_said_and_columns_are_proposed_which_can_be_changed(visit: Visit) -> None:
    rows = [*zip(*people(1), strict=True)]
    parquet = as_parquet(pa.table({"id": range(120), "age": rows[0], "income": rows[1], "job": rows[2]}))
    page = given(visit, RELEASE, {"Training rows": payload("train.parquet", parquet)})

    expect(chosen(page, "Training rows")).to_have_text(
        re.compile(r"^train.parquet · Parquet · \d\.\d KiB · 120 rows · 4 columns · Remove$")
    )
    expect(chosen(page, "Released table")).to_have_text(re.compile("^released.csv · CSV · .* · 3 columns · Remove$"))
    left_out = page.get_by_role("group", name="Leave out").get_by_role("checkbox", checked=True)
    assert left_out.evaluate_all("boxes => boxes.map(box => box.value)") == ["id"]
    expect(page.locator("#shell")).to_contain_text("-F leave_out=id")

    page.get_by_role("combobox", name="Person").select_option("id")
    expect(left_out).to_have_count(0)
    expect(page.locator("#shell")).to_contain_text("-F unit=id")

    page = given(visit, MODEL)
    expect(page.get_by_role("combobox", name="Truth")).to_have_value("label")
    page.get_by_role("group", name="Predictions").get_by_label("p_1").check()
    report = compute(page)
    expect(report.get_by_text("p_1").first).to_be_visible()
    expect(report.get_by_text("p_0")).to_have_count(0)

    page = given(visit, TEXT)
    page.get_by_role("combobox", name="Document").select_option("source")
    compute(page)
    expect(sentence(page)).to_be_visible()


def test_a_file_in_the_wrong_place_is_told_there_in_the_service_s_words(
    visit: Visit, subtests: pytest.Subtests
) -> None:
    (train, _, released), (predicted, _) = files()[RELEASE], files()[MODEL]
    cases = {
        "training rows as hold-out": (RELEASE, "Hold-out rows", train, "row for row", "Hold-out rows"),
        "other columns": (RELEASE, "Released table", predicted, "no column in common", "Released table"),
        "the same predictions": (
            MODEL, "Hold-out rows", predicted, "it is train, row for row", "Hold-out rows",
        ),
        "no truth": (MODEL, "Hold-out rows", released, "holdout has no column of this name", "Truth"),
    }  # fmt: skip
    for name, (kind, title, file, words, where) in cases.items():
        with subtests.test(name):
            page = given(visit, kind, {title: file})

            refuse(page)

            told = page.get_by_role("combobox", name=where) if where == "Truth" else place(page, where)
            expect(said(told)).to_contain_text(words)
            expect(page.locator("#problem")).to_be_hidden()


def test_what_is_no_table_is_told_at_its_place_at_once_and_what_is_missing_when_it_is_asked_for(visit: Visit) -> None:
    page = have(visit, MODEL)
    refuse(page)
    expect(said(place(page, "Training rows"))).to_have_text("Choose a file.")

    place(page, "Training rows").set_input_files(payload("train.csv", b"\x00\xff\xfe" * 300))
    expect(said(place(page, "Training rows"))).to_contain_text("CSV")
    place(page, "Training rows").set_input_files(files()[MODEL][0])
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    refuse(page)
    expect(said(place(page, "Hold-out rows"))).to_have_text("Choose a file.")

    slot(page, "Training rows").get_by_role("button", name="Remove Training rows").click()
    expect(chosen(page, "Training rows")).to_be_empty()
    expect(page.get_by_role("heading", name="Columns")).to_be_hidden()
    expect(place(page, "Training rows")).to_be_focused()


DROP = """names => {
  const data = new DataTransfer();
  for (const name of names) data.items.add(new File(["a,b\\n1,2\\n"], name));
  return data;
}"""


def test_files_dropped_together_go_where_their_names_say_and_one_where_it_is_dropped(visit: Visit) -> None:
    page = have(visit, RELEASE)
    names = ["synthetic-v2.csv", "my-holdout.csv", "train.csv"]

    page.dispatch_event("main", "drop", {"dataTransfer": page.evaluate_handle(DROP, names)})

    for title, name in zip(KINDS[RELEASE], reversed(names), strict=True):
        expect(chosen(page, title)).to_contain_text(name)

    one = page.evaluate_handle(DROP, ["whatever.csv"])
    slot(page, "Hold-out rows").locator(".drop").dispatch_event("drop", {"dataTransfer": one})

    expect(chosen(page, "Hold-out rows")).to_contain_text("whatever.csv")
    expect(chosen(page, "Training rows")).to_contain_text("train.csv")


@pytest.mark.parametrize("address", [(("api_key", KEY),)], indirect=True, ids=["locked"])
def test_a_locked_service_is_given_its_key_for_tables_and_their_job(visit: Visit) -> None:
    page = have(visit, MODEL)
    place(page, "Training rows").set_input_files(files()[MODEL][0])
    key = page.get_by_label("Key", exact=True)

    expect(said(key)).to_contain_text("needs a key")
    key.fill(KEY)
    key.press("Tab")
    expect(page.get_by_role("combobox", name="Truth")).to_have_value("label")
    place(page, "Hold-out rows").set_input_files(files()[MODEL][1])
    page.route("**/v1/model", at_once)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as forgotten:
        compute(page)

    assert forgotten.value.status == 204
    assert KEY not in page.locator("#shell").inner_text() + page.locator("#python").inner_text()
    expect(page.locator("#shell")).to_contain_text("$MACE_API_KEY")


@BELOW
def test_a_job_is_followed_below_a_path_and_forgotten_once_its_answer_is_there(visit: Visit) -> None:
    page = have(visit, MODEL)
    for title, file in zip(KINDS[MODEL], files()[MODEL], strict=True):
        head = b"\n".join(file["buffer"].splitlines()[:90])
        place(page, title).set_input_files(payload(file["name"], head))
        expect(chosen(page, title)).to_contain_text(re.compile("columns?"))
    page.route("**/v1/model", at_once)

    with page.expect_response("**/v1/model") as asked:
        compute(page)

    assert asked.value.status == 202
    job = asked.value.headers["location"]
    origin = visit.address.removesuffix("/behind/a/proxy")
    assert page.request.get(f"{origin}{job}").status == 404


HOSTILE = "a;b,\"c\\ $(touch made) it's \u202e.csv"


@pytest.mark.parametrize("kind", [RELEASE, MODEL])
def test_the_commands_shown_ask_the_same_of_tables(visit: Visit, tmp_path: Path, kind: str) -> None:
    title, sent = KINDS[kind][0], files()[kind]
    page = given(visit, kind, {title: payload(HOSTILE, sent[0]["buffer"])})
    page.get_by_label("Limit").fill("0.1")
    for file in sent:
        name = HOSTILE if file is sent[0] else file["name"]
        (tmp_path / name).write_bytes(file["buffer"])
    before = sorted(tmp_path.iterdir())

    for run in (run_shell, run_python):
        run(page, tmp_path)
        report = tmp_path / "report.html"
        assert "Fail:" in report.read_text(encoding="utf-8")
        report.unlink()

    assert sorted(tmp_path.iterdir()) == before


def test_what_somebody_has_is_chosen_by_keyboard_and_files_stay_where_they_were(visit: Visit) -> None:
    page = given(visit, RELEASE)
    page.get_by_role("radio", name=RELEASE).focus()

    page.keyboard.press("ArrowRight")

    expect(page.get_by_role("radio", name=MODEL)).to_be_checked()
    expect(page.locator("#shell")).to_contain_text("/v1/model")
    expect(page.get_by_role("heading", name="Columns")).to_be_hidden()
    reach(page, place(page, "Training rows"))
    page.get_by_role("radio", name=MODEL).focus()
    page.keyboard.press("ArrowLeft")
    expect(chosen(page, "Released table")).to_contain_text("released.csv")
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
