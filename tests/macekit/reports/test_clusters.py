"""What clusters cost stands on the first screen of every form of a report."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from macekit.call import HTML, MARKDOWN
from macekit.reports.model import Context
from macekit.reports.rendering import render
from tests.app.posted import asked

NAME = "per<son>"


def answer(operation: str, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(80), 5)
    score = rng.normal(size=80)[person] + rng.normal(size=400) + (person < 40)
    sides = {"members": score[:200].tolist(), "nonmembers": score[200:].tolist()}
    several = operation in ("compare", "compare-releases", "series")
    body = {"queries": {"a": sides, "b": sides}} if several else sides
    found: dict[str, Any] = asked(operation, {**body, "cluster": {NAME: person.tolist()}, **more})
    return found


OF_CLUSTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "advantage": lambda found: found["advantage"]["clusters"],
    "report": lambda found: found["result"]["advantage"]["clusters"],
    "compare": lambda found: found["ranking"][0]["advantage"]["clusters"],
    "compare-releases": lambda found: found["ranking"][0]["advantage"]["clusters"],
    "gate": lambda found: found["clusters"],
    "metrics": lambda found: found["clusters"],
    "individual-risk": lambda found: found["mean"]["clusters"],
    "attack": lambda found: found["optimum"]["clusters"],
    "audit": lambda found: found["advantage"]["clusters"],
    "series": lambda found: found["steps"][0]["clusters"],
}
"""Where an answer says what the clusters cost."""

MORE: dict[str, dict[str, Any]] = {
    "gate": {"max_tpr": 0.9, "at_fpr": 0.1},
    "attack": {"rule": {"threshold": 0.5}},
}


@pytest.mark.parametrize("operation", OF_CLUSTERS)
def test_the_first_screen_names_design_effect_clusters_and_effective_sample(operation: str) -> None:
    found = answer(operation, **MORE.get(operation, {}))
    clusters = OF_CLUSTERS[operation](found)
    worth, effect = f"{clusters['effective_sample']:.4g}", f"{clusters['design_effect']:.4g}"

    page = render(operation, found, HTML, Context()).decode()
    first = page.partition("<h2")[0]
    assert f"<{NAME[4:-1]}>" not in page  # a name is never markup
    words = re.sub(r"<[^>]*>", " ", first)
    markdown = render(operation, found, MARKDOWN, Context()).decode().partition("\n## ")[0]
    for shown in (words, markdown):
        plain = " ".join(shown.split())
        assert "Worth independent records" in plain
        assert effect in plain
        assert "80" in plain
        assert "per" in plain
        assert float(
            re.findall(r"[0-9.]+", plain.partition("Worth independent records")[2])[0]
        ) == pytest.approx(float(worth), rel=0.01)


def test_an_answer_without_clusters_says_nothing_of_them() -> None:
    rng = np.random.default_rng(0)
    found = asked(
        "report", {"members": rng.normal(size=50).tolist(), "nonmembers": rng.normal(size=50).tolist()}
    )
    page = render("report", found, HTML, Context()).decode()
    assert "Worth independent records" not in page
    assert "name the person as cluster" in page
    assert (
        "Clusters are taken to be independent of each other"
        in render("report", answer("report"), HTML, Context()).decode()
    )
