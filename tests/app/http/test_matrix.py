"""MACE's eight estimates over HTTP: {histogram, KDE} x {optimal, individual} x {accuracy, generalized}."""

from typing import Any

import numpy as np
import pytest

from estimators import Scores, preset
from estimators.density.bandwidth import Fixed
from estimators.paper import EqualWidth, Kernel, algorithm_1, paper_metric, record_metric, record_risk
from tests.app.http.asked import ok, post
from tests.app.running import Running
from tests.cases import each_case

Body = dict[str, Any]

SLICES, WIDTH, PRIOR, SEED = 20, 0.4, 0.3, 5
READINGS = {"histogram": EqualWidth(SLICES), "kde": Kernel(Fixed(WIDTH), SEED)}


@pytest.fixture(scope="module", params=[1, 2, 8], ids=lambda d: f"{d}-d")
def sides(request: pytest.FixtureRequest) -> Body:
    rng, width = np.random.default_rng(8), () if request.param == 1 else (request.param,)
    return {"members": rng.normal(1, 1, (150, *width)).tolist(), "nonmembers": rng.normal(0, 1, (120, *width)).tolist()}


def ask(service: Running, question: str, body: Body) -> Any:
    return ok(post(service, f"/v1/{question}", {"prior": PRIOR, "seed": SEED, **body}))


def estimator(kind: str) -> Body:
    return {"kind": kind, "bins": SLICES} | ({"bandwidth": WIDTH} if kind == "kde" else {})


@pytest.mark.slow
@pytest.mark.parametrize("kind", READINGS)
def test_the_optimal_advantage(service: Running, sides: Body, kind: str) -> None:
    one = {"kind": kind} | ({"bins": SLICES} if kind == "histogram" else {"bandwidth": WIDTH})

    paper = ask(service, "advantage", {**sides, "estimator": one})["paper"]

    here = algorithm_1(Scores.of(**sides), PRIOR, reading=READINGS[kind])
    assert paper["statistic"] == {"histogram": "W_N", "kde": "U_N"}[kind]
    assert (paper["estimate"], paper["lower"], paper["upper"]) == (here.value, here.interval.lower, here.interval.upper)


@pytest.mark.parametrize("kind", READINGS)
@pytest.mark.parametrize("name", ["accuracy", "f_beta"])
def test_the_optimal_metric(service: Running, sides: Body, kind: str, name: str) -> None:
    body = {**sides, "metrics": [name], "estimator": estimator(kind)}

    (answer,) = ask(service, "metrics", body)["metrics"]

    here = paper_metric(Scores.of(**sides), preset(name, PRIOR), PRIOR, SEED, READINGS[kind])
    assert (answer["paper"], answer["paper_algorithm"], answer["paper_estimator"]) == (here.value, here.algorithm, kind)
    assert answer["lower"] <= answer["estimate"] <= answer["upper"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", READINGS)
@pytest.mark.parametrize("name", ["accuracy", "f_beta"])
def test_the_individual_risk_and_metric(service: Running, sides: Body, kind: str, name: str) -> None:
    answer = ask(service, "individual-risk", {**sides, "metric": name, "estimator": estimator(kind)})

    scores = Scores.of(**sides)
    risk = record_risk(scores, PRIOR, reading=READINGS[kind])
    rows = record_metric(scores, risk, preset(name, PRIOR), PRIOR, SEED, READINGS[kind])
    records, paper = answer["records"], answer["paper"]
    assert (paper["theorem"], paper["estimator"]) == ({"histogram": 2, "kde": 3}[kind], kind)
    assert paper["metric_algorithm"] == {"accuracy": None, "f_beta": 3}[name]
    for column, numbers in (
        ("paper_signed_risk", risk.risk.values), ("paper_lower", risk.risk.lower), ("paper_upper", risk.risk.upper),
        ("paper_metric", rows.values), ("paper_metric_lower", rows.lower), ("paper_metric_upper", rows.upper),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.array(records[column], dtype=float), numbers)
    assert len(records["lower"]) == len(records["paper_lower"]) == 270  # the certified one stands beside it


def test_the_paper_s_columns_follow_the_records_that_are_listed(service: Running, sides: Body) -> None:
    body = {**sides, "estimator": {"kind": "kde", "bandwidth": WIDTH}}

    every, top = ask(service, "individual-risk", body), ask(service, "individual-risk", {**body, "top": 3})

    for place, index in enumerate(top["records"]["index"]):
        for column in ("paper_signed_risk", "paper_lower", "paper_upper", "signed_risk"):
            assert top["records"][column][place] == every["records"][column][index]


TEXTS = {"members": ["a", "b"] * 9, "nonmembers": ["b"] * 9}


@each_case("question", ["individual-risk", "metrics"])
@each_case(
    "estimator, sides, field",
    ({"kind": "kde", "bandwidth": 0}, {}, "estimator.bandwidth"),
    ({"kind": "kde", "bandwidth": -1.0}, {}, "estimator.bandwidth"),
    ({"kind": "kde", "bandwidth": "thin"}, {}, "estimator.bandwidth"),
    ({"kind": "histogram", "bandwidth": "scott"}, {}, "estimator.bandwidth"),
    ({"kind": "kde"}, TEXTS, "estimator.kind"),
    ({"kind": "spline"}, {}, "estimator.kind"),
    ({"bandwidth": 0.1}, {}, "estimator.bandwidth"),
)
def test_what_no_estimate_can_be_made_of_is_refused_by_name(
    service: Running, question: str, estimator: Body, sides: Body, field: str
) -> None:
    scores = {"members": [0.1, 0.2, 0.5] * 9, "nonmembers": [0.1, 0.3, 0.7] * 9}

    answer = post(service, f"/v1/{question}", {**scores, **sides, "estimator": estimator})

    assert (answer.status, answer.json()["field"]) == (422, field)
    if estimator.get("bandwidth") in (0, -1.0):
        assert "greater than 0" in answer.json()["detail"]
