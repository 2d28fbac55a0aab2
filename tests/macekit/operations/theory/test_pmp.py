"""/v1/theory/pmp-exponential and /v1/theory/pmp-gaussian: the library's numbers, side by side."""

import re

import numpy as np
import pytest

from app.openapi.examples import JSON_EXAMPLES as PMP_EXAMPLES
from estimators.theory import shifts
from estimators.theory.pmp import assess_finite, gaussian
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian
from tests.macekit.asking import asked, refused
from tests.macekit.operations.theory.given import LOSSES, MANY, POINTS

EXPONENTIAL, GAUSSIAN = "theory/pmp-exponential", "theory/pmp-gaussian"
ASKED = {"losses": LOSSES, "sensitivity": 1.0, "epsilon": 4.0}


def test_the_practical_epsilon_is_the_librarys_and_the_refuted_bound_is_never_the_tightest() -> None:
    answer = asked(EXPONENTIAL, ASKED)

    mechanism = Summed(np.array(LOSSES), 1.0)
    laws = mechanism.exact(4.0)
    assert (answer["method"], answer["training_sets"], answer["interval"]) == ("exact", 70, None)
    assert answer["practical_epsilon"] == laws.epsilon
    assert answer["epsilon_on_records"] == mechanism.on_records(4.0)
    assert answer["success"] == laws.successes.max()
    assert answer["baseline"] == 0.5
    assert answer["mip_eta"] == pytest.approx(laws.mip_eta)
    assert answer["records"]["practical_epsilon"] == laws.epsilons.tolist()
    assert answer["worst"] == laws.worst._asdict()
    bounds = answer["bounds"]
    exact = next(b for b in bounds if b["name"] == "exact")
    assert exact["tightest"]
    proven = [b["value"] for b in bounds if b["proven"] and b["quantity"] == exact["quantity"]]
    assert min(proven) >= exact["value"] - 1e-12
    assert [b["name"] for b in bounds if not b["proven"]] == ["one_way"]


def test_too_many_training_sets_ask_for_draws_and_draws_give_an_interval() -> None:
    body = {"losses": MANY, "sensitivity": 1.0, "epsilon": 1.0}

    problem = refused(EXPONENTIAL, body)
    assert problem["type"].endswith("too-many-subsets")
    assert "set draws" in problem["detail"]
    answer = asked(EXPONENTIAL, {**body, "draws": 5000, "seed": 3})

    assert answer["method"] == "sampled"
    assert answer["interval"]["guarantee"]["finite_sample"]
    assert answer["interval"]["lower"] <= answer["practical_epsilon"] <= answer["interval"]["upper"]
    assert "95% confidence, from 5000 training sets at random" in answer["sentence"]
    assert answer["epsilon_on_records"] is None
    assert answer == asked(EXPONENTIAL, {**body, "draws": 5000, "seed": 3})


def test_a_wanted_practical_epsilon_is_kept_exactly_or_by_exchanges() -> None:
    wanted = {"practical_epsilon": 0.5, "sensitivity": 1.0}

    exact = asked(EXPONENTIAL, {**wanted, "losses": LOSSES})
    many = asked(EXPONENTIAL, {**wanted, "losses": MANY, "draws": 1000})

    assert 0.4999 < exact["practical_epsilon"] <= 0.5
    assert many["interval"]["upper"] <= 0.5
    assert "chosen_by_exchanges" in [w["code"] for w in many["warnings"]]


def test_the_gaussian_answer_is_the_librarys() -> None:
    answer = asked(GAUSSIAN, {"points": POINTS, "clip": 1.0, "epsilon": 5.0, "delta": 0.01})

    sigma = shifts.gaussian_sigma(0.5, 5.0, 0.01)
    mechanism = Gaussian(gaussian.of_sum(gaussian.clip_rows(np.array(POINTS), 1.0) / 4), sigma)
    assert (answer["sigma"], answer["sensitivity"]) == (sigma, 0.5)
    assert answer["epsilon"] == pytest.approx(5.0)
    assert answer["practical_epsilon"] == mechanism.epsilon(0.01)
    assert answer["practical_epsilon"] <= answer["epsilon_on_records"] <= answer["epsilon"]
    assert answer["mip_eta"] == pytest.approx(mechanism.total_variation() / 2)
    curve = answer["curve"]
    assert len({len(column) for column in curve.values()}) == 1
    for practical, records, worst in zip(
        curve["practical_delta"], curve["records_delta"], curve["dp_delta"], strict=True
    ):
        assert practical <= records * 1.01 <= worst * 1.02


def test_wanted_noise_reads_back() -> None:
    answer = asked(GAUSSIAN, {"points": POINTS, "clip": 1.0, "practical_epsilon": 0.5, "delta": 0.01})

    assert answer["practical_epsilon"] == pytest.approx(0.5, rel=1e-6)
    assert "practical epsilon is at most 0.500 at" in answer["sentence"]


def number(pattern: str, sentence: str) -> float:
    found = re.search(pattern, sentence)
    assert found, sentence
    return float(found[1])


DP, PRACTICAL_AT_MOST = r"that is (\S+)-DP", r"practical epsilon (?:is|of) at most (\S+)"


@pytest.mark.parametrize("wanted", [0.0102, 1e-3, 0.5])
@pytest.mark.parametrize("losses", [LOSSES, MANY])
def test_the_epsilon_that_is_said_keeps_the_practical_epsilon_that_was_wanted(wanted, losses) -> None:
    body = {"losses": losses, "sensitivity": 1.0, "draws": 500}

    answer = asked(EXPONENTIAL, {**body, "practical_epsilon": wanted})

    epsilon = number(DP, answer["sentence"])
    assert epsilon == answer["epsilon"]
    assert number(PRACTICAL_AT_MOST, answer["sentence"]) <= wanted
    again = asked(EXPONENTIAL, {**body, "epsilon": epsilon})
    assert (again["interval"] or {"upper": again["practical_epsilon"]})["upper"] <= wanted


@pytest.mark.parametrize("query", ["sum", "mean"])
@pytest.mark.parametrize("wanted", [0.0102, 0.5])
def test_the_sigma_that_is_said_keeps_all_that_is_said_of_it(query: str, wanted: float) -> None:
    body = {"points": POINTS, "clip": 1.0, "delta": 1.2345649e-5, "query": query}
    answer = asked(GAUSSIAN, {**body, "practical_epsilon": wanted})
    said = answer["sentence"]

    sigma = number(r"deviation (\S+) is", said)
    again = asked(GAUSSIAN, {**body, "sigma": sigma})

    assert sigma == answer["sigma"]
    assert number(r"is \((\S+),", said) >= again["epsilon"]
    assert number(r", (\S+)\)-DP", said) == 1.2345649e-5
    assert number(PRACTICAL_AT_MOST, said) <= wanted
    assert again["practical_epsilon"] <= wanted


def test_a_wanted_practical_epsilon_is_kept_when_patience_with_distances_ends(monkeypatch) -> None:
    monkeypatch.setattr("estimators.theory.pmp.gaussian._patience", lambda distances: 1)
    points = np.random.default_rng(0).normal(size=(60, 2)).tolist()
    body = {"points": points, "clip": 2.0, "delta": 0.01, "practical_epsilon": 0.3}

    assert asked(GAUSSIAN, body)["practical_epsilon"] <= 0.3


def test_what_is_given_is_said_as_it_was_given() -> None:
    given = {
        "losses": MANY, "sensitivity": 1.0, "epsilon": 0.1234567891, "draws": 200, "confidence": 0.9512345,
    }  # fmt: skip

    exponential = asked(EXPONENTIAL, given)
    gaussian = asked(GAUSSIAN, {"points": POINTS, "clip": 1.0, "epsilon": 5.0, "delta": 0.01})
    noise = asked(GAUSSIAN, {"points": POINTS, "clip": 1.0, "sigma": 1.00000012, "delta": 0.01})

    assert "that is 0.1234567891-DP" in exponential["sentence"]
    assert "(95.12345% confidence, from 200 training sets" in exponential["sentence"]
    assert "95.12345% confidence over the draws" in [b["assumes"] for b in exponential["bounds"]]
    assert gaussian["epsilon"] == 5.0
    assert "is (5, 0.01)-DP" in gaussian["sentence"]
    assert "deviation 1.00000012 is" in noise["sentence"]


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1e-160, 1e-155, 1e155, 1e160, 1e299])
def test_small_and_large_points_are_as_far_apart_as_any(scale: float) -> None:
    def body(unit: float) -> dict[str, object]:
        points = [[x * unit] for x in (1.0, -1.0, 0.5, 0.0)]
        return {
            "points": points, "clip": unit, "sigma": unit / 5.0 * (1 + 1e-15), "query": "sum", "delta": 0.01,
        }  # fmt: skip

    found = asked(GAUSSIAN, body(scale)) if scale > 1e-299 else refused(GAUSSIAN, body(scale))

    if scale > 1e-299:
        one = asked(GAUSSIAN, body(1.0))
        assert found["practical_epsilon"] == pytest.approx(one["practical_epsilon"], rel=1e-9)
        assert found["curve"]["practical_delta"] == pytest.approx(one["curve"]["practical_delta"], rel=1e-6)
        assert found["practical_epsilon"] > 20.0
    else:
        assert found["field"] == "sigma"


def test_success_when_drawn_is_about_the_worst_record_alone() -> None:
    answer = asked(EXPONENTIAL, {"losses": MANY, "sensitivity": 1.0, "epsilon": 1.0, "draws": 20_000})

    assert answer["success"] == pytest.approx(0.5 + np.tanh(answer["interval"]["upper"] / 2) / 2)
    assert answer["interval"]["upper"] < max(answer["records"]["practical_epsilon"])
    assert answer["success"] < max(answer["records"]["success"])


FINITE = "theory/pmp-finite"


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_finite_law_is_answered_by_the_library_and_has_mips_eta(delta: float) -> None:
    laws = np.random.default_rng(5).dirichlet(np.ones(3), size=6)

    answer = asked(FINITE, {"laws": laws.tolist(), "delta": delta})

    result = assess_finite(laws, delta)
    assert answer["practical_epsilon"] == result.practical_epsilon
    assert answer["records"]["practical_epsilon"] == result.epsilons.tolist()
    assert answer["sentence"] == result.sentence
    event = result.event
    assert event is not None
    assert answer["worst"] == {
        "record": event.record, "outcomes": list(event.outcomes), "says": event.says
    }  # fmt: skip
    eta = asked("theory/mip-finite", {"laws": laws.tolist(), "n": 4})["eta"]
    assert answer["mip_eta"] == pytest.approx(eta, abs=1e-14)


def test_a_record_that_is_given_away_has_no_practical_epsilon_until_delta_covers_it() -> None:
    within, beyond = (asked(FINITE, PMP_EXAMPLES[FINITE][name].value) for name in ("published", "given_away"))

    assert (within["practical_epsilon"], within["worst"]) == (0.0, None)
    assert beyond["practical_epsilon"] is None
    assert beyond["records"]["practical_epsilon"] == [None] * 4
    assert "no practical epsilon is large enough" in beyond["sentence"]
