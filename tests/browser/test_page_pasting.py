"""What is pasted into the page is read as it was meant, or refused beside its box: decimal commas above all."""

import pytest
from playwright.sync_api import expect

from app.openapi.examples import MEMBERS, NONMEMBERS
from tests.browser import home
from tests.browser.conftest import Visit
from tests.browser.home import FAIL, compute, paste, refuse, said, sentence, shown

POINT = "write a point"
HIGH, LOW = [f"0,{500 + i}" for i in range(40)], [f"0,{300 + i}" for i in range(40)]
CLEAR = [f"0.{300 + i}" for i in range(40)]


def test_two_pasted_columns_are_enough(visit: Visit, subtests: pytest.Subtests) -> None:
    """However they are written: the same is sent, of which one report is made."""
    page = visit.open("/")
    paste(page, "\n".join(["confidence", *map(str, MEMBERS)]), "\n".join(map(str, NONMEMBERS)))
    page.get_by_label("Limit").fill("0.1")
    with page.expect_request("**/v1/report?*") as asked:
        compute(page)
    address = asked.value.url

    expect(sentence(page)).to_have_text(FAIL)
    expect(shown(page).locator("body")).to_contain_text("24 nonmember")

    page.route("**/v1/report?*", lambda route: route.fulfill(content_type="text/html", body="<h1>A report</h1>"))
    records = [(value, 1) for value in MEMBERS] + [(value, 0) for value in NONMEMBERS]
    wanted = home.table(("score", "member"), *records)
    for between in ("\n", ", ", ",\n", "\r\n\r\n", "; ", " "):
        with subtests.test(between=between):
            page.get_by_label("Members", exact=True).fill(between.join(map(str, MEMBERS)))
            page.get_by_label("Nonmembers").fill(between.join(map(str, NONMEMBERS)))
            with page.expect_request("**/v1/report?*") as asked:
                page.get_by_role("button", name="Make the report").click()
            assert (asked.value.url, asked.value.post_data_buffer) == (address, wanted)


def test_numbers_with_commas_in_them_are_refused_beside_their_box(visit: Visit, subtests: pytest.Subtests) -> None:
    refused = {
        "lines": ("\n".join(HIGH), POINT),
        "semicolons": ("; ".join(HIGH), POINT),
        "commas and spaces": (", ".join(HIGH), POINT),
        "commas and lines": (",\n".join(HIGH), POINT),
        "a heading": ("\n".join(["confidence", *HIGH]), POINT),
        "quotes": ("\n".join(f'"{score}"' for score in HIGH), POINT),
        "one of them": ("\n".join(["0.1"] * 9 + ["-1,5e-3"]), POINT),
        "no zero": ("\n".join([",5"] * 9), POINT),
        "decimal commas between commas": (",".join(HIGH), "a space after each comma"),
        "commas alone": (",".join(CLEAR), "a space after each comma"),
        "two columns": ("\n".join(f"{i}, {score}" for i, score in enumerate(CLEAR)), "one a line"),
        "tabs": ("\n".join(f"{i}\t{score}" for i, score in enumerate(CLEAR)), "one a line"),
        "brackets": (f"[{', '.join(CLEAR)}]", "without brackets"),
        "thousands": ("\n".join(["1,234.5"] * 9), "one a line"),
        "thousands and commas": ("\n".join(["1 234,5"] * 9), POINT),
    }
    page = visit.open("/")
    paste(page, "\n".join(CLEAR), "\n".join(CLEAR))
    control = page.get_by_label("Members", exact=True)
    for name, (scores, words) in refused.items():
        with subtests.test(name):
            control.fill(scores)
            refuse(page)

            expect(said(control)).to_contain_text(words)
            expect(page.locator("#file-chosen")).to_be_empty()
            expect(page.locator("#file-problem")).to_be_hidden()

    for first in ("NaN", "#N/A", "\N{MINUS SIGN}5.3", "-inf", "1.5*"):  # no heading, which would be left out
        with subtests.test(first):
            control.fill("\n".join([first, *CLEAR]))
            refuse(page)
            expect(said(control)).to_contain_text(f"Not a number: {first}.")

    control.fill("\n".join(CLEAR))
    page.get_by_label("Nonmembers").fill("")
    refuse(page)
    expect(said(page.get_by_label("Nonmembers"))).to_contain_text("too")

    page.get_by_label("Nonmembers").fill("\n".join(LOW))
    page.get_by_role("button", name="Use these scores").click()

    expect(said(page.get_by_label("Nonmembers"))).to_contain_text(POINT)


def table(separator: str) -> str:
    """Scores with decimal commas and who is a member, as a table to paste."""
    rows = [*((score, "1") for score in HIGH), *((score, "0") for score in LOW)]
    return "".join(separator.join(row) + "\n" for row in [("score", "member"), *rows])


def test_decimal_commas_in_a_table_are_told_where_they_stand(visit: Visit) -> None:
    for separator in (";", "\t"):
        page = visit.open("/")
        paste(page, table(separator))
        refuse(page)

        expect(said(page.get_by_role("checkbox", name="score"))).to_contain_text("decimal comma")

    page = visit.open("/")
    paste(page, table(","))
    refuse(page)

    expect(said(page.get_by_label("Members", exact=True))).to_contain_text("row 0 has 3 values")


def test_what_is_written_into_a_box_takes_the_place_of_what_was_pasted(visit: Visit) -> None:
    page = visit.open("/")
    paste(page, "\n".join(CLEAR), "\n".join(CLEAR))
    compute(page)

    page.get_by_label("Nonmembers").fill("\n".join(CLEAR[:30]))

    expect(page.locator("#stale")).to_contain_text("earlier scores")
    compute(page)
    expect(shown(page).locator("body")).to_contain_text("30 nonmember")
    expect(page.locator("#stale")).to_be_empty()
