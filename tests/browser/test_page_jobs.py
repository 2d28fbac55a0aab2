"""A long audit at ``/`` shows that it goes on, and ends at the service when it is stopped or the page is left."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from tests.app.running import until
from tests.browser.conftest import Visit
from tests.browser.home import compute, sentence
from tests.browser.tables import KINDS, MODEL, RELEASE, at_once, given, have, place

ROWS = 40_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tables that take many seconds."""
    folder, paths = tmp_path_factory.mktemp("long"), {}
    for seed, title in enumerate(KINDS[RELEASE]):
        paths[title] = folder / f"{seed}.csv"
        values = np.random.default_rng(seed).normal(size=(ROWS, 8))
        np.savetxt(paths[title], values, "%.3f", ",", header="a,b,c,d,e,f,g,h", comments="")
    return paths


def begin(visit: Visit, long: dict[str, Path]) -> tuple[Page, str]:
    """A long audit under way, which the page follows, and the address of its job."""
    page = have(visit, RELEASE)
    for title, path in long.items():
        place(page, title).set_input_files(path)
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    with page.expect_request("**/v1/jobs/*/result"), page.expect_response("**/v1/synthetic") as asked:
        page.get_by_role("button", name="Make the report").click()
    assert asked.value.status == 202
    return page, f"{visit.address}{asked.value.headers['location']}"


def test_a_long_audit_counts_its_seconds_and_its_job_ends_when_it_is_stopped(
    visit: Visit, long: dict[str, Path]
) -> None:
    page, job = begin(visit, long)

    expect(page.locator("#stage")).to_have_text("Computing")
    expect(page.locator("#amount")).to_have_text(re.compile("^[1-9][0-9]* s$"))
    expect(page.get_by_text("for as long as this page is open")).to_be_visible()
    assert page.request.get(job).json()["state"] == "working"

    page.get_by_role("button", name="Stop").click()

    expect(page.locator("#said")).to_have_text("Stopped. The service no longer works on it.")
    expect(page.locator("#said")).to_be_visible()
    expect(page.locator("#working")).to_be_hidden()
    expect(page.get_by_role("button", name="Make the report")).to_be_focused()
    gone = page.request.get(job)
    assert (gone.status, gone.json()["detail"][:20]) == (404, "there is no such job")
    page = given(visit, MODEL)  # the worker is free for others
    compute(page)
    expect(sentence(page)).to_be_visible()


def test_a_page_that_is_left_leaves_no_work_behind(visit: Visit, long: dict[str, Path]) -> None:
    page, job = begin(visit, long)

    page.goto("about:blank")

    until(lambda: page.request.get(job).status == 404)


def test_a_connection_that_breaks_while_a_job_is_followed_is_made_again(visit: Visit) -> None:
    page = given(visit, MODEL)
    page.route("**/v1/model", at_once)
    broken: list[str] = []

    def once(route: Route) -> None:
        if broken:
            route.continue_()
        else:
            broken.append(route.request.url)
            route.abort("connectionreset")

    page.route("**/v1/jobs/*/result", once)
    compute(page)

    expect(sentence(page)).to_be_visible()
    assert len(broken) == 1
    visit.complaints.clear()  # the browser's own word for it


def test_a_job_that_waits_for_a_worker_says_how_many_wait_before_it(visit: Visit) -> None:
    page = given(visit, MODEL)
    page.route("**/v1/model", at_once)
    waits = [2, 0]
    page.route(
        "**/v1/jobs/*/result",
        lambda route: route.fulfill(status=202, json={"ahead": waits.pop(0)}) if waits else route.continue_(),
    )
    seen = "window.seen = []; const stage = document.getElementById('stage');"
    page.evaluate(
        f"{seen} new MutationObserver(() => window.seen.push(stage.textContent)).observe(stage, {{childList: true}})"
    )
    compute(page)

    expect(sentence(page)).to_be_visible()
    told = page.evaluate("window.seen")
    assert [each for each in told if "worker" in each] == [
        "Waiting for a worker, behind 2 more",
        "Waiting for a worker, next",
    ]
