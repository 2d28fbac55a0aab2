"""Markdown: tables that line up, and names that are nothing but names."""

import re

import pytest
from markdown_it import MarkdownIt

from macekit.call import MARKDOWN
from macekit.reports.markdown import fenced, plain_text
from macekit.reports.model import Context
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, HOSTILE, answered, rendered

READER = MarkdownIt("commonmark", {"html": True}).enable("table")
HARMLESS = {"", "<!-- -->"}


def blocks(text: str) -> list[str]:
    return [token.type for token in READER.parse(text)]


def inner(text: str) -> list[tuple[str, str]]:
    return [(child.type, child.content) for token in READER.parse(text) for child in token.children or ()]


@pytest.mark.slow
@each_case("name", CASES)
def test_every_table_is_read_as_one(name: str) -> None:
    text = rendered(name, MARKDOWN).decode()

    heads = re.findall(r"^\| .*\n\| (?:---:?|---) ", text, re.MULTILINE)
    assert blocks(text).count("table_open") == len(heads)
    assert blocks(text).count("h1") == 0
    assert "html_block" not in blocks(text)
    for run in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in run.strip().split("\n")}) == 1


@pytest.mark.slow
@each_case("name", HOSTILE.values())
def test_a_name_is_text_and_nothing_else(name: str) -> None:
    sides = {"members": [0.2, 0.9, 0.8, 0.7] * 10, "nonmembers": [0.2, 0.1, 0.8, 0.3] * 10}
    usual = answered("report", {**sides, "groups": ["a", "b"] * 40})
    answer = answered("report", {**sides, "groups": [name[:1000], "b"] * 40})
    text = render("report", answer, MARKDOWN, Context(source=name)).decode()
    plain = render("report", usual, MARKDOWN, Context(source="a")).decode()

    assert blocks(text) == blocks(plain)
    assert {kind for kind, _ in inner(text)} - {kind for kind, _ in inner(plain)} <= {"html_inline"}
    assert {content for kind, content in inner(text) if kind == "html_inline"} <= HARMLESS


def test_letters_that_mean_something_are_read_as_themselves() -> None:
    said = r"a|b `c` [d](e) ![f](g) <b>h</b> *i* _j_ ~k~ \l &amp; $m$ # n > o"

    found = inner(plain_text(said))

    assert [kind for kind, _ in found if kind not in {"text", "text_special"}] == []
    assert "".join(content for _, content in found) == said


def test_what_markdown_leaves_alone_is_not_escaped() -> None:
    said = "Fail: epsilon (of mip_eta) is at least 0.5, SHA-256 and a low-FPR curve"

    assert plain_text(said) == said


@pytest.mark.slow
@each_case("name", CASES)
def test_no_table_repeats_the_numbers_of_another(name: str) -> None:
    tables = re.findall(r"(?:^\|.*\n?)+", rendered(name, MARKDOWN).decode(), re.M)
    rows = [set(table.split("\n")[2:]) for table in tables]

    assert not [part for part in rows if rows.count(part) > 1 or any(part < other for other in rows)]


def test_nobody_is_called_and_no_address_is_made_a_link() -> None:
    written = plain_text("@someone #12 www.example.org")

    assert not re.search(r"@\w|#\w|www\.", written)


def test_a_fence_is_longer_than_any_within() -> None:
    text = fenced("a\n````\nb")

    assert [token.content for token in READER.parse(text)] == ["a\n````\nb\n"]


@each_case("name", ["0123456789abcdef" * 2 + "01234567", "deadbee", "GH-1", "gh-12", "%stone", '%"a b"', "!7", "&8"])
def test_nothing_of_a_site_s_own_is_made_a_link(name: str) -> None:
    written = plain_text(f"x {name} y")

    pieces = [content for kind, content in inner(written) if kind != "html_inline"]
    assert "".join(pieces) == f"x {name} y"
    assert "<!-- -->" in written
    for piece in written.split("<!-- -->"):
        assert not re.search(r"\b[0-9a-f]{7,40}\b|GH\\\\?-\\d|[%!&][\\w\"]", piece, re.IGNORECASE)
