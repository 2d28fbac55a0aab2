"""The document: its numbers are the answer's, its words are words, and nothing in it acts or is fetched."""

from __future__ import annotations

import itertools
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from math import floor, log10
from typing import Any

import pytest

from macekit.call import HTML
from macekit.reports.html import CSP, STYLE, STYLE_HASH
from macekit.reports.model import Context
from macekit.reports.palette import VARIABLES
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, HOSTILE, answered, at, case, rendered

VOID = {"meta", "link", "br", "img", "input", "hr"}
CHARTS = {"svg", "pre", "style", "title"}
APART = {"description", "more"}
"""What charts say of themselves, and how many rows are left out: both have tests of their own."""

FIXED = {"100", "256", "9", "10"}
"""Numbers of fixed texts: a hundred guesses, the name of a hash, a theorem's and a corollary's."""


@dataclass
class Node:
    tag: str
    given: dict[str, str | None]
    inside: list[Node | str] = field(default_factory=list)

    def all(self, *tags: str) -> Iterator[Node]:
        for each in self.inside:
            if isinstance(each, Node):
                if not tags or each.tag in tags:
                    yield each
                yield from each.all(*tags)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)


class Reader(HTMLParser):
    """Reads strictly: every element is closed, in the order in which they were opened."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} says something twice"
        node = Node(tag, dict(attrs))
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(document: str) -> Node:
    reader = Reader()
    reader.feed(document)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


@cache
def document(name: str) -> Node:
    return read(rendered(name, HTML).decode())


GUESSING = "guessing gives 0.5"
"""What is so of every curve."""

LOWER_BOUNDS = {"lower_bound", "score_epsilon"}
"""Lower ends that are not called so."""


def direction(name: str) -> int:
    """Which way an end of an interval is rounded: down, up, or to the nearest if it is none."""
    return -(name.endswith("lower") or name in LOWER_BOUNDS) + name.endswith("upper")


def rounds(shown: str, value: float | None, kind: str | None, path: str) -> bool:
    """Whether what is shown is the value, rounded, an end outward; worked out from what is shown, by other means."""
    if value is None:
        return shown == "–"
    outward = next((direction(name) for name in path.split(".")[::-1] if not name.isdecimal()), 0)
    if kind in (None, "guesses") and outward and "e" not in shown:
        exact = Fraction(value) if kind is None else 50 * (1 + Fraction(value))
        if kind == "guesses" and shown in ("0", "100"):
            return exact == int(shown)
        beyond = (Fraction(shown.replace(",", "")) - exact) * outward
        slack = Fraction(1, 10**12)  # of a float that is not quite the number it is written as
        return -slack <= beyond < Fraction(1, 10 if kind == "guesses" else 1000) + slack
    if kind in ("floor", "ceiling"):  # four significant digits, towards one side
        towards = 1 if kind == "ceiling" else -1
        if not value:
            return shown == "0"
        beyond = towards * (Fraction(shown) - Fraction(value))
        slack = Fraction(1, 10**12) * abs(Fraction(value))
        return -slack <= beyond < Fraction(10.0 ** (floor(log10(abs(value))) - 3)) + slack
    if kind == "percent":
        return shown.endswith("%") and float(shown[:-1]) == pytest.approx(100 * value, rel=1e-5)
    if kind == "roughly":  # three figures, upward
        last = 10 ** max(len(str(value)) - 3, 0)
        roughly = int(shown.replace(",", ""))
        return roughly % last == 0 and 0 <= roughly - value < last
    if kind == "guesses":
        return abs(float(shown) - 50 * (1 + value)) <= 0.05 + 1e-9
    plain = shown.replace(",", "")
    digits = len(plain.partition("e")[0].partition(".")[2])
    power = int(plain.partition("e")[2] or 0)
    return abs(float(plain) - value) <= 0.5001 * 10.0 ** (power - digits) and not shown.startswith("-0.000")


@pytest.mark.slow
@each_case("name", CASES)
def test_every_number_is_the_answers_at_its_place_rounded(name: str) -> None:
    answer = case(name)[1]

    numbers = list(document(name).all("data"))

    assert numbers
    for number in numbers:
        path, held = number.given["data-path"], number.given["value"]
        assert path is not None
        value = at(answer, path)
        assert held == ("" if value is None else repr(value)), path
        assert rounds(number.text, value, number.given.get("data-kind"), path), (path, number.text, value)


@pytest.mark.slow
@each_case("name", CASES)
def test_sentences_are_the_answers_word_for_word(name: str) -> None:
    answer = case(name)[1]

    for said in document(name).all("bdi"):
        path = said.given.get("data-path")
        if path is not None:
            assert said.text == str(at(answer, path))


DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.mark.slow
@each_case("name", CASES)
def test_no_other_digits_stand_in_a_report(name: str) -> None:
    body = next(document(name).all("body"))

    def outside(node: Node) -> Iterator[str]:
        for each in node.inside:
            if isinstance(each, str):
                yield each
            elif not (each.tag in {*CHARTS, "data", "bdi"} or each.given.get("class") in APART):
                yield from outside(each)

    names = " ".join(each["quantity"] for each in case(name)[1].get("bounds") or ())  # tpr_at_fpr_0.001
    assert set(re.findall(DIGITS, " ".join(outside(body)))) <= FIXED | set(re.findall(DIGITS, names))


DIRECTED = {"floor": "floor", "ceiling": "ceiling"}
"""Kinds that a chart's words round as their table does; percents and guesses are said as plain numbers there."""


@pytest.mark.slow
@each_case("name", CASES)
def test_what_charts_say_in_words_rounds_numbers_of_the_answer(name: str) -> None:
    given = (each.given for each in document(name).all("data") if each.given["value"])
    known = {(float(each["value"]), each.get("data-kind"), str(each["data-path"])) for each in given}

    sentences = [each.text for each in document(name).all("bdi")]

    for said in document(name).all("p"):
        if said.given.get("class") == "description":
            for spoken in re.findall(r"-?\d+\.\d+(?:e[-+]?\d+)?(?!\d)", said.text.replace(GUESSING, "")):
                told = any(spoken in sentence for sentence in sentences)
                ways = ((value, way, at) for value, kind, at in known for way in (None, DIRECTED.get(kind)))
                near = any(rounds(spoken, *each) for each in ways)
                assert told or near, spoken


@pytest.mark.slow
@each_case("name", CASES)
def test_nothing_acts_and_nothing_is_fetched(name: str) -> None:
    found = list(document(name).all())

    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & {n.tag for n in found}
    for node in found:
        for attribute, value in node.given.items():
            assert attribute not in {"style", "src", "srcset", "xlink:href", "action", "ping"}
            assert not attribute.startswith("on")
            assert attribute != "href" or str(value).startswith("#")
            assert "url(" not in str(value) or "url(#" in str(value)


@pytest.mark.slow
@each_case("name", CASES)
def test_the_document_is_sound(name: str) -> None:
    root = document(name)
    found = list(root.all())
    ids = [node.given["id"] for node in found if "id" in node.given]

    assert len(ids) == len(set(ids))
    for node in found:
        for attribute in ("aria-labelledby", "aria-describedby"):
            assert set(str(node.given.get(attribute) or "").split()) <= set(ids)
        if node.tag == "a":
            assert str(node.given["href"])[1:] in ids
    levels = [int(node.tag[1]) for node in found if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for table in root.all("table"):
        cells = (row.all("th", "td") for row in table.all("tr"))
        head, *rows = (sum(int(cell.given.get("colspan") or 1) for cell in row) for row in cells)
        assert set(rows) <= {head}
        assert next(table.all("caption")).text
        assert all(cell.given.get("scope") in {"row", "col"} for cell in table.all("th"))
    regions = [node.given["aria-label"] for node in found if node.given.get("role") == "region"]
    assert all(regions)
    assert len(regions) == len(set(regions))


def test_the_policy_allows_the_style_sheet_inside_and_nothing_else() -> None:
    root = document("report, scores")

    style = next(root.all("style")).text
    policy = next(n.given["content"] for n in root.all("meta") if "http-equiv" in n.given)

    assert f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}" == STYLE_HASH
    assert policy == CSP
    assert CSP.startswith("default-src 'none'; style-src 'sha256-")


def test_charts_and_page_agree_on_every_colour() -> None:
    light, _, other = STYLE.partition("@media screen and (prefers-color-scheme: dark)")
    dark = other.partition("@media")[0]

    assert dict(re.findall(r"(--mace-[a-z]+): (#\w+);", light)) == VARIABLES
    assert {name for name, _ in re.findall(r"(--mace-[a-z]+): (#\w+);", dark)} == set(VARIABLES)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@each_case("theme", ["light", "dark"])
@each_case(
    "name, least",
    *((each, 4.5) for each in ("ink", "muted", "pass", "fail", "open", "member", "nonmember")),
    *((each, 3.0) for each in ("threshold", "baseline")),
)
def test_what_is_read_stands_out_from_its_ground(theme: str, name: str, least: float) -> None:
    light, _, other = STYLE.partition("@media screen and (prefers-color-scheme: dark)")
    sheet = light if theme == "light" else other.partition("@media")[0]
    colours = dict(re.findall(r"--(?:mace-)?([a-z]+): (#\w+);", sheet))

    for ground in ("surface", "page"):
        one, two = sorted((_luminance(colours[name]), _luminance(colours[ground])))
        assert (two + 0.05) / (one + 0.05) >= least


def inert(root: Node) -> bool:
    """Whether what came from outside is but short names."""
    names = [each.text for each in root.all("bdi") if each.given["class"] == "name"]
    acting = any(node.tag in {"script", "img"} or "onmouseover" in node.given for node in root.all())
    return not acting and max(map(len, names)) <= 60


@pytest.mark.slow
@each_case("kind", HOSTILE)
def test_hostile_names_are_inert_and_short(kind: str) -> None:
    name = HOSTILE[kind]
    labels = {"members": [name[:1000], "b", "c"] * 20, "nonmembers": ["b", "b", "c"] * 20}
    answer = answered("report", {**labels, "groups": [name[:1000], "b"] * 60})

    text = render("report", answer, HTML, Context(source=name)).decode()

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", text)
    assert "x" * 61 not in text
    assert inert(read(text))


@pytest.mark.slow
def test_hostile_queries_are_inert() -> None:
    sides = {"members": [0.2, 0.9, 0.8, 0.7] * 10, "nonmembers": [0.2, 0.1, 0.8, 0.3] * 10}
    names = [name[:200].replace("\x00", "") for name in HOSTILE.values()]
    answer = _compared({f"q{i}": sides for i in range(len(names))}, names)

    assert inert(read(render("compare", answer, HTML).decode()))


def _compared(queries: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """An answer in which queries are called what the service would not have let them be called."""
    answer = answered("compare", {"queries": queries})
    known = dict(zip(queries, names, strict=True))
    for place in answer["ranking"]:
        place["name"] = known[place["name"]]
    for pair in answer["differences"]:
        pair["first"], pair["second"] = known[pair["first"]], known[pair["second"]]
    answer["sentence"] = " ".join(names)
    return answer
