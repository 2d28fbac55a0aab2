"""What the paper prints beside the certified numbers: one number from every question, and what it rests on."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.cases import each_case
from tests.macekit import asking

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(3)
A, B = RNG.normal(0.5, 1, 400), RNG.normal(size=600)
SIDES: dict[str, Any] = {"members": A.tolist(), "nonmembers": B.tolist()}
SAMPLES: dict[str, dict[str, Any]] = {
    "numbers": SIDES,
    "categories": {
        "members": RNG.choice(list("abcd"), 300, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "nonmembers": RNG.choice(list("abcd"), 300).tolist(),
    },
    "counts": {"counts": {"members": [20, 60, 20], "nonmembers": [50, 40, 30], "edges": [0.0, 1.0]}},
    "vectors": {"members": RNG.normal(0.5, 1, (120, 2)).tolist(), "nonmembers": RNG.normal(size=(120, 2)).tolist()},
}
READINGS: dict[str, dict[str, Any]] = {
    "left out": {},
    "slices": {"estimator": {"kind": "histogram"}},
    "twenty slices": {"estimator": {"kind": "histogram", "bins": 20}},
    "kernels": {"estimator": {"kind": "kde"}},
    "kernels by a rule": {"estimator": {"kind": "kde", "bandwidth": "silverman"}},
}


def paper_of(operation: str, body: dict[str, Any]) -> list[Any]:
    names = {"metrics": ["precision"]} if operation == "metrics" else {"metric": "precision"}
    answer = asked(operation, prior=0.3, seed=4, **body, **names)
    metric = answer["metrics"][0] if operation == "metrics" else answer.get("result", answer)["metric"]
    return [value for name, value in sorted(metric.items()) if name.startswith("paper")]


@pytest.mark.slow
@each_case(
    "sample, reading",
    [
        (sample, reading)
        for sample in SAMPLES
        for reading in READINGS
        # cells that stand are read in one way, and vectors are slow to learn from
        if sample == "numbers" or reading in ("left out", "kernels" if sample == "vectors" else "slices")
    ],
)
def test_a_metric_s_paper_value_is_the_same_from_every_question(sample: str, reading: str) -> None:
    body = {**SAMPLES[sample], **READINGS[reading]}

    values = [paper_of(operation, body) for operation in ("metrics", "advantage", "report")]

    assert values[0] == values[1] == values[2]
    assert len(values[0]) == 5  # the value, the algorithm, the estimator, its records and its guesses


def test_how_many_records_the_paper_s_rule_accuses_is_said_and_few_are_warned_of() -> None:
    """Who has an x is a member, and nobody else is accused: 9 records of 600, a third of which are judged, or 270."""
    few = {"members": ["x"] * 9 + ["y"] * 291, "nonmembers": ["y"] * 300}
    many = {"members": ["x"] * 270 + ["y"] * 30, "nonmembers": ["y"] * 300}

    names = {"metrics": ["precision", "npv", "accuracy"], "min_positive_share": 0.0}
    answers = [asked("metrics", **body, **names)["metrics"] for body in (few, many)]

    (precise, npv, accurate), (sure, *_) = answers
    assert precise["paper_records"] == sure["paper_records"] == 200  # a third
    assert 0 < precise["paper_member_guesses"] <= 9
    assert sure["paper_member_guesses"] == pytest.approx(90, abs=15)
    codes = [[each["code"] for each in metric["warnings"]] for metric in (precise, npv, accurate, sure)]
    assert ["few_paper_guesses" in each for each in codes] == [True, False, False, False]
    (said,) = (each["message"] for each in precise["warnings"] if each["code"] == "few_paper_guesses")
    assert f"of the {precise['paper_member_guesses']} records that its rule accuses, of 200 that" in said


@pytest.mark.parametrize("kind", ["kde", "histogram"])
def test_where_nothing_was_seen_the_paper_s_risk_is_null(kind: str) -> None:
    gap = {"members": [*A.tolist(), 30.0], "nonmembers": B.tolist()}

    asks = {"targets": [0.2, 15.0, 400.0], "prior": 0.1, "metric": "accuracy", "estimator": {"kind": kind}}
    answer = asked("individual-risk", **gap, **asks)["records"]

    assert [each is None for each in answer["paper_signed_risk"]] == [False, True, True]
    assert answer["paper_lower"][1:] == [-1.0, -1.0]
    assert answer["paper_upper"][1:] == [1.0, 1.0]
    assert answer["paper_metric"][1:] == [None, None]


def test_an_interval_of_slices_of_these_records_is_not_called_proven() -> None:
    ask = partial(asked, "individual-risk", estimator={"kind": "histogram"})
    by_slices, by_label = (ask(**SAMPLES[sample])["paper"] for sample in ("numbers", "categories"))

    assert (by_slices["finite_sample"], by_label["finite_sample"]) == (False, True)
    assert "here they span these records" in by_slices["assumes"]


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["metrics", "individual-risk"])
def test_a_number_of_cells_in_its_former_place_is_taken_with_a_note(operation: str) -> None:
    estimator = {"kind": "histogram"}

    here = asked(operation, **SIDES, estimator={**estimator, "bins": 12})
    before = asked(operation, **SIDES, estimator=estimator, bins=12)
    alone = asked(operation, **SIDES, bins=12)

    for answer in (before, alone):
        warnings = answer["metrics"][0]["warnings"] if operation == "metrics" else answer["warnings"]
        assert warnings[0]["code"] == "deprecated_option"
        assert warnings[0]["message"].startswith("bins has moved to estimator.bins")
    assert _numbers(before) == _numbers(here)
    assert _numbers(alone) == _numbers(asked(operation, **SIDES, estimator={"bins": 12}))


def _numbers(answer: Any) -> Any:
    """The answer without what says how it was asked for."""
    if isinstance(answer, dict):
        said = {"warnings", "provenance"}
        return {name: _numbers(each) for name, each in answer.items() if name not in said}
    return [_numbers(each) for each in answer] if isinstance(answer, list) else answer


def test_the_answer_says_which_rule_chose_the_bandwidth() -> None:
    """Silverman's own, which is not what SciPy calls by his name; here as numpy makes it."""
    asks = {**SIDES, "estimator": {"kind": "kde", "bandwidth": "silverman"}}

    paper = asked("advantage", **asks)["paper"]
    risk = asked("individual-risk", **asks)["paper"]

    ranges = (np.subtract(*np.quantile(side, [0.75, 0.25])) / 1.349 for side in (A, B))
    spreads = [min(side.std(ddof=1), each) for side, each in zip((A, B), ranges, strict=True)]
    expected = [0.9 * s * len(side) ** -0.2 for s, side in zip(spreads, (A, B), strict=True)]
    assert risk["bandwidth"] == pytest.approx(expected, rel=1e-3)  # a grid stands for the records
    rule = "0.9 min(s, IQR/1.349) n^(-1/5) (Silverman 1986, equation 3.31; not SciPy's rule of this name)"
    assert paper["assumes"].endswith(f"here it was chosen from them: {rule}")
    assert rule in risk["warnings"][0]["message"]


def test_cells_are_asked_for_without_asking_for_the_paper() -> None:
    answer = asked("individual-risk", **SIDES, estimator={"bins": 12})

    assert answer["paper"] is None
    assert len(answer["cells"]["members"]) == 12


def test_a_bandwidth_needs_kernels() -> None:
    problem = asking.refused("metrics", {**SIDES, "estimator": {"bins": 12, "bandwidth": 0.3}})

    assert problem["field"] == "estimator.bandwidth"
    assert "estimator.bandwidth applies only to kind kde" in problem["detail"]


def asked(operation: str, **body: Any) -> Any:
    return asking.asked(operation, body)
