"""The commands that the page shows do what the page does, whatever things are called."""

import json
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.home import more, named, opened, payload

HOSTILE = {
    "markup, right to left": "<img src=x onerror=alert(1)>\u202egnp.exe",
    "a formula, quotes": '=cmd|"/c calc"!A1 it\'s "$(touch made)" `touch made` \\',
    "a dash": "-o made",
}


def test_the_commands_shown_make_the_same_report(visit: Visit, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for case, name in HOSTILE.items():
        with subtests.test(case):
            folder, file = tmp_path / case, name.replace("/", ":")
            folder.mkdir()
            (folder / file).write_bytes(named(name))
            page = opened(visit, payload(file, named(name)))
            page.get_by_label("Limit").fill("0.1")
            more(page)
            page.get_by_label("Further metric").select_option("Jaccard")
            page.get_by_label("Estimator").select_option("Kernel densities, bandwidth by Silverman")

            for run in (run_shell, run_python):
                run(page, folder)
                report = (folder / "report.html").read_text(encoding="utf-8")
                assert "Fail: with 95% confidence" in report
                assert "jaccard" in report
                assert "U_N" in report
                (folder / "report.html").unlink()

            assert [path.name for path in folder.iterdir()] == [file]


def run_shell(page: Page, folder: Path) -> None:
    """Run the listing for the shell in a folder."""
    bash = shutil.which("bash")
    assert bash is not None
    command = [bash, "-c", page.locator("#shell").inner_text()]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env={"LC_ALL": "C.UTF-8"})


def run_python(page: Page, folder: Path) -> None:
    """Run the listing for Python in a folder."""
    with chdir(folder):
        exec(page.locator("#python").inner_text(), {})


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
