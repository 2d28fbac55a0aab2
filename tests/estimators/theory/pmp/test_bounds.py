"""What a practical epsilon means."""

from math import exp

import numpy as np
import pytest

from estimators.theory.pmp.bounds import mip_eta, mip_eta_as_printed, success
from estimators.theory.pmp.laws import finite
from tests.cases import each_case


@each_case("epsilon", [0.0, 1e-9, 0.1, 0.123, 2.14, 50.0])
def test_success_is_lemma_6(epsilon) -> None:
    assert success(epsilon) == pytest.approx(1 / (1 + exp(-epsilon)), rel=1e-14)


@each_case("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_lemma_13_is_up_to_twice_what_randomised_response_attains(epsilon) -> None:
    p = 1 / (1 + exp(-epsilon))
    found = finite(np.array([[p, 1 - p], [1 - p, p]]), 1)

    assert found.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert found.mip_eta == pytest.approx(mip_eta(epsilon), rel=1e-9)
    assert mip_eta(epsilon) < mip_eta_as_printed(epsilon)
    assert mip_eta_as_printed(1e-6) / mip_eta(1e-6) == pytest.approx(2.0, rel=1e-5)


@each_case("delta", [1e-3, 0.1, 0.3])
def test_with_delta_it_bounds_the_best_attacker_of_any_laws(delta) -> None:
    for seed in range(20):
        found = finite(np.random.default_rng(seed).dirichlet(np.ones(3) / 3, size=20), 3)

        assert found.successes.max() <= success(found.epsilon_at(delta), delta) + 1e-12
