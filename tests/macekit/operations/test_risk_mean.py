"""The mean risk in the answers of ``/v1/individual-risk`` and ``/v1/report``: the advantage of the same records."""

from typing import Any

import numpy as np
import pytest

from macekit.call import HTML
from macekit.reports.rendering import render
from tests.macekit.asking import asked

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(1, 1, 80).round(3), RNG.normal(0, 1, 120).round(3)
SCORES: dict[str, Any] = {"members": MEMBERS.tolist(), "nonmembers": NONMEMBERS.tolist()}
SCORES |= {"prior": 0.3, "confidence": 0.9, "seed": 2}
RISK = asked("individual-risk", SCORES)
MEAN = RISK["mean"]


def test_the_mean_risk_is_the_advantage_of_the_same_question() -> None:
    advantage = asked("advantage", SCORES)["advantage"]

    for name in ("estimate", "lower", "upper", "confidence"):
        assert MEAN[name] == advantage[name]
    assert MEAN["guarantee"]["covers"].endswith(advantage["guarantee"]["covers"])
    assert "the best attacker's advantage" in MEAN["sentence"]


def test_the_plug_in_is_the_mean_of_the_risks_in_the_answer_weighted_by_the_prior() -> None:
    risk = np.array(RISK["records"]["risk"])

    assert MEAN["plug_in"] == pytest.approx(0.3 * risk[:80].mean() + 0.7 * risk[80:].mean())


@pytest.mark.slow
def test_counts_vectors_and_the_report_have_it_too() -> None:
    counts = {"members": [120, 300, 580], "nonmembers": [310, 420, 270], "edges": [0.4, 0.7]}
    rows = {"members": np.stack([MEMBERS, MEMBERS**2], 1).tolist()}
    rows["nonmembers"] = np.stack([NONMEMBERS, NONMEMBERS**2], 1).tolist()

    assert asked("individual-risk", {"counts": counts, "targets": [0.5]})["mean"]["lower"] > 0.2
    of_rows = asked("individual-risk", rows)["mean"]
    assert 0.0 <= of_rows["lower"] <= of_rows["upper"]
    report = asked("report", SCORES)
    assert report["risk"]["mean"]["lower"] == report["result"]["advantage"]["lower"]
    assumed = asked("report", {**SCORES, "estimator": {"kind": "threshold"}})["risk"]["mean"]
    assert assumed["upper"] == MEAN["upper"]  # of the cells, whatever class the advantage assumes


def test_a_page_says_it() -> None:
    page = render("individual-risk", RISK, HTML).decode()

    assert MEAN["sentence"][:60] in page.replace("&#x27;", "'")
