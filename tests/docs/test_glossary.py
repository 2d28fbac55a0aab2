"""docs/glossary.md is one page in alphabetical order, and every link in it leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "glossary.md").read_text(encoding="utf-8")
WORDS = re.findall(r"^\*\*([^*]+)\*\*", PAGE, re.MULTILINE)


def anchors(page: str) -> set[str]:
    """The anchors that a site makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_words_are_in_alphabetical_order() -> None:
    assert sorted(WORDS, key=str.lower) == WORDS
    assert len(WORDS) > 30


def test_every_link_names_a_page_and_a_heading_of_it() -> None:
    links = re.findall(r"\]\(([\w.]+)(?:#([\w-]+))?\)", PAGE)

    assert len(links) > 20
    broken = [(page, anchor) for page, anchor in links if anchor and anchor not in anchors(page)]
    assert broken == []
    assert {page for page, _ in links if not (DOCS / page).exists()} == set()
