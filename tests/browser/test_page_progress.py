"""A big file over a slow line: how far it is can be seen, and it can be called off."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.home import CSV, compute, give, opened, payload, sentence

BIG = 2_000_000


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 MB of scores."""
    path = tmp_path_factory.mktemp("big") / "scores.npy"
    np.save(path, np.random.default_rng(1).normal(size=BIG))
    return path


SEEN = """
() => {
  window.seen = [];
  const look = () => {
    const bar = document.getElementById("progress");
    const stage = document.getElementById("stage").textContent;
    window.seen.push([stage, bar.hasAttribute("value") ? bar.value : null]);
  };
  new MutationObserver(look).observe(document.getElementById("working"), {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
}
"""


def upload(visit: Visit, big: Path) -> Page:
    """Begin to send the big file over a slow line; what the page shows of it is written down."""
    page = opened(visit, big)
    page.get_by_label("Member records").fill(str(BIG // 2))
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 8 * 2**20}
    line.send("Network.emulateNetworkConditions", slow)
    page.evaluate(SEEN)
    page.get_by_role("button", name="Make the report").click()
    return page


def test_a_big_file_shows_how_far_it_is(visit: Visit, big: Path) -> None:
    page = upload(visit, big)

    expect(sentence(page)).not_to_be_empty(timeout=120_000)

    seen = page.evaluate("window.seen")
    shares = [share for stage, share in seen if stage == "Uploading" and share is not None]
    assert any(0 < share < 1 for share in shares)
    assert shares == sorted(shares)
    assert ["Computing", None] in seen
    expect(page.locator("#working")).to_be_hidden()
    expect(page.locator("#said")).to_have_text("The report is ready.")


def test_an_upload_can_be_stopped(visit: Visit, big: Path) -> None:
    page = upload(visit, big)

    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#said")).to_have_text("Stopped. The service no longer works on it.")
    expect(page.locator("#said")).to_be_visible()
    expect(page.get_by_role("button", name="Make the report")).to_be_focused()
    expect(page.locator("#working")).to_be_hidden()
    give(page, payload("scores.csv", CSV))
    expect(page.get_by_role("checkbox", name="score")).to_be_checked()
    compute(page)
