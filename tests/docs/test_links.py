"""Every link of a page leads to a file and a heading; the glossary is in order, and no address is left out."""

import re
from functools import cache
from pathlib import Path

from macekit.catalogue import OPERATIONS

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("deploy/**/*.md")]
FENCED = re.compile(r"^(```+).*?^\1", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors that a site makes of a page's headings."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    links = [
        (page, *target.partition("#")[::2])
        for page in PAGES
        for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if not re.match(r"\w+:", target)
    ]
    broken = [
        f"{page.relative_to(ROOT)}: {path}#{anchor}"
        for page, path, anchor in links
        for target in [(page.parent / path).resolve() if path else page]
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
    ]

    assert len(links) > 300
    assert broken == []


def test_the_glossary_is_in_alphabetical_order() -> None:
    words = re.findall(r"^\*\*([^*]+)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert len(words) > 30
    assert sorted(words, key=str.lower) == words


def test_the_page_about_the_service_has_every_address_of_an_operation() -> None:
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")

    assert [row.name for row in OPERATIONS if f"/v1/{row.name}`" not in page] == []
