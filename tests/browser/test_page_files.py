"""The page and the shell agree on what a file is."""

import gzip
import json
import re

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
    given = [
        (name, data) for name in (*NAMES, *PACKED) for text in plain for data in (text, gzip.compress(text))
    ]
    page = visit.open("/")

    types = page.evaluate(RECOGNISED, [[name, list(data)] for name, data in given])

    wrong = [
        (each, found) for each, found in zip(given, types, strict=True) if found != FORMATS[format_of(*each)]
    ]
    assert wrong == []


def test_a_request_that_was_kept_leads_to_its_report(visit: Visit) -> None:
    page = visit.open("/")

    give(page, payload("request.json", json.dumps({**SAMPLE, "max_advantage": 0.1}).encode()))
    expect(page.locator("#file-chosen")).to_contain_text("posted as it is, as curl does below")
    compute(page)

    expect(sentence(page)).to_have_text(re.compile("Fail: with 95% confidence"))
