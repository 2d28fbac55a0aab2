"""Charts in a real browser: coloured by variables, under a policy that allows no style but the page's own."""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page

from macekit.reports.content import figures
from macekit.reports.drawing import inline_svg
from macekit.reports.palette import VARIABLES
from tests.macekit.reports.asked import answered

COLOURS = {name: f"rgb({place}, 0, 99)" for place, name in enumerate(VARIABLES, start=1)}
STYLE = ":root {" + "".join(f"{name}: {colour};" for name, colour in COLOURS.items()) + "}"
CHART = "svg :not(clipPath) > :is(path, line, text, rect)"


@cache
def page_of_charts() -> str:
    """All charts of a report, and a policy that names the digest of the one style sheet."""
    question = {"members": [0.1 * i for i in range(60)], "nonmembers": [0.1 * i - 2 for i in range(60)]}
    found = figures("report", answered("report", {**question, "claimed_epsilon": 1, "max_advantage": 0.2}))
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    drawn = "".join(inline_svg(figure, f"f{place}") for place, figure in enumerate(found))
    return (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{STYLE}</style>{drawn}"
    )


@pytest.fixture(scope="module")
def page(window: BrowserContext) -> Iterator[Page]:
    opened = window.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("request", lambda request: said.append(request.url))
    opened.set_content(page_of_charts())
    assert said == []
    yield opened
    opened.close()


@pytest.mark.parametrize("media", ["screen", "print"])
def test_every_colour_is_the_page_s(page: Page, media: Literal["screen", "print"]) -> None:
    page.emulate_media(media=media)

    found = page.locator(CHART).evaluate_all(
        "all => [...new Set(all.flatMap(e => [getComputedStyle(e).fill, getComputedStyle(e).stroke]))]"
    )

    assert set(found) - {"none", "rgba(0, 0, 0, 0)"} <= set(COLOURS.values())
    assert COLOURS["--mace-member"] in found


def test_charts_have_names_for_who_cannot_see_them(page: Page) -> None:
    pictures = page.get_by_role("img")

    assert pictures.count() == page.locator("svg").count() > 5
    assert page.get_by_role("img", name="ROC: members found against false alarms").count() == 1


def test_no_label_is_cut_off_at_the_left(page: Page) -> None:
    cut = page.locator("svg").evaluate_all(
        "all => all.filter(svg => [...svg.querySelectorAll('text')].some("
        "text => text.getBoundingClientRect().left < svg.getBoundingClientRect().left - 1)).length"
    )

    assert cut == 0
