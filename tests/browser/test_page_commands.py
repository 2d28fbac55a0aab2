"""The commands that the page shows do what the page does, whatever things are called."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.home import named, opened, payload

HOSTILE = {
    "markup": "<img src=x onerror=alert(1)>",
    "a quote": 'it\'s "$(touch made)" `touch made` \\',
    "a formula": '=cmd|"/c calc"!A1',
    "right to left": "score\u202egnp.exe",
    "a dash": "-o made",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_the_commands_shown_make_the_same_report(visit: Visit, tmp_path: Path, name: str) -> None:
    file, column = name.replace("/", ":"), name
    (tmp_path / file).write_bytes(named(column))
    page = opened(visit, payload(file, named(column)))
    page.get_by_label("Limit").fill("0.1")
    page.get_by_label("Further metric").select_option("Jaccard")
    page.get_by_label("Estimator").select_option("Kernel densities, bandwidth by Silverman")

    for program, text in commands(page):
        subprocess.run(
            [program, "-c", text], cwd=tmp_path, check=True, capture_output=True, env={"LC_ALL": "C.UTF-8"}
        )
        report = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "Fail: with 95% confidence" in report
        assert "jaccard" in report
        assert "U_N" in report
        (tmp_path / "report.html").unlink()

    assert [path.name for path in tmp_path.iterdir()] == [file]


def commands(page: Page) -> list[tuple[str, str]]:
    """The two listings, each with what runs it."""
    bash = shutil.which("bash")
    assert bash is not None
    return [
        (bash, page.locator("#shell").inner_text()),
        (sys.executable, page.locator("#python").inner_text()),
    ]


def test_the_commands_follow_the_options_and_are_copied(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened(visit)

    page.get_by_label("Prior").fill("0.25")
    page.get_by_role("button", name="Copy").last.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")

    assert 'server.report("scores.csv", score="score", member="member", group="group", prior=0.25)' in copied
    assert json.dumps(visit.address) in copied
    expect(page.locator("#shell")).to_contain_text("prior=0.25")
