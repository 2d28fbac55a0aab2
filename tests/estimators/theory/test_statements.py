"""The statements say to a user of the library what the service answers."""

from typing import Any

import numpy as np
import pytest

from estimators.errors import OptionError, OutOfRange, UnknownName
from estimators.theory import dp, mip, mis, pmp
from estimators.theory.accounting import NoisySteps
from tests.cases import each_case, refusals
from tests.macekit import asking

RANDOM = np.random.default_rng(0)
ROWS, BEFORE, AFTER = (RANDOM.normal(size=(n, d)).tolist() for n, d in ((200, 2), (400, 1), (400, 1)))
SWAPS = {"before": BEFORE, "after": AFTER, "record": [str(place % 4) for place in range(400)]}
LAWS = [[0.9, 0.1], [0.2, 0.8]]
VALUES = ["a"] * 40 + ["b"] * 30 + ["c"] * 20 + ["d"]
SHARES = [0.5, 0.3, 0.2]
TRAIN, HELDOUT = [0.01 * i for i in range(200)], [1.0 + 0.02 * i for i in range(200)]
FEW, MANY = (np.random.default_rng(n).uniform(size=(n, 3)).round(3) for n in (8, 60))
POINTS = np.random.default_rng(2).normal(size=(10, 2)).round(3)
BARE: dict[str, Any] = {"false_positive_rates": []}  # a promise alone has a curve


def of_dp(promise: Any, question: dict[str, Any], **options: Any) -> tuple[str, dict[str, Any], Any]:
    return "theory/dp", question, dp.assess(promise, **options)


def of_fits(question: dict[str, Any], **options: Any) -> tuple[str, dict[str, Any], Any]:
    fits = mip.Fits.of(*(question.get(name) for name in ("draws", "before", "after", "record")))
    return "theory/mip", question, mip.assess(fits, question["eta"], **options)


def of_categories(source: Any, data: dict[str, Any], **options: Any) -> tuple[str, dict[str, Any], Any]:
    return "theory/mis", data | options, mis.assess(source, **options)


def of_losses(**options: Any) -> tuple[str, dict[str, Any], Any]:
    question = {"train_losses": TRAIN, "heldout_losses": HELDOUT, **options}
    return "theory/mis-overfitting", question, mis.assess_overfitting(TRAIN, HELDOUT, **options)


def of_exponential(losses: Any, **options: Any) -> tuple[str, dict[str, Any], Any]:
    sensitivity = 1.0 / (len(losses) // 2)
    question = {"losses": losses.tolist(), "sensitivity": sensitivity, "loss": "mean", **options}
    statement = pmp.assess_exponential(pmp.Summed.mean(losses, sensitivity), **options)
    return "theory/pmp-exponential", question, statement


def of_gaussian(**options: Any) -> tuple[str, dict[str, Any], Any]:
    question = {"points": POINTS.tolist(), "clip": 1.0, "delta": 1e-5, **options}
    return "theory/pmp-gaussian", question, pmp.assess_gaussian(POINTS, 1.0, delta=1e-5, **options)


def asked() -> list[tuple[str, dict[str, Any], Any]]:
    return [
        of_dp(dp.ApproximateDp(1.0, 1e-5), BARE | {"epsilon": 1.0, "delta": 1e-5, "prior": 0.2, "advantage": 0.7},
              delta=1e-5, prior=0.2, advantage=0.7),
        of_dp(dp.GaussianDp(1.0),
              {"mu": 1.0, "inclusion": "independent", "member_weight": 2.0, "false_positive_rates": [0.015]},
              inclusion="independent", member_weight=2.0, false_positive_rates=[0.015]),
        of_dp(NoisySteps(2.0, 4).promises(1e-5), BARE | {"noise_multiplier": 2.0, "steps": 4, "delta": 1e-5},
              delta=1e-5),
        of_dp(None, {"advantage": 0.1, "adjacency": "add_remove"}, advantage=0.1, adjacency="add_remove"),
        of_dp(None, {"advantage": 0.1, "prior": 0.9}, advantage=0.1, prior=0.9),
        of_fits({"draws": ROWS, "eta": 0.2}),
        of_fits({"draws": ROWS, "eta": 0.2, "noise": "laplace", "norm": "max"}, shape="laplace_max"),
        of_fits({**SWAPS, "eta": 0.2, "records": 5, "confidence": 0.9}, records=5, confidence=0.9),
        of_fits({**SWAPS, "eta": 0.001}),
        ("theory/mip-finite", {"laws": LAWS, "n": 2}, mip.finite_eta(LAWS, 2)),
        of_categories(mis.Tally.of_values(VALUES, 5), {"values": VALUES, "universe": 5}, delta=0.2),
        of_categories(mis.Tally.of_counts([1, 1, 1, 2]), {"tallies": [1, 1, 1, 2]},
                      nonmember_share=0.3, member_weight=2.0),
        of_categories(mis.Distribution.of(SHARES), {"probabilities": SHARES}, sizes=[100, 10], coarsen_to=[2]),
        of_categories(mis.Distribution.of(SHARES), {"probabilities": SHARES}, member_weight=3.0),
        of_losses(),
        of_losses(nonmember_share=0.3, member_weight=2.0, losses_of="independent_trainings"),
        of_losses(thresholds=[-1.0]),
        of_exponential(FEW, epsilon=1.0),
        of_exponential(FEW, practical_epsilon=0.1, draws=100),
        of_exponential(MANY, epsilon=2.0, draws=500, confidence=0.9, seed=3),
        of_exponential(MANY, practical_epsilon=0.5, draws=100),
        of_gaussian(sigma=2.0),
        of_gaussian(epsilon=0.5, query="sum"),
        of_gaussian(practical_epsilon=0.2),
    ]  # fmt: skip


@pytest.mark.slow
@each_case("path, question, statement", asked)
def test_a_user_of_the_library_gets_what_the_service_says(path, question, statement) -> None:
    answer = asking.asked(path, question)

    assert statement.sentence == answer["sentence"]
    cautions = [(each.code, each.message) for each in statement.cautions]
    assert cautions == [(each["code"], each["message"]) for each in answer["warnings"]]
    if path != "theory/mis-overfitting":
        values = [each.value if np.isfinite(each.value) else None for each in statement.bounds]
        assert [each.name for each in statement.bounds] == [each["name"] for each in answer["bounds"]]
        assert values == [each["value"] for each in answer["bounds"]]
        assert [each.tightest for each in statement.bounds] == [each["tightest"] for each in answer["bounds"]]
    shared = {"baseline", "n", "success", "ratio", "sigma"} & answer.keys() & set(dir(statement))
    assert {name: getattr(statement, name) for name in shared} == {name: answer[name] for name in shared}
    if path.startswith("theory/mis"):
        assert statement.accuracy in (answer.get("accuracy_at_most"), answer.get("accuracy_at_least"))
    if path == "theory/mip":
        assert statement.guarantee.assumes == answer["guarantee"]["assumes"]


test_what_no_statement_can_be_made_of_is_refused = refusals("ask, error, words", [
    (dp.assess, OptionError, "need a promise"),
    (lambda: mip.assess(mip.Fits.of(ROWS), 0.2, shape="laplace_maximum"), UnknownName, "laplace_max"),
    (lambda: mis.assess(mis.Distribution.of(SHARES), coarsen_to=[4]), OutOfRange, "at most the 3 categories"),
    (lambda: pmp.assess_gaussian(POINTS, 1.0, 1.0, 1.0, delta=1e-5), OptionError,
     "give one of sigma, epsilon, practical_epsilon"),
])  # fmt: skip
