"""The page and the shell agree on what a file is."""

import gzip
import io
import json
import re

import numpy as np
from playwright.sync_api import expect

from app.openapi.examples import SAMPLE
from macekit.formats import COMPRESSED_SUFFIXES, FORMATS, MAGIC, SUFFIXES, format_of
from tests.browser.conftest import Visit
from tests.browser.home import compute, give, payload, sentence

NAMES = ["scores", "scores.txt", *(f"scores{suffix}" for suffix in (*SUFFIXES, *map(str.upper, SUFFIXES)))]
PACKED = [f"scores{suffix}{packed}" for suffix in SUFFIXES for packed in COMPRESSED_SUFFIXES]
RECOGNISED = """
async files_ => Promise.all(files_.map(async ([name, data]) =>
  (await files.recognise(new File([Uint8Array.from(data)], name))).type))
"""


def test_a_file_is_the_same_to_the_page_and_to_the_shell(visit: Visit) -> None:
    plain = [begins + b"\n0.5,1" * 4 for begins in (*MAGIC, b"score,member", b'{"members": 1}', b"")]
    given = [(name, data) for name in (*NAMES, *PACKED) for text in plain for data in (text, gzip.compress(text))]
    page = visit.open("/")

    types = page.evaluate(RECOGNISED, [[name, list(data)] for name, data in given])

    wrong = [(each, found) for each, found in zip(given, types, strict=True) if found != FORMATS[format_of(*each)]]
    assert wrong == []


def test_a_request_that_was_kept_leads_to_its_report(visit: Visit) -> None:
    page = visit.open("/")

    give(page, payload("request.json", json.dumps({**SAMPLE, "max_advantage": 0.1}).encode()))
    expect(page.locator("#file-chosen")).to_contain_text("posted as it is, as curl does below")
    compute(page)

    expect(sentence(page)).to_have_text(re.compile("Fail: with 95% confidence"))


def test_an_array_for_each_side_needs_no_column(visit: Visit) -> None:
    """``numpy.savez(members=..., nonmembers=...)``, as documents write it, had columns of which none was a score."""
    archive = io.BytesIO()
    np.savez(archive, **{side: np.array(SAMPLE[side]) for side in ("members", "nonmembers")})
    page = visit.open("/")

    give(page, payload("scores.npz", archive.getvalue()))
    expect(page.locator("#file-chosen")).to_contain_text("an array for each side")
    expect(page.locator("#columns")).to_be_hidden()
    page.locator("#max_advantage").fill("0.1")
    compute(page)

    expect(sentence(page)).to_have_text(re.compile("Fail: with 95% confidence"))
