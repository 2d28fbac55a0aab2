"""The page and the report for every kind of reader: by keyboard, in the dark, on a phone, and as axe judges them."""

from itertools import pairwise
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit
from tests.browser.home import CSV, FILE, compute, give, opened, payload, reach, sentence

READERS: list[tuple[Literal["light", "dark"], int]] = [("light", 1280), ("dark", 320)]
"""What colours do depends on the scheme, what the layout does on the width."""


def violations(page: Page) -> dict[tuple[str, int], str]:
    """What axe finds wrong by any of its rules, by the reader for whom it is; nothing, if it is right."""
    wrong: dict[tuple[str, int], str] = {}
    for scheme, width in READERS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page)
        if found.violations_count:
            wrong[scheme, width] = found.generate_report()
    return wrong


def test_axe_finds_nothing_on_the_page_before_and_after_a_report(visit: Visit) -> None:
    page = visit.open("/")
    empty = violations(page)

    page.get_by_text("Paste scores instead").click()
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#file-problem")).to_be_visible()
    wrong = violations(page)
    give(page, payload("scores.csv", CSV))
    expect(page.get_by_role("checkbox", name="score")).to_be_checked()
    compute(page)
    page.get_by_label("Prior").fill("0.2")
    expect(page.locator("#stale")).not_to_be_empty()
    full = violations(page)

    assert (empty, wrong, full) == ({}, {}, {})


def test_a_report_that_was_kept_asks_for_nothing_and_is_as_wide_as_the_screen(
    visit: Visit, browser: Browser, tmp_path: Path
) -> None:
    """What axe says of a report: test_report."""
    page = opened(visit)
    page.get_by_label("Limit").fill("0.1")
    compute(page)
    with page.expect_download() as begun:
        page.get_by_role("button", name="HTML", exact=True).click()
    begun.value.save_as(kept := tmp_path / "report.html")

    report = browser.new_page()
    asked: list[str] = []
    report.on("request", lambda request: asked.append(request.url))
    report.goto(kept.as_uri())
    wide = []
    for _, width in READERS:
        report.set_viewport_size({"width": width, "height": 900})
        wide.append(report.evaluate("document.documentElement.scrollWidth - innerWidth"))
    report.close()

    assert asked == [kept.as_uri()]
    assert max(wide) <= 0


def test_everything_works_by_keyboard_alone(visit: Visit) -> None:
    page = visit.open("/")
    page.on("filechooser", lambda _: None)  # from now on, the browser opens none of its own

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the form")).to_be_focused()
    page.keyboard.press("Enter")
    reach(page, page.get_by_label(FILE, exact=True))
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files(payload("scores.csv", CSV))
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    reach(page, page.get_by_role("checkbox", name="loss"))
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name="loss")).to_be_checked()
    page.keyboard.press("Space")
    reach(page, page.get_by_label("Limit"))
    page.keyboard.type("0.1")
    page.keyboard.press("Enter")

    expect(sentence(page)).to_contain_text("Fail")
    expect(page.locator("#report")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Open in a new tab")).to_be_focused()


def test_the_order_of_the_keyboard_is_the_order_on_the_screen(visit: Visit) -> None:
    page = opened(visit)
    where = "(() => { const b = document.activeElement.getBoundingClientRect(); return b.top + scrollY })()"
    page.locator("#file").focus()
    tops = [page.evaluate(where)]

    while not page.locator("#compute").evaluate("button => button === document.activeElement"):
        page.keyboard.press("Tab")
        tops.append(page.evaluate(where))

    assert len(tops) > 8
    assert all(after > before - 60 for before, after in pairwise(tops))


def test_the_page_follows_the_readers_colour_scheme(visit: Visit) -> None:
    page = opened(visit)
    compute(page)
    grounds = {"light": "rgb(244, 246, 248)", "dark": "rgb(17, 20, 24)"}

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.locator("body")).to_have_css("background-color", grounds[scheme])
        expect(page.frame_locator("iframe").locator("body")).to_have_css("background-color", grounds[scheme])


def test_nothing_is_wider_than_the_screen_or_moves_for_whoever_wants_no_motion(visit: Visit) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    page = opened(visit)
    page.get_by_text("Paste scores instead").click()

    compute(page)

    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    for width in (320, 768, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
