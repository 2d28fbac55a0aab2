"""The page at ``/`` as its tests use it: files to give it, and what it then shows."""

import gzip
import io
import re
from pathlib import Path

import numpy as np
from playwright.sync_api import FilePayload, FrameLocator, Locator, Page, expect

from app.openapi.examples import MEMBERS, NONMEMBERS, file_bytes
from tests.browser.conftest import Visit

CSV = file_bytes("scores.csv")
FILE = "Choose a file or drop it here"
FAIL = re.compile("Fail: with 95% confidence")
REPORTED = """async () => {
  const shown = () => document.querySelector("iframe[title=Report]")?.contentDocument?.querySelector("h1");
  for (const end = Date.now() + 90000; Date.now() < end && !shown(); ) await new Promise(requestAnimationFrame);
}"""


def payload(name: str, data: bytes) -> FilePayload:
    """A file as a person chooses it."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def files() -> dict[str, FilePayload]:
    """A table in every format that has columns with names."""
    tabs = CSV.replace(b",", b"\t")
    return {
        "CSV": payload("scores.csv", CSV),
        "tabs": payload("scores.tsv", tabs),
        "gzip": payload("scores.csv.gz", gzip.compress(CSV)),
        "Arrow": payload("scores.arrow", file_bytes("scores.arrow")),
        "Parquet": payload("scores.parquet", file_bytes("scores.parquet")),
        "no ending": payload("scores", file_bytes("scores.parquet")),
    }


def array(values: np.ndarray) -> bytes:
    """An array as an NPY file."""
    sink = io.BytesIO()
    np.save(sink, values)
    return sink.getvalue()


def table(*rows: tuple[object, ...]) -> bytes:
    """A CSV file."""
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def named(score: str) -> bytes:
    """The example's scores under another name, quoted for CSV."""
    quoted = '"' + score.replace('"', '""') + '"'
    records = [(value, 1) for value in MEMBERS] + [(value, 0) for value in NONMEMBERS]
    return table((quoted, "member"), *records)


def give(page: Page, file: FilePayload | Path) -> None:
    """Choose a file."""
    page.get_by_label(FILE, exact=True).set_input_files(file)


def opened(visit: Visit, file: FilePayload | Path | None = None) -> Page:
    """The page, its columns read off a file."""
    page = visit.open("/")
    give(page, file or payload("scores.csv", CSV))
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    return page


def compute(page: Page) -> FrameLocator:
    """Ask for the report, and wait for it."""
    page.get_by_role("button", name="Make the report").click()
    return shown(page)


def shown(page: Page) -> FrameLocator:
    """The report on show."""
    page.evaluate(REPORTED)  # seen at once: what is expected is looked for every half a second
    frame = page.frame_locator("iframe[title=Report]")
    expect(frame.locator("h1")).to_be_visible()
    return frame


def sentence(page: Page) -> Locator:
    """The sentence that is read first."""
    return shown(page).locator(".sentence")


def paste(page: Page, members: str, nonmembers: str = "") -> None:
    """Write scores into the boxes for them."""
    page.get_by_text("Paste scores instead").click()
    page.get_by_label("Members", exact=True).fill(members)
    page.get_by_label("Nonmembers").fill(nonmembers)


def refuse(page: Page) -> None:
    """Ask for a report that will not come."""
    page.get_by_role("button", name="Make the report").click()


def said(control: Locator) -> Locator:
    """The problem that is said of a control, which has the focus and is described by it."""
    expect(control).to_have_attribute("aria-invalid", "true")
    expect(control).to_be_focused()
    names = (control.get_attribute("aria-describedby") or "").split()
    return control.page.locator(f"#{names[-1]}")


def more(page: Page) -> None:
    """Unfold the options that are asked for seldom."""
    page.get_by_text("More options").click()


def reach(page: Page, control: Locator, most: int = 40) -> None:
    """Go to a control by the Tab key alone, and find the focus visible there."""
    for _ in range(most):
        if control.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(control).to_be_focused()
    assert control.evaluate("element => element.matches(':focus-visible')")
