"""What clusters cost stands on the first screen of every form of a report."""

import re
from typing import Any

import numpy as np
import pytest

from macekit import catalogue
from macekit.call import HTML, MARKDOWN
from macekit.reports.model import Context
from macekit.reports.rendering import render
from tests.macekit.asking import asked, options_of

NAME = "per<son>"
OF_LONE_ROWS = "theory/together"
"""All that it says is of rows that share no cluster, and a caution says that."""


def answer(operation: str) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(80), 5)
    score = rng.normal(size=80)[person] + rng.normal(size=400) + (person < 40)
    sides = {"members": score[:200].tolist(), "nonmembers": score[200:].tolist()}
    body = {"queries": {"a": sides, "b": sides}} if operation in catalogue.SEVERAL else sides
    options = {name: value for name, value in options_of(operation).items() if name != "paired"}
    found: dict[str, Any] = asked(operation, {**options, **body, "cluster": {NAME: person.tolist()}})
    return found


def costs(found: Any) -> dict[str, Any] | None:
    """Where an answer first says what its clusters cost."""
    if isinstance(found, dict) and "effective_sample" in found:
        return found
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return next((cost for cost in map(costs, parts) if cost is not None), None)


@pytest.mark.parametrize("operation", sorted(catalogue.BY_CLUSTERS - {OF_LONE_ROWS}))
def test_the_first_screen_names_design_effect_clusters_and_effective_sample(operation: str) -> None:
    found = answer(operation)
    clusters = costs(found)
    assert clusters is not None

    page = render(operation, found, HTML, Context()).decode()
    markdown = render(operation, found, MARKDOWN, Context()).decode().partition("\n## ")[0]

    assert f"<{NAME[4:-1]}>" not in page  # a name is never markup
    for shown in (re.sub(r"<[^>]*>", " ", page.partition("<h2")[0]), markdown):
        plain = " ".join(shown.split())
        assert f"{clusters['design_effect']:.4g}" in plain
        assert "80" in plain
        assert "per" in plain
        worth = re.findall(r"[0-9.]+", plain.partition("Worth independent records")[2])[0]
        assert float(worth) == pytest.approx(clusters["effective_sample"], rel=0.01)


@pytest.mark.slow
def test_an_answer_without_clusters_says_nothing_of_them() -> None:
    rng = np.random.default_rng(0)
    sides = {"members": rng.normal(size=50).tolist(), "nonmembers": rng.normal(size=50).tolist()}

    answers = asked("report", sides), answer("report")
    page, of_clusters = (render("report", found, HTML, Context()).decode() for found in answers)

    assert "Worth independent records" not in page
    assert "name the person as unit or cluster" in page
    assert "Clusters are taken to be independent of each other" in of_clusters
