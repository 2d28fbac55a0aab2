"""Drawings: inert, small, offline, the same each time, and coloured by the page they stand in."""

import hashlib
import re
import shutil
import subprocess
import sys
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from macekit.reports.charts.frame import across, chart, rows, words
from macekit.reports.content import figures
from macekit.reports.drawing import inline_svg, png, svg
from macekit.reports.drawing.plot import draw
from macekit.reports.model import Figure, Table
from macekit.reports.palette import VARIABLES
from tests.cases import each_case
from tests.macekit.reports.asked import HOSTILE, Answer, answered

SPACE = "{http://www.w3.org/2000/svg}"
SHOWN = {"svg", "title", "desc", "g", "path", "line", "rect", "circle", "text", "tspan", "defs", "clipPath"}
PROGRAM = """
import hashlib, sys
import app.main, macekit.operations
assert "vl_convert" not in sys.modules, "a service that draws nothing loads what makes pixels"
from tests.macekit.reports.test_drawing import plain
from macekit.reports.drawing import svg, png
assert svg(plain()) and "vl_convert" not in sys.modules, "SVG needs nothing but Python"
print(hashlib.sha256(svg(plain()) + png(plain()[:1])).hexdigest())
"""


@cache
def hostile() -> tuple[Answer, tuple[Figure, ...]]:
    """Groups and categories that somebody wants to be more than names."""
    names = [name[:1000] for name in HOSTILE.values()]
    question = {"members": names * 30, "nonmembers": names[::-1] * 20, "groups": names * 50}
    answer = answered("report", {**question, "claimed_epsilon": 1, "max_advantage": 0.2})
    return answer, figures("report", answer)


@cache
def plain() -> tuple[Figure, ...]:
    question = {"members": [0.1 * i for i in range(60)], "nonmembers": [0.1 * i - 2 for i in range(60)]}
    return figures("report", answered("report", {**question, "claimed_epsilon": 1, "max_advantage": 0.2}))


def everything() -> tuple[Figure, ...]:
    return (*hostile()[1], *plain())


@pytest.mark.slow
def test_a_drawing_holds_shapes_and_text_and_nothing_that_acts() -> None:
    for place, figure in enumerate(everything()):
        for element in ET.fromstring(inline_svg(figure, f"f{place}")).iter():
            assert element.tag.removeprefix(SPACE) in SHOWN
            assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
            assert "style" not in element.attrib
            for name, value in element.items():
                if "url(" in value:
                    assert name == "clip-path"
                    assert re.fullmatch(rf"url\(#f{place}-[a-z0-9_]+\)", value)


def test_names_from_outside_are_text_shortened_and_seen() -> None:
    found = {figure.name: inline_svg(figure, figure.name) for figure in hostile()[1]}

    for name in ("distribution", "groups"):
        texts = [element.text or "" for element in ET.fromstring(found[name]).iter(f"{SPACE}text")]
        assert any(text.startswith("<script>alert(1)</script>") for text in texts)
        assert all(text.isprintable() and len(text) < 80 for text in texts)
        assert "<script" not in found[name]
        assert r"safe\u202etxt.exe" in found[name]


def test_no_name_stands_twice_in_a_page_with_all_figures() -> None:
    page = "".join(inline_svg(figure, f"f{place}") for place, figure in enumerate(everything()))

    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) >= 2 * len(everything())


def test_clips_point_to_what_they_mean() -> None:
    figure = next(figure for figure in plain() if figure.name == "low-fpr")

    drawn = inline_svg(figure, "here")

    meant = set(re.findall(r"url\(#([^)]+)\)", drawn))
    assert meant
    assert meant <= set(re.findall(r'<clipPath id="([^"]+)"', drawn))


def test_a_drawing_says_what_it_is_to_who_cannot_see_it() -> None:
    for figure in plain():
        root = ET.fromstring(inline_svg(figure, "x"))

        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == "x-title x-desc"
        assert (root[0].text, root[1].text) == (figure.title, figure.description)
        assert not [name for element in root[2:] for name in element.attrib if name.startswith("aria")]


def test_the_colours_of_an_inline_drawing_are_the_page_s() -> None:
    for figure in everything():
        paints = set(re.findall(r' (?:fill|stroke)="([^"]+)"', inline_svg(figure, "x")))
        assert paints <= {f"var({name})" for name in VARIABLES} | {"none", "transparent"}


def test_a_label_that_looks_like_a_colour_stays_a_label() -> None:
    colour = VARIABLES["--mace-member"]
    question = {"members": [colour, "b"] * 20, "nonmembers": ["b", "c"] * 20}
    found = figures("report", answered("report", question))

    drawn = inline_svg(next(figure for figure in found if figure.name == "distribution"), "x")

    assert f">{colour}</text>" in drawn


def test_a_file_has_colours_titles_and_a_ground_of_its_own() -> None:
    drawn = svg(plain()).decode()

    root = ET.fromstring(drawn)
    assert "var(" not in drawn
    assert (root[0].tag, root[0].get("fill")) == (f"{SPACE}rect", "white")
    texts = {element.text for element in root.iter(f"{SPACE}text")}
    assert {figure.title for figure in plain()} <= texts
    ids = re.findall(r' id="([^"]+)"', drawn)
    assert len(ids) == len(set(ids))


def test_a_picture_shows_the_same_twice_as_large() -> None:
    first = plain()[:1]

    found = png(first)

    assert found[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.fromstring(svg(first))
    assert int.from_bytes(found[16:20], "big") == pytest.approx(2 * float(root.get("width", "0")), abs=2)


@pytest.mark.slow
def test_a_drawing_needs_no_network_and_what_makes_pixels_is_loaded_when_they_are_asked_for() -> None:
    """Nor does it depend on the process: its bytes are those that are drawn here."""
    apart = shutil.which("unshare")
    alone = apart and not subprocess.run([apart, "-rn", "true"], check=False, capture_output=True).returncode
    command = [*([apart, "-rn"] if apart and alone else []), sys.executable, "-c", PROGRAM]

    other = subprocess.run(command, capture_output=True, check=True, text=True)

    assert other.stdout.strip() == hashlib.sha256(svg(plain()) + png(plain()[:1])).hexdigest()
    if not alone:
        pytest.skip("no network namespaces here: its bytes are the same, but whether it asks a network was not tried")


def test_a_specification_that_names_an_address_or_what_is_not_known_is_refused() -> None:
    layer = {"mark": {"type": "rule"}, "encoding": {}}
    refused = {
        "not allowed": {**layer, "data": {"url": "http://127.0.0.1:9/x.csv"}},
        "cannot be drawn: image": {**layer, "mark": {"type": "image"}, "data": {"values": [{}]}},
        "filters by what": {**layer, "transform": [{"filter": "datum.a > 1"}]},
    }

    for what, each in refused.items():
        with pytest.raises(ValueError, match=what):
            draw(chart(each, height=9))


@each_case("place", ["text", "colour", "dash"])
def test_nothing_that_a_chart_holds_leaves_its_place(place: str) -> None:
    mean = '"/><script>alert(1)</script>\' onload="x'
    mark = {"type": "text", "color": mean if place == "colour" else "#000000"}
    word = words(mean if place == "text" else "x", {"value": 1}, {"value": 2}, **mark)
    line = {"type": "rule", "color": mean if place == "dash" else "#000000"}
    rule = {"data": rows([{}]), "mark": line, "encoding": {"y": {"value": 3}}}

    body = draw(chart(word, rule, height=9)).body
    root = ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{body}</svg>')

    assert {element.tag.removeprefix(SPACE) for element in root.iter()} == {"svg", "g", "text", "path"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert mean in {held for element in root.iter() for held in (element.text, *element.attrib.values())}


def test_words_of_a_figure_cannot_leave_their_place() -> None:
    spec = chart(across("x", 1, "#000000"), height=9)
    figure = Figure("x", "</title><script>1</script>", '"></desc><b>', spec, Table("", (), ()))

    root = ET.fromstring(inline_svg(figure, "x"))

    assert (root[0].text, root[1].text) == (figure.title, figure.description)
