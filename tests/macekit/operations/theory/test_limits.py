"""The papers' own limiting cases: nothing promised, nothing given away, a promise beyond what floats tell from none."""

from math import erf, sqrt
from typing import Any

import numpy as np
import pytest

from tests.cases import each_case
from tests.macekit.asking import asked, refused

LOSSES = [[0, 1], [0, 1], [1, 0], [1, 0]]
POINTS = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.2], [0.1, 0.3]]


def bound(answer: Any, quantity: str) -> float:
    tightest = (each for each in answer["bounds"] if each["quantity"] == quantity and each["tightest"])
    (value,) = {each["value"] for each in tightest}
    return float(value)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@each_case("promise", [{"epsilon": 0.0, "delta": 1.0}, {"epsilon": 1.0, "delta": 1.0}, {"epsilon": 1e4}])
def test_a_promise_of_nothing_allows_everything(promise: dict[str, float], adjacency: str) -> None:
    answer = asked("theory/dp", {**promise, "adjacency": adjacency, "false_positive_rates": [0.01], "advantage": 0.2})

    assert [bound(answer, name) for name in ("advantage", "mip_eta", "mis_delta", "success", "tpr_at_fpr_0.01")] == [
        1.0, 0.5, 1.0, 1.0, 1.0,
    ]  # fmt: skip
    assert (answer["keeping"]["epsilon"] is None) == ("delta" in promise)


def test_at_delta_1_every_curve_is_epsilon_0() -> None:
    """Its other bounds are those of the curve, not of the pair."""
    answer = asked("theory/dp", {"mu": 1.0, "delta": 1.0})
    rows = {row["quantity"]: row for row in asked("theory/convert", {"mu": 1.0, "delta": 1.0})["rows"]}

    assert bound(answer, "advantage") == pytest.approx(erf(0.5 / sqrt(2.0)))
    assert rows["epsilon"]["at_most"] == 0.0


def test_beyond_700_a_conversion_says_what_it_says_at_700() -> None:
    answers = (asked("theory/convert", {"epsilon": epsilon}) for epsilon in (700.0, 5000.0))
    rows = [{row["quantity"]: row["at_most"] for row in answer["rows"]} for answer in answers]

    assert [each["advantage"] for each in rows] == [1.0, 1.0]
    assert rows[0]["mu"] == pytest.approx(74.6, abs=0.1)  # 2 Phi^-1 of 1 - e^-700
    assert rows[1]["mu"] is None  # no float is large enough


@each_case(
    "question",
    {"losses": LOSSES, "epsilon": 0},
    {"losses": LOSSES, "practical_epsilon": 0},
    {"losses": [[0, 1], [1, 0]], "rows": "training_sets", "epsilon": 0.0},
    {"losses": (LOSSES * 15), "epsilon": 0, "draws": 200},  # of 60 records training sets are drawn
)
def test_at_epsilon_0_nothing_is_given_away(question: dict[str, Any]) -> None:
    answer = asked("theory/pmp-exponential", {"sensitivity": 1.0, **question})

    nothing = {"epsilon": 0, "practical_epsilon": 0, "success": 0.5, "mip_eta": 0}
    assert {name: answer[name] for name in nothing} == nothing
    assert (answer["ratio"], answer["worst"]) == (None, None)
    assert set(answer["records"]["practical_epsilon"]) == {0.0}
    assert max(each["value"] for each in answer["bounds"]) < 1e-12


def test_gaussian_noise_of_epsilon_0_has_the_total_variation_of_delta() -> None:
    """erf(v / sqrt 8) = delta at a shift v of sensitivity over sigma."""
    asks = {"points": POINTS, "clip": 1.0, "delta": 0.1}

    answer = asked("theory/pmp-gaussian", {**asks, "epsilon": 0})
    wanted = asked("theory/pmp-gaussian", {**asks, "practical_epsilon": 0})

    assert (answer["epsilon"], answer["practical_epsilon"], answer["ratio"]) == (0.0, 0.0, None)
    assert erf(answer["sensitivity"] / answer["sigma"] / sqrt(8.0)) == pytest.approx(0.1, abs=1e-12)
    assert answer["sentence"].startswith(f"Gaussian noise of standard deviation {answer['sigma']!r} is (0, 0.1)-DP")
    assert wanted["practical_epsilon"] == 0.0
    assert wanted["sigma"] < answer["sigma"]
    assert wanted["success"] == pytest.approx(0.55)  # half of delta above a coin


def test_at_delta_1_every_practical_epsilon_is_0() -> None:
    of_laws = asked("theory/pmp-finite", {"laws": [[0.9, 0.1], [0.1, 0.9]], "delta": 1})
    of_noise = asked("theory/pmp-gaussian", {"points": POINTS, "clip": 1.0, "delta": 1, "sigma": 0.3})

    assert (of_laws["practical_epsilon"], of_laws["worst"], of_laws["success"]) == (0.0, None, 0.9)
    assert (of_noise["epsilon"], of_noise["practical_epsilon"]) == (0.0, 0.0)
    problem = refused("theory/pmp-gaussian", {"points": POINTS, "clip": 1, "delta": 1, "epsilon": 1})
    assert "give sigma" in problem["detail"]


def test_one_record_keeps_a_security_of_0() -> None:
    known = asked("theory/mis", {"probabilities": [0.5, 0.3, 0.2], "delta": 1})["records_needed"]
    values = {"values": np.arange(40).tolist(), "universe": 40, "delta": 1}
    sampled = asked("theory/mis", values)["records_needed"]

    assert (known["exact"], known["certified"], known["simple"]) == (1, 1, 1)
    assert sampled["certified"] == 1
    assert asked("theory/mis-mean", {"delta": 1})["records_needed"] == 1
