"""A report in a real browser: contents at the side, folded but the first screen, whole on paper, nothing cut off."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from app.cli.demo import example_table
from macekit.call import CSV, HTML, Body, Call
from macekit.operations import perform


@cache
def document() -> bytes:
    """The report that has the most in it."""
    query = (("group", "group"), ("max_advantage", "0.1"), ("claimed_epsilon", "1"))
    return bytes(perform(Call("report", CSV, query=query, accept=HTML), Body.of(example_table())).body)


@pytest.fixture
def report(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    path = tmp_path / "report.html"
    path.write_bytes(document())
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    yield page
    page.close()


IN_SIGHT = "main .body"
FOLDED = "bodies => bodies.filter(body => !body.checkVisibility()).map(body => body.id)"


def folded(page: Page) -> list[str]:
    """The sections whose content is not to be seen."""
    names: list[str] = page.locator(IN_SIGHT).evaluate_all(FOLDED)
    return names


def test_contents_stand_at_the_side_of_a_wide_screen_and_stay_there(report: Page) -> None:
    contents = report.get_by_role("navigation", name="Contents")
    left, right = contents.bounding_box(), report.locator("main").bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]

    report.evaluate("scrollTo(0, 600)")

    assert report.evaluate("scrollY") == 600
    expect(contents).to_be_in_viewport(ratio=1)
    report.set_viewport_size({"width": 768, "height": 900})
    above, below = contents.bounding_box(), report.locator("main").bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    report.set_viewport_size({"width": 360, "height": 900})
    expect(contents).to_be_hidden()  # folded headings are the contents


def test_all_but_the_first_screen_and_what_was_not_established_is_folded_until_it_is_asked_for(report: Page) -> None:
    sections = report.locator(IN_SIGHT).evaluate_all("bodies => bodies.map(body => body.id)")
    assert folded(report) == [name for name in sections[1:] if name != "not-established"]
    assert report.evaluate("document.documentElement.scrollHeight") < 4000

    report.get_by_role("link", name="Groups").click()

    expect(report.locator("#groups")).to_be_in_viewport()
    assert "groups" not in folded(report)
    report.get_by_role("heading", name="Every threshold at once").click()
    expect(report.get_by_role("img", name="ROC: members found against false alarms")).to_be_visible()
    address = report.url
    report.goto("about:blank")  # not a reload, of which a browser keeps how it was scrolled
    report.goto(address)
    expect(report.locator("#groups")).to_be_visible()  # by the address alone


def test_paper_has_every_section_and_no_chart_or_row_is_torn(report: Page) -> None:
    report.emulate_media(media="print")

    assert folded(report) == []
    expect(report.get_by_role("navigation", name="Contents")).to_be_hidden()
    hidden = "all => all.filter(each => !each.checkVisibility()).length"
    assert report.locator("main h2, main table, main svg").evaluate_all(hidden) == 0
    torn = "all => all.filter(each => getComputedStyle(each).breakInside !== 'avoid').length"
    assert report.locator(".drawing, tr, li, pre").evaluate_all(torn) == 0
    after = "all => all.filter(each => getComputedStyle(each).breakAfter !== 'avoid').length"
    assert report.locator("h2, figcaption, caption").evaluate_all(after) == 0
    assert report.pdf(format="A4").startswith(b"%PDF")
    report.set_viewport_size({"width": 680, "height": 990})  # A4 within its margins
    assert report.evaluate("document.documentElement.scrollWidth") == 680
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    assert report.locator(".scroll").evaluate_all(cut) == 0


def test_nothing_is_wider_than_the_screen_and_what_is_moved_sideways_says_so(report: Page) -> None:
    report.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    silent = (
        "all => all.filter(each => each.scrollWidth > each.clientWidth"
        " && !getComputedStyle(each, '::before').content.includes('swipe')).length"
    )
    for width, scheme in ((320, "dark"), (360, "dark"), (768, "light"), (1280, "light")):
        report.set_viewport_size({"width": width, "height": 900})
        report.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert report.evaluate("document.documentElement.scrollWidth") == width
        assert report.locator(".drawing").evaluate_all(silent) == 0
        assert width in (360, 768) or Axe().run(report).violations_count == 0
    shadows = report.locator(".scroll").first.evaluate("each => getComputedStyle(each).backgroundAttachment")
    assert shadows == "local, local, scroll, scroll"


def test_a_report_is_small_and_every_link_leads_within_it(report: Page) -> None:
    inside = "links => links.every(link => document.getElementById(link.getAttribute('href').slice(1)))"

    assert len(document()) < 2**20
    links = report.get_by_role("link")
    assert links.count() > 8
    assert links.evaluate_all(inside)
