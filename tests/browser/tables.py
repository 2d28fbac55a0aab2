"""Tables, predictions and log-probabilities as somebody brings them to the page, each in files of their own."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.home import payload, table

KINDS = {
    "A released table": ("Training rows", "Hold-out rows", "Released table"),
    "A model’s predictions": ("Training rows", "Hold-out rows"),
    "Texts’ log-probabilities": ("Texts it was trained on", "Texts it has not seen"),
    "Records in question": ("Records known to be used", "Records known not to be used", "Records in question"),
    "Forgotten records": ("Forgotten records", "Records it has never seen"),
}
"""The ways in besides scores, and the places for files of each."""
RELEASE, MODEL, TEXT, USAGE, UNLEARNING = KINDS


def people(seed: int, rows: int = 120) -> list[tuple[object, ...]]:
    """People with an age, an income and a job."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(20, 80, rows), rng.lognormal(1, 0.5, rows).round(3), rng.choice(["a", "b"], rows)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def numbered(rows: list[tuple[object, ...]]) -> bytes:
    """The same with a number each."""
    return table(("id", "age", "income", "job"), *((at, *row) for at, row in enumerate(rows)))


def predictions(seed: int, skill: float, rows: int = 200) -> bytes:
    """Probabilities of two classes beside the truth; who has more skill knows the rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    one = 1 / (1 + np.exp(-(skill * (2 * truth - 1) + rng.normal(0, 1.5, rows))))
    columns = (np.arange(rows) // 2, truth, (1 - one).round(4), one.round(4))
    return table(("person", "label", "p_0", "p_1"), *zip(*(each.tolist() for each in columns), strict=True))


def texts(seed: int, scale: float, count: int = 60) -> bytes:
    """Log-probabilities of the tokens of some texts; two are of one document each."""
    rng = np.random.default_rng(seed)
    rows = (
        {"logprobs": (-rng.exponential(scale, 20)).round(4).tolist(), "source": f"{seed} {at // 2}"}
        for at in range(count)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def losses(seed: int, mean: float, rows: int = 120) -> bytes:
    """The loss of each record, low for those that a model knows, and whose it is."""
    values = np.random.default_rng(seed).normal(mean, 1, rows).round(3).tolist()
    return table(("loss", "person"), *((value, f"{seed} {at}") for at, value in enumerate(values)))


def files() -> Mapping[str, tuple[FilePayload, ...]]:
    """What leaks, in files for the places of each way in."""
    train, holdout = people(1), people(2)
    released = table(("age", "income", "job"), *train[:60], *people(3, 60))
    return {
        RELEASE: (
            payload("train.csv", numbered(train)),
            payload("holdout.csv", numbered(holdout)),
            payload("released.csv", released),
        ),
        MODEL: (payload("train.csv", predictions(4, 3.0)), payload("holdout.csv", predictions(5, 0.2))),
        TEXT: (payload("seen.jsonl", texts(6, 0.5)), payload("unseen.jsonl", texts(7, 1.5))),
        USAGE: (
            payload("known.csv", losses(8, -2.0)),
            payload("fresh.csv", losses(9, 2.0)),
            payload("corpus.csv", losses(13, -2.0)),
        ),
        UNLEARNING: (payload("forgotten.csv", losses(11, -2.0)), payload("unseen.csv", losses(12, 2.0))),
    }


def have(visit: Visit, kind: str) -> Page:
    """The page, once it was said what somebody has."""
    page = visit.open("/")
    page.get_by_role("radio", name=kind).check()
    return page


def slot(page: Page, title: str) -> Locator:
    """The place for a file of this title, and what is said of it."""
    return page.locator(".slot:visible", has_text=title)


def place(page: Page, title: str) -> Locator:
    """Where the file is chosen."""
    return slot(page, title).locator("input")


def chosen(page: Page, title: str) -> Locator:
    """The line that says what stands in a place."""
    return slot(page, title).locator(".chosen")


def given(visit: Visit, kind: str, instead: Mapping[str, FilePayload | Path] | None = None) -> Page:
    """The page with a file in every place of this kind; ``instead`` are others for some places."""
    page = have(visit, kind)
    for title, file in zip(KINDS[kind], files()[kind], strict=True):
        place(page, title).set_input_files((instead or {}).get(title, file))
        expect(chosen(page, title)).to_contain_text("·")
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()
    return page


def at_once(route: Route) -> None:
    """Have every question be a job."""
    route.continue_(headers={**route.request.headers, "prefer": "respond-async, wait=0"})
