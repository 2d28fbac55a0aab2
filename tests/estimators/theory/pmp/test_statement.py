"""The statements about a mechanism say to a user of the library what the service answers."""

import numpy as np
import pytest

from estimators.errors import OptionError
from estimators.theory import pmp
from estimators.theory.mip import finite_eta
from tests.app import posted
from tests.estimators.theory.pmp.worlds import modular_sum

LOSSES = np.random.default_rng(0).uniform(size=(8, 3)).round(3)
MANY = np.random.default_rng(1).uniform(size=(60, 2)).round(3)
POINTS = np.random.default_rng(2).normal(size=(10, 2)).round(3)


def test_any_finite_law_is_told_at_a_delta() -> None:
    third = 1.0 / 3.0
    sums = pmp.assess_finite(modular_sum(3))
    published = pmp.assess_finite([[0.5, 0.5, 0.0], [0.5, 0.4, 0.1]], delta=0.05)
    nothing = pmp.assess_finite([[third, third, third]] * 6)

    assert sums.practical_epsilon == pytest.approx(np.log(2.0), abs=1e-14)
    assert "practical epsilon on these 6 records is 0.694" in sums.sentence
    assert published.practical_epsilon == np.inf
    assert published.event.outcomes == (2,)
    assert "no practical epsilon is large enough" in published.sentence
    assert "give record 1 away" in published.sentence
    assert nothing.event is None
    assert "is 0, up to rounding" in nothing.sentence
    assert "at most 0.500;" in nothing.sentence


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_curve_of_a_finite_law_passes_its_epsilon_and_eta_is_mips(delta) -> None:
    laws = np.random.default_rng(3).dirichlet(np.ones(3), size=20)

    result = pmp.assess_finite(laws, delta)

    assert np.interp(result.practical_epsilon, result.grid, result.deltas) == pytest.approx(delta, abs=2e-3)
    assert result.deltas[0] == pytest.approx(2 * result.mip_eta)
    assert result.mip_eta == pytest.approx(finite_eta(laws, 6).eta, abs=1e-14)
    assert min(b.value for b in result.bounds if b.quantity == "mip_eta") == pytest.approx(result.mip_eta)


@pytest.mark.parametrize(
    ("losses", "options"),
    [
        (LOSSES, {"epsilon": 1.0}),
        (LOSSES, {"practical_epsilon": 0.1, "draws": 100}),
        (MANY, {"epsilon": 2.0, "draws": 500, "confidence": 0.9, "seed": 3}),
        (MANY, {"practical_epsilon": 0.5, "draws": 100}),
    ],
)
def test_a_user_of_the_library_gets_what_the_service_says(losses, options) -> None:
    statement = pmp.assess_exponential(pmp.Summed.mean(losses, 1.0 / (len(losses) // 2)), **options)

    question = {"losses": losses.tolist(), "sensitivity": 1.0 / (len(losses) // 2), "loss": "mean", **options}
    answer = posted.asked("theory/pmp-exponential", question)
    assert statement.sentence == answer["sentence"]
    assert [each.code for each in statement.cautions] == [each["code"] for each in answer["warnings"]]
    assert [each.message for each in statement.cautions] == [each["message"] for each in answer["warnings"]]
    assert [each.value for each in statement.bounds] == [each["value"] for each in answer["bounds"]]
    assert (statement.success, statement.ratio) == (answer["success"], answer["ratio"])


@pytest.mark.parametrize(
    "options", [{"sigma": 2.0}, {"epsilon": 0.5, "query": "sum"}, {"practical_epsilon": 0.2}]
)
def test_so_does_who_asks_about_gaussian_noise(options) -> None:
    statement = pmp.assess_gaussian(POINTS, 1.0, delta=1e-5, **options)

    question = {"points": POINTS.tolist(), "clip": 1.0, "delta": 1e-5, **options}
    answer = posted.asked("theory/pmp-gaussian", question)
    assert statement.sentence == answer["sentence"]
    assert [each.message for each in statement.cautions] == [each["message"] for each in answer["warnings"]]
    assert [each.value for each in statement.bounds] == [each["value"] for each in answer["bounds"]]
    assert (statement.sigma, statement.success) == (answer["sigma"], answer["success"])


def test_one_noise_is_asked_about_and_only_one() -> None:
    with pytest.raises(OptionError, match="give one of sigma, epsilon, practical_epsilon"):
        pmp.assess_gaussian(POINTS, 1.0, 1.0, 1.0, delta=1e-5)
