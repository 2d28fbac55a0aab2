"""What is pasted is read as its writer meant it, or refused beside its box."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from app.openapi.examples import MEMBERS, NONMEMBERS
from tests.browser.conftest import Visit
from tests.browser.home import compute, paste, refuse, said, sentence, shown

FAIL = re.compile("Fail: with 95% confidence")
POINT = "write a point"
HIGH, LOW = [f"0,{500 + i}" for i in range(40)], [f"0,{300 + i}" for i in range(40)]
CLEAR = [f"0.{300 + i}" for i in range(40)]


@pytest.mark.parametrize("between", ["\n", ", ", ",\n", "\r\n\r\n", "; ", " "])
def test_two_pasted_columns_are_enough(visit: Visit, between: str) -> None:
    page = visit.open("/")
    heading = f"confidence{between}" if between[-1] == "\n" and "," not in between else ""

    paste(page, heading + between.join(map(str, MEMBERS)), between.join(map(str, NONMEMBERS)))
    page.get_by_label("Limit").fill("0.1")
    compute(page)

    expect(sentence(page)).to_have_text(FAIL)
    expect(shown(page).locator("body")).to_contain_text("24 nonmember")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ("\n".join(HIGH), POINT),
        ("; ".join(HIGH), POINT),
        (", ".join(HIGH), POINT),
        (",\n".join(HIGH), POINT),
        ("\n".join(["confidence", *HIGH]), POINT),
        ("\n".join(f'"{score}"' for score in HIGH), POINT),
        ("\n".join(["0.1"] * 9 + ["-1,5e-3"]), POINT),
        ("\n".join([",5"] * 9), POINT),
        (",".join(HIGH), "a space after each comma"),
        (",".join(CLEAR), "a space after each comma"),
        ("\n".join(f"{i}, {score}" for i, score in enumerate(CLEAR)), "one a line"),
        ("\n".join(f"{i}\t{score}" for i, score in enumerate(CLEAR)), "one a line"),
        ("\n".join(["1,234.5"] * 9), "one a line"),
        ("\n".join(["1 234,5"] * 9), POINT),
    ],
    ids=[
        "lines",
        "semicolons",
        "commas and spaces",
        "commas and lines",
        "a heading",
        "quotes",
        "one of them",
        "no zero",
        "decimal commas between commas",
        "commas alone",
        "two columns",
        "tabs",
        "thousands",
        "thousands and commas",
    ],
)
def test_numbers_with_commas_in_them_are_refused_beside_their_box(
    visit: Visit, members: str, words: str
) -> None:
    page = visit.open("/")

    paste(page, members, "\n".join(CLEAR))
    refuse(page)

    expect(said(page.get_by_label("Members", exact=True))).to_contain_text(words)
    expect(page.locator("#chosen")).to_be_empty()
    expect(page.locator("#file-problem")).to_be_hidden()


def test_so_are_those_of_the_other_box(visit: Visit) -> None:
    page = visit.open("/")

    paste(page, "\n".join(CLEAR), "\n".join(LOW))
    page.get_by_role("button", name="Use these scores").click()

    expect(said(page.get_by_label("Nonmembers"))).to_contain_text(POINT)


def table(separator: str) -> str:
    """Scores with decimal commas and who is a member, as a table to paste."""
    rows = [*((score, "1") for score in HIGH), *((score, "0") for score in LOW)]
    return "".join(separator.join(row) + "\n" for row in [("score", "member"), *rows])


@pytest.mark.parametrize("separator", [";", "\t"], ids=["semicolons", "tabs"])
def test_decimal_commas_in_a_table_are_told_at_the_score(visit: Visit, separator: str) -> None:
    page = visit.open("/")

    paste(page, table(separator))
    refuse(page)

    expect(said(page.get_by_role("checkbox", name="score"))).to_contain_text("decimal comma")


def test_decimal_commas_between_commas_make_no_table(visit: Visit) -> None:
    page = visit.open("/")

    paste(page, table(","))
    refuse(page)

    expect(said(page.get_by_label("Members", exact=True))).to_contain_text("row 0 has 3 values")


def test_what_is_written_into_a_box_takes_the_place_of_what_was_pasted(visit: Visit) -> None:
    page: Page = visit.open("/")
    paste(page, "\n".join(CLEAR), "\n".join(CLEAR))
    compute(page)

    page.get_by_label("Nonmembers").fill("\n".join(CLEAR[:30]))

    expect(page.locator("#stale")).to_contain_text("earlier scores")
    compute(page)
    expect(shown(page).locator("body")).to_contain_text("30 nonmember")
    expect(page.locator("#stale")).to_be_empty()
