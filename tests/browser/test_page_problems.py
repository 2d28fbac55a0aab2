"""What goes wrong is said where it went wrong, and whatever things are called stays a name."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.openapi.examples import MEMBERS
from tests.app.running import until
from tests.browser.conftest import BELOW, Visit
from tests.browser.home import CSV, FILE, compute, give, opened, paste, payload, refuse, said, sentence, shown, table

KEY = "correct-horse-battery-staple"


BAD = {
    "empty": ("empty.csv", b"", "empty"),
    "no Parquet": ("scores.parquet", bytes(range(256)) * 40, "Parquet"),
    "no NPY": ("scores.npy", b"\x93NUMPY\x09\x09 garbage", "NPY"),
    "no text": ("scores.csv", b"\x00\xff\xfe" * 300, "CSV"),
    "no header": ("scores.csv", table((0.4, 1), (0.5, 0)), "header"),
    "no gzip": ("scores.csv.gz", b"\x1f\x8b" + b"\x00" * 64, ""),
    "Excel": ("scores.xlsx", b"PK\x03\x04" + b"\x00" * 64, "export the table as CSV"),
    "old Excel": ("scores.xls", b"\xd0\xcf\x11\xe0" + b"\x00" * 64, "export the table as CSV"),
}


def test_a_bad_file_is_told_beside_the_choice_of_files_and_so_is_none(visit: Visit, subtests: pytest.Subtests) -> None:
    for name, (file, data, words) in BAD.items():
        with subtests.test(name):
            page = visit.open("/")

            give(page, payload(file, data))

            expect(said(page.get_by_label(FILE, exact=True))).to_contain_text(words)

    page = visit.open("/")
    refuse(page)

    expect(said(page.get_by_label(FILE, exact=True))).to_contain_text("paste scores")

    give(page, payload("scores.csv", table(("score", "member"), *((value, "perhaps") for value in MEMBERS))))
    refuse(page)
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    give(page, payload("scores.csv", CSV))
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_a_score_that_is_missing_is_told_at_the_score(visit: Visit) -> None:
    rows = [(value, 1) for value in MEMBERS] + [("" if i == 5 else value, 0) for i, value in enumerate(MEMBERS)]
    page = opened(visit, payload("scores.csv", table(("score", "member"), *rows)))

    refuse(page)

    expect(said(page.get_by_role("checkbox", name="score"))).to_contain_text("row 29")


def test_what_is_wrong_with_an_option_is_told_at_it_and_forgotten_when_it_changes(
    visit: Visit, subtests: pytest.Subtests
) -> None:
    """A prior beyond its ends is refused by the page, at them by the service; empty means the usual one."""
    page = opened(visit)
    prior, member, score = (
        page.get_by_label("Prior"),
        page.get_by_label("Member", exact=True),
        page.get_by_role("checkbox", name="score"),
    )
    for value in ("0", "1", "1.5", "-0.2", ""):
        with subtests.test(prior=value):
            prior.fill(value)
            if value:
                refuse(page)
                expect(said(prior)).not_to_be_empty()
                prior.fill("0.4")
            expect(prior).not_to_have_attribute("aria-invalid", "true")
            expect(page.locator("#prior-problem")).to_be_hidden()
    limit = page.get_by_label("Limit")
    limit.press_sequentially("0,1")  # a field of numbers drops the comma: with 1 as limit everything passes
    refuse(page)
    expect(said(limit)).to_contain_text("with a decimal point")
    limit.fill("")
    compute(page)

    score.uncheck()
    refuse(page)
    expect(page.locator("#score-problem")).to_have_text("Tick a score.")

    score.check()
    member.select_option("loss")
    refuse(page)
    expect(said(member)).not_to_be_empty()


def test_too_few_pasted_scores_are_told_at_their_box(visit: Visit) -> None:
    page = visit.open("/")
    paste(page, "\n".join(map(str, MEMBERS)), "0.1\n0.2")

    refuse(page)

    expect(said(page.get_by_label("Nonmembers"))).to_contain_text("got 2")


def test_without_a_server_the_page_says_so(visit: Visit) -> None:
    page = opened(visit)
    page.route("**/v1/report*", lambda route: route.abort("connectionrefused"))

    refuse(page)

    expect(page.get_by_role("alert").filter(has_text="connection to the server broke")).to_be_visible()
    visit.complaints.clear()  # the browser's own word for it


def test_a_page_of_a_proxy_is_neither_shown_as_the_report_nor_kept(visit: Visit) -> None:
    login = {"content_type": "text/html", "body": "<!doctype html><title>Log in</title><h1>Log in</h1>"}
    told = "Something between answered"
    page = opened(visit)
    page.route("**/v1/report*", lambda route: route.fulfill(**login))
    refuse(page)
    expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)

    page.unroute("**/v1/report*")
    compute(page)
    expect(sentence(page)).to_be_visible()
    page.route("**/v1/report*", lambda route: route.fulfill(**login))
    page.get_by_role("button", name="CSV").click()
    expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()


@BELOW
def test_a_file_too_large_is_told_with_the_limit(visit: Visit) -> None:
    rows = [(value, member) for member in (0, 1) for value in np.linspace(0, 1, 5000)]
    page = visit.open("/")

    give(page, payload("big.csv", table(("score", "member"), *rows)))
    refuse(page)

    expect(said(page.get_by_label(FILE, exact=True))).to_contain_text("5000 bytes")


@pytest.mark.parametrize("address", [(("api_key", KEY),)], indirect=True, ids=["locked"])
def test_a_locked_service_is_given_its_key(visit: Visit) -> None:
    page = visit.open("/")
    expect(page.get_by_label("Key", exact=True)).to_be_hidden()
    give(page, payload("scores.csv", CSV))
    key = page.get_by_label("Key", exact=True)

    expect(said(key)).to_contain_text("needs a key")
    key.fill("another-key-of-some-length")
    refuse(page)
    expect(said(key)).to_contain_text("not the key")
    key.fill("schl\u00fcssel-\u043a\u043b\u044e\u0447")
    key.press("Tab")
    expect(said(key)).to_contain_text("a character that no key has")
    expect(page.locator("#file-problem")).to_be_hidden()
    refuse(page)
    expect(said(key)).to_contain_text("a character that no key has")
    key.fill(KEY)
    key.press("Tab")
    expect(page.get_by_role("checkbox", name="score")).to_be_checked()
    compute(page)

    expect(sentence(page)).not_to_be_empty()
    assert KEY not in page.locator("#shell").inner_text() + page.locator("#python").inner_text()
    expect(page.locator("#shell")).to_contain_text("$MACE_API_KEY")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


@contextmanager
def uploading(page: Page, address: str) -> Iterator[None]:
    """Another upload of this client that does not come to its end, and has the one place that a client has."""
    parts = urlsplit(address)
    head = f"POST /v1/report HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: text/csv\r\nContent-Length: 4999\r\n\r\n"
    with ExitStack() as connections:

        def has_the_place() -> bool:
            connection = socket.create_connection((str(parts.hostname), int(parts.port or 0)))
            connections.enter_context(connection).sendall(head.encode() + b"score,member\n")
            # Whoever asks whether it is taken has it meanwhile: then this upload is what is refused.
            until(lambda: refused(page) or is_answered(connection))
            return not is_answered(connection)

        until(has_the_place)
        yield


def is_answered(connection: socket.socket) -> bool:
    """Whether the service has said something on it."""
    return bool(select.select([connection], [], [], 0.0)[0])


def refused(page: Page) -> bool:
    """Whether the service takes nothing more from this client."""
    posted = page.request.post(f"{page.url}v1/columns", headers={"Content-Type": "text/csv"}, data="score,member\n")
    return posted.status == 429


@BELOW
def test_a_busy_service_says_when_to_come_back(visit: Visit) -> None:
    page = opened(visit)

    with uploading(page, visit.address):
        refuse(page)
        expect(page.get_by_role("alert").filter(has_text="under way")).to_contain_text("Try again now")
    until(lambda: not refused(page))
    compute(page)

    expect(page.locator("#problem")).to_be_hidden()


NAMES = {
    "markup": "<img src=x onerror=alert(1)>",
    "a formula": "=cmd()",
    "right to left": "a\u202egnp.csv",
    "long": "x" * 10_000,
}


def test_what_a_column_or_a_file_is_called_is_shown_and_does_nothing(visit: Visit, subtests: pytest.Subtests) -> None:
    asked: list[str] = []
    visit.page.on("dialog", lambda dialog: asked.append(dialog.message))
    group = "</script><svg onload=alert(2)>"
    rows = [[*line.split(",")[0::2], group] for line in CSV.decode().splitlines()[1:]]
    wide = "document.documentElement.scrollWidth - innerWidth"
    for which, name in NAMES.items():
        with subtests.test(which):
            data = table((f'"{name}"', "member", "group"), *rows)
            page = opened(visit, payload(f"{name[:200]}.csv".replace("/", ":"), data))

            expect(page.get_by_role("checkbox")).to_have_count(3)
            assert page.locator("img, svg").count() == 0
            assert page.evaluate(wide) <= 0
            assert "\u202e" not in page.locator("main").inner_text()
            page.get_by_role("checkbox").first.check()
            compute(page)

            assert shown(page).locator("img").count() == 0
            assert shown(page).locator("[onload], [onerror], script").count() == 0
            assert page.evaluate(wide) <= 0
            assert asked == []
