"""docs/queries.md has a row for every query, and says of each what the catalogue says."""

import re
from pathlib import Path

from estimators.audits.queries import CATALOGUE

PAGE = (Path(__file__).parents[2] / "docs" / "queries.md").read_text(encoding="utf-8")


def test_every_query_has_a_row_that_says_what_the_catalogue_says() -> None:
    rows = {cells[0]: cells[1:] for line in PAGE.splitlines() if len(cells := cells_of(line)) == 6}
    expected = {
        f"`{query.name}`": [query.says, query.paper, ", ".join(query.needs), query.cost, query.ties]
        for query in CATALOGUE.values()
    }

    assert {name: row for name, row in rows.items() if name.startswith("`")} == expected


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))] if line.startswith("|") else []
