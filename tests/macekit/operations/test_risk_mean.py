"""The mean risk in the answers of ``/v1/individual-risk`` and ``/v1/report``: the advantage of the same records."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from macekit.call import Body, Call
from macekit.operations import perform

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(1, 1, 80).round(3), RNG.normal(0, 1, 120).round(3)
SCORES = {
    "members": MEMBERS.tolist(),
    "nonmembers": NONMEMBERS.tolist(),
    "prior": 0.3,
    "confidence": 0.9,
    "seed": 2,
}


def ask(operation: str, question: dict[str, object], accept: str = "application/json") -> Any:
    body = bytes(perform(Call(operation, accept=accept), Body.of(json.dumps(question).encode())).body)
    return json.loads(body) if accept == "application/json" else body.decode()


def test_the_mean_risk_is_the_advantage_of_the_same_question() -> None:
    mean, advantage = ask("individual-risk", SCORES)["mean"], ask("advantage", SCORES)["advantage"]

    for name in ("estimate", "lower", "upper", "confidence"):
        assert mean[name] == advantage[name]
    assert mean["guarantee"]["covers"].endswith(advantage["guarantee"]["covers"])
    assert "the best attacker's advantage" in mean["sentence"]


def test_the_plug_in_is_the_mean_of_the_risks_in_the_answer_weighted_by_the_prior() -> None:
    answer = ask("individual-risk", SCORES)

    risk = np.array(answer["records"]["risk"])
    assert answer["mean"]["plug_in"] == pytest.approx(0.3 * risk[:80].mean() + 0.7 * risk[80:].mean())


def test_counts_vectors_and_the_report_have_it_too() -> None:
    counts = {"members": [120, 300, 580], "nonmembers": [310, 420, 270], "edges": [0.4, 0.7]}
    assert ask("individual-risk", {"counts": counts, "targets": [0.5]})["mean"]["lower"] > 0.2
    rows = {
        name: np.stack([side, side**2], axis=1).tolist()
        for name, side in (("members", MEMBERS), ("nonmembers", NONMEMBERS))
    }
    assert (
        0.0 <= ask("individual-risk", rows)["mean"]["lower"] <= ask("individual-risk", rows)["mean"]["upper"]
    )
    report = ask("report", SCORES)
    assert report["risk"]["mean"]["lower"] == report["result"]["advantage"]["lower"]
    assumed = ask("report", {**SCORES, "estimator": {"kind": "threshold"}})["risk"]["mean"]
    assert (
        assumed["upper"] == report["risk"]["mean"]["upper"]
    )  # of the cells, whatever class the advantage assumes


def test_a_page_says_it() -> None:
    sentence = ask("individual-risk", SCORES)["mean"]["sentence"]

    assert sentence[:60] in ask("individual-risk", SCORES, "text/html").replace("&#x27;", "'")
