"""The guide in a real browser, as ``scripts/docs`` builds it and the service shows it: nothing of another host."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.app.running import running
from tests.browser.conftest import Visit

ROOT = Path(__file__).parents[2]
WIDTH = "document.documentElement.scrollWidth"
GROUND = "getComputedStyle(document.body).backgroundColor"


def build(source: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``scripts/docs`` runs."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--doctree-dir"]
    places = [folder / "doctrees", source, folder / "guide"]
    return subprocess.run([*command, *places], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that shows the guide, below a path."""
    folder = tmp_path_factory.mktemp("docs")
    done = build(ROOT / "docs", folder)
    assert done.returncode == 0, done.stderr
    with running(folder, guide=str(folder / "guide"), root_path="/behind/a/proxy") as service:
        yield f"http://127.0.0.1:{service.port}/behind/a/proxy"


def test_it_is_searched_and_read_in_the_dark_and_on_a_phone_and_every_page_loads(visit: Visit) -> None:
    """As with every visit: nothing is asked of another host, and nothing that its policy forbids."""
    page = visit.open("/")
    page.get_by_role("link", name="Guide").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("mace")

    page.get_by_placeholder("Search").fill("advantage_series")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="macekit.advantage_series").click()
    expect(page.locator("[id='macekit.advantage_series']")).to_be_in_viewport()
    expect(page.locator("[id='macekit.advantage_series']")).to_contain_text("(")

    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(GROUND)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(GROUND) != dark
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name=re.compile("light|dark|theme", re.IGNORECASE)).first.click()
    assert page.evaluate(GROUND) != dark

    page.set_viewport_size({"width": 375, "height": 800})
    places = set(
        page.locator(".sidebar-tree a.internal").evaluate_all("all => all.map(each => each.href.split('#')[0])")
    )
    assert len(places) > 30
    for place in sorted(places):
        answer = page.goto(place)
        assert answer is not None
        assert answer.ok
        assert page.evaluate(WIDTH) == 375, place


@pytest.mark.slow
def test_a_link_or_an_anchor_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_bytes((ROOT / "docs" / "conf.py").read_bytes())
    (source / "index.md").write_text("# A page\n\n[one](gone.md), [two](#gone), [three](index.md#gone)\n")

    done = build(source, tmp_path)

    assert done.returncode != 0
    assert done.stderr.count("gone") >= 3
